// SPDX-License-Identifier: MIT
// Tensors of 8-bit integers for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "base/element.h"
#include "support/graph_twin.h"

namespace anydml::test {

using ByteList = std::vector<u8>;

// Returns mostly the extreme values, whose sums overflow first.
inline ByteList random_bytes(std::int64_t count, std::mt19937& random) {
  static constexpr u8 kEnds[] = {0, 255, 127, 128};
  ByteList bytes(static_cast<std::size_t>(count));
  for (u8& byte : bytes) {
    byte = random() % 4 == 0 ? static_cast<u8>(random()) : kEnds[random() % 4];
  }
  return bytes;
}

inline i32 number_of(u8 byte, bool is_signed) { return is_signed ? static_cast<i8>(byte) : byte; }

template <class T>
Bytes bytes_of(const std::vector<T>& list) {
  Bytes bytes(list.size() * sizeof(T));
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

}  // namespace anydml::test
