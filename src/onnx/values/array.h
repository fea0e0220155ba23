// SPDX-License-Identifier: MIT
// An array with elements in memory, or a symbol: a value of a graph that is being recorded, which has a type and a
// shape but no elements yet. The same code computes with both (dispatch.h). An Array is a reference to an immutable
// object, like an array in Python; rearranging it returns a new view of the same elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "anydml/anydml.h"
#include "onnx/values/errors.h"
#include "onnx/values/kind.h"

namespace anydml::onnx {

class DeviceElements;
class Recorder;
using Sizes = std::vector<std::int64_t>;

inline constexpr int kMaxRank = 8;        // of an operator's tensors
inline constexpr int kMaxArrayRank = 64;  // of any array

// Memory of the CPU with undefined contents, aligned for any operator. Raises NoMemory.
[[nodiscard]] std::shared_ptr<void> new_memory(std::size_t bytes);
// Raises NoMemory if the product or a size exceeds 2^58.
[[nodiscard]] std::int64_t product(std::span<const std::int64_t> sizes);
[[nodiscard]] Sizes packed_strides(const Sizes& shape);
// The shape to which several shapes broadcast under NumPy's rule; raises Invalid if there is none.
[[nodiscard]] Sizes broadcast_shapes(const Sizes& a, const Sizes& b);

class Array {
 public:
  Array() = default;  // absent, as an optional input may be

  // ---- Creation -----------------------------------------------------------------------------------------------------
  // New memory with undefined elements, which only the creator may write through `writable`. Strings are empty.
  [[nodiscard]] static Array empty(Kind kind, Sizes shape);
  [[nodiscard]] static Array zeros(Kind kind, Sizes shape);
  // Elements at an address that `owner` keeps valid. Strides are in elements; without strides, the array is packed.
  [[nodiscard]] static Array wrap(Kind kind, Sizes shape, const void* data, std::shared_ptr<const void> owner);
  [[nodiscard]] static Array wrap(Kind kind, Sizes shape, Sizes strides, const void* data,
                                  std::shared_ptr<const void> owner);
  // The same for an address that may be in the memory of a device, unless the device is null. Raises Invalid if the
  // device cannot use it.
  [[nodiscard]] static Array wrap_on(const anydml_device* device, Kind kind, Sizes shape, Sizes strides,
                                     const void* data, std::shared_ptr<const void> owner);
  // New memory of a device, which graphs may write at `address`.
  [[nodiscard]] static Array empty_on(const anydml_device* device, Kind kind, Sizes shape);
  // An array without dimensions. The number is converted to the type: to the nearest float, or modulo 2^bits.
  [[nodiscard]] static Array scalar(Kind kind, double value);
  [[nodiscard]] static Array scalar(Kind kind, std::int64_t value);
  [[nodiscard]] static Array scalar(Kind kind, int value) { return scalar(kind, static_cast<std::int64_t>(value)); }
  // A list of int64 numbers.
  [[nodiscard]] static Array integers(const std::vector<std::int64_t>& numbers);
  // An array of strings. Its elements are std::string_views of characters that it owns.
  [[nodiscard]] static Array strings(Sizes shape, std::span<const std::string_view> texts);
  template <class T>
  [[nodiscard]] static Array of(Kind kind, Sizes shape, const std::vector<T>& elements) {
    Array array = empty(kind, std::move(shape));
    if (!elements.empty()) {
      std::memcpy(array.writable(), elements.data(), elements.size() * sizeof(T));
    }
    return array;
  }

  // ---- Properties ---------------------------------------------------------------------------------------------------
  explicit operator bool() const { return body_ != nullptr; }  // whether it is present
  [[nodiscard]] Kind kind() const { return body_->kind; }
  [[nodiscard]] const Sizes& shape() const { return body_->layout->shape; }
  [[nodiscard]] const Sizes& strides() const { return body_->layout->strides; }  // in elements
  [[nodiscard]] int rank() const { return static_cast<int>(body_->layout->shape.size()); }
  [[nodiscard]] std::int64_t size(int axis) const { return body_->layout->shape[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] std::int64_t count() const { return body_->layout->count; }  // the number of elements
  [[nodiscard]] std::size_t bytes() const {
    return bytes_of(body_->kind, static_cast<std::size_t>(body_->layout->count));
  }
  [[nodiscard]] bool is_symbol() const { return body_->recorder != nullptr; }
  [[nodiscard]] bool is_packed() const { return body_->layout->is_packed; }  // in memory as C arrays are
  [[nodiscard]] bool is_on_device() const { return body_->elements != nullptr; }
  // The address of the element at index 0 of an array, for graphs: in the CPU's memory or in a device's.
  [[nodiscard]] const void* address() const { return body_->data; }
  [[nodiscard]] bool is_same_object(const Array& other) const { return body_ == other.body_; }
  [[nodiscard]] const void* identity() const { return body_.get(); }

  // ---- Views --------------------------------------------------------------------------------------------------------
  // The same elements in another shape, without -1. Copies if no strides describe the result, as NumPy does.
  [[nodiscard]] Array reshape(Sizes shape) const;
  [[nodiscard]] Array flatten() const { return reshape({count()}); }
  // Dimension i of the result is dimension order[i].
  [[nodiscard]] Array transpose(const std::vector<int>& order) const;
  [[nodiscard]] Array transpose() const;  // dimensions in reverse order
  // `count` elements along an axis, beginning at `start`, with any step except 0.
  [[nodiscard]] Array slice(int axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const;
  // One index of an axis, which disappears.
  [[nodiscard]] Array at(int axis, std::int64_t index) const;
  [[nodiscard]] Array insert_axis(int axis) const;      // a new axis of size 1
  [[nodiscard]] Array drop_axis(int axis) const;        // removes an axis of size 1
  [[nodiscard]] Array with_rank(int rank) const;        // adds leading axes of size 1
  [[nodiscard]] Array broadcast_to(Sizes shape) const;  // raises Invalid if the shapes do not match
  // The same bits as another type of the same size.
  [[nodiscard]] Array view_as(Kind kind) const;
  // bool as uint8, because DirectML has no bool; other arrays unchanged.
  [[nodiscard]] Array plain() const { return kind() == Kind::kBool ? view_as(Kind::kUint8) : *this; }

  // ---- Elements: these raise ElementsNeeded for a symbol, and copy the elements from a device to the CPU ------------
  [[nodiscard]] const void* data() const;  // the element at index 0
  // The addresses of the first byte of an array and of the byte after the last one, wherever they are.
  [[nodiscard]] std::pair<std::uintptr_t, std::uintptr_t> bounds() const;
  [[nodiscard]] void* writable();      // of an array from `empty` or `zeros`
  [[nodiscard]] Array packed() const;  // the array itself, or a packed copy; aligned for its elements' type
  // Integers, bools and floats as int64 and double numbers, in C order. Floats are truncated to integers.
  [[nodiscard]] std::vector<std::int64_t> to_integers() const;
  [[nodiscard]] std::vector<double> to_numbers() const;
  [[nodiscard]] std::int64_t integer() const;  // of the only element; raises Invalid if there are several
  [[nodiscard]] double number() const;
  // The elements of an array from `packed`.
  template <class T>
  [[nodiscard]] std::span<const T> elements() const {
    return {static_cast<const T*>(data()), static_cast<std::size_t>(count())};
  }

 private:
  friend class Recorder;
  // Copies of an array at another place share its layout.
  struct Layout {
    Sizes shape;
    Sizes strides;
    std::int64_t count = 0;
    bool is_packed = true;
    std::int64_t low = 0;  // the lowest and the highest element, counted from the one at index 0
    std::int64_t high = 0;
  };
  struct Body {
    Kind kind = Kind::kUndefined;
    std::shared_ptr<const Layout> layout;
    const void* data = nullptr;  // of an array
    std::shared_ptr<const void> owner;
    std::shared_ptr<const DeviceElements> elements;  // of an array in the memory of a device
    Recorder* recorder = nullptr;                    // of a symbol
    std::uint64_t source = 0;                        // the value that the symbol is a view of
    std::int64_t offset = 0;                         // in elements, from the start of that value
    mutable std::uint64_t value = 0;                 // the symbol's own value, once it is needed
  };
  [[nodiscard]] static std::shared_ptr<const Layout> layout_of(Sizes shape, Sizes strides);
  explicit Array(std::shared_ptr<Body> body) : body_(std::move(body)) {}
  [[nodiscard]] Array view(Sizes shape, Sizes strides, std::int64_t moved) const;
  [[nodiscard]] Array copied() const;  // into packed memory, or by an operator of the graph

  std::shared_ptr<Body> body_;
};

using Arrays = std::vector<Array>;

// While an object of this class exists, it notes the addresses that Array::data returns on this thread.
class ElementReads {
 public:
  ElementReads() : outer_(std::exchange(current, this)) {}
  ~ElementReads() { current = outer_; }
  ElementReads(const ElementReads&) = delete;
  ElementReads& operator=(const ElementReads&) = delete;

  // Whether an address between these was noted.
  [[nodiscard]] bool includes(std::pair<std::uintptr_t, std::uintptr_t> bounds) const;

  // Notes nothing while an object of this class exists.
  class Paused {
   public:
    Paused() : paused_(std::exchange(current, nullptr)) {}
    ~Paused() { current = paused_; }
    Paused(const Paused&) = delete;
    Paused& operator=(const Paused&) = delete;

   private:
    ElementReads* paused_;
  };

 private:
  friend class Array;
  static thread_local constinit ElementReads* current;
  ElementReads* outer_;
  std::vector<std::uintptr_t> addresses_;
};

}  // namespace anydml::onnx
