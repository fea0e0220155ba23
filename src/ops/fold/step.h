// SPDX-License-Identifier: MIT
// The parameters of FOLD, a step that adds overlapping blocks.
//
// Each output element is the sum of the elements that all blocks contribute to its position, in row-major order of
// their window positions. The sum starts with the first of these elements, so a single -0 stays -0; an output element
// that no block covers is +0. FLOAT16 elements are added in FLOAT32, and the sum is rounded once; integers wrap.
#pragma once

#include <cstdint>

#include "base/element.h"
#include "base/shape.h"

namespace anydml {

inline constexpr std::uint32_t kMaxFoldRank = kMaxRank - 2;

struct FoldDimension {
  std::int64_t size;  // size of the output
  std::int64_t window;
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t padding;  // before the first element
  std::int64_t blocks;
  std::int64_t output;  // stride in bytes
};

// Strides are in bytes. The input is [batches, channels x window, blocks].
struct FoldStep {
  DataType type;
  std::uint32_t rank;
  std::int64_t batches;
  std::int64_t channels;
  std::int64_t input_batch;
  std::int64_t input_channel;
  std::int64_t input_window;  // between window positions
  std::int64_t input_block;
  std::int64_t output_batch;
  std::int64_t output_channel;
  FoldDimension dimensions[kMaxFoldRank];
};

}  // namespace anydml
