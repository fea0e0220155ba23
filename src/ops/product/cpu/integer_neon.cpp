// SPDX-License-Identifier: MIT
// Arm's products of bytes. SMMLA multiplies two rows with two columns, eight values of k at a time; SDOT multiplies one
// row with four columns, four at a time. Both take signed bytes and add modulo 2^32. Functions that use them are called
// only on machines that have them.
#include "ops/product/cpu/integer_kernels.h"

// clang before 16 declares these instructions only where the whole file is compiled for them.
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

// Calls use.operator()<i>() for each i below kCount: with indices that are constants compilers keep arrays in
// registers.
template <std::size_t kCount, class Use>
ANYDML_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

ANYDML_INLINE void put(u32* place, int32x4_t sum, bool is_first) {
  const uint32x4_t bits = vreinterpretq_u32_s32(sum);
  vst1q_u32(place, is_first ? bits : vaddq_u32(bits, vld1q_u32(place)));
}

template <std::size_t kPairs>
void add_matrices(const u8* __restrict a, const u8* __restrict b, std::int64_t groups, u32* __restrict totals,
                  std::int64_t totals_step, bool is_first) noexcept {
  constexpr std::size_t kColumns = kPanel / 2;  // pairs of them
  constexpr std::size_t kVector = 16;
  int32x4_t sums[kPairs * kColumns];
  for_each_index<kPairs * kColumns>([&]<std::size_t kSum>() { sums[kSum] = vdupq_n_s32(0); });
  const auto* of_a = reinterpret_cast<const i8*>(a);
  const auto* of_b = reinterpret_cast<const i8*>(b);
  for (std::int64_t group = 0; group < groups; ++group, of_a += kPairs * kVector, of_b += kColumns * kVector) {
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
  // A sum has two columns of one row, and then those of the next.
  for_each_index<kPairs * kColumns / 2>([&]<std::size_t kTwo>() {
    const int64x2_t left = vreinterpretq_s64_s32(sums[2 * kTwo]);
    const int64x2_t right = vreinterpretq_s64_s32(sums[2 * kTwo + 1]);
    u32* const place = totals + static_cast<std::int64_t>(kTwo / 2 * 2) * totals_step + kTwo % 2 * 4;
    put(place, vreinterpretq_s32_s64(vzip1q_s64(left, right)), is_first);
    put(place + totals_step, vreinterpretq_s32_s64(vzip2q_s64(left, right)), is_first);
  });
}

template <std::size_t kFours>
void add_dots(const u8* __restrict a, const u8* __restrict b, std::int64_t groups, u32* __restrict totals,
              std::int64_t totals_step, bool is_first) noexcept {
  constexpr std::size_t kColumns = kPanel / 4;  // vectors of them
  constexpr std::size_t kRows = kFours * 4;
  constexpr std::size_t kVector = 16;
  int32x4_t sums[kRows * kColumns];
  for_each_index<kRows * kColumns>([&]<std::size_t kSum>() { sums[kSum] = vdupq_n_s32(0); });
  const auto* of_a = reinterpret_cast<const i8*>(a);
  const auto* of_b = reinterpret_cast<const i8*>(b);
  for (std::int64_t group = 0; group < groups; ++group, of_a += kFours * kVector, of_b += kColumns * kVector) {
    int8x16_t rows[kFours];
    for_each_index<kFours>([&]<std::size_t kRow>() { rows[kRow] = vld1q_s8(of_a + kRow * kVector); });
    for_each_index<kColumns>([&]<std::size_t kColumn>() {
      const int8x16_t column = vld1q_s8(of_b + kColumn * kVector);
      for_each_index<kRows>([&]<std::size_t kRow>() {
        int32x4_t& sum = sums[kRow * kColumns + kColumn];
        sum = vdotq_laneq_s32(sum, column, rows[kRow / 4], kRow % 4);
      });
    });
  }
  for_each_index<kRows * kColumns>([&]<std::size_t kSum>() {
    put(totals + static_cast<std::int64_t>(kSum / kColumns) * totals_step + kSum % kColumns * 4, sums[kSum], is_first);
  });
}

#pragma GCC pop_options

template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_matrices(std::index_sequence<kUnits...>) {
  return {add_matrices<kUnits + 1>...};
}
template <std::size_t... kUnits>
constexpr std::array<IntegerBlock, sizeof...(kUnits)> all_dots(std::index_sequence<kUnits...>) {
  return {add_dots<kUnits + 1>...};
}

// As many rows as leave the sums, the rows and the columns of a group in registers.
constexpr std::size_t kMatrixPairs = 4;
constexpr std::size_t kDotFours = 2;
constexpr auto kMatrices = all_matrices(std::make_index_sequence<kMatrixPairs>());
constexpr auto kDots = all_dots(std::make_index_sequence<kDotFours>());
constexpr IntegerKernels kMatrixKernels = {.name = "SMMLA",
                                           .strip = 2 * kMatrixPairs,
                                           .row_unit = 2,
                                           .panel = kPanel,
                                           .group = 8,
                                           .unsigned_a = false,
                                           .blocks = kMatrices.data()};
constexpr IntegerKernels kDotKernels = {.name = "SDOT",
                                        .strip = 4 * kDotFours,
                                        .row_unit = 4,
                                        .panel = kPanel,
                                        .group = 4,
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
