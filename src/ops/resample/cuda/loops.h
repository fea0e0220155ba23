// SPDX-License-Identifier: MIT
// The loops of a launch over the elements of the written tensor, for resampling and for its gradients.
#pragma once

#include <algorithm>

#include "backend/cuda/fast_divisor.h"
#include "ops/resample/step.h"

namespace anydml::cuda {

inline constexpr u32 kNoLevel = 0xffffffff;  // marks a loop over a copied dimension

// A dimension of a launch: elements are read with one stride and written with the other.
struct LaunchDimension {
  i64 size;  // in the written tensor
  i64 read_stride;
  i64 write_stride;
};

// Orders the loops over the threads by output stride, with the smallest stride innermost. The longest copied loop
// becomes the batch, unless it is the innermost one.
template <class Launch>
void order_loops(u32 rank, u32 copied, const LaunchDimension* dimensions, Launch& launch) {
  u32 order[kMaxRank];
  for (u32 i = 0; i < rank; ++i) {
    order[i] = i;
  }
  const auto distance = [&](u32 i) {
    const i64 stride = dimensions[i].write_stride;
    return stride < 0 ? -stride : stride;
  };
  std::stable_sort(order, order + rank, [&](u32 a, u32 b) { return distance(a) > distance(b); });
  u32 batch = rank;
  for (u32 i = 0; i + 1 < rank; ++i) {
    if (order[i] < copied && (batch == rank || dimensions[order[i]].size > dimensions[order[batch]].size)) {
      batch = i;
    }
  }
  launch.batches = 1;
  u64 elements = 1;
  for (u32 i = 0; i < rank; ++i) {
    const LaunchDimension& dimension = dimensions[order[i]];
    if (i == batch) {
      launch.batches = dimension.size;
      launch.batch_input = dimension.read_stride;
      launch.batch_output = dimension.write_stride;
      continue;
    }
    const bool is_copied = order[i] < copied;
    elements *= static_cast<u64>(dimension.size);
    launch.sizes[launch.rank] = make_divisor(static_cast<u32>(dimension.size));
    launch.level_of[launch.rank] = is_copied ? kNoLevel : order[i] - copied;
    launch.input_strides[launch.rank] = is_copied ? dimension.read_stride : 0;
    launch.output_strides[launch.rank++] = dimension.write_stride;
  }
  launch.count = static_cast<u32>(elements);
  launch.levels = rank - copied;
}

}  // namespace anydml::cuda
