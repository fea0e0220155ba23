// SPDX-License-Identifier: MIT
// Counters in vectors, each word of them in the lower half of a lane of 64 bits: products take those halves, and what
// is left in the upper ones does not matter until the end.
#include "ops/random/cpu/blocks.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/random/cpu/blocks.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<u64>;
using Words = hn::Repartition<u32, Wide>;

// Two vectors of counters at a time: one waits for its products while the other goes on.
template <class V>
HWY_INLINE void put_counters(V low, V high, const PhiloxState& state, u64* to) {
  const Wide d;
  const Words words;
  const auto product = [&](V x, hn::Vec<Words> factor) HWY_ATTR { return hn::MulEven(hn::BitCast(words, x), factor); };
  const auto first_factor = hn::Set(words, kPhiloxFactor0);
  const auto second_factor = hn::Set(words, kPhiloxFactor1);
  const auto lanes = hn::Lanes(d);
  V x0[2] = {low, hn::Add(low, hn::Set(d, static_cast<u64>(lanes)))};
  V x1[2] = {hn::ShiftRight<32>(x0[0]), hn::ShiftRight<32>(x0[1])};
  V x2[2] = {high, high};
  V x3[2] = {hn::ShiftRight<32>(high), hn::ShiftRight<32>(high)};
  u32 key[2] = {state.key[0], state.key[1]};
  for (u32 round = 0; round < kPhiloxRounds; ++round) {
    const V key0 = hn::Set(d, u64{key[0]});
    const V key1 = hn::Set(d, u64{key[1]});
    for (int i = 0; i < 2; ++i) {
      const V first = product(x0[i], first_factor);
      const V second = product(x2[i], second_factor);
      x0[i] = hn::Xor(hn::Xor(hn::ShiftRight<32>(second), x1[i]), key0);
      x1[i] = second;
      x2[i] = hn::Xor(hn::Xor(hn::ShiftRight<32>(first), x3[i]), key1);
      x3[i] = first;
    }
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  const V lower = hn::Set(d, u64{0xffffffff});
  for (int i = 0; i < 2; ++i) {
    const V first = hn::Or(hn::And(x0[i], lower), hn::ShiftLeft<32>(x1[i]));
    const V second = hn::Or(hn::And(x2[i], lower), hn::ShiftLeft<32>(x3[i]));
    hn::StoreInterleaved2(first, second, d, to + static_cast<std::size_t>(i) * 2 * lanes);
  }
}

void put_blocks(const PhiloxState& state, std::int64_t blocks, std::byte* to) noexcept {
  const Wide d;
  const auto step = static_cast<std::int64_t>(2 * hn::Lanes(d));
  alignas(64) u64 made[4 * HWY_MAX_BYTES / sizeof(u64)];
  PhiloxState at = state;
  while (blocks > 0) {
    const std::int64_t some = std::min(step, blocks);
    if (at.low > ~static_cast<u64>(step)) {  // the low half of the counter is about to wrap
      for (std::int64_t i = 0; i < some; ++i) {
        const PhiloxBlock block = philox(at.after(static_cast<u64>(i)));
        std::memcpy(made + 2 * i, block.words, sizeof(block.words));
      }
    } else {
      put_counters(hn::Iota(d, at.low), hn::Set(d, at.high), at, made);
    }
    std::memcpy(to, made, static_cast<std::size_t>(some) * sizeof(PhiloxBlock));
    to += some * static_cast<std::int64_t>(sizeof(PhiloxBlock));
    at = at.after(static_cast<u64>(some));
    blocks -= some;
  }
}

}  // namespace

PhiloxBlocks philox_blocks() { return put_blocks; }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {
namespace {

void put_plain_blocks(const PhiloxState& state, std::int64_t blocks, std::byte* to) noexcept {
  for (std::int64_t i = 0; i < blocks; ++i) {
    const PhiloxBlock block = philox(state.after(static_cast<u64>(i)));
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(block)), block.words, sizeof(block));
  }
}

}  // namespace

PhiloxBlocks find_philox_blocks(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, put_plain_blocks, philox_blocks());
}

}  // namespace anydml

#endif
