// SPDX-License-Identifier: MIT
// The parts of an entry's vector kernel: a function over contiguous elements, and the properties that the walk over
// tensors of any layout needs. The walk itself is in tiles.cpp, compiled once for each target.
#pragma once

#include "ops/elementwise/cpu/kernels.h"

namespace anydml {

// Rows in a layout that the function accepts: each row is contiguous, or, if the function supports steps, uses every
// steps[i]-th element of input i. The output may be one of the inputs.
struct RowBlock {
  const std::byte* inputs[kMaxInputs];
  std::byte* output;
  std::size_t rows;
  std::size_t columns;
  std::int64_t row_strides[kMaxInputs + 1];  // distance between rows in bytes: the inputs', then the output's
  std::size_t steps[kMaxInputs];
  std::int64_t fetched[kMaxInputs + 1];  // bytes of each operand's rows to prefetch some rows ahead; usually 0
  bool fetches;                          // whether any element of `fetched` is nonzero
  const void* scalar;                    // the pointer that the kernel passed to the walk
};
using RowFunction = void (*)(const RowBlock&) noexcept;

struct TiledRow {
  RowFunction plain;
  RowFunction stepped;  // supports steps of 1 and 2; null if inputs with a step of 2 are gathered
  std::size_t inputs;
  std::array<std::uint8_t, kMaxInputs + 1> sizes;  // element sizes: the inputs in order, then the output

  [[nodiscard]] std::size_t output_size() const { return sizes[inputs]; }
};

}  // namespace anydml
