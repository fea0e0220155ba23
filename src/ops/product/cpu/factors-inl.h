// SPDX-License-Identifier: MIT
// Helpers for the inner loops of products, for each of Highway's targets.
#if defined(ANYDML_FACTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_FACTORS_INL
#undef ANYDML_FACTORS_INL
#else
#define ANYDML_FACTORS_INL
#endif

#include <utility>

#include "ops/product/step.h"

#undef ANYDML_UNROLLED
#if defined(__clang__)
#define ANYDML_UNROLLED _Pragma("clang loop unroll_count(4)")
#else
#define ANYDML_UNROLLED _Pragma("GCC unroll 4")
#endif

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<f32>;
using Vector = hn::Vec<Tag>;

constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(f32);
constexpr std::size_t kPanel = panel_columns(HWY_MAX_BYTES);
constexpr std::size_t kVectors = kPanel / kLanes;
// With 16-byte vectors, 24 sums, 4 vectors of B and 2 of A fit into 32 registers. With 32-byte vectors, 12, 2 and 1 fit
// into 16 registers. With 64-byte vectors, 28 sums and 2 vectors of B fit into 32 registers, and the factors of A are
// read from memory.
constexpr std::size_t kStrip = strip_rows(HWY_MAX_BYTES);

// The factors for one k; of<kRow>() broadcasts the factor of one row to all lanes.
template <std::size_t kRows>
struct Factors {
#if HWY_TARGET == HWY_NEON
  // Broadcast loads compete with the arithmetic for execution units; multiply-adds with a lane operand do not.
  static constexpr std::size_t kLast = kRows > kLanes ? kRows - kLanes : 0;  // the start of the second load

  HWY_INLINE explicit Factors(const f32* a) {
    const Tag d;
    if constexpr (kRows >= kLanes) {
      low = hn::LoadU(d, a);
      high = kRows > kLanes ? hn::LoadU(d, a + kLast) : low;
    } else {
      from = a;
    }
  }
  template <std::size_t kRow>
  HWY_INLINE Vector of() const {
    if constexpr (kRows < kLanes) {
      return hn::Set(Tag(), from[kRow]);
    } else if constexpr (kRow < kLanes) {
      return hn::Broadcast<static_cast<int>(kRow)>(low);
    } else {
      return hn::Broadcast<static_cast<int>(kRow - kLast)>(high);
    }
  }
  const f32* from = nullptr;
  Vector low;
  Vector high;
#else
  HWY_INLINE explicit Factors(const f32* a) : from(a) {}
  template <std::size_t kRow>
  HWY_INLINE Vector of() const {
    return hn::Set(Tag(), from[kRow]);
  }
  const f32* from;
#endif
};

// Calls use.operator()<i>() for each i below kCount. Constant indices let compilers keep arrays in registers. In a
// loop, even a short one, compilers write the arrays to memory in every iteration.
template <std::size_t kCount, class Use>
HWY_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
#endif
