// SPDX-License-Identifier: MIT
// The device's descriptor methods: heaps, views, and copies.
#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "d3d12/descriptor_heap.h"
#include "d3d12/device_frames.h"
#include "d3d12/resource.h"

namespace anydml {
namespace {

// The size in bytes of a typed view's elements; 0 for a format that buffer views do not support here.
std::uint32_t format_bytes(DXGI_FORMAT format) {
  switch (format) {
    case DXGI_FORMAT_R32G32B32A32_FLOAT:
    case DXGI_FORMAT_R32G32B32A32_UINT:
    case DXGI_FORMAT_R32G32B32A32_SINT:
      return 16;
    case DXGI_FORMAT_R32G32_FLOAT:
    case DXGI_FORMAT_R32G32_UINT:
    case DXGI_FORMAT_R32G32_SINT:
      return 8;
    case DXGI_FORMAT_R32_TYPELESS:
    case DXGI_FORMAT_R32_FLOAT:
    case DXGI_FORMAT_R32_UINT:
    case DXGI_FORMAT_R32_SINT:
      return 4;
    case DXGI_FORMAT_R16_FLOAT:
    case DXGI_FORMAT_R16_UINT:
    case DXGI_FORMAT_R16_SINT:
      return 2;
    case DXGI_FORMAT_R8_UINT:
    case DXGI_FORMAT_R8_SINT:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

HRESULT STDMETHODCALLTYPE Device::CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc, REFIID riid,
                                                       void** out) noexcept {
  return create("CreateDescriptorHeap", riid, out, [&](const auto& refuse) -> DescriptorHeap* {
    if (desc == nullptr) {
      return refuse(E_INVALIDARG, "pDescriptorHeapDesc is null; expected a D3D12_DESCRIPTOR_HEAP_DESC");
    }
    if (desc->Type < D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV || desc->Type >= D3D12_DESCRIPTOR_HEAP_TYPE_NUM_TYPES) {
      return refuse(E_INVALIDARG, format_text("Type is {}; expected CBV_SRV_UAV (0)", static_cast<int>(desc->Type)));
    }
    if (desc->NumDescriptors == 0 || desc->NumDescriptors > D3D12_MAX_SHADER_VISIBLE_DESCRIPTOR_HEAP_SIZE_TIER_1) {
      return refuse(E_INVALIDARG, format_text("NumDescriptors is {}; expected 1 to {}", desc->NumDescriptors,
                                              D3D12_MAX_SHADER_VISIBLE_DESCRIPTOR_HEAP_SIZE_TIER_1));
    }
    if ((desc->Flags & ~D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE) != 0) {
      return refuse(E_INVALIDARG, format_text("Flags is {:#x}; expected NONE or SHADER_VISIBLE (1)",
                                              static_cast<unsigned>(desc->Flags)));
    }
    if (std::string why = check_node_mask("NodeMask", desc->NodeMask); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    return new DescriptorHeap(*this, *desc);
  });
}

void Device::write_view(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE at, const Descriptor& view) noexcept {
  if (!change_descriptors(method, at, &view, 1)) {
    remove_on_failure(method, [&]() -> HRESULT {
      core_->remove(E_INVALIDARG, format_text("ID3D12Device::{}: DestDescriptor is not in any descriptor heap of this "
                                              "device; the device is removed",
                                              method));
      return S_OK;
    });
  }
}

void Device::no_such_view(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  not_built(method);
  write_view(method, at, {});
}

void STDMETHODCALLTYPE Device::CreateConstantBufferView(const D3D12_CONSTANT_BUFFER_VIEW_DESC* desc,
                                                        D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  Descriptor view{};
  if (desc != nullptr) {
    view = {.buffer = 0, .offset = 0, .bytes = desc->SizeInBytes, .kind = DescriptorKind::other_view, .detail = 1};
  }
  write_view("CreateConstantBufferView", at, view);
}

void STDMETHODCALLTYPE Device::CreateShaderResourceView(ID3D12Resource* resource,
                                                        const D3D12_SHADER_RESOURCE_VIEW_DESC*,
                                                        D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  Descriptor view{};
  if (const auto* buffer = own<Resource>(resource, *core_); buffer != nullptr) {
    view = {.buffer = buffer->number(),
            .offset = 0,
            .bytes = buffer->bytes(),
            .kind = DescriptorKind::other_view,
            .detail = 1};
  }
  write_view("CreateShaderResourceView", at, view);
}

void STDMETHODCALLTYPE Device::CreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter,
                                                         const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                                                         D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  constexpr const char* kMethod = "CreateUnorderedAccessView";
  remove_on_failure(kMethod, [&]() -> HRESULT {
    const auto misused = [&](const std::string& what) -> HRESULT {
      core_->remove(E_INVALIDARG, format_text("ID3D12Device::{}: {}; the device is removed", kMethod, what));
      return S_OK;
    };
    if (resource == nullptr) {  // an empty view
      write_view(kMethod, at, {});
      return S_OK;
    }
    const auto* buffer = own<Resource>(resource, *core_);
    if (buffer == nullptr) {
      return misused("pResource is another device's; expected a buffer of this device");
    }
    // Unless the dimension is BUFFER, nothing after it is read, because the struct is larger in newer headers.
    if (desc == nullptr || desc->ViewDimension != D3D12_UAV_DIMENSION_BUFFER) {
      return misused("pDesc is null or not of a buffer; expected ViewDimension BUFFER (1)");
    }
    if (counter != nullptr) {
      return misused("pCounterResource is not null; expected null");
    }
    if (!buffer->allows_unordered_access()) {
      return misused(format_text("pResource{} was created without ALLOW_UNORDERED_ACCESS", buffer->quoted_name()));
    }
    const bool raw = (desc->Buffer.Flags & D3D12_BUFFER_UAV_FLAG_RAW) != 0;
    if (raw && desc->Format != DXGI_FORMAT_R32_TYPELESS) {
      return misused(
          format_text("Format is {}; expected R32_TYPELESS (39) for a RAW view", static_cast<int>(desc->Format)));
    }
    const std::uint32_t element =
        desc->Buffer.StructureByteStride != 0 ? desc->Buffer.StructureByteStride : format_bytes(desc->Format);
    if (element == 0) {
      return misused(format_text("Format is {}; expected R32_TYPELESS (39) with the RAW flag, or a buffer format",
                                 static_cast<int>(desc->Format)));
    }
    const auto offset = checked_multiply(static_cast<std::int64_t>(desc->Buffer.FirstElement & INT64_MAX),
                                         static_cast<std::int64_t>(element));
    const std::uint64_t bytes = std::uint64_t{desc->Buffer.NumElements} * element;
    if (!offset || desc->Buffer.FirstElement > INT64_MAX || static_cast<std::uint64_t>(*offset) > buffer->bytes() ||
        bytes > buffer->bytes() - static_cast<std::uint64_t>(*offset)) {
      return misused(format_text("{} elements of {} bytes from element {} do not lie in a buffer{} of {} bytes",
                                 desc->Buffer.NumElements, element, desc->Buffer.FirstElement, buffer->quoted_name(),
                                 buffer->bytes()));
    }
    write_view(kMethod, at,
               {.buffer = buffer->number(),
                .offset = static_cast<std::uint64_t>(*offset),
                .bytes = bytes,
                .kind = raw ? DescriptorKind::raw_view : DescriptorKind::typed_view,
                .detail = element});
    return S_OK;
  });
}

void STDMETHODCALLTYPE Device::CreateRenderTargetView(ID3D12Resource*, const D3D12_RENDER_TARGET_VIEW_DESC*,
                                                      D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  no_such_view("CreateRenderTargetView", at);
}

void STDMETHODCALLTYPE Device::CreateDepthStencilView(ID3D12Resource*, const D3D12_DEPTH_STENCIL_VIEW_DESC*,
                                                      D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  no_such_view("CreateDepthStencilView", at);
}

void STDMETHODCALLTYPE Device::CreateSampler(const D3D12_SAMPLER_DESC*, D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  no_such_view("CreateSampler", at);
}

void STDMETHODCALLTYPE Device::CreateSamplerFeedbackUnorderedAccessView(ID3D12Resource*, ID3D12Resource*,
                                                                        D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept {
  no_such_view("CreateSamplerFeedbackUnorderedAccessView", at);
}

void STDMETHODCALLTYPE Device::CopyDescriptors(UINT to_count, const D3D12_CPU_DESCRIPTOR_HANDLE* to,
                                               const UINT* to_sizes, UINT from_count,
                                               const D3D12_CPU_DESCRIPTOR_HANDLE* from, const UINT* from_sizes,
                                               D3D12_DESCRIPTOR_HEAP_TYPE type) noexcept {
  remove_on_failure("CopyDescriptors", [&]() -> HRESULT {
    const auto misused = [&](const std::string& what) -> HRESULT {
      core_->remove(E_INVALIDARG, format_text("ID3D12Device::CopyDescriptors: {}; the device is removed", what));
      return S_OK;
    };
    if ((to == nullptr && to_count != 0) || (from == nullptr && from_count != 0)) {
      return misused("an array of range starts is null");
    }
    // All sources are read before anything is written. Source and destination ranges overlap only by mistake, but even
    // in that case the result does not depend on the order of the copies.
    std::vector<Descriptor> read;
    for (UINT i = 0; i < from_count; ++i) {
      const UINT size = from_sizes != nullptr ? from_sizes[i] : 1;
      const DescriptorSlot slot = core_->find_descriptors(from[i], size);
      if (!slot || slot.heap->type != type) {
        return misused(format_text("source range {} is not in any descriptor heap of this type and device", i));
      }
      read.insert(read.end(), slot.get(), slot.get() + size);
    }
    std::size_t done = 0;
    for (UINT i = 0; i < to_count; ++i) {
      const UINT size = to_sizes != nullptr ? to_sizes[i] : 1;
      const DescriptorSlot slot = core_->find_descriptors(to[i], size);
      if (!slot || slot.heap->type != type) {
        return misused(format_text("destination range {} is not in any descriptor heap of this type and device", i));
      }
      if (size > read.size() - done) {
        return misused("the destinations have more descriptors than the sources; expected equal counts");
      }
      if (DebugTracker* tracker = core_->tracker(); tracker != nullptr) {
        tracker->change_descriptors(slot.heap.get(), slot.index, size, "ID3D12Device::CopyDescriptors");
      }
      std::copy_n(read.begin() + static_cast<std::ptrdiff_t>(done), size, slot.get());
      done += size;
    }
    return done == read.size()
               ? S_OK
               : misused("the sources have more descriptors than the destinations; expected equal counts");
  });
}

void STDMETHODCALLTYPE Device::CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE to,
                                                     D3D12_CPU_DESCRIPTOR_HANDLE from,
                                                     D3D12_DESCRIPTOR_HEAP_TYPE type) noexcept {
  CopyDescriptors(1, &to, &count, 1, &from, &count, type);
}

bool Device::contains_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                  std::uint32_t count) noexcept {
  const auto good = [](const DescriptorSlot& slot) {
    return slot && slot.heap->type == D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  };
  return (cpu.ptr == 0 || good(core_->find_descriptors(cpu, count))) &&
         (gpu.ptr == 0 || good(core_->find_descriptors(gpu, count)));
}

bool Device::write_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                               std::uint32_t count) noexcept {
  return change_descriptors("IDMLBindingTable", first, descriptors, count);
}

bool Device::change_descriptors(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                                std::uint32_t count) noexcept {
  const DescriptorSlot slot = core_->find_descriptors(first, count);
  if (!slot) {
    return false;
  }
  if (DebugTracker* tracker = core_->tracker(); tracker != nullptr) {
    com_boundary(method, [&]() -> HRESULT {
      const bool is_interface = std::string_view(method).starts_with("IDML");
      tracker->change_descriptors(slot.heap.get(), slot.index, count,
                                  is_interface ? method : std::string("ID3D12Device::") + method);
      return S_OK;
    });
  }
  std::copy_n(descriptors, count, slot.get());
  return true;
}

void Device::buffer_name(std::uint64_t buffer, char* text, std::size_t room) noexcept {
  text[0] = '\0';
  com_boundary("buffer_name", [&]() -> HRESULT {
    const std::string name = core_->buffer_name(buffer);
    text[name.copy(text, room - 1)] = '\0';
    return S_OK;
  });
}

void Device::dispatch_released(IBridgeDispatch* dispatch) noexcept {
  if (DebugTracker* tracker = core_->tracker(); tracker != nullptr) {
    com_boundary("Release", [&]() -> HRESULT {
      tracker->released({DebugObject::Kind::dispatch, reinterpret_cast<std::uintptr_t>(dispatch)},
                        [&] { return dispatch_label(*dispatch); });
      return S_OK;
    });
  }
}

}  // namespace anydml
