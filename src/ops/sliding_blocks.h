// SPDX-License-Identifier: MIT
// The blocks that a window cuts out of the spatial dimensions of a tensor [N, C, spatial...] as it slides over them.
// The functions here read and check the attributes of FOLD and UNFOLD.
#pragma once

#include <cstdint>

#include "ops/op_desc.h"

namespace anydml {

inline constexpr std::uint32_t kMaxSpatial = kMaxRank - 2;

struct SlidingDimension {
  std::int64_t size;
  std::int64_t window;
  std::int64_t stride;    // distance between blocks
  std::int64_t dilation;  // distance between elements of a window
  std::int64_t start;     // padding
  std::int64_t end;
  std::int64_t blocks;
};

struct SlidingBlocks {
  std::uint32_t rank;
  SlidingDimension dimensions[kMaxSpatial];
};

// `spatial` is the tensor that the window slides over. check_sliding_blocks has checked that every window fits.
[[nodiscard]] SlidingBlocks sliding_blocks_of(const OpDesc& desc, const OpTensor& spatial);
[[nodiscard]] Status check_sliding_blocks(const OpDesc& desc, const OpTensor& spatial);

}  // namespace anydml
