// SPDX-License-Identifier: MIT
// FLOAT16 in half-precision instructions, on Arm CPUs that have them. The definitions compute in FLOAT32 and round once
// more; for a sum, difference, product, quotient or root that is the same as rounding once, since 24 >= 2 * 11 + 2.
// Rounding to an integer is exact.
#include "ops/elementwise/cpu/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/neon_halves.cpp"
#include "backend/cpu/each_target.h"

#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64

#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstring>

#include "ops/elementwise/cpu/tiles-inl.h"

// Functions of these instructions are called where the machine was asked for them alone.
#define ANYDML_HALVES __attribute__((target("arch=armv8.2-a+fp16")))

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

using Halves = float16x8_t;

template <RowId kRow>
struct HalfOp;
#define ANYDML_HALF_OP(row, parameters, expression)                                     \
  template <>                                                                           \
  struct HalfOp<RowId::row> {                                                           \
    ANYDML_HALVES static inline Halves apply parameters noexcept { return expression; } \
  };
ANYDML_HALF_OP(ELEMENT_WISE_ADD, (Halves a, Halves b), vaddq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_SUBTRACT, (Halves a, Halves b), vsubq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_MULTIPLY, (Halves a, Halves b), vmulq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_DIVIDE, (Halves a, Halves b), vdivq_f16(a, b))
ANYDML_HALF_OP(ELEMENT_WISE_FLOOR, (Halves x), vrndmq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_CEIL, (Halves x), vrndpq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_SQRT, (Halves x), vsqrtq_f16(x))
ANYDML_HALF_OP(ELEMENT_WISE_RECIP, (Halves x), vdivq_f16(vreinterpretq_f16_u16(vdupq_n_u16(0x3c00)), x))
#undef ANYDML_HALF_OP

template <class... Operands>
constexpr std::size_t count_inputs(Halves (*)(Operands...) noexcept) {
  return sizeof...(Operands);
}

ANYDML_HALVES inline Halves load_halves(const std::byte* from) {
  return vreinterpretq_f16_u8(vld1q_u8(reinterpret_cast<const u8*>(from)));
}

template <class Op, std::size_t kInputs>
ANYDML_HALVES inline void compute_halves(const std::byte* const* inputs, std::size_t at, std::byte* to) {
  Halves result;
  if constexpr (kInputs == 1) {
    result = Op::apply(load_halves(inputs[0] + at));
  } else {
    result = Op::apply(load_halves(inputs[0] + at), load_halves(inputs[1] + at));
  }
  vst1q_u8(reinterpret_cast<u8*>(to), vreinterpretq_u8_f16(result));
}

// One row. A call for each, since a function of other instructions becomes no part of one without them.
template <class Op, std::size_t kInputs>
ANYDML_HALVES HWY_NOINLINE void run_row(const std::byte* const* inputs, std::byte* output, std::size_t bytes) noexcept {
  constexpr std::size_t kStep = sizeof(Halves);
  const std::byte* from[kInputs];
  for (std::size_t i = 0; i < kInputs; ++i) {
    from[i] = inputs[i];
  }
  std::size_t n = 0;
#pragma GCC unroll 4
  for (; n + kStep <= bytes; n += kStep) {
    compute_halves<Op, kInputs>(from, n, output + n);
  }
  if (n < bytes) {
    alignas(kStep) std::byte rest[kInputs][kStep] = {};
    for (std::size_t i = 0; i < kInputs; ++i) {
      std::memcpy(rest[i], from[i] + n, bytes - n);
      from[i] = rest[i];
    }
    compute_halves<Op, kInputs>(from, 0, rest[0]);
    std::memcpy(output + n, rest[0], bytes - n);
  }
}

template <class Op, std::size_t kInputs>
void run_halves(const RowBlock& block) noexcept {
  RowCursor<kInputs> row(block);
  do {
    run_row<Op, kInputs>(row.inputs, row.output, block.columns * sizeof(f16));
  } while (row.next());
}

template <class Op>
void kernel(const KernelArguments& arguments) noexcept {
  constexpr std::size_t kInputs = count_inputs(&Op::apply);
  static constexpr TiledRow kRow{run_halves<Op, kInputs>, nullptr, kInputs, {sizeof(f16), sizeof(f16), sizeof(f16)}};
  run_tiled(kRow, arguments, nullptr);
}

template <RowId... kRows>
void replace_each(KernelTable& table) {
  (table.at(row(kRows), find_variant(row(kRows), DataType::FLOAT16)).fill(kernel<HalfOp<kRows>>), ...);
}

}  // namespace

void replace_halves(KernelTable& table) {
  constexpr unsigned long kHalfPrecision = 1UL << 10;  // HWCAP_ASIMDHP
  if ((getauxval(AT_HWCAP) & kHalfPrecision) != 0) {
    replace_each<RowId::ELEMENT_WISE_ADD, RowId::ELEMENT_WISE_SUBTRACT, RowId::ELEMENT_WISE_MULTIPLY,
                 RowId::ELEMENT_WISE_DIVIDE, RowId::ELEMENT_WISE_FLOOR, RowId::ELEMENT_WISE_CEIL,
                 RowId::ELEMENT_WISE_SQRT, RowId::ELEMENT_WISE_RECIP>(table);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
