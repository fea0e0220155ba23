// SPDX-License-Identifier: MIT
// The kernels once for each target that Highway compiles this file for.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "base/element.h"
#include "ops/recurrent/cpu/kernels.h"
#include "ops/scalar/clip.h"
#include "ops/scalar/functions/hyperbolic.h"
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

#include "backend/cpu/halves-inl.h"
#include "ops/recurrent/cpu/kernels-inl.h"

// The chains of all gates at once, since those of one are too few to hide the time of a multiply-add.
template <std::size_t kGates>
void multiply_gates(const f32* HWY_RESTRICT hidden, const f32* HWY_RESTRICT panels, std::int64_t gate_step,
                    std::int64_t depth, f32* HWY_RESTRICT totals, std::int64_t totals_step) {
  constexpr std::size_t kSums = kGates * kVectors;
  const Tag d;
  const auto place = [&](std::size_t sum) HWY_ATTR {
    return totals + static_cast<std::int64_t>(sum / kVectors) * totals_step + sum % kVectors * kLanes;
  };
  for (std::int64_t first = 0; first < depth; first += kProductBlock) {
    const std::int64_t end = std::min(depth, first + kProductBlock);
    Vector sums[kSums];
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
    const f32* from = panels + first * static_cast<std::int64_t>(kPanel);
    for (std::int64_t k = first; k < end; ++k, from += kPanel) {
      const Vector factor = hn::Set(d, hidden[k]);
      for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
        const f32* const at = from + static_cast<std::int64_t>(kSum / kVectors) * gate_step + kSum % kVectors * kLanes;
        sums[kSum] = hn::MulAdd(factor, hn::LoadU(d, at), sums[kSum]);
      });
    }
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      hn::StoreU(first == 0 ? sums[kSum] : hn::Add(hn::LoadU(d, place(kSum)), sums[kSum]), d, place(kSum));
    });
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
