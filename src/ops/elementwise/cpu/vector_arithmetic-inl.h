// SPDX-License-Identifier: MIT
// The vector arithmetic that both modulus operators share, compiled once for each of Highway's targets. It computes the
// same bits as the scalar definition.
//
// Arithmetic<T, kFloor> has, for vectors `a` and `b` of elements:
//   quick(d, a, b, proven)        fast; clears `proven` in the lanes whose result is uncertain
//   quick(d, a, divisor, proven)  the same for one divisor, prepared before the loop
//   thorough<n>(d, a, b, out)     correct for every input; n vectors. Absent if quick proves every lane
#if defined(ANYDML_VECTOR_ARITHMETIC_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_VECTOR_ARITHMETIC_INL
#undef ANYDML_VECTOR_ARITHMETIC_INL
#else
#define ANYDML_VECTOR_ARITHMETIC_INL
#endif

#include <cstring>

#include "ops/scalar/modulus_floor.h"
#include "ops/scalar/modulus_truncate.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The number of vectors that are processed in lockstep, limited by the number of registers. Arithmetic that needs more
// registers uses four vectors.
inline constexpr std::size_t kUnrollSimple = HWY_TARGET == HWY_AVX2 ? 4 : 8;

// Specialized for each type in vector_integers-inl.h and vector_floats-inl.h.
template <class T, bool kFloor>
struct Arithmetic;

template <class T, bool kFloor>
T scalar_modulus(T a, T b) {
  if constexpr (kFloor) {
    return ModulusFloor<T>{}(a, b);
  } else {
    return ModulusTruncate<T>{}(a, b);
  }
}

// One lane at a time: for rare cases and types without vector arithmetic.
template <class T, bool kFloor, class D>
HWY_NOINLINE hn::Vec<D> by_lanes(D d, hn::Vec<D> a, hn::Vec<D> b) {
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  static_assert(sizeof(hn::TFromD<D>) == sizeof(T));
  alignas(HWY_MAX_BYTES) T x[kLanes];
  alignas(HWY_MAX_BYTES) T y[kLanes];
  hn::Store(a, d, reinterpret_cast<hn::TFromD<D>*>(x));
  hn::Store(b, d, reinterpret_cast<hn::TFromD<D>*>(y));
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    x[i] = scalar_modulus<T, kFloor>(x[i], y[i]);
  }
  return hn::Load(d, reinterpret_cast<const hn::TFromD<D>*>(x));
}

// The bits of 2^52 and 2^84 as f64 and of 2^23 as f32: placing an integer in the low bits of such a number adds the
// integer to its value.
inline constexpr u32 kTwoTo23Bits = 0x4B00'0000U;
inline constexpr u64 kTwoTo52Bits = 0x4330'0000'0000'0000U;
inline constexpr u64 kTwoTo84Bits = 0x4530'0000'0000'0000U;

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
