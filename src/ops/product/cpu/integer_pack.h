// SPDX-License-Identifier: MIT
// Bytes in groups, as the kernels of integer products take them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/product/cpu/integer_kernels.h"

namespace anydml {

// Functions that arrange bytes in a panel or a strip. `flip` is 0x80 if the kernels need the other sign (byte_flip),
// and otherwise 0.
struct BytePacking {
  const IntegerRows* rows;
  std::int64_t group;
  u8 flip;
};

// Panels of `count` columns together, the last of which may have fewer. In a panel,
//   first[(k / group * width + i) * group + k % group] = from[k, i] for k below `depth`,
// turned over by flip, and 0 for the columns that the last panel lacks and for the k that the last group lacks. Strides
// in bytes. A strip of rows is a panel of so many columns.
void pack_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, const PanelPlace& to) noexcept;

// Bytes of this sign for kernels that need that sign: the mask that flips them, and the correction to add.
[[nodiscard]] constexpr u8 byte_flip(bool is_signed, bool wants_signed) { return is_signed == wants_signed ? 0 : 0x80; }
[[nodiscard]] constexpr i32 byte_shift(bool is_signed, bool wants_signed) {
  return is_signed == wants_signed ? 0 : is_signed ? 128 : -128;
}

// The bytes of A or B, packed for the kernels.
[[nodiscard]] inline BytePacking packing_of(const IntegerKernels& kernels, const IntegerRows& rows, bool is_signed,
                                            bool wants_signed) {
  return {.rows = &rows, .group = kernels.group, .flip = byte_flip(is_signed, wants_signed)};
}

inline constexpr std::int64_t kWord = 4;           // the bytes of a total
inline constexpr std::int64_t kDepthBlock = 2048;  // a multiple of kDepthUnit
inline constexpr u32 kNoStart[64] = {};            // for the widest panel

// Ones, which the kernels multiply to find sums of rows or columns.
void fill_ones(u8* to, std::int64_t count) noexcept;

// sums[row * panel + column] = the sums of the products of a strip and a panel over some depth, where one side is ones
// for kDepthBlock of k.
void add_up(const IntegerKernels& kernels, std::int64_t rows, const u8* a, std::int64_t a_step, const u8* b,
            std::int64_t b_step, std::int64_t depth, u32* sums) noexcept;

}  // namespace anydml
