// SPDX-License-Identifier: MIT
// The inner loops of convolutions with few output channels, which read rows of the image.
#include <array>
#include <utility>

#include "ops/product/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/lines.cpp"
#include "backend/cpu/each_target.h"
#include "ops/product/cpu/factors-inl.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Processes kCount vectors of columns, or one vector with only `count` columns if kIsPart is set.
template <std::size_t kRows, std::size_t kCount, bool kIsPart>
HWY_INLINE void add_line_part(const f32* HWY_RESTRICT a, const f32* HWY_RESTRICT b,
                              const std::int64_t* HWY_RESTRICT offsets, std::int64_t depth, f32* HWY_RESTRICT totals,
                              std::int64_t totals_step, std::size_t count, bool is_first) {
  constexpr std::size_t kSums = kRows * kCount;
  const Tag d;
  Vector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  ANYDML_UNROLLED
  for (std::int64_t k = 0; k < depth; ++k, a += kRows) {
    const Factors<kRows> factors(a);
    const f32* const from = b + offsets[k];
    Vector of_b[kCount];
    for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR { of_b[kOne] = hn::LoadU(d, from + kOne * kLanes); });
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      sums[kSum] = hn::MulAdd(factors.template of<kSum / kCount>(), of_b[kSum % kCount], sums[kSum]);
    });
  }
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
    f32* const destination = totals + static_cast<std::int64_t>(kSum / kCount) * totals_step + kSum % kCount * kLanes;
    if constexpr (kIsPart) {
      f32 all[kLanes];
      hn::StoreU(sums[kSum], d, all);
      for_each_index<kLanes>([&]<std::size_t kLane>() HWY_ATTR {
        if (kLane < count) {
          destination[kLane] = is_first ? all[kLane] : destination[kLane] + all[kLane];
        }
      });
    } else {
      hn::StoreU(is_first ? sums[kSum] : hn::Add(hn::LoadU(d, destination), sums[kSum]), d, destination);
    }
  });
}

// Processes as many columns as fit into registers, then half as many, and so on.
template <std::size_t kRows, std::size_t kCount>
HWY_INLINE void add_line_parts(const f32* a, const f32* b, const std::int64_t* offsets, std::int64_t depth, f32* totals,
                               std::int64_t totals_step, std::int64_t columns, bool is_first) {
  constexpr auto kColumns = static_cast<std::int64_t>(kCount * kLanes);
  std::int64_t column = 0;
  for (; columns - column >= kColumns; column += kColumns) {
    add_line_part<kRows, kCount, false>(a, b + column, offsets, depth, totals + column, totals_step, 0, is_first);
  }
  if constexpr (kCount > 1) {
    add_line_parts<kRows, kCount / 2>(a, b + column, offsets, depth, totals + column, totals_step, columns - column,
                                      is_first);
  } else if (column < columns) {
    add_line_part<kRows, 1, true>(a, b + column, offsets, depth, totals + column, totals_step,
                                  static_cast<std::size_t>(columns - column), is_first);
  }
}

template <std::size_t kRows>
void add_line(const f32* a, const f32* b, const std::int64_t* offsets, std::int64_t depth, f32* totals,
              std::int64_t totals_step, std::int64_t columns, bool is_first) noexcept {
  constexpr std::size_t kRegisters = HWY_TARGET == HWY_AVX2 ? 16 : 32;
  constexpr auto kFits = [](std::size_t count) { return kRows * count + count + 3 <= kRegisters; };
  constexpr std::size_t kCount = kFits(8) ? 8 : kFits(6) ? 6 : kFits(4) ? 4 : 2;
  add_line_parts<kRows, kCount>(a, b, offsets, depth, totals, totals_step, columns, is_first);
}

template <std::size_t... kRows>
constexpr std::array<ProductLine, sizeof...(kRows)> all_lines(std::index_sequence<kRows...>) {
  return {add_line<kRows + 1>...};
}

}  // namespace

const ProductLine* lines() {
  static constexpr auto kLines = all_lines(std::make_index_sequence<kLineRows>());
  return kLines.data();
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const ProductLine* product_lines(cpu::Target target) { return ANYDML_FOR_TARGET(target, nullptr, lines()); }

}  // namespace anydml

#endif
