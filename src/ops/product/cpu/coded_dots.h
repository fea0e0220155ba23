// SPDX-License-Identifier: MIT
// Products of activations in codes of eight bits with weights in codes of four bits (coded.h). The sums of a block are
// exact, so kernels may add them in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backend/cpu/target.h"
#include "ops/product/coded.h"
#include "ops/product/scalar/activations.h"

namespace anydml {

// A row of activations. In the codes, each group of eight k has first those with even numbers, then the others; codes
// beyond the last k are 0.
struct ActivationRow {
  i8* codes;
  i32* sums;    // of the codes of each block
  f32* scales;  // of each block

  [[nodiscard]] static std::int64_t padded(const CodedForm& form) {
    return ceil_div(form.depth, kCodesOfWord) * kCodesOfWord;
  }
  // The bytes of a row, and the row at this address.
  [[nodiscard]] static std::int64_t bytes(const CodedForm& form) {
    return ceil_div(padded(form) + form.blocks() * 8, std::int64_t{64}) * 64;
  }
  [[nodiscard]] static ActivationRow at(const CodedForm& form, std::byte* address) {
    auto* const sums = reinterpret_cast<i32*>(address + padded(form));
    return {
        .codes = reinterpret_cast<i8*>(address), .sums = sums, .scales = reinterpret_cast<f32*>(sums + form.blocks())};
  }
};

// Computes the codes of a row of FLOAT32 numbers.
using MakeCodes = void (*)(const CodedForm& form, const f32* numbers, const ActivationRow& row) noexcept;

// Parts of such a function, for the numbers from `first` to `end` that do not fill a word: the bits of the largest
// magnitude, or of `largest` if it is larger; and the codes, of which it returns the sum.
[[nodiscard]] inline u32 largest_in_rest(const f32* numbers, std::int64_t first, std::int64_t end, u32 largest) {
  for (std::int64_t k = first; k < end; ++k) {
    const u32 bits = magnitude_bits(numbers[k]);
    largest = bits > largest ? bits : largest;
  }
  return largest;
}
[[nodiscard]] inline i32 make_rest(const f32* numbers, std::int64_t first, std::int64_t end, f32 factor,
                                   const ActivationRow& row) {
  i32 sum = 0;
  if (first < end) {
    std::memset(row.codes + first, 0, kCodesOfWord);
  }
  for (std::int64_t k = first; k < end; ++k) {
    const i32 code = activation_code(numbers[k], factor);
    const std::int64_t i = k - first;
    sum += code;
    row.codes[first + i / 2 + i % 2 * (kCodesOfWord / 2)] = static_cast<i8>(code);
  }
  return sum;
}

// Multiplies a few rows by consecutive panels. `column` is the first column of a panel. Writes a total for each column
// of the panels.
using CodedDots = void (*)(const CodedForm& form, const ActivationRow* rows, const std::byte* packed,
                           std::int64_t column, std::int64_t columns, f32* totals, std::int64_t totals_step) noexcept;

inline constexpr std::int64_t kDotRows = 6;

struct CodedDotKernels {
  const char* name;
  MakeCodes make_codes;
  CodedDots rows[kDotRows];  // indexed by the number of rows minus 1
};

// The best kernels for the target on this machine; portable code if there are no others.
[[nodiscard]] const CodedDotKernels& coded_dot_kernels(cpu::Target target);
[[nodiscard]] const CodedDotKernels* neon_coded_dots();  // null if the machine has no such instructions

// The code of a weight and the zero point of a block, as they are stored.
[[nodiscard]] inline i32 stored_zero(const CodedForm& form, const CodedPanel& panel, std::int64_t block,
                                     std::int64_t column) {
  return form.has_zeros != 0 ? static_cast<i32>(panel.zeros[block * form.width + column]) : form.zero;
}

}  // namespace anydml
