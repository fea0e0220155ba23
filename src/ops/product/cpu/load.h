// SPDX-License-Identifier: MIT
// Loads elements from addresses with any alignment.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/element.h"

namespace anydml {

template <class T>
[[nodiscard]] inline T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Loads a byte operand of an integer product or convolution.
[[nodiscard]] inline i32 byte_at(const std::byte* from, bool is_signed) {
  return is_signed ? static_cast<i8>(*from) : static_cast<i32>(static_cast<u8>(*from));
}

}  // namespace anydml
