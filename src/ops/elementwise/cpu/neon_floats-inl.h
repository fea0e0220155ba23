// SPDX-License-Identifier: MIT
// Implements floating-point definitions with Arm's instructions. FMAX and FMIN match the definition of the extrema: a
// NaN in either operand wins, and +0 is greater than -0. Compilers would turn the selects in the definitions into
// several instructions. This header is empty on other architectures.
#if defined(ANYDML_NEON_FLOATS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ANYDML_NEON_FLOATS_INL
#undef ANYDML_NEON_FLOATS_INL
#else
#define ANYDML_NEON_FLOATS_INL
#endif

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <arm_neon.h>

#include "ops/scalar/scalars.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {

HWY_INLINE float32x4_t greater(float32x4_t a, float32x4_t b) { return vmaxq_f32(a, b); }
HWY_INLINE float64x2_t greater(float64x2_t a, float64x2_t b) { return vmaxq_f64(a, b); }
HWY_INLINE float32x4_t less(float32x4_t a, float32x4_t b) { return vminq_f32(a, b); }
HWY_INLINE float64x2_t less(float64x2_t a, float64x2_t b) { return vminq_f64(a, b); }
HWY_INLINE float32x4_t repeated(f32 value) { return vdupq_n_f32(value); }
HWY_INLINE float64x2_t repeated(f64 value) { return vdupq_n_f64(value); }

template <class T>
using Floats = decltype(repeated(compute_t<T>{}));

// A definition's attributes and elements as vectors.
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

template <class Scalar>
concept HasFloatOp = requires {
  &FloatOp<Scalar>::apply;
};

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#endif
