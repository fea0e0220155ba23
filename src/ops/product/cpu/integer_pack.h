// SPDX-License-Identifier: MIT
// Packs bytes into the groups that integer product kernels expect.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/product/cpu/integer_kernels.h"

namespace anydml {

// How bytes are packed into a panel or a strip. `flip` is 0x80 if the kernels need the other signedness (byte_flip),
// and 0 otherwise.
struct BytePacking {
  const IntegerRows* rows;
  std::int64_t group;
  std::int64_t block;  // of rows of A that are packed block by block; otherwise the group
  u8 flip;
};

// Packs `count` columns into panels, the last of which may have fewer columns. In a panel,
//   first[(k / group * width + i) * group + k % group] = from[k, i] for k below `depth`,
// XORed with flip, and 0 for the columns missing from the last panel and the k missing from the last group. Strides are
// in bytes. A strip of rows is packed as a panel with that many columns. If it is packed by blocks, these take the
// place of groups, except that the last block is only as long as the remaining groups.
void pack_bytes(const BytePacking& packing, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, const PanelBuffer& to) noexcept;

// For bytes of one signedness and kernels that need the other: the mask to flip the bytes, and the correction to add.
[[nodiscard]] constexpr u8 byte_flip(bool is_signed, bool wants_signed) { return is_signed == wants_signed ? 0 : 0x80; }
[[nodiscard]] constexpr i32 byte_shift(bool is_signed, bool wants_signed) {
  return is_signed == wants_signed ? 0 : is_signed ? 128 : -128;
}

// How the bytes of A and B are packed for the kernels.
[[nodiscard]] inline BytePacking packing_of_a(const IntegerKernels& kernels, const IntegerRows& rows, bool is_signed) {
  return {.rows = &rows,
          .group = kernels.group,
          .block = kernels.row_block,
          .flip = byte_flip(is_signed, !kernels.unsigned_a)};
}
[[nodiscard]] inline BytePacking packing_of_b(const IntegerKernels& kernels, const IntegerRows& rows, bool is_signed) {
  return {.rows = &rows, .group = kernels.group, .block = kernels.group, .flip = byte_flip(is_signed, true)};
}

inline constexpr std::int64_t kWord = 4;           // size of a total in bytes
inline constexpr std::int64_t kDepthBlock = 2048;  // a multiple of kDepthUnit
inline constexpr u32 kNoStart[64] = {};            // for the widest panel

// Fills a buffer with ones. Multiplying by these ones yields the sums of rows or columns.
void fill_ones(u8* to, std::int64_t count) noexcept;

// sums[row * panel + column] = the sums of the products of a strip and a panel over some depth. Either the strip or the
// panel contains only ones, for kDepthBlock values of k.
void add_up(const IntegerKernels& kernels, std::int64_t rows, const u8* a, std::int64_t a_step, const u8* b,
            std::int64_t b_step, std::int64_t depth, u32* sums) noexcept;

}  // namespace anydml
