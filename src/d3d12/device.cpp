// SPDX-License-Identifier: MIT
#include "d3d12/device.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <vector>

#include "base/checked.h"
#include "com/adapter_identity.h"
#include "d3d12/command_list.h"
#include "d3d12/descriptor_heap.h"
#include "d3d12/fence.h"
#include "d3d12/queue.h"
#include "d3d12/resource.h"
#include "text/format.h"

namespace anydml {
namespace {

// The devices that live, by adapter. Owned by their references; a device leaves when its last one goes.
constinit std::mutex g_devices_mutex;
constinit std::vector<Device*>* g_devices = nullptr;

constexpr std::uint64_t kPlacement = D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT;
static_assert(kPlacement == kBufferAlignment);

bool is_list_type(D3D12_COMMAND_LIST_TYPE type) {
  return type == D3D12_COMMAND_LIST_TYPE_DIRECT || type == D3D12_COMMAND_LIST_TYPE_COMPUTE ||
         type == D3D12_COMMAND_LIST_TYPE_COPY;
}

std::string wrong_list_type(D3D12_COMMAND_LIST_TYPE type) {
  return format_text("the type is {}; expected DIRECT (0), COMPUTE (2) or COPY (3)", static_cast<int>(type));
}

std::string check_node_mask(const char* name, UINT mask) {
  return mask <= 1 ? "" : format_text("{} is {:#x}; expected 0 or 1, since there is one node", name, mask);
}

std::string check_heap_properties(const D3D12_HEAP_PROPERTIES& properties) {
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
        return "CPUPageProperty or MemoryPoolPreference is given; expected UNKNOWN unless the heap type is CUSTOM";
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
      if (properties.MemoryPoolPreference != D3D12_MEMORY_POOL_L0) {
        return format_text(
            "MemoryPoolPreference is {}; expected L0 (1), the one pool of an adapter with unified memory",
            static_cast<int>(properties.MemoryPoolPreference));
      }
      return {};
    default:
      return format_text("the heap type is {}; expected DEFAULT (1), UPLOAD (2), READBACK (3) or CUSTOM (4)",
                         static_cast<int>(properties.Type));
  }
}

// E_NOTIMPL for what D3D12 has and this device has not, E_INVALIDARG for what nobody has.
struct Refusal {
  HRESULT code = S_OK;
  std::string why;
};

Refusal check_buffer(const D3D12_RESOURCE_DESC& desc) {
  if (desc.Dimension >= D3D12_RESOURCE_DIMENSION_TEXTURE1D && desc.Dimension <= D3D12_RESOURCE_DIMENSION_TEXTURE3D) {
    return {E_NOTIMPL, "Dimension is a texture's; this device has buffers only"};
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
    return {E_INVALIDARG, "pOptimizedClearValue is given; expected null for a buffer"};
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

// check_buffer without the words, for methods that have nobody to say them to.
bool is_buffer(const D3D12_RESOURCE_DESC& desc) noexcept {
  try {
    return SUCCEEDED(check_buffer(desc).code);
  } catch (...) {  // there was something to say, and no memory for it
    return false;
  }
}

D3D12_RESOURCE_ALLOCATION_INFO allocation_of(const D3D12_RESOURCE_DESC& desc) {
  if (!is_buffer(desc) || desc.Width > UINT64_MAX - kPlacement) {
    return {UINT64_MAX, kPlacement};  // how D3D12 says that there is no such resource
  }
  return {(desc.Width + kPlacement - 1) / kPlacement * kPlacement, kPlacement};
}

// Adds the sizes up; each is a multiple of the alignment already.
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

// Closed at the end unless taken (-1).
struct Descriptors {
  int first;
  int second;
  ~Descriptors() {
    for (const int descriptor : {first, second}) {
      if (descriptor >= 0) {
        close(descriptor);
      }
    }
  }
};

// Of one element of a typed view: 0 for a format that no buffer view has here.
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

ID3D12Device* device_interface(Device& device) noexcept { return &device; }
const std::shared_ptr<DeviceCore>& device_core(Device& device) noexcept { return device.shared_core(); }

Result<Device*> Device::of_adapter(std::uint32_t index) {
  const CoreTable* core = anydml_private_core();
  if (core->version != kCoreVersion) {
    return Error{ErrorKind::device, "D3D12CreateDevice: libanydml is of another version than libd3d12"};
  }
  const std::scoped_lock lock(g_devices_mutex);
  if (g_devices == nullptr) {
    const std::uint32_t count = core->device_count();
    if (count == 0) {
      return Error{ErrorKind::device, "D3D12CreateDevice: there is no device; see the message before this one"};
    }
    g_devices = new std::vector<Device*>(count);  // for the life of the process
  }
  if (index >= g_devices->size()) {
    return Error{ErrorKind::invalid_argument, format_text("D3D12CreateDevice: there is no adapter {}", index)};
  }
  Device*& known = (*g_devices)[index];
  // A removed device serves those who have it and nobody else.
  if (known != nullptr && !known->core().removed() && known->try_add_reference()) {
    return known;
  }
  known = new Device(std::make_shared<DeviceCore>(index, *core, *core->device(index)));
  return known;
}

Device::~Device() {
  const std::scoped_lock lock(g_devices_mutex);
  Device*& known = (*g_devices)[core_->adapter_index()];
  if (known == this) {
    known = nullptr;
  }
}

bool Device::has_interface(REFIID riid) const noexcept {
  const bool is_debug = Interfaces<ID3D12InfoQueue1, ID3D12InfoQueue>::contains(riid) ||
                        Interfaces<ID3D12DebugDevice2, ID3D12DebugDevice>::contains(riid);
  return !is_debug || core_->debug();
}

HRESULT Device::wrong(const char* method, const char* what) noexcept {
  return com_boundary(method,
                      [&] { return core_->fail(E_INVALIDARG, format_text("ID3D12Device::{}: {}", method, what)); });
}

HRESULT Device::not_built(const char* method, void** out) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  return com_boundary(method, [&] {
    return core_->fail(
        E_NOTIMPL, format_text("ID3D12Device::{} is not built here: this device has buffers and DirectML's operators, "
                               "and nothing of textures, shaders, their caches, or sharing between processes",
                               method));
  });
}

template <class Body>
HRESULT Device::create(const char* method, REFIID riid, void** out, const Body& body) noexcept {
  if (out != nullptr) {
    *out = nullptr;
  }
  if (core_->removed()) {
    return kDeviceRemoved;
  }
  const HRESULT result = com_boundary(method, [&]() -> HRESULT {
    Refusal refusal;
    const auto refuse = [&refusal](HRESULT code, std::string why) {
      refusal = {code, std::move(why)};
      return nullptr;
    };
    auto* made = body(refuse);
    if (made == nullptr) {
      return core_->fail(refusal.code, format_text("ID3D12Device::{}: {}", method, refusal.why));
    }
    if (out == nullptr) {  // the caller only asks whether it could be
      made->Release();
      return S_FALSE;
    }
    const HRESULT handed = hand_out(made, riid, out);
    return FAILED(handed) ? core_->fail(handed, format_text("ID3D12Device::{}: riid names an interface that the object "
                                                            "does not have",
                                                            method))
                          : handed;
  });
  return result;
}

// Null when the device has not so much; the caller then refuses by why_no_memory.
std::shared_ptr<Memory> Device::allocate(const D3D12_HEAP_PROPERTIES& properties, std::uint64_t bytes) const {
  try {
    return std::make_shared<Memory>(core_->device(), memory_kind(properties), bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::string Device::why_no_memory(const char* field, std::uint64_t bytes) const {
  return format_text(
      "{} is {}; there is no memory for it: the machine, or the control group of this process, has {} "
      "bytes in all",
      field, bytes, core_->device().info->memory_bytes);
}

HRESULT STDMETHODCALLTYPE Device::CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID riid,
                                                     void** out) noexcept {
  return create("CreateCommandQueue", riid, out, [&](const auto& refuse) -> CommandQueue* {
    if (desc == nullptr) {
      return refuse(E_INVALIDARG, "pDesc is null; expected a D3D12_COMMAND_QUEUE_DESC");
    }
    if (!is_list_type(desc->Type)) {
      return refuse(E_INVALIDARG, wrong_list_type(desc->Type));
    }
    if (std::string why = check_node_mask("NodeMask", desc->NodeMask); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    constexpr unsigned kKnownFlags = 3;  // DISABLE_GPU_TIMEOUT; ALLOW_DYNAMIC_PRIORITY is newer than Debian's header
    if ((static_cast<unsigned>(desc->Flags) & ~kKnownFlags) != 0) {
      return refuse(E_INVALIDARG, format_text("Flags is {:#x}; expected NONE or DISABLE_GPU_TIMEOUT (1)",
                                              static_cast<unsigned>(desc->Flags)));
    }
    return new CommandQueue(*this, *desc);
  });
}

HRESULT STDMETHODCALLTYPE Device::CreateCommandQueue1(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID, REFIID riid,
                                                      void** out) noexcept {
  return CreateCommandQueue(desc, riid, out);
}

HRESULT STDMETHODCALLTYPE Device::CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE type, REFIID riid,
                                                         void** out) noexcept {
  return create("CreateCommandAllocator", riid, out, [&](const auto& refuse) -> CommandAllocator* {
    if (!is_list_type(type)) {
      return refuse(E_INVALIDARG, wrong_list_type(type));
    }
    return new CommandAllocator(*this, type);
  });
}

HRESULT STDMETHODCALLTYPE Device::CreateCommandList(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                                    ID3D12CommandAllocator* allocator, ID3D12PipelineState* state,
                                                    REFIID riid, void** out) noexcept {
  return create("CreateCommandList", riid, out, [&](const auto& refuse) -> GraphicsCommandList* {
    if (std::string why = check_node_mask("nodeMask", node_mask); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    if (!is_list_type(type)) {
      return refuse(E_INVALIDARG, wrong_list_type(type));
    }
    if (state != nullptr) {
      return refuse(E_INVALIDARG, "pInitialState is given; expected null, since there are no pipeline states here");
    }
    auto list = ComPtr<GraphicsCommandList>::adopt(new GraphicsCommandList(*this, type));
    if (std::string why = list->open(allocator); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    list->AddRef();
    return list.get();
  });
}

HRESULT STDMETHODCALLTYPE Device::CreateCommandList1(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                                     D3D12_COMMAND_LIST_FLAGS flags, REFIID riid, void** out) noexcept {
  return create("CreateCommandList1", riid, out, [&](const auto& refuse) -> GraphicsCommandList* {
    if (std::string why = check_node_mask("nodeMask", node_mask); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    if (!is_list_type(type)) {
      return refuse(E_INVALIDARG, wrong_list_type(type));
    }
    if (flags != D3D12_COMMAND_LIST_FLAG_NONE) {
      return refuse(E_INVALIDARG, format_text("flags is {:#x}; expected NONE", static_cast<unsigned>(flags)));
    }
    return new GraphicsCommandList(*this, type);
  });
}

HRESULT STDMETHODCALLTYPE Device::CheckFeatureSupport(D3D12_FEATURE feature, void* data, UINT size) noexcept {
  return com_boundary("CheckFeatureSupport", [&]() -> HRESULT {
    std::string what;
    const HRESULT result = check_feature(feature, data, size, what);
    return FAILED(result) ? core_->fail(result, "ID3D12Device::CheckFeatureSupport: " + what) : result;
  });
}

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

// The frame of a method that returns nothing: without memory to do what it must, the device cannot go on.
template <class Body>
void Device::remove_on_failure(const char* method, const Body& body) noexcept {
  if (const HRESULT result = com_boundary(method, body); FAILED(result)) {
    core_->remove(result, "ID3D12Device: an allocation failed in a method that returns nothing; the device is removed");
  }
}

void Device::write_view(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE at, const Descriptor& view) noexcept {
  if (!write_descriptors(at, &view, 1)) {
    remove_on_failure(method, [&]() -> HRESULT {
      core_->remove(E_INVALIDARG, format_text("ID3D12Device::{}: DestDescriptor lies in no descriptor heap of this "
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
    view = {
        .buffer = 0, .offset = 0, .bytes = desc->SizeInBytes, .kind = DescriptorKind::other_view, .element_bytes = 1};
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
            .element_bytes = 1};
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
    // Of the desc no more is read than its dimension says: newer headers have a larger one.
    if (desc == nullptr || desc->ViewDimension != D3D12_UAV_DIMENSION_BUFFER) {
      return misused("pDesc is null or not of a buffer; expected ViewDimension BUFFER (1)");
    }
    if (counter != nullptr) {
      return misused("pCounterResource is given; expected null");
    }
    if (!buffer->allows_unordered_access()) {
      return misused(format_text("pResource{} was made without ALLOW_UNORDERED_ACCESS", buffer->quoted_name()));
    }
    const bool raw = (desc->Buffer.Flags & D3D12_BUFFER_UAV_FLAG_RAW) != 0;
    if (raw && desc->Format != DXGI_FORMAT_R32_TYPELESS) {
      return misused(
          format_text("Format is {}; expected R32_TYPELESS (39) for a RAW view", static_cast<int>(desc->Format)));
    }
    const std::uint32_t element =
        desc->Buffer.StructureByteStride != 0 ? desc->Buffer.StructureByteStride : format_bytes(desc->Format);
    if (element == 0) {
      return misused(format_text("Format is {}; expected R32_TYPELESS (39) with the RAW flag, or a format of buffers",
                                 static_cast<int>(desc->Format)));
    }
    const auto offset = checked_multiply(static_cast<std::int64_t>(desc->Buffer.FirstElement & INT64_MAX),
                                         static_cast<std::int64_t>(element));
    const std::uint64_t bytes = std::uint64_t{desc->Buffer.NumElements} * element;
    if (!offset || desc->Buffer.FirstElement > INT64_MAX || static_cast<std::uint64_t>(*offset) > buffer->bytes() ||
        bytes > buffer->bytes() - static_cast<std::uint64_t>(*offset)) {
      return misused(format_text("{} elements of {} bytes from element {} do not lie in a buffer of {} bytes",
                                 desc->Buffer.NumElements, element, desc->Buffer.FirstElement, buffer->bytes()));
    }
    write_view(kMethod, at,
               {.buffer = buffer->number(),
                .offset = static_cast<std::uint64_t>(*offset),
                .bytes = bytes,
                .kind = raw ? DescriptorKind::raw_view : DescriptorKind::typed_view,
                .element_bytes = element});
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
    // All sources are read before anything is written: ranges of one heap may overlap only by mistake, and then at
    // least the result does not depend on the order.
    std::vector<Descriptor> read;
    for (UINT i = 0; i < from_count; ++i) {
      const UINT size = from_sizes != nullptr ? from_sizes[i] : 1;
      const DescriptorPlace place = core_->find_descriptors(from[i], size);
      if (!place || place.heap->type != type) {
        return misused(format_text("source range {} lies in no descriptor heap of this type and device", i));
      }
      read.insert(read.end(), place.get(), place.get() + size);
    }
    std::size_t done = 0;
    for (UINT i = 0; i < to_count; ++i) {
      const UINT size = to_sizes != nullptr ? to_sizes[i] : 1;
      const DescriptorPlace place = core_->find_descriptors(to[i], size);
      if (!place || place.heap->type != type) {
        return misused(format_text("destination range {} lies in no descriptor heap of this type and device", i));
      }
      if (size > read.size() - done) {
        return misused("the destinations hold more descriptors than the sources; expected as many");
      }
      std::copy_n(read.begin() + static_cast<std::ptrdiff_t>(done), size, place.get());
      done += size;
    }
    return done == read.size() ? S_OK
                               : misused("the sources hold more descriptors than the destinations; expected as many");
  });
}

void STDMETHODCALLTYPE Device::CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE to,
                                                     D3D12_CPU_DESCRIPTOR_HANDLE from,
                                                     D3D12_DESCRIPTOR_HEAP_TYPE type) noexcept {
  CopyDescriptors(1, &to, &count, 1, &from, &count, type);
}

bool Device::contains_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                                  std::uint32_t count) noexcept {
  const auto good = [](const DescriptorPlace& place) {
    return place && place.heap->type == D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV;
  };
  return (cpu.ptr == 0 || good(core_->find_descriptors(cpu, count))) &&
         (gpu.ptr == 0 || good(core_->find_descriptors(gpu, count)));
}

bool Device::write_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                               std::uint32_t count) noexcept {
  const DescriptorPlace place = core_->find_descriptors(first, count);
  if (!place) {
    return false;
  }
  std::copy_n(descriptors, count, place.get());
  return true;
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

// Of unified, cache-coherent memory: one pool, and pages that the CPU caches where it reaches them.
D3D12_HEAP_PROPERTIES STDMETHODCALLTYPE Device::GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) noexcept {
  const bool reached = type == D3D12_HEAP_TYPE_UPLOAD || type == D3D12_HEAP_TYPE_READBACK;
  return {D3D12_HEAP_TYPE_CUSTOM, reached ? D3D12_CPU_PAGE_PROPERTY_WRITE_BACK : D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE,
          D3D12_MEMORY_POOL_L0, 1, 1};
}

HRESULT STDMETHODCALLTYPE Device::CreateCommittedResource(const D3D12_HEAP_PROPERTIES* properties,
                                                          D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC* desc,
                                                          D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                          REFIID riid, void** out) noexcept {
  return create("CreateCommittedResource", riid, out, [&](const auto& refuse) -> Resource* {
    if (properties == nullptr || desc == nullptr) {
      return refuse(E_INVALIDARG, format_text("{} is null", properties == nullptr ? "pHeapProperties" : "pDesc"));
    }
    if (std::string why = check_heap_properties(*properties); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    for (const Refusal& refusal : {check_buffer(*desc), check_placement(*properties, *desc, state, clear)}) {
      if (FAILED(refusal.code)) {
        return refuse(refusal.code, refusal.why);
      }
    }
    // Asked only whether it could be, nothing of that size is tried out.
    auto memory = allocate(*properties, out == nullptr ? 1 : desc->Width);
    if (memory == nullptr) {
      return refuse(E_OUTOFMEMORY, why_no_memory("Width", desc->Width));
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
      return refuse(E_INVALIDARG, "SizeInBytes is 0; expected more");
    }
    if (desc->Alignment != 0 && desc->Alignment != kPlacement &&
        desc->Alignment != D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT) {
      return refuse(E_INVALIDARG, format_text("Alignment is {}; expected 0, 65536 or 4194304", desc->Alignment));
    }
    if (std::string why = check_heap_properties(desc->Properties); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    if ((desc->Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0) {
      return refuse(E_NOTIMPL, "Flags denies buffers; this device has nothing else to place in a heap");
    }
    auto memory = allocate(desc->Properties, out == nullptr ? 1 : desc->SizeInBytes);
    if (memory == nullptr) {
      return refuse(E_OUTOFMEMORY, why_no_memory("SizeInBytes", desc->SizeInBytes));
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
      return refuse(E_INVALIDARG, format_text("{} bytes from HeapOffset {} do not lie in a heap of {} bytes",
                                              desc->Width, offset, heap_bytes));
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

// Memory is resident always: these check what they are given and do nothing.
HRESULT Device::check_residents(const char* method, UINT count, ID3D12Pageable* const* objects) noexcept {
  if (core_->removed()) {
    return kDeviceRemoved;
  }
  for (UINT i = 0; i < count; ++i) {
    if (objects == nullptr || objects[i] == nullptr) {
      return wrong(method, "ppObjects or an entry of it is null; expected pageable objects");
    }
  }
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Device::MakeResident(UINT count, ID3D12Pageable* const* objects) noexcept {
  return check_residents("MakeResident", count, objects);
}

HRESULT STDMETHODCALLTYPE Device::Evict(UINT count, ID3D12Pageable* const* objects) noexcept {
  return check_residents("Evict", count, objects);
}

HRESULT STDMETHODCALLTYPE Device::EnqueueMakeResident(D3D12_RESIDENCY_FLAGS, UINT count, ID3D12Pageable* const* objects,
                                                      ID3D12Fence* fence, UINT64 value) noexcept {
  const HRESULT result = check_residents("EnqueueMakeResident", count, objects);
  if (FAILED(result)) {
    return result;
  }
  auto* known = own<Fence>(fence, *core_);
  return known == nullptr ? wrong("EnqueueMakeResident", "pFenceToSignal is null or another device's")
                          : known->Signal(value);
}

HRESULT STDMETHODCALLTYPE Device::SetResidencyPriority(UINT count, ID3D12Pageable* const* objects,
                                                       const D3D12_RESIDENCY_PRIORITY*) noexcept {
  return check_residents("SetResidencyPriority", count, objects);
}

HRESULT STDMETHODCALLTYPE Device::CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID riid, void** out) noexcept {
  return create("CreateFence", riid, out, [&](const auto& refuse) -> Fence* {
    if (flags != D3D12_FENCE_FLAG_NONE) {
      return refuse(E_NOTIMPL, format_text("Flags is {:#x}; expected NONE, since fences are not shared between "
                                           "processes here",
                                           static_cast<unsigned>(flags)));
    }
    return new Fence(*this, value, flags);
  });
}

HRESULT STDMETHODCALLTYPE Device::SetEventOnMultipleFenceCompletion(ID3D12Fence* const* fences, const UINT64* values,
                                                                    UINT count, D3D12_MULTIPLE_FENCE_WAIT_FLAGS flags,
                                                                    HANDLE event) noexcept {
  constexpr const char* kMethod = "SetEventOnMultipleFenceCompletion";
  return com_boundary(kMethod, [&]() -> HRESULT {
    if (count == 0 || fences == nullptr || values == nullptr) {
      return wrong(kMethod, "there is no fence, or an array is null; expected fences and a value for each");
    }
    std::vector<std::pair<std::shared_ptr<FenceCore>, UINT64>> waits;
    for (UINT i = 0; i < count; ++i) {
      const auto* fence = own<Fence>(fences[i], *core_);
      if (fence == nullptr) {
        return wrong(kMethod, "an entry of ppFences is null or another device's; expected fences of this device");
      }
      waits.emplace_back(fence->fence(), values[i]);
    }
    const bool any = (flags & D3D12_MULTIPLE_FENCE_WAIT_FLAG_ANY) != 0;
    if (event == nullptr && !any) {
      for (const auto& [fence, value] : waits) {
        fence->wait(value);
      }
      return core_->removed() ? kDeviceRemoved : S_OK;
    }
    const int descriptor = event == nullptr ? eventfd(0, EFD_CLOEXEC) : duplicate_event(event);
    if (descriptor < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
      return core_->fail(E_OUTOFMEMORY, "ID3D12Device::SetEventOnMultipleFenceCompletion: no file descriptor is left");
    }
    if (descriptor < 0) {
      return wrong(kMethod, "hEvent is not the descriptor of an eventfd; expected one, or null to block");
    }
    // The target owns the descriptor; a thread that blocks watches another one of the same event.
    Descriptors held{.first = descriptor, .second = event == nullptr ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1};
    if (event == nullptr && held.second < 0) {
      return E_OUTOFMEMORY;
    }
    auto target = std::make_shared<EventTarget>(descriptor, any ? 1 : count);
    held.first = -1;
    for (const auto& [fence, value] : waits) {
      fence->notify(value, target);
    }
    if (event == nullptr) {
      pollfd ready{.fd = held.second, .events = POLLIN, .revents = 0};
      while (poll(&ready, 1, -1) < 0 && errno == EINTR) {
      }
      return core_->removed() ? kDeviceRemoved : S_OK;
    }
    return S_OK;
  });
}

void STDMETHODCALLTYPE Device::RemoveDevice() noexcept {
  core_->remove(kDeviceRemoved, "ID3D12Device5::RemoveDevice: the application removed the device");
}

void STDMETHODCALLTYPE Device::GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count,
                                                     UINT64 base, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                                                     UINT* rows, UINT64* row_bytes, UINT64* total) noexcept {
  // A buffer is one subresource of one row. Anything else has no footprint, which D3D12 says by all bits set.
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

HRESULT STDMETHODCALLTYPE Device::CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID riid, void** out) noexcept {
  return create("CreateQueryHeap", riid, out, [&](const auto& refuse) -> QueryHeap* {
    constexpr UINT kMost = 1U << 24;
    if (desc == nullptr) {
      return refuse(E_INVALIDARG, "pDesc is null; expected a D3D12_QUERY_HEAP_DESC");
    }
    if (desc->Type != D3D12_QUERY_HEAP_TYPE_TIMESTAMP) {
      return refuse(E_NOTIMPL,
                    format_text("Type is {}; TIMESTAMP (1) is the only kind here", static_cast<int>(desc->Type)));
    }
    if (desc->Count == 0 || desc->Count > kMost) {
      return refuse(E_INVALIDARG, format_text("Count is {}; expected 1 to {}", desc->Count, kMost));
    }
    if (std::string why = check_node_mask("NodeMask", desc->NodeMask); !why.empty()) {
      return refuse(E_INVALIDARG, why);
    }
    return new QueryHeap(*this, desc->Count);
  });
}

void STDMETHODCALLTYPE Device::GetResourceTiling(ID3D12Resource*, UINT* tiles, D3D12_PACKED_MIP_INFO* packed,
                                                 D3D12_TILE_SHAPE* shape, UINT* subresources, UINT,
                                                 D3D12_SUBRESOURCE_TILING*) noexcept {
  if (tiles != nullptr) {
    *tiles = 0;
  }
  if (packed != nullptr) {
    *packed = {};
  }
  if (shape != nullptr) {
    *shape = {};
  }
  if (subresources != nullptr) {
    *subresources = 0;
  }
}

LUID STDMETHODCALLTYPE Device::GetAdapterLuid() noexcept { return adapter_luid(core_->adapter_index()); }

HRESULT STDMETHODCALLTYPE Device::EnumerateMetaCommands(UINT* count, D3D12_META_COMMAND_DESC*) noexcept {
  if (count == nullptr) {
    return E_INVALIDARG;
  }
  *count = 0;
  return S_OK;
}

void STDMETHODCALLTYPE Device::GetRaytracingAccelerationStructurePrebuildInfo(
    const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS*,
    D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO* info) noexcept {
  if (info != nullptr) {
    *info = {};
  }
}

HRESULT STDMETHODCALLTYPE Device::SetBackgroundProcessingMode(D3D12_BACKGROUND_PROCESSING_MODE,
                                                              D3D12_MEASUREMENTS_ACTION, HANDLE event,
                                                              BOOL* further) noexcept {
  // Nothing is processed in the background, so every mode is kept and nothing is left to wait for.
  if (further != nullptr) {
    *further = FALSE;
  }
  if (event != nullptr) {
    const int descriptor = duplicate_event(event);
    if (descriptor < 0) {
      return wrong("SetBackgroundProcessingMode", "hEventToSignalUponCompletion is not an eventfd");
    }
    EventTarget(descriptor, 1).arrive();
  }
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Device::SetMessageCountLimit(UINT64 limit) noexcept {
  return core_->messages().set_limit(limit);
}

HRESULT Device::add_entries(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter) noexcept {
  return com_boundary("ID3D12InfoQueue", [&] { return core_->messages().add_filter_entries(stage, filter); });
}

HRESULT Device::push(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter, bool copy) noexcept {
  return com_boundary("ID3D12InfoQueue", [&] { return core_->messages().push_filter(stage, filter, copy); });
}

HRESULT STDMETHODCALLTYPE Device::AddMessage(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                                             D3D12_MESSAGE_ID id, LPCSTR text) noexcept {
  return com_boundary("ID3D12InfoQueue::AddMessage", [&]() -> HRESULT {
    if (text == nullptr) {
      return E_INVALIDARG;
    }
    core_->messages().add({.category = category, .severity = severity, .id = id, .text = text});
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Device::RegisterMessageCallback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags,
                                                          void* context, DWORD* cookie) noexcept {
  return com_boundary("ID3D12InfoQueue1::RegisterMessageCallback",
                      [&] { return core_->messages().register_callback(function, flags, context, cookie); });
}

HRESULT STDMETHODCALLTYPE Device::SetFeatureMask(D3D12_DEBUG_FEATURE mask) noexcept {
  feature_mask_ = mask;
  return S_OK;
}

}  // namespace anydml
