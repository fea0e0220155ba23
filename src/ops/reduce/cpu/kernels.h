// SPDX-License-Identifier: MIT
// The inner loops of reductions, compiled once for each target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/reduce/scalar/folds.h"

namespace anydml {

template <class Fold>
struct ReduceKernels {
  using Accumulator = typename Fold::Accumulator;

  // Accumulates element j of each row into accumulators[j], in the order of the rows. The elements of a row are
  // contiguous.
  void (*accumulate)(Accumulator* accumulators, const std::byte* rows, std::int64_t row_stride, std::int64_t count,
                     std::int64_t columns);
  // Reduces one block of each output in lanes. A block consists of `count` contiguous elements, at most kReduceBlock.
  void (*along)(const std::byte* input, std::int64_t stride, std::int64_t outputs, std::int64_t count,
                Accumulator* results);
  // The index of the first or last element with this key among contiguous elements, at least one of which has the key.
  // Null for folds that are not extremes.
  std::int64_t (*find)(const std::byte* input, std::int64_t count, Accumulator key, bool last);
};

// Each of these functions returns the ReduceKernels for the fold and type, or null if the target was not compiled.
[[nodiscard]] const void* generic_reduce_kernels(FoldId fold, DataType type);
[[nodiscard]] const void* vector_reduce_kernels(cpu::Target target, FoldId fold, DataType type);

}  // namespace anydml
