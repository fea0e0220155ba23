// SPDX-License-Identifier: MIT
// The device's methods for heaps and buffers: validation of the descriptions, and creation of the objects.
#include <algorithm>
#include <new>

#include "d3d12/device_frames.h"
#include "d3d12/resource.h"

namespace anydml {
namespace {

constexpr std::uint64_t kPlacement = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
static_assert(kPlacement == kBufferAlignment);

std::string check_heap_properties(const D3D12_HEAP_PROPERTIES& properties, bool unified) {
  if (std::string why = check_node_mask("CreationNodeMask", properties.CreationNodeMask); !why.empty()) {
    return why;
  }
  if (std::string why = check_node_mask("VisibleNodeMask", properties.VisibleNodeMask); !why.empty()) {
    return why;
  }
  switch (properties.Type) {
    case D3D12_HEAP_TYPE_DEFAULT:
    case D3D12_HEAP_TYPE_UPLOAD:
    case D3D12_HEAP_TYPE_READBACK:
      if (properties.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_UNKNOWN ||
          properties.MemoryPoolPreference != D3D12_MEMORY_POOL_UNKNOWN) {
        return "CPUPageProperty or MemoryPoolPreference is set; expected UNKNOWN unless the heap type is CUSTOM";
      }
      return {};
    case D3D12_HEAP_TYPE_CUSTOM:
      if (properties.CPUPageProperty < D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE ||
          properties.CPUPageProperty > D3D12_CPU_PAGE_PROPERTY_WRITE_BACK) {
        return format_text(
            "CPUPageProperty is {}; expected NOT_AVAILABLE, WRITE_COMBINE or WRITE_BACK for a CUSTOM "
            "heap",
            static_cast<int>(properties.CPUPageProperty));
      }
      if (unified && properties.MemoryPoolPreference != D3D12_MEMORY_POOL_L0) {
        return format_text(
            "MemoryPoolPreference is {}; expected L0 (1), the only pool of an adapter with unified memory",
            static_cast<int>(properties.MemoryPoolPreference));
      }
      if (properties.MemoryPoolPreference != D3D12_MEMORY_POOL_L0 &&
          properties.MemoryPoolPreference != D3D12_MEMORY_POOL_L1) {
        return format_text("MemoryPoolPreference is {}; expected L0 (1), the CPU's memory, or L1 (2), the adapter's",
                           static_cast<int>(properties.MemoryPoolPreference));
      }
      if (properties.MemoryPoolPreference == D3D12_MEMORY_POOL_L1 &&
          properties.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE) {
        return format_text("CPUPageProperty is {}; expected NOT_AVAILABLE (1) in pool L1, which the CPU cannot access",
                           static_cast<int>(properties.CPUPageProperty));
      }
      return {};
    default:
      return format_text("the heap type is {}; expected DEFAULT (1), UPLOAD (2), READBACK (3) or CUSTOM (4)",
                         static_cast<int>(properties.Type));
  }
}

Refusal check_buffer(const D3D12_RESOURCE_DESC& desc) {
  if (desc.Dimension >= D3D12_RESOURCE_DIMENSION_TEXTURE1D && desc.Dimension <= D3D12_RESOURCE_DIMENSION_TEXTURE3D) {
    return {E_NOTIMPL, "Dimension is a texture's; this device supports only buffers"};
  }
  if (desc.Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
    return {E_INVALIDARG, format_text("Dimension is {}; expected BUFFER (1)", static_cast<int>(desc.Dimension))};
  }
  if (desc.Width == 0) {
    return {E_INVALIDARG, "Width is 0; expected the number of bytes"};
  }
  if (desc.Alignment != 0 && desc.Alignment != kPlacement) {
    return {E_INVALIDARG, format_text("Alignment is {}; expected 0 or 65536", desc.Alignment)};
  }
  if (desc.Height != 1 || desc.DepthOrArraySize != 1 || desc.MipLevels != 1) {
    return {E_INVALIDARG, format_text("Height, DepthOrArraySize and MipLevels are {}, {} and {}; expected 1 for a "
                                      "buffer",
                                      desc.Height, desc.DepthOrArraySize, desc.MipLevels)};
  }
  if (desc.Format != DXGI_FORMAT_UNKNOWN) {
    return {E_INVALIDARG,
            format_text("Format is {}; expected UNKNOWN (0) for a buffer", static_cast<int>(desc.Format))};
  }
  if (desc.SampleDesc.Count != 1 || desc.SampleDesc.Quality != 0) {
    return {E_INVALIDARG, format_text("SampleDesc is {{{}, {}}}; expected {{1, 0}} for a buffer", desc.SampleDesc.Count,
                                      desc.SampleDesc.Quality)};
  }
  if (desc.Layout != D3D12_TEXTURE_LAYOUT_ROW_MAJOR) {
    return {E_INVALIDARG,
            format_text("Layout is {}; expected ROW_MAJOR (1) for a buffer", static_cast<int>(desc.Layout))};
  }
  constexpr auto kAllowed = D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS | D3D12_RESOURCE_FLAG_DENY_SHADER_RESOURCE;
  if ((desc.Flags & ~kAllowed) != 0) {
    return {E_INVALIDARG, format_text("Flags is {:#x}; expected no more than ALLOW_UNORDERED_ACCESS (4) for a buffer",
                                      static_cast<unsigned>(desc.Flags))};
  }
  return {};
}

Refusal check_placement(const D3D12_HEAP_PROPERTIES& properties, const D3D12_RESOURCE_DESC& desc,
                        D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear) {
  if (clear != nullptr) {
    return {E_INVALIDARG, "pOptimizedClearValue is not null; expected null for a buffer"};
  }
  const bool upload = properties.Type == D3D12_HEAP_TYPE_UPLOAD;
  const bool readback = properties.Type == D3D12_HEAP_TYPE_READBACK;
  if ((upload || readback) && (desc.Flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) != 0) {
    return {E_INVALIDARG, format_text("Flags has ALLOW_UNORDERED_ACCESS in {} heap; expected it in DEFAULT or CUSTOM",
                                      upload ? "an UPLOAD" : "a READBACK")};
  }
  if (upload && state != D3D12_RESOURCE_STATE_GENERIC_READ) {
    return {E_INVALIDARG, format_text("the initial state is {:#x}; expected GENERIC_READ in an UPLOAD heap",
                                      static_cast<unsigned>(state))};
  }
  if (readback && state != D3D12_RESOURCE_STATE_COPY_DEST) {
    return {E_INVALIDARG, format_text("the initial state is {:#x}; expected COPY_DEST in a READBACK heap",
                                      static_cast<unsigned>(state))};
  }
  return {};
}

D3D12_RESOURCE_DESC without_feedback(const D3D12_RESOURCE_DESC1& desc) {
  return {desc.Dimension, desc.Alignment, desc.Width,      desc.Height, desc.DepthOrArraySize,
          desc.MipLevels, desc.Format,    desc.SampleDesc, desc.Layout, desc.Flags};
}

// Like check_buffer, but without a message, for methods that cannot report one.
bool is_buffer(const D3D12_RESOURCE_DESC& desc) noexcept {
  try {
    return SUCCEEDED(check_buffer(desc).code);
  } catch (...) {  // check_buffer found an error, but had no memory for the message
    return false;
  }
}

D3D12_RESOURCE_ALLOCATION_INFO allocation_of(const D3D12_RESOURCE_DESC& desc) {
  if (!is_buffer(desc) || desc.Width > UINT64_MAX - kPlacement) {
    return {UINT64_MAX, kPlacement};  // D3D12's answer for a resource that cannot exist
  }
  return {(desc.Width + kPlacement - 1) / kPlacement * kPlacement, kPlacement};
}

// Adds up the sizes, each of which is already a multiple of the alignment.
template <class Desc, class Convert>
D3D12_RESOURCE_ALLOCATION_INFO allocation_of_all(UINT count, const Desc* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each,
                                                 Convert convert) {
  D3D12_RESOURCE_ALLOCATION_INFO sum{0, kPlacement};
  for (UINT i = 0; i < count && descs != nullptr; ++i) {
    const D3D12_RESOURCE_ALLOCATION_INFO one = allocation_of(convert(descs[i]));
    if (each != nullptr) {
      each[i] = {sum.SizeInBytes, one.Alignment, one.SizeInBytes};
    }
    if (one.SizeInBytes == UINT64_MAX || sum.SizeInBytes > UINT64_MAX - one.SizeInBytes) {
      return {UINT64_MAX, kPlacement};
    }
    sum.SizeInBytes += one.SizeInBytes;
  }
  return sum;
}

}  // namespace

std::shared_ptr<Memory> Device::allocate(const D3D12_HEAP_PROPERTIES& properties, const char* field,
                                         std::uint64_t bytes, Refusal& refusal) const {
  const MemoryKind kind = memory_kind(properties, is_unified());
  try {
    return std::make_shared<Memory>(core_->device(), kind, bytes);
  } catch (const std::bad_alloc&) {
    const std::uint64_t all = core_->device().info->memory_bytes;
    refusal = {
        E_OUTOFMEMORY,
        format_text("{} is {}; allocation failed: {}", field, bytes,
                    is_unified() ? format_text("the machine, or the control group of this process, has {} "
                                               "bytes in total",
                                               all)
                    : kind == MemoryKind::device_buffer ? format_text("the adapter has {} bytes in total", all)
                                                        : "the machine cannot pin that much memory for the adapter")};
  } catch (const DeviceFailure& failure) {
    core_->remove(kDeviceHung, failure.what());
    refusal = {kDeviceRemoved, format_text("the device has failed: {}", failure.what())};
  }
  return nullptr;
}

D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE
Device::GetResourceAllocationInfo(UINT, UINT count, const D3D12_RESOURCE_DESC* descs) noexcept {
  return allocation_of_all(count, descs, nullptr, [](const D3D12_RESOURCE_DESC& desc) { return desc; });
}

D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE Device::GetResourceAllocationInfo1(
    UINT, UINT count, const D3D12_RESOURCE_DESC* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) noexcept {
  return allocation_of_all(count, descs, each, [](const D3D12_RESOURCE_DESC& desc) { return desc; });
}

D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE Device::GetResourceAllocationInfo2(
    UINT, UINT count, const D3D12_RESOURCE_DESC1* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) noexcept {
  return allocation_of_all(count, descs, each, without_feedback);
}

// The device has one memory pool if memory is unified, and two otherwise. Pages that the CPU can access are cached.
D3D12_HEAP_PROPERTIES STDMETHODCALLTYPE Device::GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) noexcept {
  const bool reached = type == D3D12_HEAP_TYPE_UPLOAD || type == D3D12_HEAP_TYPE_READBACK;
  return {D3D12_HEAP_TYPE_CUSTOM, reached ? D3D12_CPU_PAGE_PROPERTY_WRITE_BACK : D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE,
          reached || is_unified() ? D3D12_MEMORY_POOL_L0 : D3D12_MEMORY_POOL_L1, 1, 1};
}

HRESULT STDMETHODCALLTYPE Device::CreateCommittedResource(const D3D12_HEAP_PROPERTIES* properties,
                                                          D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC* desc,
                                                          D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                          REFIID riid, void** out) noexcept {
  return create("CreateCommittedResource", riid, out, [&](const auto& refuse) -> Resource* {
    if (properties == nullptr || desc == nullptr) {
      return refuse(E_INVALIDARG, format_text("{} is null", properties == nullptr ? "pHeapProperties" : "pDesc"));
    }
    if (std::string why = check_heap_properties(*properties, is_unified()); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    for (const Refusal& refusal : {check_buffer(*desc), check_placement(*properties, *desc, state, clear)}) {
      if (FAILED(refusal.code)) {
        return refuse(refusal.code, refusal.why);
      }
    }
    // If the caller only asks whether the call would succeed, the memory is not allocated.
    Refusal refusal;
    auto memory = allocate(*properties, "Width", out == nullptr ? 1 : desc->Width, refusal);
    if (memory == nullptr) {
      return refuse(refusal.code, refusal.why);
    }
    return new Resource(*this, *desc, *properties, flags, std::move(memory), 0);
  });
}

HRESULT STDMETHODCALLTYPE Device::CreateCommittedResource1(const D3D12_HEAP_PROPERTIES* properties,
                                                           D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC* desc,
                                                           D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                           ID3D12ProtectedResourceSession* session, REFIID riid,
                                                           void** out) noexcept {
  return session != nullptr ? not_built("CreateCommittedResource1 with a protected session", out)
                            : CreateCommittedResource(properties, flags, desc, state, clear, riid, out);
}

HRESULT STDMETHODCALLTYPE Device::CreateCommittedResource2(const D3D12_HEAP_PROPERTIES* properties,
                                                           D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC1* desc,
                                                           D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                           ID3D12ProtectedResourceSession* session, REFIID riid,
                                                           void** out) noexcept {
  const D3D12_RESOURCE_DESC plain = desc != nullptr ? without_feedback(*desc) : D3D12_RESOURCE_DESC{};
  return CreateCommittedResource1(properties, flags, desc != nullptr ? &plain : nullptr, state, clear, session, riid,
                                  out);
}

HRESULT STDMETHODCALLTYPE Device::CreateHeap(const D3D12_HEAP_DESC* desc, REFIID riid, void** out) noexcept {
  return create("CreateHeap", riid, out, [&](const auto& refuse) -> Heap* {
    if (desc == nullptr) {
      return refuse(E_INVALIDARG, "pDesc is null; expected a D3D12_HEAP_DESC");
    }
    if (desc->SizeInBytes == 0) {
      return refuse(E_INVALIDARG, "SizeInBytes is 0; expected a positive size");
    }
    if (desc->Alignment != 0 && desc->Alignment != kPlacement &&
        desc->Alignment != D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT) {
      return refuse(E_INVALIDARG, format_text("Alignment is {}; expected 0, 65536 or 4194304", desc->Alignment));
    }
    if (std::string why = check_heap_properties(desc->Properties, is_unified()); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    if ((desc->Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0) {
      return refuse(E_NOTIMPL, "Flags denies buffers, but this device supports nothing else in a heap");
    }
    Refusal refusal;
    auto memory = allocate(desc->Properties, "SizeInBytes", out == nullptr ? 1 : desc->SizeInBytes, refusal);
    if (memory == nullptr) {
      return refuse(refusal.code, refusal.why);
    }
    return new Heap(*this, *desc, std::move(memory));
  });
}

HRESULT STDMETHODCALLTYPE Device::CreateHeap1(const D3D12_HEAP_DESC* desc, ID3D12ProtectedResourceSession* session,
                                              REFIID riid, void** out) noexcept {
  return session != nullptr ? not_built("CreateHeap1 with a protected session", out) : CreateHeap(desc, riid, out);
}

HRESULT STDMETHODCALLTYPE Device::CreatePlacedResource(ID3D12Heap* heap, UINT64 offset, const D3D12_RESOURCE_DESC* desc,
                                                       D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                       REFIID riid, void** out) noexcept {
  return create("CreatePlacedResource", riid, out, [&](const auto& refuse) -> Resource* {
    const auto* known = own<Heap>(heap, *core_);
    if (known == nullptr || desc == nullptr) {
      return refuse(E_INVALIDARG, known == nullptr ? "pHeap is null or another device's; expected a heap of this device"
                                                   : "pDesc is null");
    }
    for (const Refusal& refusal :
         {check_buffer(*desc), check_placement(known->desc().Properties, *desc, state, clear)}) {
      if (FAILED(refusal.code)) {
        return refuse(refusal.code, refusal.why);
      }
    }
    if (offset % kPlacement != 0) {
      return refuse(E_INVALIDARG, format_text("HeapOffset is {}; expected a multiple of 65536", offset));
    }
    const std::uint64_t heap_bytes = known->desc().SizeInBytes;
    if (offset > heap_bytes || desc->Width > heap_bytes - offset) {
      return refuse(E_INVALIDARG, format_text("{} bytes from HeapOffset {} do not lie in a heap{} of {} bytes",
                                              desc->Width, offset, known->quoted_name(), heap_bytes));
    }
    return new Resource(*this, *desc, known->desc().Properties, known->desc().Flags, known->memory(), offset);
  });
}

HRESULT STDMETHODCALLTYPE Device::CreatePlacedResource1(ID3D12Heap* heap, UINT64 offset,
                                                        const D3D12_RESOURCE_DESC1* desc, D3D12_RESOURCE_STATES state,
                                                        const D3D12_CLEAR_VALUE* clear, REFIID riid,
                                                        void** out) noexcept {
  const D3D12_RESOURCE_DESC plain = desc != nullptr ? without_feedback(*desc) : D3D12_RESOURCE_DESC{};
  return CreatePlacedResource(heap, offset, desc != nullptr ? &plain : nullptr, state, clear, riid, out);
}

void STDMETHODCALLTYPE Device::GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count,
                                                     UINT64 base, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                                                     UINT* rows, UINT64* row_bytes, UINT64* total) noexcept {
  // A buffer is one subresource of one row. Anything else has no footprint, which D3D12 expresses by setting all bits.
  const bool good = desc != nullptr && is_buffer(*desc) && first == 0 && count == 1 && desc->Width <= UINT32_MAX;
  if (layouts != nullptr && count != 0) {
    layouts[0] = good ? D3D12_PLACED_SUBRESOURCE_FOOTPRINT{base,
                                                           {DXGI_FORMAT_UNKNOWN, static_cast<UINT>(desc->Width), 1, 1,
                                                            (static_cast<UINT>(desc->Width) + 255U) & ~255U}}
                      : D3D12_PLACED_SUBRESOURCE_FOOTPRINT{UINT64_MAX, {}};
  }
  if (rows != nullptr && count != 0) {
    rows[0] = good ? 1 : UINT32_MAX;
  }
  if (row_bytes != nullptr && count != 0) {
    row_bytes[0] = good ? desc->Width : UINT64_MAX;
  }
  if (total != nullptr) {
    *total = good ? desc->Width : UINT64_MAX;
  }
}

void STDMETHODCALLTYPE Device::GetCopyableFootprints1(const D3D12_RESOURCE_DESC1* desc, UINT first, UINT count,
                                                      UINT64 base, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                                                      UINT* rows, UINT64* row_bytes, UINT64* total) noexcept {
  const D3D12_RESOURCE_DESC plain = desc != nullptr ? without_feedback(*desc) : D3D12_RESOURCE_DESC{};
  GetCopyableFootprints(desc != nullptr ? &plain : nullptr, first, count, base, layouts, rows, row_bytes, total);
}

}  // namespace anydml
