// SPDX-License-Identifier: MIT
// Base classes for all DirectML objects: private data and a name, the device that an object belongs to, and the check
// that makes every call fail after the device is removed.
#pragma once

#include <memory>

#include "com/com_object.h"
#include "com/com_ptr.h"
#include "com/own_object.h"
#include "com/private_data.h"
#include "directml/device_core.h"
#include "directml/headers.h"

namespace anydml {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

template <class Derived, class First, class... Others>
class DmlObject : public ComObjectOf<First, Interfaces<IOwnObject>, Others...> {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) noexcept override {
    return unless_removed("GetPrivateData", [&] { return private_data_.get(guid, size, data); });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) noexcept override {
    return unless_removed("SetPrivateData", [&] {
      const HRESULT result = private_data_.set(guid, size, data);
      if (same_guid(guid, kObjectNameWide)) {
        named(private_data_.name());
      }
      return result;
    });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) noexcept override {
    return unless_removed("SetPrivateDataInterface", [&] { return private_data_.set_interface(guid, data); });
  }
  HRESULT STDMETHODCALLTYPE SetName(PCWSTR name) noexcept override {
    return unless_removed("SetName", [&] {
      const HRESULT result = private_data_.set_name(name);
      named(private_data_.name());
      return result;
    });
  }

  void* own_object(const void* key) noexcept override {
    return key == &kClassKey<Derived> ? static_cast<Derived*>(this) : nullptr;
  }

  // The name from SetName, for messages; empty if SetName was not called.
  [[nodiscard]] std::string name() const { return private_data_.name(); }

  void describe_live(LiveState& state) const noexcept {
    state.references = this->reference_count();
    private_data_.copy_name(state);
  }

  [[nodiscard]] DmlCore& core() const { return *core_; }
  [[nodiscard]] const std::shared_ptr<DmlCore>& shared_core() const { return core_; }

 protected:
  explicit DmlObject(std::shared_ptr<DmlCore> core)
      : core_(std::move(core)),
        registered_(core_->debugging() && core_->parent().add_live_object(live_object<typename First::leaf>(*this))) {}
  ~DmlObject() override {
    if (registered_) {
      core_->parent().remove_live_object(this);
    }
  }

  // Called with the new name, for code that needs the name where it cannot access the object.
  virtual void named(const std::string&) {}

  // The common part of a method that returns an HRESULT.
  template <class Body>
  HRESULT unless_removed(const char* method, const Body& body) const noexcept {
    return core_->removed() ? kDeviceRemoved : com_boundary(method, body);
  }
  // The common part of a method that returns nothing: if body returns an error message, the device is removed.
  template <class Body>
  void remove_if_wrong(const char* method, const Body& body) const noexcept {
    if (core_->removed()) {
      return;
    }
    const HRESULT result = com_boundary(method, [&]() -> HRESULT {
      if (const std::string what = body(); !what.empty()) {
        core_->remove(E_INVALIDARG, std::string(method) + ": " + what + "; the DirectML device is removed");
      }
      return S_OK;
    });
    if (FAILED(result)) {
      core_->remove(result, "an allocation failed in a method that returns nothing; the DirectML device is removed");
    }
  }

 private:
  const std::shared_ptr<DmlCore> core_;
  PrivateData private_data_;
  const bool registered_;  // among the live objects
};

#pragma GCC diagnostic pop

// An object that was created by a device and keeps the device alive.
template <class Derived, class First, class... Others>
class DmlChild : public DmlObject<Derived, First, Others...> {
 public:
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) noexcept override {
    if (device != nullptr) {
      *device = nullptr;
    }
    return this->unless_removed("GetDevice", [&] { return device_->QueryInterface(riid, device); });
  }

 protected:
  DmlChild(IDMLDevice& device, std::shared_ptr<DmlCore> core)
      : DmlObject<Derived, First, Others...>(std::move(core)), device_(ComPtr<IDMLDevice>::share(&device)) {}

  [[nodiscard]] const ComPtr<IDMLDevice>& parent() const { return device_; }

 private:
  const ComPtr<IDMLDevice> device_;
};

// The object behind an application's pointer, or null if it is not ours, has a different class, or belongs to a
// different device.
template <class T>
[[nodiscard]] T* own(IUnknown* pointer, const DmlCore& core) {
  T* found = own_object<T>(pointer);
  return found != nullptr && &found->core() == &core ? found : nullptr;
}

}  // namespace anydml
