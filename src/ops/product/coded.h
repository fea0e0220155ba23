// SPDX-License-Identifier: MIT
// Products whose weights B stay in codes of four or eight bits. Such a B is the result of DEQUANTIZE, and its codes,
// scales and zero points are known in advance. GEMM and DEQUANTIZE together become CODED_PACK, which packs the codes
// once, and CODED_PRODUCT, which reads them: each element of B is computed where it is multiplied, as DEQUANTIZE
// computes it, so the result has the same bits.
//
// The packed form is one block of bytes with three parts. The columns are cut into panels of `width` columns; missing
// columns in the last panel have codes and scales of 0. Signed codes and their zero points are stored plus 8 or 128,
// which does not change their difference.
//   codes    of each panel. Four bits: for k = 0 to 7, then for k = 8 to 15 and so on, a 32-bit word for each column,
//            with the code for the first k in the lowest bits. Eight bits: for each k, a byte for each column.
//   scales   of each panel: for each block of k, the scale of each column, in the type of the scales
//   zeros    of each panel: for each block of k, a byte for each column; absent if there are no zero points
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/element.h"
#include "base/float_bits.h"
#include "base/integers.h"
#include "ops/product/step.h"
#include "ops/scalar/coded_number.h"

namespace anydml {

inline constexpr std::int64_t kCodesOfWord = 8;  // four-bit codes in a word

// The columns of a panel for vectors of this size. One row needs enough sums to hide the latency of a multiply-add.
[[nodiscard]] constexpr std::uint32_t coded_width(std::uint32_t vector_bytes) { return vector_bytes <= 32 ? 16 : 64; }

struct CodedForm {
  std::uint32_t bits;          // of a code: 4 or 8; 0 in a product whose B is not in codes
  std::uint32_t width;         // columns of a panel
  std::uint32_t half_scales;   // the scales are FLOAT16
  std::uint32_t half_weights;  // each element of B is rounded to FLOAT16
  std::uint32_t has_zeros;
  std::int32_t zero;              // the zero point of all elements if has_zeros is 0
  std::uint32_t activation_bits;  // 8 if a product rounds A to codes too, otherwise 0; the packed form is the same
  std::uint32_t unused;
  std::int64_t columns;
  std::int64_t depth;
  std::int64_t block;  // values of k that share a scale: a multiple of kCodesOfWord, or at least `depth`

  [[nodiscard]] std::int64_t panels() const { return ceil_div(columns, std::int64_t{width}); }
  [[nodiscard]] std::int64_t blocks() const { return ceil_div(depth, block); }
  // The bytes of one panel.
  [[nodiscard]] std::int64_t code_bytes() const {
    return bits == 4 ? ceil_div(depth, kCodesOfWord) * width * 4 : depth * width;
  }
  [[nodiscard]] std::int64_t scale_size() const { return half_scales != 0 ? 2 : 4; }
  [[nodiscard]] std::int64_t scale_bytes() const { return blocks() * width * scale_size(); }
  [[nodiscard]] std::int64_t zero_bytes() const { return has_zeros != 0 ? blocks() * width : 0; }
  [[nodiscard]] std::int64_t bytes() const { return panels() * (code_bytes() + scale_bytes() + zero_bytes()); }
};

// The addresses of one panel in the packed form.
struct CodedPanel {
  const std::byte* codes;
  const std::byte* scales;
  const std::byte* zeros;
};
[[nodiscard]] inline CodedPanel coded_panel(const CodedForm& form, const std::byte* packed, std::int64_t panel) {
  const std::byte* const scales = packed + form.panels() * form.code_bytes();
  return {.codes = packed + panel * form.code_bytes(),
          .scales = scales + panel * form.scale_bytes(),
          .zeros = scales + form.panels() * form.scale_bytes() + panel * form.zero_bytes()};
}

// The scale at this index in a panel's scales.
[[nodiscard]] inline f32 coded_scale(const CodedForm& form, const CodedPanel& panel, std::int64_t index) {
  if (form.half_scales != 0) {
    f16 half;
    std::memcpy(&half, panel.scales + index * 2, sizeof(half));
    return widen(half);
  }
  f32 scale;
  std::memcpy(&scale, panel.scales + index * 4, sizeof(scale));
  return scale;
}

// The definition of an element of B: the number of its code, rounded to FLOAT16 if B is FLOAT16.
[[nodiscard]] inline f32 coded_weight(i32 code, i32 zero, f32 scale, bool is_half) {
  const f32 number = number_of_code(code, zero, scale);
  return is_half ? widen(narrow<f16>(number)) : number;
}

struct CodedStep {
  ProductStep product;  // without the strides of B
  CodedForm form;
};

// How the codes, scales and zero points are read. Strides are in elements.
struct CodedPackStep {
  ProductKind kind;
  std::uint32_t flip;  // 8 or 128 for signed codes: added modulo their range
  CodedForm form;
  std::int64_t columns_of_scale;  // neighboring columns that share a scale
  struct Strides {
    std::int64_t k;  // for scales and zero points, from block to block
    std::int64_t column;
  };
  Strides codes;
  Strides scales;
  Strides zeros;
};

namespace coded_pack_operands {
inline constexpr std::size_t kCodes = 0;
inline constexpr std::size_t kScales = 1;
inline constexpr std::size_t kZeros = 2;  // may be absent
inline constexpr std::size_t kPacked = 3;
}  // namespace coded_pack_operands

}  // namespace anydml
