// SPDX-License-Identifier: MIT
// Kernels that use Arm's instructions for byte products. SMMLA multiplies two rows by two columns, eight values of k at
// a time; SDOT multiplies one row by four columns, four values of k at a time. Both instructions use signed bytes and
// add modulo 2^32. Functions that use them are called only on machines that support them.
#include "ops/product/cpu/integer_kernels.h"

// Before version 16, clang declares these intrinsics only if the whole file is compiled for a machine that supports
// them.
#if defined(__aarch64__) && !(defined(__clang__) && __clang_major__ < 16)

#include <arm_neon.h>
#include <sys/auxv.h>

#include <array>
#include <utility>

namespace anydml {
namespace {

constexpr std::size_t kPanel = 8;

#define ANYDML_INLINE __attribute__((always_inline)) inline

#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod+i8mm")

// Calls use.operator()<i>() for each i below kCount. Constant indices let compilers keep arrays in registers.
template <std::size_t kCount, class Use>
ANYDML_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

ANYDML_INLINE void put(u32* to, int32x4_t sum, bool is_first) {
  const uint32x4_t bits = vreinterpretq_u32_s32(sum);
  vst1q_u32(to, is_first ? bits : vaddq_u32(bits, vld1q_u32(to)));
}

constexpr std::size_t kVector = 16;
constexpr std::size_t kMatrixPairs = 6;
static_assert(kPanel == 8);

// Six pairs of rows fill all 32 registers: 24 sums, the rows in v0 to v5, and one pair of columns after another in v6
// and v7. Compilers would spill some registers in every iteration, so the loop is written in assembly.
// clang-format off
#define ANYDML_PUT_PAIR(first, second, third, fourth)                                          \
  "zip1 v0.2d, " first ".2d, " second ".2d\n"                                                  \
  "zip1 v1.2d, " third ".2d, " fourth ".2d\n"                                                  \
  "zip2 v2.2d, " first ".2d, " second ".2d\n"                                                  \
  "zip2 v3.2d, " third ".2d, " fourth ".2d\n"                                                  \
  "cbnz %w[is_first], 2f\n"                                                                    \
  "add x17, %[totals], %[step]\n"                                                              \
  "ldp q4, q5, [%[totals]]\n"                                                                  \
  "ldp q6, q7, [x17]\n"                                                                        \
  "add v0.4s, v0.4s, v4.4s\n"                                                                  \
  "add v1.4s, v1.4s, v5.4s\n"                                                                  \
  "add v2.4s, v2.4s, v6.4s\n"                                                                  \
  "add v3.4s, v3.4s, v7.4s\n"                                                                  \
  "2:\n"                                                                                       \
  "stp q0, q1, [%[totals]]\n"                                                                  \
  "add %[totals], %[totals], %[step]\n"                                                        \
  "stp q2, q3, [%[totals]]\n"                                                                  \
  "add %[totals], %[totals], %[step]\n"
void add_six_pairs(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  const u8* a = arguments.a;
  u32* totals = arguments.totals;
  const std::int64_t step = arguments.totals_step * static_cast<std::int64_t>(sizeof(u32));
  const int is_first = arguments.is_first ? 1 : 0;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const u8* b = arguments.b;
    std::int64_t groups = arguments.groups;
    __asm__ volatile(
        "ldp q0, q1, [%[start]]\n"  // two columns of both rows of a pair
        "dup v8.2d, v0.d[0]\n"
        "dup v9.2d, v0.d[1]\n"
        "dup v10.2d, v1.d[0]\n"
        "dup v11.2d, v1.d[1]\n"
        "dup v12.2d, v0.d[0]\n"
        "dup v13.2d, v0.d[1]\n"
        "dup v14.2d, v1.d[0]\n"
        "dup v15.2d, v1.d[1]\n"
        "dup v16.2d, v0.d[0]\n"
        "dup v17.2d, v0.d[1]\n"
        "dup v18.2d, v1.d[0]\n"
        "dup v19.2d, v1.d[1]\n"
        "dup v20.2d, v0.d[0]\n"
        "dup v21.2d, v0.d[1]\n"
        "dup v22.2d, v1.d[0]\n"
        "dup v23.2d, v1.d[1]\n"
        "dup v24.2d, v0.d[0]\n"
        "dup v25.2d, v0.d[1]\n"
        "dup v26.2d, v1.d[0]\n"
        "dup v27.2d, v1.d[1]\n"
        "dup v28.2d, v0.d[0]\n"
        "dup v29.2d, v0.d[1]\n"
        "dup v30.2d, v1.d[0]\n"
        "dup v31.2d, v1.d[1]\n"
        "1:\n"
        "ldp q0, q1, [%[a]]\n"
        "ldr q6, [%[b]]\n"
        "ldp q2, q3, [%[a], #32]\n"
        "ldp q4, q5, [%[a], #64]\n"
        "ldr q7, [%[b], #16]\n"
    "smmla v8.4s, v0.16b, v6.16b\n"
    "smmla v12.4s, v1.16b, v6.16b\n"
    "smmla v16.4s, v2.16b, v6.16b\n"
    "smmla v20.4s, v3.16b, v6.16b\n"
    "smmla v24.4s, v4.16b, v6.16b\n"
    "smmla v28.4s, v5.16b, v6.16b\n"
        "ldr q6, [%[b], #32]\n"
    "smmla v9.4s, v0.16b, v7.16b\n"
    "smmla v13.4s, v1.16b, v7.16b\n"
    "smmla v17.4s, v2.16b, v7.16b\n"
    "smmla v21.4s, v3.16b, v7.16b\n"
    "smmla v25.4s, v4.16b, v7.16b\n"
    "smmla v29.4s, v5.16b, v7.16b\n"
        "ldr q7, [%[b], #48]\n"
        "add %[a], %[a], #96\n"
        "add %[b], %[b], #64\n"
    "smmla v10.4s, v0.16b, v6.16b\n"
    "smmla v14.4s, v1.16b, v6.16b\n"
    "smmla v18.4s, v2.16b, v6.16b\n"
    "smmla v22.4s, v3.16b, v6.16b\n"
    "smmla v26.4s, v4.16b, v6.16b\n"
    "smmla v30.4s, v5.16b, v6.16b\n"
        "subs %[groups], %[groups], #1\n"
    "smmla v11.4s, v0.16b, v7.16b\n"
    "smmla v15.4s, v1.16b, v7.16b\n"
    "smmla v19.4s, v2.16b, v7.16b\n"
    "smmla v23.4s, v3.16b, v7.16b\n"
    "smmla v27.4s, v4.16b, v7.16b\n"
    "smmla v31.4s, v5.16b, v7.16b\n"
        "b.ne 1b\n"
        ANYDML_PUT_PAIR("v8", "v9", "v10", "v11")
        ANYDML_PUT_PAIR("v12", "v13", "v14", "v15")
        ANYDML_PUT_PAIR("v16", "v17", "v18", "v19")
        ANYDML_PUT_PAIR("v20", "v21", "v22", "v23")
        ANYDML_PUT_PAIR("v24", "v25", "v26", "v27")
        ANYDML_PUT_PAIR("v28", "v29", "v30", "v31")
        : [a] "+r"(a), [b] "+r"(b), [groups] "+r"(groups), [totals] "+r"(totals)
        : [start] "r"(arguments.start), [step] "r"(step), [is_first] "r"(is_first)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",
          "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "x17",
          "cc", "memory");
  }
}
// clang-format on
#undef ANYDML_PUT_PAIR

template <std::size_t kPairs>
void add_matrices(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  constexpr std::size_t kColumns = kPanel / 2;  // pairs of columns
  const auto* of_a = reinterpret_cast<const i8*>(arguments.a);
  u32* totals = arguments.totals;
  const std::int64_t step = arguments.totals_step;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const auto* of_b = reinterpret_cast<const i8*>(arguments.b);
    int32x4_t sums[kPairs * kColumns];
    for_each_index<kColumns>([&]<std::size_t kColumn>() {
      const int32x2_t two = vreinterpret_s32_u32(vld1_u32(arguments.start + 2 * kColumn));
      const int32x4_t start = vcombine_s32(two, two);  // for both rows
      for_each_index<kPairs>([&]<std::size_t kRow>() { sums[kRow * kColumns + kColumn] = start; });
    });
    for (std::int64_t group = 0; group < arguments.groups;
         ++group, of_a += kPairs * kVector, of_b += kColumns * kVector) {
      int8x16_t rows[kPairs];
      for_each_index<kPairs>([&]<std::size_t kRow>() { rows[kRow] = vld1q_s8(of_a + kRow * kVector); });
      for_each_index<kColumns>([&]<std::size_t kColumn>() {
        const int8x16_t column = vld1q_s8(of_b + kColumn * kVector);
        for_each_index<kPairs>([&]<std::size_t kRow>() {
          int32x4_t& sum = sums[kRow * kColumns + kColumn];
          sum = vmmlaq_s32(sum, rows[kRow], column);
        });
      });
    }
    // A vector of sums contains two columns of one row, followed by the same columns of the next row.
    for_each_index<kPairs * kColumns / 2>([&]<std::size_t kTwo>() {
      const int64x2_t left = vreinterpretq_s64_s32(sums[2 * kTwo]);
      const int64x2_t right = vreinterpretq_s64_s32(sums[2 * kTwo + 1]);
      u32* const at = totals + static_cast<std::int64_t>(kTwo / 2 * 2) * step + kTwo % 2 * 4;
      put(at, vreinterpretq_s32_s64(vzip1q_s64(left, right)), arguments.is_first);
      put(at + step, vreinterpretq_s32_s64(vzip2q_s64(left, right)), arguments.is_first);
    });
    totals += static_cast<std::int64_t>(2 * kPairs) * step;
  }
}

template <std::size_t kQuads>
void add_dots(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  constexpr std::size_t kColumns = kPanel / 4;  // vectors of columns
  constexpr std::size_t kRows = kQuads * 4;
  const auto* of_a = reinterpret_cast<const i8*>(arguments.a);
  u32* totals = arguments.totals;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const auto* of_b = reinterpret_cast<const i8*>(arguments.b);
    int32x4_t sums[kRows * kColumns];
    for_each_index<kRows * kColumns>([&]<std::size_t kSum>() {
      sums[kSum] = vreinterpretq_s32_u32(vld1q_u32(arguments.start + kSum % kColumns * 4));
    });
    for (std::int64_t group = 0; group < arguments.groups;
         ++group, of_a += kQuads * kVector, of_b += kColumns * kVector) {
      int8x16_t rows[kQuads];
      for_each_index<kQuads>([&]<std::size_t kRow>() { rows[kRow] = vld1q_s8(of_a + kRow * kVector); });
      for_each_index<kColumns>([&]<std::size_t kColumn>() {
        const int8x16_t column = vld1q_s8(of_b + kColumn * kVector);
        for_each_index<kRows>([&]<std::size_t kRow>() {
          int32x4_t& sum = sums[kRow * kColumns + kColumn];
          sum = vdotq_laneq_s32(sum, column, rows[kRow / 4], kRow % 4);
        });
      });
    }
    for_each_index<kRows * kColumns>([&]<std::size_t kSum>() {
      put(totals + static_cast<std::int64_t>(kSum / kColumns) * arguments.totals_step + kSum % kColumns * 4, sums[kSum],
          arguments.is_first);
    });
    totals += static_cast<std::int64_t>(kRows) * arguments.totals_step;
  }
}

#pragma GCC pop_options

template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits) + 1> all_matrices(std::index_sequence<kUnits...>) {
  return {add_matrices<kUnits + 1>..., add_six_pairs};
}
template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_dots(std::index_sequence<kUnits...>) {
  return {add_dots<kUnits + 1>...};
}

constexpr std::size_t kDotQuads = 2;
constexpr auto kMatrices = all_matrices(std::make_index_sequence<kMatrixPairs - 1>());
constexpr auto kDots = all_dots(std::make_index_sequence<kDotQuads>());
constexpr IntegerKernels kMatrixKernels = {.name = "SMMLA",
                                           .strip = 2 * kMatrixPairs,
                                           .row_unit = 2,
                                           .panel = kPanel,
                                           .group = 8,
                                           .row_block = 8,
                                           .unsigned_a = false,
                                           .blocks = kMatrices.data()};
constexpr IntegerKernels kDotKernels = {.name = "SDOT",
                                        .strip = 4 * kDotQuads,
                                        .row_unit = 4,
                                        .panel = kPanel,
                                        .group = 4,
                                        .row_block = 4,
                                        .unsigned_a = false,
                                        .blocks = kDots.data()};

}  // namespace

const IntegerKernels* neon_matrix_kernels() {
  constexpr unsigned long kMatrixProducts = 1UL << 13;  // HWCAP2_I8MM
  return (getauxval(AT_HWCAP2) & kMatrixProducts) != 0 ? &kMatrixKernels : nullptr;
}
const IntegerKernels* neon_dot_kernels() {
  constexpr unsigned long kDotProducts = 1UL << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProducts) != 0 ? &kDotKernels : nullptr;
}

}  // namespace anydml

#else

namespace anydml {

const IntegerKernels* neon_matrix_kernels() { return nullptr; }
const IntegerKernels* neon_dot_kernels() { return nullptr; }

}  // namespace anydml

#endif
