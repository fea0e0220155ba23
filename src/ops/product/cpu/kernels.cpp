// SPDX-License-Identifier: MIT
// Kernels for FLOAT32 products. The sums of a strip and a panel stay in registers, and there are enough independent
// sums to hide the latency of a multiply-add. A row's factor is the same for all columns, so every k needs a few
// vectors of B and one broadcast factor for each row.
#include "ops/product/cpu/kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ops/product/cpu/prefetch.h"
#include "ops/product/step.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/kernels.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"
#include "ops/product/cpu/factors-inl.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Stores the sums of rows as totals, or adds them to the totals.
template <std::size_t kRows, std::size_t kCount>
HWY_INLINE void add_sums(const Vector* sums, f32* HWY_RESTRICT totals, std::int64_t totals_step, bool is_first) {
  const Tag d;
  const auto address_of = [&](std::size_t sum) HWY_ATTR {
    return totals + static_cast<std::int64_t>(sum / kCount) * totals_step + sum % kCount * kLanes;
  };
  constexpr std::size_t kSums = kRows * kCount;
  if (is_first) {
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { hn::StoreU(sums[kSum], d, address_of(kSum)); });
  } else {
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, address_of(kSum)), sums[kSum]), d, address_of(kSum));
    });
  }
}

// kCount: the number of vectors of columns.
template <std::size_t kRows, std::size_t kCount>
void add_block(const f32* HWY_RESTRICT a, const f32* HWY_RESTRICT b, std::int64_t b_step, std::int64_t depth,
               f32* HWY_RESTRICT totals, std::int64_t totals_step, bool is_first) noexcept {
  constexpr std::size_t kSums = kRows * kCount;
  const Tag d;
  Vector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  ANYDML_UNROLLED
  for (std::int64_t k = 0; k < depth; ++k, a += kRows, b += b_step) {
    const Factors<kRows> factors(a);
    Vector of_b[kCount];
    for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
      if constexpr (kRows <= kRowsThatWait) {
        prefetch_weights<sizeof(f32) * kLanes>(b, kOne);
      }
      of_b[kOne] = hn::LoadU(d, b + kOne * kLanes);
    });
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      sums[kSum] = hn::MulAdd(factors.template of<kSum / kCount>(), of_b[kSum % kCount], sums[kSum]);
    });
  }
  add_sums<kRows, kCount>(sums, totals, totals_step, is_first);
}

void add_pair(const f32* HWY_RESTRICT a, const f32* HWY_RESTRICT other_a, const f32* HWY_RESTRICT b,
              std::int64_t b_step, std::int64_t depth, f32* HWY_RESTRICT totals, std::int64_t totals_step,
              bool is_first) noexcept {
  const Tag d;
  Vector sums[2 * kStrip];
  for_each_index<2 * kStrip>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  ANYDML_UNROLLED
  for (std::int64_t k = 0; k < depth; ++k, a += kStrip, other_a += kStrip, b += b_step) {
    const Factors<kStrip> factors(a);
    const Factors<kStrip> others(other_a);
    const Vector of_b = hn::LoadU(d, b);
    for_each_index<kStrip>([&]<std::size_t kRow>() HWY_ATTR {
      sums[kRow] = hn::MulAdd(factors.template of<kRow>(), of_b, sums[kRow]);
      sums[kStrip + kRow] = hn::MulAdd(others.template of<kRow>(), of_b, sums[kStrip + kRow]);
    });
  }
  add_sums<2 * kStrip, 1>(sums, totals, totals_step, is_first);
}

// Transposes four by four elements, with 4-element vectors on every target.
HWY_INLINE void transpose_square(const std::byte* from, std::int64_t stride, f32* to, std::int64_t width) {
  const hn::Full128<f32> d;
  const hn::Repartition<u8, decltype(d)> d_bytes;  // for loads at any alignment
  const auto load = [&](std::int64_t i) HWY_ATTR {
    return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from + i * stride)));
  };
  const auto first = load(0);
  const auto second = load(1);
  const auto third = load(2);
  const auto fourth = load(3);
  const auto low_even = hn::InterleaveLower(d, first, third);
  const auto high_even = hn::InterleaveUpper(d, first, third);
  const auto low_odd = hn::InterleaveLower(d, second, fourth);
  const auto high_odd = hn::InterleaveUpper(d, second, fourth);
  hn::StoreU(hn::InterleaveLower(d, low_even, low_odd), d, to);
  hn::StoreU(hn::InterleaveUpper(d, low_even, low_odd), d, to + width);
  hn::StoreU(hn::InterleaveLower(d, high_even, high_odd), d, to + 2 * width);
  hn::StoreU(hn::InterleaveUpper(d, high_even, high_odd), d, to + 3 * width);
}

void transpose(const std::byte* from, std::int64_t stride, std::int64_t depth, std::int64_t count, std::int64_t width,
               f32* to) noexcept {
  constexpr std::int64_t kSide = kTransposedSide;
  for (std::int64_t k = 0; k < depth; k += kSide) {
    // The last squares start earlier, so some elements are written twice.
    const std::int64_t at = std::min(k, depth - kSide);
    for (std::int64_t i = 0; i < count; i += kSide) {
      const std::int64_t column = std::min(i, count - kSide);
      transpose_square(from + column * stride + at * static_cast<std::int64_t>(sizeof(f32)), stride,
                       to + at * width + column, width);
    }
  }
}

HWY_INLINE f32 load(const std::byte* from) {
  f32 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void scale_row(const ProductScale& scale, const f32* totals, const std::byte* c, std::int64_t c_stride,
               std::int64_t count, std::byte* to) noexcept {
  const f32 alpha = scale.alpha;
  const f32 beta = scale.beta;
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
  if (c == nullptr) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 value = alpha * totals[i];
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  } else if (c_stride == kBytes) {
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 added = beta * load(c + i * kBytes);
      const f32 value = alpha * totals[i] + added;
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  } else if (c_stride == 0) {
    const f32 added = beta * load(c);
    ANYDML_INDEPENDENT
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 value = alpha * totals[i] + added;
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const f32 value = scale(totals[i], load(c + i * c_stride));
      std::memcpy(to + i * kBytes, &value, sizeof(value));
    }
  }
}

template <std::size_t kCount, std::size_t... kRows>
constexpr std::array<ProductBlock, sizeof...(kRows)> all_blocks(std::index_sequence<kRows...>) {
  return {add_block<kRows + 1, kCount>...};
}

}  // namespace

const ProductKernels* kernels() {
  static constexpr auto kBlocks = all_blocks<kVectors>(std::make_index_sequence<kStrip>());
  static constexpr auto kHalfBlocks = all_blocks<kVectors / 2>(std::make_index_sequence<kStrip>());
  static constexpr auto kFewBlocks = all_blocks<1>(std::make_index_sequence<kStrip>());
  static constexpr ProductKernels kAll = {.strip = kStrip,
                                          .panel = kPanel,
                                          .blocks = kBlocks.data(),
                                          .few_columns = kLanes,
                                          .half_columns = kPanel / 2,
                                          .few_blocks = kFewBlocks.data(),
                                          .half_blocks = kHalfBlocks.data(),
                                          .few_pair = add_pair,
                                          .scale_row = scale_row,
                                          .transpose = transpose};
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const ProductKernels* product_kernels(cpu::Target target) { return ANYDML_FOR_TARGET(target, nullptr, kernels()); }

}  // namespace anydml

#endif
