// SPDX-License-Identifier: MIT
// A reference-counted pointer to a COM object.
#pragma once

#include <wsl/winadapter.h>

#include <utility>

namespace anydml {

template <class T>
class ComPtr {
 public:
  ComPtr() = default;
  ComPtr(const ComPtr& other) : pointer_(other.pointer_) {
    if (pointer_ != nullptr) {
      pointer_->AddRef();
    }
  }
  ComPtr(ComPtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  ~ComPtr() { reset(); }
  ComPtr& operator=(ComPtr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  // Takes ownership of the caller's reference.
  [[nodiscard]] static ComPtr adopt(T* pointer) {
    ComPtr created;
    created.pointer_ = pointer;
    return created;
  }
  // Adds its own reference.
  [[nodiscard]] static ComPtr share(T* pointer) {
    if (pointer != nullptr) {
      pointer->AddRef();
    }
    return adopt(pointer);
  }

  [[nodiscard]] T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }

  void reset() {
    if (T* old = std::exchange(pointer_, nullptr); old != nullptr) {
      old->Release();
    }
  }

  // For functions that return a reference through a pointer; the reference held before is released first.
  [[nodiscard]] T** put() {
    reset();
    return &pointer_;
  }
  [[nodiscard]] void** put_void() { return reinterpret_cast<void**>(put()); }

 private:
  T* pointer_ = nullptr;
};

// The object's interface T, or an empty pointer if the object is null or lacks the interface.
template <class T>
[[nodiscard]] ComPtr<T> query(IUnknown* object) {
  ComPtr<T> found;
  if (object != nullptr && FAILED(object->QueryInterface(__uuidof(T), found.put_void()))) {
    found.reset();
  }
  return found;
}

// Returns a new object through the requested interface. The caller receives the only reference to the object.
template <class T>
[[nodiscard]] HRESULT hand_out(T* created, REFIID riid, void** object) {
  const HRESULT result = created->QueryInterface(riid, object);
  created->Release();
  return result;
}

}  // namespace anydml
