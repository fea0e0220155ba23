// SPDX-License-Identifier: MIT
// Base classes for all COM objects here: the reference count, QueryInterface from a list of interfaces, and the
// boundary that catches exceptions. This file does not depend on any concrete object.
#pragma once

#include <wsl/winadapter.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>

#include "base/cancellation.h"
#include "com/refused_interface.h"

namespace anydml {

[[nodiscard]] inline bool same_guid(const GUID& a, const GUID& b) { return std::memcmp(&a, &b, sizeof(GUID)) == 0; }

// COM interfaces have no virtual destructor, because it would occupy a vtable slot; Release destroys the objects.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

// A chain of interfaces, each derived from the next, which therefore share one pointer: the most derived interface, and
// the bases that clients may query.
template <class Leaf, class... Bases>
struct Interfaces {
  static_assert((std::is_base_of_v<Bases, Leaf> && ...), "Leaf must derive from every base");
  using leaf = Leaf;

  [[nodiscard]] static bool contains(REFIID riid) {
    return same_guid(riid, __uuidof(Leaf)) || (same_guid(riid, __uuidof(Bases)) || ...);
  }
};

// A COM object with one or more chains of interfaces. IUnknown always comes from the first chain, so that comparing two
// pointers shows whether they refer to the same object. An object starts with one reference.
template <class First, class... Others>
class ComObjectOf : public First::leaf, public Others::leaf... {
 public:
  ComObjectOf(const ComObjectOf&) = delete;
  ComObjectOf& operator=(const ComObjectOf&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) noexcept override {
    if (object == nullptr) {
      return E_POINTER;
    }
    *object = has_interface(riid) ? find(riid) : nullptr;
    if (*object == nullptr) {
      return refused_interface(interface_name<typename First::leaf>(), riid);
    }
    AddRef();
    return S_OK;
  }

  ULONG STDMETHODCALLTYPE AddRef() noexcept override { return references_.fetch_add(1, std::memory_order_relaxed) + 1; }

  ULONG STDMETHODCALLTYPE Release() noexcept override {
    const ULONG left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
    if (left == 0) {
      const CancellationDeferred deferred;  // destructors close files, and must not be interrupted
      delete this;
    }
    return left;
  }

  // For diagnostics only, because another thread may change it at any time.
  [[nodiscard]] ULONG reference_count() const noexcept { return references_.load(std::memory_order_relaxed); }

  // For code that refers to the object without owning it. Returns false if the last reference was already released.
  [[nodiscard]] bool try_add_reference() noexcept {
    ULONG now = references_.load(std::memory_order_relaxed);
    while (now != 0) {
      if (references_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) {
        return true;
      }
    }
    return false;
  }

 protected:
  ComObjectOf() = default;
  virtual ~ComObjectOf() = default;

  // For objects that expose some of their interfaces only under certain conditions.
  [[nodiscard]] virtual bool has_interface(REFIID) const noexcept { return true; }

 private:
  [[nodiscard]] void* find(REFIID riid) noexcept {
    if (same_guid(riid, __uuidof(IUnknown)) || First::contains(riid)) {
      return static_cast<typename First::leaf*>(this);
    }
    void* found = nullptr;
    ((Others::contains(riid) ? found = static_cast<typename Others::leaf*>(this) : nullptr), ...);
    return found;
  }

  std::atomic<ULONG> references_{1};
};

template <class Leaf, class... Bases>
using ComObject = ComObjectOf<Interfaces<Leaf, Bases...>>;

#pragma GCC diagnostic pop

// Converts the exception that is being handled to an HRESULT, and reports it. This is a separate function, because
// a copy in every method would keep the compiler from inlining the rest of com_boundary.
[[gnu::cold, gnu::noinline]] inline HRESULT handle_exception(const char* method) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    end_if_strict(log_failure(method, ": out of memory"), method, ": out of memory");
    return E_OUTOFMEMORY;
  } catch (const std::exception& exception) {
    end_if_strict(log_failure(method, ": ", exception.what()), method, ": ", exception.what());
    return E_FAIL;
  } catch (...) {
    end_if_strict(log_failure(method, ": unexpected failure"), method, ": unexpected failure");
    return E_FAIL;
  }
}

// The boundary of a COM method. The body returns an HRESULT, and exceptions are converted to one. If the thread is
// canceled, it finishes the call first.
template <class Body>
HRESULT com_boundary(const char* method, const Body& body) noexcept {
  const CancellationDeferred deferred;
  try {
    return body();
  } catch (...) {
    return handle_exception(method);
  }
}

}  // namespace anydml
