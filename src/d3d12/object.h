// SPDX-License-Identifier: MIT
// Base classes for all D3D12 objects: private data and a name, the device that an object belongs to, and the check that
// an object is one of ours.
#pragma once

#include <memory>
#include <string>

#include "com/com_object.h"
#include "com/com_ptr.h"
#include "com/own_object.h"
#include "com/private_data.h"
#include "d3d12/debug/tracker.h"
#include "d3d12/device_core.h"
#include "d3d12/headers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

namespace anydml {

template <class Derived, class First, class... Others>
class Object : public ComObjectOf<First, Interfaces<IOwnObject>, Others...> {
 public:
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) noexcept override {
    return com_boundary("GetPrivateData", [&] { return private_data_.get(guid, size, data); });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) noexcept override {
    return com_boundary("SetPrivateData", [&] {
      const HRESULT result = private_data_.set(guid, size, data);
      if (same_guid(guid, kObjectNameWide)) {
        named(private_data_.name());
      }
      return result;
    });
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, const IUnknown* data) noexcept override {
    return com_boundary("SetPrivateDataInterface", [&] { return private_data_.set_interface(guid, data); });
  }
  HRESULT STDMETHODCALLTYPE SetName(LPCWSTR name) noexcept override {
    return com_boundary("SetName", [&] {
      const HRESULT result = private_data_.set_name(name);
      named(private_data_.name());
      return result;
    });
  }

  void* own_object(const void* key) noexcept override {
    return key == &kClassKey<Derived> ? static_cast<Derived*>(this) : nullptr;
  }

  void describe_live(LiveState& state) const noexcept {
    state.references = this->reference_count();
    private_data_.copy_name(state);
  }

  // The name in the form for messages: truncated, and empty if the object has no name.
  [[nodiscard]] std::string name() const { return private_data_.name(); }
  // The name for messages, as " 'name'", or an empty string.
  [[nodiscard]] std::string quoted_name() const { return with_name("", private_data_.name()); }

 protected:
  // Called with the new name, for code that needs the name where it cannot access the object.
  virtual void named(const std::string&) {}

 private:
  PrivateData private_data_;
};

#pragma GCC diagnostic pop

class Device;

// The parts of Device that its children need, defined where Device is complete.
[[nodiscard]] ID3D12Device* device_interface(Device& device) noexcept;
[[nodiscard]] const std::shared_ptr<DeviceCore>& device_core(Device& device) noexcept;

// An object that was created by a device and keeps the device alive.
template <class Derived, class First, class... Others>
class Child : public Object<Derived, First, Others...> {
 public:
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) noexcept override {
    return device_->QueryInterface(riid, device);
  }

  // For destructors while the debug layer is on: reports the object if submitted work still needs it.
  void report_release(DebugTracker& tracker, DebugObject::Kind kind, const void* object,
                      const char* type) const noexcept {
    com_boundary("Release", [&]() -> HRESULT {
      tracker.released({kind, reinterpret_cast<std::uintptr_t>(object)}, [&] { return type + this->quoted_name(); });
      return S_OK;
    });
  }

  [[nodiscard]] DeviceCore& core() const { return *core_; }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& shared_core() const { return core_; }

 protected:
  explicit Child(Device& device)
      : device_(ComPtr<ID3D12Device>::share(device_interface(device))),
        core_(device_core(device)),
        registered_(core_->debugging() && core_->live_objects().add(live_object<typename First::leaf>(base()))) {}
  ~Child() override {
    if (registered_) {
      core_->live_objects().remove(&base());
    }
  }

 private:
  [[nodiscard]] const Object<Derived, First, Others...>& base() const { return *this; }

  const ComPtr<ID3D12Device> device_;
  const std::shared_ptr<DeviceCore> core_;
  const bool registered_;  // among the live objects
};

// The object behind an application's pointer, or null if it is not ours, has a different class, or belongs to a
// different device.
template <class T>
[[nodiscard]] T* own(IUnknown* pointer, const DeviceCore& core) {
  T* found = own_object<T>(pointer);
  return found != nullptr && &found->core() == &core ? found : nullptr;
}

}  // namespace anydml
