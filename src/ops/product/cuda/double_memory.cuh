// SPDX-License-Identifier: MIT
// Loads and stores FLOAT64 values at any alignment.
#pragma once

#include "base/element.h"
#include "base/float_bits.h"

namespace anydml::cuda {

inline __device__ f64 read_double(const std::byte* from, bool is_aligned) {
  if (is_aligned) {
    return *reinterpret_cast<const f64*>(from);
  }
  u64 bits = 0;
  for (u32 i = 0; i < sizeof(bits); ++i) {
    bits |= static_cast<u64>(from[i]) << (8 * i);
  }
  return from_bits<f64>(bits);
}

inline __device__ void write_double(std::byte* to, f64 value, bool is_aligned) {
  if (is_aligned) {
    *reinterpret_cast<f64*>(to) = value;
    return;
  }
  const u64 bits = to_bits(value);
  for (u32 i = 0; i < sizeof(bits); ++i) {
    to[i] = static_cast<std::byte>(bits >> (8 * i) & 0xff);
  }
}

}  // namespace anydml::cuda
