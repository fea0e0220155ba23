// SPDX-License-Identifier: MIT
#include "d3d12/device.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "com/adapter_identity.h"
#include "d3d12/command_list.h"
#include "d3d12/debug/tracker.h"
#include "d3d12/descriptor_heap.h"
#include "d3d12/device_frames.h"
#include "d3d12/fence.h"
#include "d3d12/queue.h"
#include "text/format.h"

namespace anydml {
namespace {

// The live devices, indexed by adapter. The pointers are not owning: a device removes itself when its last reference is
// released.
constinit std::mutex g_devices_mutex;
constinit std::vector<Device*>* g_devices = nullptr;

bool is_list_type(D3D12_COMMAND_LIST_TYPE type) {
  return type == D3D12_COMMAND_LIST_TYPE_DIRECT || type == D3D12_COMMAND_LIST_TYPE_COMPUTE ||
         type == D3D12_COMMAND_LIST_TYPE_COPY;
}

std::string wrong_list_type(D3D12_COMMAND_LIST_TYPE type) {
  return format_text("the type is {}; expected DIRECT (0), COMPUTE (2) or COPY (3)", static_cast<int>(type));
}

}  // namespace

std::string check_node_mask(const char* name, UINT mask) {
  return mask <= 1 ? "" : format_text("{} is {:#x}; expected 0 or 1, since an adapter has one node", name, mask);
}

ID3D12Device* device_interface(Device& device) noexcept { return &device; }
const std::shared_ptr<DeviceCore>& device_core(Device& device) noexcept { return device.shared_core(); }

Result<Device*> Device::of_adapter(std::uint32_t index) {
  const CoreTable* core = anydml_private_core();
  const std::scoped_lock lock(g_devices_mutex);
  if (g_devices == nullptr) {
    const std::uint32_t count = core->device_count();
    if (count == 0) {
      return Error{ErrorKind::device, "D3D12CreateDevice: no device could be opened; see the previous message"};
    }
    g_devices = new std::vector<Device*>(count);  // never freed
  }
  if (index >= g_devices->size()) {
    return Error{ErrorKind::invalid_argument, format_text("D3D12CreateDevice: adapter {} does not exist", index)};
  }
  Device*& known = (*g_devices)[index];
  // A removed device is never returned to new callers.
  if (known != nullptr && !known->core().removed() && known->try_add_reference()) {
    return known;
  }
  known = new Device(std::make_shared<DeviceCore>(index, *core, *core->device(index)));
  return known;
}

Device::Device(std::shared_ptr<DeviceCore> core) : core_(std::move(core)) {
  if (core_->debugging()) {
    enable_debug();
  }
}

void Device::enable_debug() noexcept {
  core_->enable_debug();
  std::call_once(registered_, [this] {
    const Object& base = *this;
    static_cast<void>(core_->live_objects().add(live_object<ID3D12Device9>(base)));
  });
}

Device::~Device() {
  const Object& base = *this;
  core_->live_objects().remove(&base);
  core_->messages().unregister_all();  // later messages from work in flight go to the log
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
        E_NOTIMPL,
        format_text("ID3D12Device::{} is not implemented: this device supports buffers and DirectML's operators, "
                    "but not textures, shaders, shader caches, or sharing between processes",
                    method));
  });
}

HRESULT STDMETHODCALLTYPE Device::ShaderCacheControl(D3D12_SHADER_CACHE_KIND_FLAGS,
                                                     D3D12_SHADER_CACHE_CONTROL_FLAGS control) noexcept {
  constexpr unsigned kKnown = D3D12_SHADER_CACHE_CONTROL_FLAG_DISABLE | D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE |
                              D3D12_SHADER_CACHE_CONTROL_FLAG_CLEAR;
  const auto asked = static_cast<unsigned>(control);
  if (asked == 0 || (asked & ~kKnown) != 0) {
    return wrong("ShaderCacheControl", "Control is not a combination of DISABLE (1), ENABLE (2) and CLEAR (4)");
  }
  // This device has no shader cache, so disabling or clearing it always succeeds and enabling it fails.
  return (asked & D3D12_SHADER_CACHE_CONTROL_FLAG_ENABLE) != 0 ? not_built("ShaderCacheControl with ENABLE") : S_OK;
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
    try {
      return new CommandQueue(*this, *desc);
    } catch (const std::system_error& failure) {
      return refuse(E_OUTOFMEMORY, format_text("the queue's thread could not be started: {}", failure.what()));
    } catch (const std::runtime_error& failure) {
      return refuse(E_FAIL, format_text("the device could not create a queue: {}", failure.what()));
    }
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
      return refuse(E_INVALIDARG, "pInitialState is not null; expected null, since pipeline states are not supported");
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
    const HRESULT result = check_feature(*core_->device().info, feature, data, size, what);
    return FAILED(result) ? core_->answer(result, "ID3D12Device::CheckFeatureSupport: " + what) : result;
  });
}

// Memory is always resident, so these check their arguments and do nothing.
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
      return wrong(kMethod, "the number of fences is 0, or an array is null; expected fences and a value for each");
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
        if (DebugTracker* tracker = core_->tracker(); tracker != nullptr) {
          tracker->host_waited(*fence, value);
        }
      }
      return core_->removed() ? kDeviceRemoved : S_OK;
    }
    const auto known = event == nullptr ? make_event() : find_event(event);
    if (known == nullptr) {
      return no_event("ID3D12Device::SetEventOnMultipleFenceCompletion", *core_, event);
    }
    const auto target = std::make_shared<EventTarget>(known, any ? 1 : count);
    for (const auto& [fence, value] : waits) {
      if (DebugTracker* tracker = core_->tracker(); tracker != nullptr) {
        tracker->host_expects(fence, value);
      }
      fence->notify(value, target);
    }
    if (event == nullptr) {
      known->wait();
      return core_->removed() ? kDeviceRemoved : S_OK;
    }
    return S_OK;
  });
}

void STDMETHODCALLTYPE Device::RemoveDevice() noexcept {
  core_->remove(kDeviceRemoved, "ID3D12Device5::RemoveDevice: the application removed the device");
}

HRESULT STDMETHODCALLTYPE Device::CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID riid, void** out) noexcept {
  return create("CreateQueryHeap", riid, out, [&](const auto& refuse) -> QueryHeap* {
    constexpr UINT kMax = 1U << 24;
    if (desc == nullptr) {
      return refuse(E_INVALIDARG, "pDesc is null; expected a D3D12_QUERY_HEAP_DESC");
    }
    if (desc->Type != D3D12_QUERY_HEAP_TYPE_TIMESTAMP) {
      return refuse(E_NOTIMPL,
                    format_text("Type is {}; TIMESTAMP (1) is the only kind supported", static_cast<int>(desc->Type)));
    }
    if (desc->Count == 0 || desc->Count > kMax) {
      return refuse(E_INVALIDARG, format_text("Count is {}; expected 1 to {}", desc->Count, kMax));
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
  // Nothing is processed in the background, so every mode is accepted, and the call never has to wait.
  if (further != nullptr) {
    *further = FALSE;
  }
  return com_boundary("SetBackgroundProcessingMode", [&]() -> HRESULT {
    if (event != nullptr) {
      const auto known = find_event(event);
      if (known == nullptr) {
        return no_event("ID3D12Device::SetBackgroundProcessingMode", *core_, event, "hEventToSignalUponCompletion",
                        "for none");
      }
      known->set();
    }
    return S_OK;
  });
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
    MessageStore& messages = core_->messages();
    if (messages.add({.category = category, .severity = severity, .id = id, .text = text}) !=
        MessageStore::Fate::denied) {
      messages.break_if_asked(category, severity, id);
    }
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Device::RegisterMessageCallback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags,
                                                          void* context, DWORD* cookie) noexcept {
  return com_boundary("ID3D12InfoQueue1::RegisterMessageCallback",
                      [&] { return core_->messages().register_callback(function, flags, context, cookie); });
}

HRESULT STDMETHODCALLTYPE Device::ReportLiveDeviceObjects(D3D12_RLDO_FLAGS flags) noexcept {
  return com_boundary("ID3D12DebugDevice::ReportLiveDeviceObjects", [&] {
    enable_debug();  // the device itself is in the report even if it was created before the debug layer was enabled
    const auto lines = core_->live_objects().list();
    const auto tell = [this](D3D12_MESSAGE_ID id, D3D12_MESSAGE_SEVERITY severity, const std::string& text) {
      core_->tell({.id = id, .category = D3D12_MESSAGE_CATEGORY_STATE_CREATION, .severity = severity}, text.c_str());
    };
    const bool only_summary = (flags & (D3D12_RLDO_SUMMARY | D3D12_RLDO_DETAIL)) == D3D12_RLDO_SUMMARY;
    for (const auto& line : lines) {
      if (!only_summary) {
        tell(line.id, D3D12_MESSAGE_SEVERITY_WARNING, line.text);
      }
    }
    tell(D3D12_MESSAGE_ID_LIVE_OBJECT_SUMMARY, D3D12_MESSAGE_SEVERITY_INFO, summary_of(lines));
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Device::SetFeatureMask(D3D12_DEBUG_FEATURE mask) noexcept {
  feature_mask_ = mask;
  return S_OK;
}

}  // namespace anydml
