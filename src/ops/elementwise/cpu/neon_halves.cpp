// SPDX-License-Identifier: MIT
// Computes FLOAT16 with half-precision instructions, on Arm CPUs that have them. The definitions compute in FLOAT32 and
// round a second time; for a sum, difference, product, quotient or root, the result is the same as with a single
// rounding, since 24 >= 2 * 11 + 2. Rounding to an integer, comparing and selecting are exact.
#include "ops/elementwise/cpu/vector_kernels.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/neon_halves.cpp"
#include "backend/cpu/each_target.h"

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "ops/elementwise/cpu/neon_halves-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
#if ANYDML_HALF_INSTRUCTIONS
namespace {

using Halves = float16x8_t;
using Truths = uint8x8_t;

// The attributes of an entry's definition as halves. They were already rounded to FLOAT16 when the definition was
// created.
struct Numbers {
  f16 values[3] = {};
  u32 mode = 0;
};
ANYDML_HALVES inline Halves repeated(f16 value) { return vreinterpretq_f16_u16(vdupq_n_u16(value.bits)); }

ANYDML_HALVES inline Halves chosen(uint16x8_t condition, Halves a, Halves b) { return vbslq_f16(condition, a, b); }
ANYDML_HALVES inline Truths truths(uint16x8_t condition) { return vshr_n_u8(vmovn_u16(condition), 7); }

template <EntryId kEntry>
struct HalfOp;
#define ANYDML_HALF_OP(entry, Definition, parameters, expression)                       \
  template <>                                                                           \
  struct HalfOp<EntryId::entry> {                                                       \
    using Scalar = Definition<f16>;                                                     \
    using Output = f16;                                                                 \
    ANYDML_HALVES static inline Halves apply parameters noexcept { return expression; } \
  };
#define ANYDML_HALF_COMPARISON(entry, Definition, compare)                                                         \
  template <>                                                                                                      \
  struct HalfOp<EntryId::entry> {                                                                                  \
    using Scalar = Definition<f16, u8>;                                                                            \
    using Output = u8;                                                                                             \
    ANYDML_HALVES static inline Truths apply(Given, Halves a, Halves b) noexcept { return truths(compare(a, b)); } \
  };
using Given = const Numbers&;
ANYDML_HALF_COMPARISON(ELEMENT_WISE_LOGICAL_EQUALS, LogicalEquals, vceqq_f16)
ANYDML_HALF_COMPARISON(ELEMENT_WISE_LOGICAL_GREATER_THAN, LogicalGreaterThan, vcgtq_f16)
ANYDML_HALF_COMPARISON(ELEMENT_WISE_LOGICAL_LESS_THAN, LogicalLessThan, vcltq_f16)
ANYDML_HALF_COMPARISON(ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL, LogicalGreaterThanOrEqual, vcgeq_f16)
ANYDML_HALF_COMPARISON(ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL, LogicalLessThanOrEqual, vcleq_f16)
#undef ANYDML_HALF_COMPARISON
ANYDML_HALF_OP(ACTIVATION_PARAMETERIZED_RELU, ParameterizedRelu, (Given, Halves x, Halves slope),
               chosen(vcgezq_f16(x), x, vmulq_f16(slope, x)))
ANYDML_HALF_OP(ACTIVATION_RELU_GRAD, ReluGrad, (Given, Halves x, Halves gradient),
               chosen(vcgtzq_f16(x), gradient, repeated({0})))
ANYDML_HALF_OP(ELEMENT_WISE_CLIP_GRAD, ClipGrad, (Given given, Halves x, Halves gradient),
               chosen(vorrq_u16(vcleq_f16(x, repeated(given.values[0])), vcgeq_f16(x, repeated(given.values[1]))),
                      repeated({0}), gradient))
ANYDML_HALF_OP(ELEMENT_WISE_SIGN, Sign, (Given, Halves x),
               chosen(vcgtzq_f16(x), repeated({0x3c00}), chosen(vcltzq_f16(x), repeated({0xbc00}), repeated({0}))))
ANYDML_HALF_OP(ELEMENT_WISE_ROUND, Round, (Given given, Halves x),
               given.mode == 0   ? vrndnq_f16(x)
               : given.mode == 2 ? vrndaq_f16(x)
                                 : vrndq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_ADD, Add, (Given, Halves a, Halves b), vaddq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_SUBTRACT, Subtract, (Given, Halves a, Halves b), vsubq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_MULTIPLY, Multiply, (Given, Halves a, Halves b), vmulq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_DIVIDE, Divide, (Given, Halves a, Halves b), vdivq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_MAX, Max, (Given, Halves a, Halves b), vmaxq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_MIN, Min, (Given, Halves a, Halves b), vminq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_FLOOR, Floor, (Given, Halves x), vrndmq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_CEIL, Ceil, (Given, Halves x), vrndpq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_SQRT, Sqrt, (Given, Halves x), vsqrtq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_RECIP, Recip, (Given, Halves x), vdivq_f16(repeated({0x3c00}), x))
ANYDML_HALF_OP(ACTIVATION_RELU, Relu, (Given, Halves x), vmaxq_f16(x, repeated({0})))
ANYDML_HALF_OP(ELEMENT_WISE_THRESHOLD, Threshold, (Given given, Halves x), vmaxq_f16(x, repeated(given.values[0])))
#undef ANYDML_HALF_OP

template <>
struct HalfOp<EntryId::ELEMENT_WISE_CLIP> {
  using Scalar = Clip<f16>;
  using Output = f16;
  ANYDML_HALVES static inline Halves apply(Given given, Halves x) noexcept {
    const Halves min = repeated(given.values[0]);
    const Halves max = repeated(given.values[1]);
    const Halves low = vbslq_f16(vcgeq_f16(x, max), max, x);
    return vaddq_f16(vbslq_f16(vcleq_f16(low, min), min, low), repeated(given.values[2]));
  }
};

template <class Scalar>
Numbers numbers_of(const Scalar& scalar) {
  if constexpr (std::is_same_v<Scalar, Clip<f16>>) {
    return {{narrow<f16>(scalar.min), narrow<f16>(scalar.max), narrow<f16>(scalar.last)}, 0};
  } else if constexpr (std::is_same_v<Scalar, ClipGrad<f16>>) {
    return {{narrow<f16>(scalar.min), narrow<f16>(scalar.max)}, 0};
  } else if constexpr (std::is_same_v<Scalar, Round<f16>>) {
    return {{}, scalar.mode};
  } else if constexpr (std::is_same_v<Scalar, Threshold<f16>>) {
    return {{narrow<f16>(scalar.min)}, 0};
  } else {
    return {};
  }
}

template <class Result, class... Operands>
constexpr std::size_t count_inputs(Result (*)(Given, Operands...) noexcept) {
  return sizeof...(Operands);
}

ANYDML_HALVES inline Halves load_halves(const std::byte* from) {
  return vreinterpretq_f16_u8(vld1q_u8(reinterpret_cast<const u8*>(from)));
}

// `at` is the index of an element.
template <class Op, std::size_t kInputs>
ANYDML_HALVES inline void compute_halves(Given given, const std::byte* const* inputs, std::size_t at, std::byte* to) {
  if constexpr (kInputs == 1) {
    const auto result = Op::apply(given, load_halves(inputs[0] + at * sizeof(f16)));
    std::memcpy(to, &result, sizeof(result));
  } else {
    const auto result = Op::apply(given, load_halves(inputs[0] + at * sizeof(f16)),  //
                                  load_halves(inputs[1] + at * sizeof(f16)));
    std::memcpy(to, &result, sizeof(result));
  }
}

// Computes one row. Each row is a separate function call, since a function that uses these instructions cannot be
// inlined into one that does not.
template <class Op, std::size_t kInputs>
ANYDML_HALVES HWY_NOINLINE void run_row(Numbers given, const std::byte* const* inputs, std::byte* output,
                                        std::size_t count) noexcept {
  constexpr std::size_t kStep = sizeof(Halves) / sizeof(f16);
  constexpr std::size_t kSize = sizeof(typename Op::Output);
  const std::byte* from[kInputs];
  for (std::size_t i = 0; i < kInputs; ++i) {
    from[i] = inputs[i];
  }
  std::size_t n = 0;
#pragma GCC unroll 4
  for (; n + kStep <= count; n += kStep) {
    compute_halves<Op, kInputs>(given, from, n, output + n * kSize);
  }
  if (n < count) {
    alignas(sizeof(Halves)) std::byte rest[kInputs][sizeof(Halves)] = {};
    for (std::size_t i = 0; i < kInputs; ++i) {
      std::memcpy(rest[i], from[i] + n * sizeof(f16), (count - n) * sizeof(f16));
      from[i] = rest[i];
    }
    compute_halves<Op, kInputs>(given, from, 0, rest[0]);
    std::memcpy(output + n * kSize, rest[0], (count - n) * kSize);
  }
}

template <class Op, std::size_t kInputs>
void run_halves(const RowBlock& block) noexcept {
  RowCursor<kInputs> row(block);
  do {
    run_row<Op, kInputs>(*static_cast<const Numbers*>(block.scalar), row.inputs, row.output, block.columns);
  } while (row.next());
}

template <class Op>
void kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kInputs = count_inputs(&Op::apply);
  constexpr std::uint8_t kOutput = sizeof(typename Op::Output);
  static constexpr TiledRow kRow{
      run_halves<Op, kInputs>, nullptr, kInputs, {sizeof(f16), kInputs == 1 ? kOutput : sizeof(f16), kOutput}};
  const Numbers numbers = numbers_of(make_scalar<typename Op::Scalar>(*arguments.attributes));
  run_tiled(kRow, arguments, &numbers);
}

// Divides bytes. A quotient that is not an integer differs from the next integer by at least 1 / b and has a rounding
// error below 1 / 8b, so truncating it gives the exact result. MIN / -1 wraps when the upper byte is dropped.
template <class T>
ANYDML_HALVES inline uint8x16_t divided(uint8x16_t a, uint8x16_t b) {
  uint8x16_t quotient;
  if constexpr (std::is_signed_v<T>) {
    const int8x16_t x = vreinterpretq_s8_u8(a);
    const int8x16_t y = vreinterpretq_s8_u8(b);
    const Halves low = vdivq_f16(vcvtq_f16_s16(vmovl_s8(vget_low_s8(x))), vcvtq_f16_s16(vmovl_s8(vget_low_s8(y))));
    const Halves high = vdivq_f16(vcvtq_f16_s16(vmovl_high_s8(x)), vcvtq_f16_s16(vmovl_high_s8(y)));
    quotient = vuzp1q_u8(vreinterpretq_u8_s16(vcvtq_s16_f16(low)), vreinterpretq_u8_s16(vcvtq_s16_f16(high)));
  } else {
    const Halves low = vdivq_f16(vcvtq_f16_u16(vmovl_u8(vget_low_u8(a))), vcvtq_f16_u16(vmovl_u8(vget_low_u8(b))));
    const Halves high = vdivq_f16(vcvtq_f16_u16(vmovl_high_u8(a)), vcvtq_f16_u16(vmovl_high_u8(b)));
    quotient = vuzp1q_u8(vreinterpretq_u8_u16(vcvtq_u16_f16(low)), vreinterpretq_u8_u16(vcvtq_u16_f16(high)));
  }
  return vandq_u8(quotient, vtstq_u8(b, b));  // 0 where b is 0
}

template <class T>
ANYDML_HALVES HWY_NOINLINE void divide_row(const std::byte* a, const std::byte* b, std::byte* to,
                                           std::size_t count) noexcept {
  constexpr std::size_t kStep = sizeof(uint8x16_t);
  const auto* const x = reinterpret_cast<const u8*>(a);
  const auto* const y = reinterpret_cast<const u8*>(b);
  std::size_t n = 0;
#pragma GCC unroll 2
  for (; n + kStep <= count; n += kStep) {
    vst1q_u8(reinterpret_cast<u8*>(to) + n, divided<T>(vld1q_u8(x + n), vld1q_u8(y + n)));
  }
  if (n < count) {
    u8 rest[2][kStep] = {};
    std::memcpy(rest[0], x + n, count - n);
    std::memcpy(rest[1], y + n, count - n);
    vst1q_u8(rest[0], divided<T>(vld1q_u8(rest[0]), vld1q_u8(rest[1])));
    std::memcpy(to + n, rest[0], count - n);
  }
}

template <class T>
void divide_rows(const RowBlock& block) noexcept {
  RowCursor<2> row(block);
  do {
    divide_row<T>(row.inputs[0], row.inputs[1], row.output, block.columns);
  } while (row.next());
}

template <class T>
void divide_kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow{divide_rows<T>, nullptr, 2, {1, 1, 1}};
  run_tiled(kRow, arguments, nullptr);
}

template <EntryId kEntry>
void replace_one(KernelTable& table) {
  using Op = HalfOp<kEntry>;
  Variant types{};
  constexpr std::size_t kInputs = count_inputs(&Op::apply);
  std::fill_n(types.begin(), kInputs, DataType::FLOAT16);
  types[kInputs] = kDataTypeOf<typename Op::Output>;
  table.at(entry(kEntry), find_variant(entry(kEntry), types)).fill(kernel<Op>);
}

template <EntryId... kEntries>
void replace_each(KernelTable& table) {
  (replace_one<kEntries>(table), ...);
}

}  // namespace
#endif

void replace_halves([[maybe_unused]] KernelTable& table) {
#if ANYDML_HALF_INSTRUCTIONS
  if (machine_has_halves()) {
    replace_each<EntryId::ELEMENT_WISE_ADD, EntryId::ELEMENT_WISE_SUBTRACT, EntryId::ELEMENT_WISE_MULTIPLY,
                 EntryId::ELEMENT_WISE_DIVIDE, EntryId::ELEMENT_WISE_MAX, EntryId::ELEMENT_WISE_MIN,
                 EntryId::ELEMENT_WISE_FLOOR, EntryId::ELEMENT_WISE_CEIL, EntryId::ELEMENT_WISE_SQRT,
                 EntryId::ELEMENT_WISE_RECIP, EntryId::ACTIVATION_RELU, EntryId::ELEMENT_WISE_THRESHOLD,
                 EntryId::ELEMENT_WISE_CLIP, EntryId::ELEMENT_WISE_SIGN, EntryId::ELEMENT_WISE_ROUND,
                 EntryId::ELEMENT_WISE_CLIP_GRAD, EntryId::ACTIVATION_RELU_GRAD, EntryId::ACTIVATION_PARAMETERIZED_RELU,
                 EntryId::ELEMENT_WISE_LOGICAL_EQUALS, EntryId::ELEMENT_WISE_LOGICAL_GREATER_THAN,
                 EntryId::ELEMENT_WISE_LOGICAL_LESS_THAN, EntryId::ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL,
                 EntryId::ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL>(table);
    const Entry& divide = entry(EntryId::ELEMENT_WISE_DIVIDE);
    table.at(divide, find_variant(divide, DataType::INT8)).fill(divide_kernel<i8>);
    table.at(divide, find_variant(divide, DataType::UINT8)).fill(divide_kernel<u8>);
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
