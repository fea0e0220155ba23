// SPDX-License-Identifier: MIT
// Rows of floats by Arm's instructions. FMAX and FMIN are the extremes as they are defined: a NaN in either wins and +0
// is above -0. Of the definitions' choices compilers make several. FLOAT16 that is computed in FLOAT32 is converted on
// the way, in registers; neon_halves.cpp has the rows that need no FLOAT32.
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
using Floats = decltype(repeated(compute_t<T>{}));

// 16 bytes of elements, as what they are computed in.
template <class T>
struct Pack {
  Floats<T> parts[sizeof(compute_t<T>) / sizeof(T)];
};

template <class T>
HWY_INLINE Pack<T> load_pack(const std::byte* from) {
  const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const u8*>(from));
  if constexpr (std::is_same_v<T, f16>) {
    const float16x8_t halves = vreinterpretq_f16_u8(bytes);
    return {{vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)}};
  } else if constexpr (std::is_same_v<T, f32>) {
    return {{vreinterpretq_f32_u8(bytes)}};
  } else {
    return {{vreinterpretq_f64_u8(bytes)}};
  }
}

template <class T>
HWY_INLINE void store_pack(const Pack<T>& pack, std::byte* to) {
  if constexpr (std::is_same_v<T, f16>) {
    const float16x8_t halves = vcvt_high_f16_f32(vcvt_f16_f32(pack.parts[0]), pack.parts[1]);
    vst1q_u8(reinterpret_cast<u8*>(to), vreinterpretq_u8_f16(halves));
  } else {
    std::memcpy(to, pack.parts, sizeof(pack.parts));
  }
}

// What vectors make of a definition's numbers and elements.
template <class Scalar>
struct FloatOp;
#define ANYDML_FLOAT_OP(Definition, parameters, expression)             \
  template <class T>                                                    \
  struct FloatOp<Definition<T>> {                                       \
    using V = Floats<T>;                                                \
    using C = compute_t<T>;                                             \
    using Given = const Definition<T>&;                                 \
    static HWY_INLINE Floats<T> apply parameters { return expression; } \
  };
ANYDML_FLOAT_OP(Max, (Given, V a, V b), greater(a, b))
ANYDML_FLOAT_OP(Min, (Given, V a, V b), less(a, b))
ANYDML_FLOAT_OP(Threshold, (Given of, V x), greater(x, repeated(of.min)))
ANYDML_FLOAT_OP(Relu, (Given, V x), greater(x, repeated(C{0})))
ANYDML_FLOAT_OP(Mean, (Given, V a, V b), (a + b) * repeated(C{0.5}))
ANYDML_FLOAT_OP(DifferenceSquare, (Given, V a, V b), (a - b) * (a - b))
ANYDML_FLOAT_OP(Linear, (Given of, V x), repeated(of.alpha) * x + repeated(of.beta))
ANYDML_FLOAT_OP(LeakyRelu, (Given of, V x), vbslq_f32(vcgezq_f32(x), x, repeated(of.alpha) * x))
ANYDML_FLOAT_OP(ThresholdedRelu, (Given of, V x), vbslq_f32(vcgtq_f32(x, repeated(of.alpha)), x, repeated(C{0})))
ANYDML_FLOAT_OP(Shrink, (Given of, V x),
                vbslq_f32(vcgtq_f32(x, repeated(of.above)), x - repeated(of.bias),
                          vbslq_f32(vcltq_f32(x, repeated(of.below)), x + repeated(of.bias), repeated(C{0}))))
ANYDML_FLOAT_OP(HardSigmoid, (Given of, V x),
                greater(repeated(C{0}), less(repeated(of.alpha) * x + repeated(of.beta), repeated(C{1}))))
ANYDML_FLOAT_OP(HardSwish, (Given of, V x),
                x* greater(repeated(C{0}), less(repeated(of.alpha) * x + repeated(of.beta), repeated(C{1}))))
#undef ANYDML_FLOAT_OP

template <class Scalar, class T, std::size_t kInputs>
HWY_INLINE void compute(const Scalar& scalar, const std::byte* const* from, std::size_t at, std::byte* to) {
  Pack<T> first = load_pack<T>(from[0] + at);
  if constexpr (kInputs == 1) {
    for (Floats<T>& part : first.parts) {
      part = FloatOp<Scalar>::apply(scalar, part);
    }
  } else {
    const Pack<T> second = load_pack<T>(from[1] + at);
    for (std::size_t i = 0; i < std::size(first.parts); ++i) {
      first.parts[i] = FloatOp<Scalar>::apply(scalar, first.parts[i], second.parts[i]);
    }
  }
  store_pack<T>(first, to);
}

template <class Scalar, class T, std::size_t kInputs>
void run_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kStep = 16;
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

template <template <class> class Definition, class... Types>
void replace_row(KernelTable& table, RowId id) {
  (table.at(row(id), find_variant(row(id), kDataTypeOf<Types>)).fill(kernel<Definition<Types>, Types>), ...);
}

}  // namespace

void replace_floats(KernelTable& table) {
  replace_row<Max, f32, f64>(table, RowId::ELEMENT_WISE_MAX);
  replace_row<Min, f32, f64>(table, RowId::ELEMENT_WISE_MIN);
  replace_row<Threshold, f32, f64>(table, RowId::ELEMENT_WISE_THRESHOLD);
  replace_row<Relu, f32, f64>(table, RowId::ACTIVATION_RELU);
  replace_row<HardSigmoid, f16, f32, f64>(table, RowId::ACTIVATION_HARD_SIGMOID);
  replace_row<HardSwish, f16, f32, f64>(table, RowId::ACTIVATION_HARD_SWISH);
  replace_row<Mean, f16>(table, RowId::ELEMENT_WISE_MEAN);
  replace_row<DifferenceSquare, f16>(table, RowId::ELEMENT_WISE_DIFFERENCE_SQUARE);
  replace_row<Linear, f16>(table, RowId::ACTIVATION_LINEAR);
  replace_row<LeakyRelu, f16>(table, RowId::ACTIVATION_LEAKY_RELU);
  replace_row<ThresholdedRelu, f16>(table, RowId::ACTIVATION_THRESHOLDED_RELU);
  replace_row<Shrink, f16>(table, RowId::ACTIVATION_SHRINK);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
