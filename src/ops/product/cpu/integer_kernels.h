// SPDX-License-Identifier: MIT
// The inner loops of integer products for each target and for the optional instructions of the machine.
//
// Kernels multiply bytes of fixed signedness. Bytes of the other signedness are packed with their top bit flipped,
// which shifts them by 128. Their zero points are shifted by the same amount, so the differences do not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cpu/target.h"
#include "base/element.h"

namespace anydml {

// The product of strips of rows and a panel of columns, over one or more groups of k. a: for each strip, the first
// block of row_block values of k of every row, then the second block of every row, and so on; the last block may be
// shorter. b: the same layout for the panel's columns, in groups. start: a number for each column, to which the
// products are added. The sums replace the totals if this is the first part of k. Otherwise they are added to the
// totals.
struct IntegerBlockArguments {
  const u8* a;
  const u8* b;
  std::int64_t groups;
  const u32* start;
  u32* totals;
  std::int64_t totals_step;
  bool is_first;
};
using IntegerBlock = void (*)(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept;

// The product of one row and four panels, which are panel_step bytes apart: the gates of an LSTM. The totals of a panel
// are totals_step after those of the previous panel.
struct IntegerRowArguments {
  const u8* a;
  const u8* b;
  std::int64_t panel_step;
  std::int64_t groups;
  u32* totals;
  std::int64_t totals_step;
};
inline constexpr std::int64_t kRowPanels = 4;
using IntegerRowProduct = void (*)(const IntegerRowArguments& arguments) noexcept;

struct QuadKernels;  // integer_quads.h
struct DotKernels;   // integer_row_dots.h

struct IntegerKernels {
  const char* name;
  std::int64_t strip;                  // maximum number of rows in a strip, a multiple of row_unit
  std::int64_t row_unit;               // the number of rows in a strip is a multiple of this
  std::int64_t panel;                  // columns of a panel
  std::int64_t group;                  // values of k that are stored together: 4 or 8
  std::int64_t row_block;              // the same for the rows of A: group, or a multiple of it
  bool unsigned_a;                     // whether the bytes of A are unsigned; the bytes of B are signed
  const IntegerBlock* blocks;          // indexed by the row units of the strip minus 1
  const QuadKernels* quads = nullptr;  // for convolutions with several channels
  const DotKernels* dots = nullptr;    // for convolutions of single channels
  IntegerRowProduct row = nullptr;     // for recurrent networks of one row
  // The rows and the bytes of k of a tile, if `blocks` multiply tiles. Products that fill a tile are faster with
  // `blocks` than with `quads`.
  std::int64_t tile_rows = 0;
  std::int64_t tile_depth = 0;

  [[nodiscard]] bool fills_tiles(std::int64_t rows, std::int64_t depth) const {
    return tile_rows != 0 && rows >= tile_rows && depth >= tile_depth;
  }

  [[nodiscard]] std::int64_t padded_rows(std::int64_t rows) const {
    return (rows + row_unit - 1) / row_unit * row_unit;
  }
  // Multiplies any number of rows.
  void multiply(std::int64_t rows, const IntegerBlockArguments& arguments) const noexcept {
    const std::int64_t strips = rows / strip;
    if (strips != 0) {
      blocks[strip / row_unit - 1](arguments, strips);
    }
    if (rows % strip != 0) {
      IntegerBlockArguments last = arguments;
      last.a += strips * strip * arguments.groups * group;
      last.totals += strips * strip * arguments.totals_step;
      blocks[(rows % strip + row_unit - 1) / row_unit - 1](last, 1);
    }
  }
};

// A row of totals, and the numbers needed to convert it. First, each total is corrected for the zero points by adding
// plus - zero * column_sums[i] - column_zeros[i] * rest, modulo 2^32.
struct IntegerRow {
  const u32* totals;
  const u32* column_sums;   // null if all zero points are 0
  const u32* column_zeros;  // the zero points of the columns; null if all are 0
  u32 zero;                 // the zero point of the row
  u32 rest;                 // the sum of the row, minus depth * zero
  u32 plus;
  const f32* factors;  // for each column
  const i32* zeros;    // the zero points of the output, for each column
  std::int64_t count;
};

// The location of panels: `width` columns each, `step` bytes apart.
struct PanelBuffer {
  u8* first;
  std::int64_t width;
  std::int64_t step;
};

struct IntegerRows {
  // Addresses may have any alignment; `to` may be the totals if elements are four bytes wide.
  void (*to_int32)(const IntegerRow& row, std::byte* to) noexcept;
  void (*to_int8)(const IntegerRow& row, std::byte* to) noexcept;
  void (*to_uint8)(const IntegerRow& row, std::byte* to) noexcept;
  void (*to_float32)(const IntegerRow& row, const std::byte* bias, std::byte* to) noexcept;  // bias: may be null
  // Packs some whole groups of `eights` times eight columns, whose bytes are contiguous for each k, into panels. Every
  // byte is XORed with `flip`. Null if not available. The first function is for groups of 4, the second for groups of
  // 8.
  void (*interleave[2])(const std::byte* from, std::int64_t k_stride, std::int64_t groups, std::int64_t eights, u8 flip,
                        const PanelBuffer& to) noexcept;
};
inline constexpr std::int64_t kInterleaved = 8;

[[nodiscard]] const IntegerRows& integer_rows(cpu::Target target);

// Sums over k of weights[k] * the byte at from + offsets[k] + i, for i below `count`, modulo 2^32. The sums replace the
// totals if this is the first part of k, and otherwise are added to the totals. Weights are differences of two bytes.
// The function may read up to kIntegerLineSlack - 1 bytes past the last element, but it writes only the totals of the
// elements.
using IntegerLine = void (*)(const std::byte* from, const std::int64_t* offsets, const i16* weights, std::int64_t depth,
                             u32* totals, std::int64_t count, bool is_first) noexcept;
inline constexpr std::int64_t kIntegerLineSlack = 64;
[[nodiscard]] IntegerLine integer_line(cpu::Target target, bool is_signed);  // is_signed: the signedness of the bytes

// The fastest kernels for a target. This machine must support the target.
[[nodiscard]] const IntegerKernels& integer_kernels(cpu::Target target);
// All kernels for a target that this machine can run, fastest first.
[[nodiscard]] std::vector<const IntegerKernels*> all_integer_kernels(cpu::Target target);

// Kernels that use optional instructions; null if the machine or the compiler lacks them.
[[nodiscard]] const IntegerKernels* neon_matrix_kernels();  // SMMLA
[[nodiscard]] const IntegerKernels* neon_dot_kernels();     // SDOT
[[nodiscard]] const IntegerKernels* avx_vnni_kernels();     // VPDPBUSD on 32-byte vectors
[[nodiscard]] const IntegerKernels* avx512_vnni_kernels();  // VPDPBUSD on 64-byte vectors
#if defined(__x86_64__)
// Functions of avx512_vnni_kernels for other kernels with the same panels. The rows of A are packed in groups, or in
// blocks of kVnniBlock bytes; strips have at most kVnniBlockRows rows.
inline constexpr std::size_t kVnniBlock = 64;
inline constexpr std::size_t kVnniBlockRows = 2;
void multiply_vnni_row(const IntegerRowArguments& arguments) noexcept;
void multiply_vnni_blocks(std::size_t rows, const IntegerBlockArguments& arguments, std::int64_t strips) noexcept;
#endif
[[nodiscard]] const IntegerKernels* amx_kernels();  // TDPBUSD

}  // namespace anydml
