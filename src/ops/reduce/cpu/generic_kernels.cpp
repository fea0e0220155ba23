// SPDX-License-Identifier: MIT
// The kernels for a machine of which nothing is known.
#include "ops/reduce/cpu/kernels.h"

namespace anydml {
namespace {

void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  struct __attribute__((packed, may_alias)) Half {
    u16 bits;
  };
  const auto* halves = reinterpret_cast<const Half*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    // A FLOAT16's bits at the top of a FLOAT32 are 2^-112 times its value, subnormals too. Multiplying is exact.
    const u32 magnitude = halves[i].bits & 0x7fffU;
    const u32 sign = static_cast<u32>(halves[i].bits & 0x8000U) << 16;
    const u32 finite = to_bits(from_bits<f32>(magnitude << 13) * 0x1p112F);
    const u32 other = magnitude << 13 | 0x7f800000U;  // an infinity or a NaN
    to[i] = from_bits<f32>((magnitude >= 0x7c00U ? other : finite) | sign);
  }
}

#include "ops/reduce/cpu/kernels-inl.h"

}  // namespace

const void* generic_reduce_kernels(FoldId fold, DataType type) { return find_kernels(fold, type); }

}  // namespace anydml
