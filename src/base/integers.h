// SPDX-License-Identifier: MIT
// Short names for the integer types, the macro that marks functions for CUDA, and a division that rounds up.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define ANYDML_HOST_DEVICE __host__ __device__
#else
#define ANYDML_HOST_DEVICE
#endif

namespace anydml {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Both numbers must be nonnegative. The result has the wider of the two types.
template <class Whole, class Part>
[[nodiscard]] ANYDML_HOST_DEVICE constexpr auto ceil_div(Whole whole, Part part) {
  return whole / part + (whole % part != 0 ? 1 : 0);
}

}  // namespace anydml
