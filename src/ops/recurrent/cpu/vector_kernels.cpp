// SPDX-License-Identifier: MIT
// Compiles the kernels once for each Highway target.
#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/cpu/loops.h"
#include "base/element.h"
#include "ops/product/scalar/integer.h"
#include "ops/recurrent/cpu/kernels.h"
#include "ops/scalar/clip.h"
#include "ops/scalar/functions/hyperbolic.h"
#include "ops/scalar/ordered_bits.h"
#include "ops/scalar/sum_of_products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/recurrent/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"
#include "ops/product/cpu/factors-inl.h"

#undef ANYDML_RESTRICT
#undef ANYDML_FLATTENED
#define ANYDML_RESTRICT HWY_RESTRICT
#define ANYDML_FLATTENED HWY_FLATTEN HWY_NOINLINE

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kColumns = kRecurrentColumns;
#include "backend/cpu/halves-inl.h"
#include "ops/recurrent/cpu/kernels-inl.h"

// Adds the products of a row and some factors.
template <std::size_t kSums>
HWY_INLINE void add_factors(const f32* hidden, const f32* HWY_RESTRICT panels, std::int64_t gate_step,
                            std::int64_t depth, Vector* sums) {
  const Tag d;
  for (std::int64_t k = 0; k < depth; ++k, panels += kPanel) {
    const Vector factor = hn::Set(d, hidden[k]);
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      const f32* const from =
          panels + static_cast<std::int64_t>(kSum / kVectors) * gate_step + kSum % kVectors * kLanes;
      sums[kSum] = hn::MulAdd(factor, hn::LoadU(d, from), sums[kSum]);
    });
  }
}

// The same for the compact form: the product of an integer and the scale is the original factor.
template <std::size_t kSums>
HWY_INLINE void add_compact(const f32* hidden, const f32* HWY_RESTRICT words, const f32* scales, std::int64_t gate_step,
                            std::int64_t depth, Vector* sums) {
  const Tag d;
  const hn::RebindToUnsigned<Tag> d_words;
  const auto upper = hn::Set(d_words, 0xFFFF0000U);
  for (std::int64_t k = 0; k < depth; k += 2, words += kPanel) {
    const Vector first = hn::Set(d, hidden[k]);
    const bool has_second = k + 1 < depth;
    const Vector second = hn::Set(d, hidden[has_second ? k + 1 : k]);
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      constexpr std::size_t kGate = kSum / kVectors;
      const f32* const from = words + static_cast<std::int64_t>(kGate) * gate_step + kSum % kVectors * kLanes;
      const auto both = hn::LoadU(d_words, reinterpret_cast<const u32*>(from));
      const Vector scale = hn::Set(d, scales[kGate]);
      const Vector low = hn::Mul(hn::BitCast(d, hn::ShiftLeft<16>(both)), scale);
      sums[kSum] = hn::MulAdd(first, low, sums[kSum]);
      if (has_second) {
        sums[kSum] = hn::MulAdd(second, hn::Mul(hn::BitCast(d, hn::And(both, upper)), scale), sums[kSum]);
      }
    });
  }
}

// Multiplies one block of factors. The chains of all gates are computed together, since one gate has too few chains to
// hide the latency of a multiply-add. The sums are written to the totals if this is the first block. Otherwise they are
// added to the totals. scales: null if the factors are not in the compact form.
template <std::size_t kGates>
void multiply_block(const f32* HWY_RESTRICT hidden, const f32* HWY_RESTRICT panels, const f32* scales,
                    std::int64_t gate_step, std::int64_t depth, f32* HWY_RESTRICT totals, std::int64_t totals_step,
                    bool is_first) {
  constexpr std::size_t kSums = kGates * kVectors;
  const Tag d;
  Vector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  if (scales != nullptr) {
    add_compact<kSums>(hidden, panels, scales, gate_step, depth, sums);
  } else {
    add_factors<kSums>(hidden, panels, gate_step, depth, sums);
  }
  const auto address_of = [&](std::size_t sum) HWY_ATTR {
    return totals + static_cast<std::int64_t>(sum / kVectors) * totals_step + sum % kVectors * kLanes;
  };
  if (is_first) {
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { hn::StoreU(sums[kSum], d, address_of(kSum)); });
  } else {
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, address_of(kSum)), sums[kSum]), d, address_of(kSum));
    });
  }
}

template <std::size_t kGates>
void multiply_gates(const f32* hidden, const f32* panels, std::int64_t gate_step, std::int64_t depth, f32* totals,
                    std::int64_t totals_step) {
  static_assert(kProductBlock % 2 == 0);
  constexpr auto kWidth = static_cast<std::int64_t>(kPanel);
  f32 scales[kGates];
  bool is_compact = true;
  for (std::size_t i = 0; i < kGates; ++i) {
    scales[i] = panels[static_cast<std::int64_t>(i) * gate_step + depth * kWidth];
    is_compact = is_compact && scales[i] != 0;
  }
  const f32* const words = panels + (depth + 1) * kWidth;
  for (std::int64_t first = 0; first < depth; first += kProductBlock) {
    multiply_block<kGates>(hidden + first, is_compact ? words + first / 2 * kWidth : panels + first * kWidth,
                           is_compact ? scales : nullptr, gate_step, std::min(kProductBlock, depth - first), totals,
                           totals_step, first == 0);
  }
}

void multiply_row(const f32* hidden, const f32* panels, std::int64_t gate_step, std::int64_t gates, std::int64_t depth,
                  f32* totals, std::int64_t totals_step) noexcept {
  switch (gates) {
    case 1:
      return multiply_gates<1>(hidden, panels, gate_step, depth, totals, totals_step);
    case 2:
      return multiply_gates<2>(hidden, panels, gate_step, depth, totals, totals_step);
    case 3:
      return multiply_gates<3>(hidden, panels, gate_step, depth, totals, totals_step);
    default:
      return multiply_gates<4>(hidden, panels, gate_step, depth, totals, totals_step);
  }
}

}  // namespace

const RecurrentKernels* recurrent_kernels() {
  static constexpr RecurrentKernels kAll = [] {
    RecurrentKernels kernels = kLoops;
    kernels.multiply_row = multiply_row;
    return kernels;
  }();
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const RecurrentKernels* vector_recurrent_kernels(cpu::Target target) {
  return ANYDML_FOR_TARGET(target, nullptr, recurrent_kernels());
}

}  // namespace anydml

#endif
