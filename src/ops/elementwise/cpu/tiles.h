// SPDX-License-Identifier: MIT
// The parts of an entry's vector kernel: a function over contiguous elements, and the properties that the walk over
// tensors of any layout needs. The walk itself, once for each target, is in tiles.cpp.
#pragma once

#include "ops/elementwise/cpu/kernels.h"

namespace anydml {

// Rows of elements that lie as the function takes them: each contiguous, or, where the function takes steps, of
// input i every steps[i]-th element. The output may be one of the inputs.
struct RowBlock {
  const std::byte* inputs[kMaxInputs];
  std::byte* output;
  std::size_t rows;
  std::size_t columns;
  std::int64_t row_strides[kMaxInputs + 1];  // from row to row in bytes: the inputs', then the output's
  std::size_t steps[kMaxInputs];
  std::int64_t fetched[kMaxInputs + 1];  // bytes of each operand's rows to be fetched some rows ahead; mostly 0
  bool fetches;                          // whether any are
  const void* scalar;                    // the data that the kernel passed to the walk
};
using RowFunction = void (*)(const RowBlock&) noexcept;

struct TiledRow {
  RowFunction plain;
  RowFunction stepped;  // takes steps of 1 and 2; null: such inputs are gathered
  std::size_t inputs;
  std::array<std::uint8_t, kMaxInputs + 1> sizes;  // of an element: the inputs in order, then the output

  [[nodiscard]] std::size_t output_size() const { return sizes[inputs]; }
};

}  // namespace anydml
