// SPDX-License-Identifier: MIT
// libdxcore.so exposes anydml's devices as DXCore adapters.
#include <anydml/anydml.h>
#include <wsl/winadapter.h>

#include <directx/dxcore.h>
#include <dxguids/dxguids.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "backend/core.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "com/adapter_identity.h"
#include "com/com_object.h"
#include "com/hresult.h"

namespace anydml {
namespace {

// The ids of attributes. The header declares the first two without defining them. The third, which clients ask for
// first, is newer than Debian's header.
constexpr GUID kGraphics = {0x0c9ece4d, 0x2f6e, 0x4f01, {0x8c, 0x96, 0xe8, 0x9e, 0x33, 0x1b, 0x47, 0xb1}};
constexpr GUID kCoreCompute = {0x248e2800, 0xa793, 0x4724, {0xab, 0xaa, 0x23, 0xa6, 0xde, 0x1b, 0xe0, 0x90}};
constexpr GUID kGenericMl = {0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};

class Adapter final : public ComObject<IDXCoreAdapter> {
 public:
  Adapter(std::uint32_t index, const BackendDeviceInfo& info, bool graphics)
      : luid_(adapter_luid(index)),
        index_(index),
        description_(info.description),
        memory_bytes_(info.memory_bytes),
        vendor_(info.vendor != 0 ? info.vendor : kAdapterVendor),
        product_(info.vendor != 0 ? info.product : index + 1),
        is_cpu_(info.threads != 0),
        graphics_(graphics) {}

  bool STDMETHODCALLTYPE IsValid() noexcept override { return true; }

  bool STDMETHODCALLTYPE IsAttributeSupported(REFGUID attribute) noexcept override {
    return same_guid(attribute, kGenericMl) || same_guid(attribute, kCoreCompute) ||
           (graphics_ && same_guid(attribute, kGraphics));
  }

  bool STDMETHODCALLTYPE IsPropertySupported(DXCoreAdapterProperty property) noexcept override {
    return with_property(property, [](const void*, std::size_t) { return S_OK; }) == S_OK;
  }

  HRESULT STDMETHODCALLTYPE GetProperty(DXCoreAdapterProperty property, size_t size, void* data) noexcept override {
    if (data == nullptr) {
      return E_POINTER;
    }
    return with_property(property, [&](const void* value, std::size_t needed) {
      if (size < needed) {
        return static_cast<HRESULT>(E_INVALIDARG);
      }
      std::memcpy(data, value, needed);
      return static_cast<HRESULT>(S_OK);
    });
  }

  HRESULT STDMETHODCALLTYPE GetPropertySize(DXCoreAdapterProperty property, size_t* size) noexcept override {
    if (size == nullptr) {
      return E_POINTER;
    }
    *size = 0;
    return with_property(property, [size](const void*, std::size_t needed) {
      *size = needed;
      return static_cast<HRESULT>(S_OK);
    });
  }

  bool STDMETHODCALLTYPE IsQueryStateSupported(DXCoreAdapterState state) noexcept override {
    return state == DXCoreAdapterState::IsDriverUpdateInProgress || state == DXCoreAdapterState::AdapterMemoryBudget;
  }

  HRESULT STDMETHODCALLTYPE QueryState(DXCoreAdapterState state, size_t input_size, const void* input,
                                       size_t output_size, void* output) noexcept override {
    return com_boundary("IDXCoreAdapter::QueryState", [&]() -> HRESULT {
      if (output == nullptr) {
        return E_POINTER;
      }
      if (state == DXCoreAdapterState::IsDriverUpdateInProgress) {
        if (output_size < sizeof(bool)) {
          return E_INVALIDARG;
        }
        *static_cast<bool*>(output) = false;
        return S_OK;
      }
      if (state != DXCoreAdapterState::AdapterMemoryBudget) {
        return kInvalidCall;
      }
      if (input == nullptr) {
        return E_POINTER;
      }
      DXCoreAdapterMemoryBudgetNodeSegmentGroup wanted{};
      if (input_size < sizeof(wanted) || output_size < sizeof(DXCoreAdapterMemoryBudget)) {
        return E_INVALIDARG;
      }
      std::memcpy(&wanted, input, sizeof(wanted));
      if (wanted.nodeIndex != 0 || wanted.segmentGroup > DXCoreSegmentGroup::NonLocal) {
        return E_INVALIDARG;
      }
      // An adapter reports only its own memory, as local memory. Non-local memory is the CPU's memory, and the CPU's
      // adapter reports it.
      DXCoreAdapterMemoryBudget budget{};
      if (wanted.segmentGroup == DXCoreSegmentGroup::Local) {
        budget.budget = is_cpu_ ? std::min(read_memory_state().available, memory_bytes_) : memory_bytes_;
        budget.availableForReservation = budget.budget / 2;
        const CoreDevice* device = anydml_private_core()->device(index_);
        budget.currentUsage = device->backend->buffer_bytes(device->handle);
      }
      std::memcpy(output, &budget, sizeof(budget));
      return S_OK;
    });
  }

  bool STDMETHODCALLTYPE IsSetStateSupported(DXCoreAdapterState) noexcept override { return false; }

  HRESULT STDMETHODCALLTYPE SetState(DXCoreAdapterState, size_t, const void*, size_t, const void*) noexcept override {
    return kUnsupported;
  }

  HRESULT STDMETHODCALLTYPE GetFactory(REFIID riid, void** factory) noexcept override;

  [[nodiscard]] const LUID& luid() const { return luid_; }

 private:
  // Calls use(address, size) with the value. Returns kInvalidCall for an unknown property, and kUnsupported for a known
  // property without a value.
  template <class Use>
  HRESULT with_property(DXCoreAdapterProperty property, Use use) const {
    const auto value = [&use](const auto& known) { return use(&known, sizeof(known)); };
    switch (property) {
      case DXCoreAdapterProperty::InstanceLuid:
        return value(luid_);
      case DXCoreAdapterProperty::DriverVersion:
        return value((std::uint64_t{ANYDML_VERSION_MAJOR} << 48) | (std::uint64_t{ANYDML_VERSION_MINOR} << 32) |
                     (std::uint64_t{ANYDML_VERSION_PATCH} << 16));
      case DXCoreAdapterProperty::DriverDescription:
        return use(description_.c_str(), description_.size() + 1);
      case DXCoreAdapterProperty::HardwareID:
        return value(DXCoreHardwareID{vendor_, product_, 0, 0});
      case DXCoreAdapterProperty::HardwareIDParts:
        return value(DXCoreHardwareIDParts{vendor_, product_, 0, 0, 0});
      case DXCoreAdapterProperty::DedicatedAdapterMemory:
        return value(is_cpu_ ? std::uint64_t{0} : memory_bytes_);
      case DXCoreAdapterProperty::DedicatedSystemMemory:
        return value(std::uint64_t{0});
      case DXCoreAdapterProperty::SharedSystemMemory:
        return value(is_cpu_ ? memory_bytes_ : std::uint64_t{0});
      case DXCoreAdapterProperty::AcgCompatible:
        return value(true);
      // Clients stop at the first adapter that claims to be software; this one is the machine's real processor.
      case DXCoreAdapterProperty::IsHardware:
        return value(true);
      case DXCoreAdapterProperty::IsIntegrated:
        return value(is_cpu_);
      case DXCoreAdapterProperty::IsDetachable:
        return value(false);
      case DXCoreAdapterProperty::KmdModelVersion:
      case DXCoreAdapterProperty::ComputePreemptionGranularity:
      case DXCoreAdapterProperty::GraphicsPreemptionGranularity:
        return kUnsupported;
    }
    return kInvalidCall;
  }

  LUID luid_;
  std::uint32_t index_;
  std::string description_;
  std::uint64_t memory_bytes_;
  std::uint32_t vendor_;
  std::uint32_t product_;
  bool is_cpu_;
  bool graphics_;
};

class AdapterList final : public ComObject<IDXCoreAdapterList> {
 public:
  // The adapters belong to the process and outlive every list.
  explicit AdapterList(std::vector<Adapter*> adapters) : adapters_(std::move(adapters)) {}

  HRESULT STDMETHODCALLTYPE GetAdapter(uint32_t index, REFIID riid, void** adapter) noexcept override {
    if (adapter == nullptr) {
      return E_POINTER;
    }
    *adapter = nullptr;
    return index < adapters_.size() ? adapters_[index]->QueryInterface(riid, adapter) : E_INVALIDARG;
  }

  uint32_t STDMETHODCALLTYPE GetAdapterCount() noexcept override { return static_cast<uint32_t>(adapters_.size()); }
  bool STDMETHODCALLTYPE IsStale() noexcept override { return false; }
  HRESULT STDMETHODCALLTYPE GetFactory(REFIID riid, void** factory) noexcept override;

  // The user chooses the order through ANYDML_ADAPTER, so sorting keeps it: every adapter is hardware, and none is
  // known to be faster.
  HRESULT STDMETHODCALLTYPE Sort(uint32_t count, const DXCoreAdapterPreference* preferences) noexcept override {
    if (count == 0 || preferences == nullptr) {
      return E_INVALIDARG;
    }
    return std::all_of(preferences, preferences + count, is_known) ? S_OK : E_INVALIDARG;
  }

  bool STDMETHODCALLTYPE IsAdapterPreferenceSupported(DXCoreAdapterPreference preference) noexcept override {
    return is_known(preference);
  }

 private:
  static bool is_known(DXCoreAdapterPreference preference) {
    return preference <= DXCoreAdapterPreference::HighPerformance;
  }

  std::vector<Adapter*> adapters_;
};

// The process has only one factory, and one object per adapter, because clients may compare pointers. The factory is
// never destroyed: it keeps a reference to itself.
class Factory final : public ComObject<IDXCoreAdapterFactory> {
 public:
  explicit Factory(std::vector<Adapter*> adapters) : adapters_(std::move(adapters)) {}

  static HRESULT get(Factory*& factory);

  HRESULT STDMETHODCALLTYPE CreateAdapterList(uint32_t count, const GUID* attributes, REFIID riid,
                                              void** list) noexcept override {
    return com_boundary("IDXCoreAdapterFactory::CreateAdapterList", [&]() -> HRESULT {
      if (list == nullptr) {
        return E_POINTER;
      }
      *list = nullptr;
      if (count == 0 || attributes == nullptr) {
        return E_INVALIDARG;
      }
      std::vector<Adapter*> fitting;
      std::ranges::copy_if(adapters_, std::back_inserter(fitting), [&](Adapter* adapter) {
        return std::all_of(attributes, attributes + count,
                           [&](const GUID& attribute) { return adapter->IsAttributeSupported(attribute); });
      });
      auto* created = new AdapterList(std::move(fitting));
      const HRESULT result = created->QueryInterface(riid, list);
      created->Release();
      return result;
    });
  }

  HRESULT STDMETHODCALLTYPE GetAdapterByLuid(const LUID& luid, REFIID riid, void** adapter) noexcept override {
    if (adapter == nullptr) {
      return E_POINTER;
    }
    *adapter = nullptr;
    for (Adapter* candidate : adapters_) {
      if (std::memcmp(&candidate->luid(), &luid, sizeof(LUID)) == 0) {
        return candidate->QueryInterface(riid, adapter);
      }
    }
    return E_INVALIDARG;
  }

  // Adapters never disappear here and lists never become stale, so clients may register for these events but are never
  // notified.
  bool STDMETHODCALLTYPE IsNotificationTypeSupported(DXCoreNotificationType type) noexcept override {
    return type == DXCoreNotificationType::AdapterListStale || type == DXCoreNotificationType::AdapterNoLongerValid;
  }

  HRESULT STDMETHODCALLTYPE RegisterEventNotification(IUnknown* object, DXCoreNotificationType type,
                                                      PFN_DXCORE_NOTIFICATION_CALLBACK callback, void*,
                                                      uint32_t* cookie) noexcept override {
    return com_boundary("IDXCoreAdapterFactory::RegisterEventNotification", [&]() -> HRESULT {
      if (object == nullptr || callback == nullptr || cookie == nullptr) {
        return E_POINTER;
      }
      if (!IsNotificationTypeSupported(type)) {
        return kInvalidCall;
      }
      const std::scoped_lock lock(mutex_);
      registered_.push_back(++last_cookie_);
      *cookie = last_cookie_;
      return S_OK;
    });
  }

  HRESULT STDMETHODCALLTYPE UnregisterEventNotification(uint32_t cookie) noexcept override {
    return com_boundary("IDXCoreAdapterFactory::UnregisterEventNotification", [&]() -> HRESULT {
      const std::scoped_lock lock(mutex_);
      return std::erase(registered_, cookie) != 0 ? S_OK : E_INVALIDARG;
    });
  }

 private:
  std::vector<Adapter*> adapters_;
  std::mutex mutex_;
  std::vector<uint32_t> registered_;
  uint32_t last_cookie_ = 0;
};

HRESULT Factory::get(Factory*& factory) {
  static Factory* process = nullptr;
  const CoreTable* core = core_of_this_build("libdxcore.so");
  if (core == nullptr) {
    return E_FAIL;
  }
  const auto& settings = environment();
  if (!settings.ok()) {
    log_line(LogLevel::error, settings.error().message);
    return E_INVALIDARG;
  }
  // This happens outside the lock, because looking for devices runs third-party code that may fork, and fork handlers
  // acquire the lock too.
  const size_t count = core->device_count();
  if (count == 0) {
    return E_FAIL;  // the core has logged why
  }
  const std::scoped_lock lock(process_mutex());
  if (process == nullptr) {
    std::vector<Adapter*> adapters;
    adapters.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const CoreDevice* device = core->device(static_cast<std::uint32_t>(i));
      if (device == nullptr) {
        return E_FAIL;
      }
      adapters.push_back(new Adapter(static_cast<uint32_t>(i), *device->info, settings.value().graphics));
    }
    process = new Factory(std::move(adapters));
  }
  factory = process;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE Adapter::GetFactory(REFIID riid, void** out) noexcept {
  return DXCoreCreateAdapterFactory(riid, out);
}

HRESULT STDMETHODCALLTYPE AdapterList::GetFactory(REFIID riid, void** out) noexcept {
  return DXCoreCreateAdapterFactory(riid, out);
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) HRESULT STDAPICALLTYPE DXCoreCreateAdapterFactory(REFIID riid,
                                                                                                    void** factory) {
  return anydml::com_boundary("DXCoreCreateAdapterFactory", [&]() -> HRESULT {
    if (factory == nullptr) {
      return E_POINTER;
    }
    *factory = nullptr;
    anydml::Factory* process = nullptr;
    const HRESULT result = anydml::Factory::get(process);
    return FAILED(result) ? result : process->QueryInterface(riid, factory);
  });
}
