// SPDX-License-Identifier: MIT
// The inner loops of products whose weights stay in codes (coded.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/product/coded.h"

namespace anydml {

// Multiplies a few rows by consecutive panels of columns. factors: the rows' factors for each k. `column` is the first
// column of a panel. Writes a total for each column of the panels, so a row of totals must have room for whole panels.
using CodedRows = void (*)(const CodedForm& form, const f32* factors, const std::byte* packed, std::int64_t column,
                           std::int64_t columns, f32* totals, std::int64_t totals_step) noexcept;

inline constexpr std::int64_t kCodedRows = 4;

struct CodedKernels {
  CodedRows rows[kCodedRows];  // indexed by the number of rows minus 1
  // to[k * panel + i] = the element (first + k, column + i) of B, for a panel of ProductKernels. `column` is the first
  // column of such a panel, and `first` is a multiple of kCodesOfWord.
  void (*widen)(const CodedForm& form, const std::byte* packed, std::int64_t column, std::int64_t first,
                std::int64_t depth, f32* to) noexcept;
};

// Returns null if the target has no kernels.
[[nodiscard]] const CodedKernels* coded_kernels(cpu::Target target, const CodedForm& form);

// The definition: the element (k, column) of B.
[[nodiscard]] f32 coded_element(const CodedForm& form, const std::byte* packed, std::int64_t k, std::int64_t column);

}  // namespace anydml
