// SPDX-License-Identifier: MIT
// Computes Philox words for several counters at a time, using vectors.
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

// Two vectors of counters are processed together: one waits for its products while the other continues. The lower half
// of the counter does not wrap within such a group.

#if HWY_TARGET == HWY_NEON

constexpr std::int64_t kCounters = 8;

// Computes the words of eight counters. Each vector contains one word of four counters.
HWY_INLINE void put_counters(const PhiloxState& state, u32* to) {
  const Words words;
  using V = hn::Vec<Words>;
  const V first_factor = hn::Set(words, kPhiloxFactor0);
  const V second_factor = hn::Set(words, kPhiloxFactor1);
  V x0[2];
  V x1[2];
  V x2[2];
  V x3[2];
  for (u64 i = 0; i < 2; ++i) {
    const auto lower = hn::BitCast(words, hn::Iota(Wide(), state.low + 4 * i));
    const auto upper = hn::BitCast(words, hn::Iota(Wide(), state.low + 4 * i + 2));
    x0[i] = V(vuzp1q_u32(lower.raw, upper.raw));
    x1[i] = V(vuzp2q_u32(lower.raw, upper.raw));
    x2[i] = hn::Set(words, state.word(2));
    x3[i] = hn::Set(words, state.word(3));
  }
  u32 key[2] = {state.key[0], state.key[1]};
  for (u32 round = 0; round < kPhiloxRounds; ++round) {
    const V key0 = hn::Set(words, key[0]);
    const V key1 = hn::Set(words, key[1]);
    for (int i = 0; i < 2; ++i) {
      const auto halves = [](V x, V factor, V& high, V& low) HWY_ATTR {
        const auto begin = vreinterpretq_u32_u64(vmull_u32(vget_low_u32(x.raw), vget_low_u32(factor.raw)));
        const auto end = vreinterpretq_u32_u64(vmull_high_u32(x.raw, factor.raw));
        high = V(vuzp2q_u32(begin, end));
        low = V(vuzp1q_u32(begin, end));
      };
      V first_high;
      V first_low;
      V second_high;
      V second_low;
      halves(x0[i], first_factor, first_high, first_low);
      halves(x2[i], second_factor, second_high, second_low);
      x0[i] = hn::Xor(hn::Xor(second_high, x1[i]), key0);
      x1[i] = second_low;
      x2[i] = hn::Xor(hn::Xor(first_high, x3[i]), key1);
      x3[i] = first_low;
    }
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  for (int i = 0; i < 2; ++i) {
    hn::StoreInterleaved4(x0[i], x1[i], x2[i], x3[i], words, to + i * 16);
  }
}

#else

constexpr std::int64_t kCounters = 2 * HWY_MAX_BYTES / sizeof(u64);

// Each word is in the lower half of a 64-bit lane. Products read only the lower halves, so the contents of the upper
// halves do not matter until the end.
HWY_INLINE void put_counters(const PhiloxState& state, u32* to) {
  const Wide d;
  const Words words;
  using V = hn::Vec<Wide>;
  const auto first_factor = hn::Set(words, kPhiloxFactor0);
  const auto second_factor = hn::Set(words, kPhiloxFactor1);
  const V low = hn::Iota(d, state.low);
  const V high = hn::Set(d, state.high);
  V x0[2] = {low, hn::Add(low, hn::Set(d, static_cast<u64>(hn::Lanes(d))))};
  V x1[2] = {hn::ShiftRight<32>(x0[0]), hn::ShiftRight<32>(x0[1])};
  V x2[2] = {high, high};
  V x3[2] = {hn::ShiftRight<32>(high), hn::ShiftRight<32>(high)};
  u32 key[2] = {state.key[0], state.key[1]};
  for (u32 round = 0; round < kPhiloxRounds; ++round) {
    const V key0 = hn::Set(d, u64{key[0]});
    const V key1 = hn::Set(d, u64{key[1]});
    for (int i = 0; i < 2; ++i) {
      const V first = hn::MulEven(hn::BitCast(words, x0[i]), first_factor);
      const V second = hn::MulEven(hn::BitCast(words, x2[i]), second_factor);
      x0[i] = hn::Xor(hn::Xor(hn::ShiftRight<32>(second), x1[i]), key0);
      x1[i] = second;
      x2[i] = hn::Xor(hn::Xor(hn::ShiftRight<32>(first), x3[i]), key1);
      x3[i] = first;
    }
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  const V lower = hn::Set(d, u64{0xffffffff});
  alignas(64) u64 computed[2 * kCounters];
  for (int i = 0; i < 2; ++i) {
    const V first = hn::Or(hn::And(x0[i], lower), hn::ShiftLeft<32>(x1[i]));
    const V second = hn::Or(hn::And(x2[i], lower), hn::ShiftLeft<32>(x3[i]));
    hn::StoreInterleaved2(first, second, d, computed + static_cast<std::size_t>(i) * 2 * hn::Lanes(d));
  }
  std::memcpy(to, computed, sizeof(computed));
}

#endif

void put_blocks(const PhiloxState& state, std::int64_t blocks, std::byte* to) noexcept {
  alignas(64) u32 computed[kCounters * kPhiloxWords];
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(to) % sizeof(u32) == 0;
  PhiloxState at = state;
  while (blocks > 0) {
    const std::int64_t some = std::min(kCounters, blocks);
    const auto bytes = static_cast<std::size_t>(some) * sizeof(PhiloxBlock);
    if (at.low > ~static_cast<u64>(kCounters)) {  // the lower half is about to wrap
      for (std::int64_t i = 0; i < some; ++i) {
        std::memcpy(computed + 4 * i, philox(at.after(static_cast<u64>(i))).words, sizeof(PhiloxBlock));
      }
      std::memcpy(to, computed, bytes);
    } else if (is_aligned && some == kCounters) {
      put_counters(at, reinterpret_cast<u32*>(to));
    } else {
      put_counters(at, computed);
      std::memcpy(to, computed, bytes);
    }
    to += bytes;
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
