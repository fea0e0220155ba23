// SPDX-License-Identifier: MIT
// Rows of FLOAT32 and FLOAT64 whose extremes are one instruction on Arm: FMAX and FMIN are what is defined, a NaN in
// either wins and +0 is above -0. Of the definitions' choices compilers make several.
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/neon_floats.cpp"
#include "backend/cpu/each_target.h"

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <arm_neon.h>

#include <cstring>

#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE float32x4_t greater(float32x4_t a, float32x4_t b) { return vmaxq_f32(a, b); }
HWY_INLINE float64x2_t greater(float64x2_t a, float64x2_t b) { return vmaxq_f64(a, b); }
HWY_INLINE float32x4_t less(float32x4_t a, float32x4_t b) { return vminq_f32(a, b); }
HWY_INLINE float64x2_t less(float64x2_t a, float64x2_t b) { return vminq_f64(a, b); }
HWY_INLINE float32x4_t repeated(f32 value) { return vdupq_n_f32(value); }
HWY_INLINE float64x2_t repeated(f64 value) { return vdupq_n_f64(value); }

template <class T>
using Floats = decltype(repeated(T{}));

// What vectors make of a definition's numbers and elements.
template <class Scalar>
struct FloatOp;
template <class T>
struct FloatOp<Max<T>> {
  static HWY_INLINE Floats<T> apply(const Max<T>&, Floats<T> a, Floats<T> b) { return greater(a, b); }
};
template <class T>
struct FloatOp<Min<T>> {
  static HWY_INLINE Floats<T> apply(const Min<T>&, Floats<T> a, Floats<T> b) { return less(a, b); }
};
template <class T>
struct FloatOp<Threshold<T>> {
  static HWY_INLINE Floats<T> apply(const Threshold<T>& of, Floats<T> x) { return greater(x, repeated(of.min)); }
};
template <class T>
struct FloatOp<Relu<T>> {
  static HWY_INLINE Floats<T> apply(const Relu<T>&, Floats<T> x) { return greater(x, repeated(T{0})); }
};
template <class T>
struct FloatOp<HardSigmoid<T>> {
  static HWY_INLINE Floats<T> apply(const HardSigmoid<T>& of, Floats<T> x) {
    const Floats<T> product = repeated(of.alpha) * x;
    return greater(repeated(T{0}), less(product + repeated(of.beta), repeated(T{1})));
  }
};
template <class T>
struct FloatOp<HardSwish<T>> {
  static HWY_INLINE Floats<T> apply(const HardSwish<T>& of, Floats<T> x) {
    const Floats<T> product = repeated(of.alpha) * x;
    return x * greater(repeated(T{0}), less(product + repeated(of.beta), repeated(T{1})));
  }
};

template <class T>
HWY_INLINE Floats<T> load_floats(const std::byte* from) {
  Floats<T> loaded;
  std::memcpy(&loaded, from, sizeof(loaded));
  return loaded;
}

template <class Scalar, class T, std::size_t kInputs>
HWY_INLINE void compute(const Scalar& scalar, const std::byte* const* from, std::size_t at, std::byte* to) {
  Floats<T> result;
  if constexpr (kInputs == 1) {
    result = FloatOp<Scalar>::apply(scalar, load_floats<T>(from[0] + at));
  } else {
    result = FloatOp<Scalar>::apply(scalar, load_floats<T>(from[0] + at), load_floats<T>(from[1] + at));
  }
  std::memcpy(to, &result, sizeof(result));
}

template <class Scalar, class T, std::size_t kInputs>
void run_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kStep = sizeof(Floats<T>);
  const Scalar scalar = *static_cast<const Scalar*>(block.scalar);  // which no store below can reach
  const std::size_t bytes = block.columns * sizeof(T);
  RowCursor<kInputs> row(block);
  do {
    std::size_t n = 0;
#pragma GCC unroll 4
    for (; n + kStep <= bytes; n += kStep) {
      compute<Scalar, T, kInputs>(scalar, row.inputs, n, row.output + n);
    }
    if (n < bytes) {
      alignas(kStep) std::byte rest[kInputs][kStep] = {};
      const std::byte* from[kInputs];
      for (std::size_t i = 0; i < kInputs; ++i) {
        std::memcpy(rest[i], row.inputs[i] + n, bytes - n);
        from[i] = rest[i];
      }
      compute<Scalar, T, kInputs>(scalar, from, 0, rest[0]);
      std::memcpy(row.output + n, rest[0], bytes - n);
    }
  } while (row.next());
}

template <class Scalar, class T>
void kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kInputs = Signature<Scalar>::kInputs;
  static constexpr TiledRow kRow{run_rows<Scalar, T, kInputs>, nullptr, kInputs, {sizeof(T), sizeof(T), sizeof(T)}};
  const auto scalar = make_scalar<Scalar>(*arguments.attributes);
  run_tiled(kRow, arguments, &scalar);
}

template <template <class> class Definition>
void replace_row(KernelTable& table, RowId id) {
  table.at(row(id), find_variant(row(id), DataType::FLOAT32)).fill(kernel<Definition<f32>, f32>);
  table.at(row(id), find_variant(row(id), DataType::FLOAT64)).fill(kernel<Definition<f64>, f64>);
}

}  // namespace

void replace_floats(KernelTable& table) {
  replace_row<Max>(table, RowId::ELEMENT_WISE_MAX);
  replace_row<Min>(table, RowId::ELEMENT_WISE_MIN);
  replace_row<Threshold>(table, RowId::ELEMENT_WISE_THRESHOLD);
  replace_row<Relu>(table, RowId::ACTIVATION_RELU);
  replace_row<HardSigmoid>(table, RowId::ACTIVATION_HARD_SIGMOID);
  replace_row<HardSwish>(table, RowId::ACTIVATION_HARD_SWISH);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
