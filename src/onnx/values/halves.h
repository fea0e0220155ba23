// SPDX-License-Identifier: MIT
// Arrays of four-bit numbers as they are in bytes, for operators that read them. Such an array has the type kUint4 or
// kInt4, and only operators may read it; every other array has at least a byte for each element. Its first element is
// in the low half of a byte.
#pragma once

#include <cstdint>

#include "onnx/values/array.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// The distance in bytes from the start of an element to that of the element `count` places later. Of four-bit numbers,
// `count` is even.
[[nodiscard]] constexpr std::int64_t bytes_between(Kind kind, std::int64_t count) {
  return kFourBitKinds.contains(kind) ? count / 2 : count * static_cast<std::int64_t>(item_size(kind));
}

// The four-bit numbers in the bytes of a packed array, the first one in the low half of the first byte. Strides are in
// numbers.
[[nodiscard]] Array halves_of_bytes(const Array& bytes, Sizes shape, Sizes strides);

// The bytes of a packed array of four-bit numbers; the last size is even.
[[nodiscard]] Array bytes_of_halves(const Array& halves);

// Like dispatch, but if `other` is a symbol, the operator is recorded in its graph even if no input is a symbol.
[[nodiscard]] Array dispatch_beside(const Array& other, const char* op, const Arrays& inputs, const Options& options,
                                    const Out& out);

}  // namespace anydml::onnx
