// SPDX-License-Identifier: MIT
// What every COM object here shares: the count of references, QueryInterface from a list, and the edge at which
// exceptions end. It knows no object of ours.
#pragma once

#include <wsl/winadapter.h>

#include <atomic>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/log.h"

namespace anydml {

[[nodiscard]] inline bool same_guid(const GUID& a, const GUID& b) { return std::memcmp(&a, &b, sizeof(GUID)) == 0; }

// COM interfaces have no virtual destructor, since it would take a slot of the vtable: objects end in Release.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// A COM object of the interface Leaf, which answers QueryInterface for Leaf, for the interfaces it derives from that
// are named in Bases, and for IUnknown. Identity holds because all of them are one pointer. Born with one reference.
template <class Leaf, class... Bases>
class ComObject : public Leaf {
  static_assert((std::is_base_of_v<Bases, Leaf> && ...), "an interface the object does not have");

 public:
  ComObject(const ComObject&) = delete;
  ComObject& operator=(const ComObject&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) noexcept override {
    if (object == nullptr) {
      return E_POINTER;
    }
    *object = nullptr;
    if (!same_guid(riid, __uuidof(Leaf)) && !same_guid(riid, __uuidof(IUnknown)) &&
        !(same_guid(riid, __uuidof(Bases)) || ...)) {
      return E_NOINTERFACE;
    }
    AddRef();
    *object = static_cast<Leaf*>(this);
    return S_OK;
  }

  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return references_.fetch_add(1, std::memory_order_relaxed) + 1; }

  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) {
      delete this;
    }
    return left;
  }

 protected:
  ComObject() = default;
  virtual ~ComObject() = default;

 private:
  std::atomic<ULONG> references_{1};
};

#pragma GCC diagnostic pop

// The edge of a COM method: body returns an HRESULT, and whatever is thrown becomes one.
template <class Body>
HRESULT com_boundary(const char* method, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    log_line(LogLevel::error, method);
    return E_OUTOFMEMORY;
  } catch (...) {
    log_line(LogLevel::error, method);
    return E_FAIL;
  }
}

}  // namespace anydml
