// SPDX-License-Identifier: MIT
// Nodes that are computed on the host, without DirectML's operators, and what these computations have in common. They
// only receive arrays, never symbols.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/float_bits.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {

[[nodiscard]] Compute host_det(const Node& node);
[[nodiscard]] Compute host_dft(const Node& node);
[[nodiscard]] Compute host_einsum(const Node& node);
[[nodiscard]] Compute host_gemm(const Node& node);
[[nodiscard]] Compute host_grid_sample(const Node& node);
[[nodiscard]] Compute host_matmul(const Node& node);
[[nodiscard]] Compute host_mel_weights(const Node& node);
[[nodiscard]] Compute host_non_max_suppression(const Node& node);
[[nodiscard]] Compute host_power(const Node& node);
[[nodiscard]] Compute host_scatter_elements(const Node& node);
[[nodiscard]] Compute host_scatter_nd(const Node& node);
[[nodiscard]] Compute host_stft(const Node& node);
[[nodiscard]] Compute host_unique(const Node& node);

// The memory of an array that its creator fills.
template <class T>
[[nodiscard]] std::span<T> writable_elements(Array& array) {
  return {static_cast<T*>(array.writable()), static_cast<std::size_t>(array.count())};
}

// A packed copy, in its own memory.
[[nodiscard]] inline Array copy_of(const Array& x) {
  const Array packed = x.packed();
  Array result = Array::empty(x.kind(), x.shape());
  if (result.count() != 0) {
    std::memcpy(result.writable(), packed.data(), packed.bytes());
  }
  return result;
}

// The larger or smaller number. Unlike in std::max and std::min, the result is NaN if one of them is.
template <class T>
[[nodiscard]] constexpr T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}
template <class T>
[[nodiscard]] constexpr T smaller(T a, T b) {
  return a <= b || a != a ? a : b;
}

// Truncates a number to an integer. NaN and numbers out of range become what x86 converts them to: the smallest signed
// integer or, for unsigned types, the lowest bits of a larger integer.
template <class T>
[[nodiscard]] T truncated(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if constexpr (std::is_unsigned_v<T>) {
    if (value >= kLimit) {
      return value < 2 * kLimit ? static_cast<T>(static_cast<std::uint64_t>(value)) : T{0};
    }
    return value >= -kLimit ? static_cast<T>(static_cast<std::int64_t>(value))
                            : static_cast<T>(std::uint64_t{1} << 63U);
  } else {
    constexpr T kMin = std::numeric_limits<T>::min();
    return value > static_cast<double>(kMin) - 1 && value < -static_cast<double>(kMin) ? static_cast<T>(value) : kMin;
  }
}

// A number in the type T, which may be f16, rounded to the nearest.
template <class T>
[[nodiscard]] T rounded_number(double value) {
  if constexpr (std::is_same_v<T, f16>) {
    return round_to<f16>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Rounds numbers to a type of floats.
[[nodiscard]] Array floats_of(Kind kind, const Sizes& shape, std::span<const double> numbers);

// Calls a function with a value of the C++ type of an element: use(T{}). The types are f16, float, double and integers.
template <class Use>
decltype(auto) with_element_type(Kind kind, const Use& use) {
  switch (kind) {
    case Kind::kFloat16:
      return use(f16{});
    case Kind::kFloat:
      return use(float{});
    case Kind::kDouble:
      return use(double{});
    case Kind::kInt8:
      return use(std::int8_t{});
    case Kind::kInt16:
      return use(std::int16_t{});
    case Kind::kInt32:
      return use(std::int32_t{});
    case Kind::kInt64:
      return use(std::int64_t{});
    case Kind::kUint8:
      return use(std::uint8_t{});
    case Kind::kUint16:
      return use(std::uint16_t{});
    case Kind::kUint32:
      return use(std::uint32_t{});
    case Kind::kUint64:
      return use(std::uint64_t{});
    default:
      throw WrongType(std::string(kind_name(kind)) + " is not a type of numbers");
  }
}

// The next position of an index, in the order of C arrays. The index has returned to zeros after the last one.
inline void advance(Sizes& index, const Sizes& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) {
      return;
    }
    index[axis] = 0;
  }
}

}  // namespace anydml::onnx
