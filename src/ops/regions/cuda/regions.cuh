// SPDX-License-Identifier: MIT
// Functions shared by the region kernels. They find a region's batch and samples, load elements of the image, and split
// the outputs among blocks of threads.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/regions/cuda/launch.h"

namespace anydml::cuda {

template <class T>
[[nodiscard]] __device__ inline f32 load_wide(const std::byte* at, bool aligned) {
  return widen(__builtin_bit_cast(T, load_element<T>(at, aligned)));
}
template <class T>
__device__ inline void store_narrow(std::byte* at, f32 value, bool aligned) {
  store_element<T>(at, __builtin_bit_cast(bits_t<T>, narrow<T>(value)), aligned);
}

// The batch index of a region, or -1 if the image has no batch with that index.
[[nodiscard]] __device__ inline i64 batch_of(const RegionLaunch& launch, i64 region) {
  const std::byte* const at = launch.indices + region * launch.step.indices;
  i64 index = 0;
  if (launch.indices_are_wide) {
    index = static_cast<i64>(load_element<u64>(at, launch.indices_are_aligned));
  } else {
    const u32 bits = load_element<u32>(at, launch.indices_are_aligned);
    index = launch.step.index_type == DataType::INT32 ? i64{static_cast<i32>(bits)} : i64{bits};
  }
  return index >= 0 && index < launch.step.batches ? index : -1;
}

// Returns the i-th number of a region's box.
template <class T>
[[nodiscard]] __device__ inline f32 box_number(const RegionLaunch& launch, i64 region, i64 i) {
  return load_wide<T>(launch.boxes + region * launch.step.boxes[0] + i * launch.step.boxes[1],
                      launch.boxes_are_aligned);
}
template <class T>
[[nodiscard]] __device__ inline RegionSamples row_samples(const RegionLaunch& launch, i64 region) {
  return {launch.step.axes[0], box_number<T>(launch, region, 1), box_number<T>(launch, region, 3)};
}
template <class T>
[[nodiscard]] __device__ inline RegionSamples column_samples(const RegionLaunch& launch, i64 region) {
  return {launch.step.axes[1], box_number<T>(launch, region, 0), box_number<T>(launch, region, 2)};
}

// Loads the elements of a channel's plane for the sample functions.
template <class T>
struct RegionPlane {
  const std::byte* at;
  i64 row;
  i64 column;
  bool aligned;
  __device__ f32 operator()(i64 i, i64 j) const { return load_wide<T>(at + i * row + j * column, aligned); }
};
template <class T>
[[nodiscard]] __device__ inline RegionPlane<T> plane_of(const RegionLaunch& launch, i64 batch, i64 channel) {
  const RegionStep& step = launch.step;
  return {launch.image + batch * step.image[0] + channel * step.image[1], step.image[2], step.image[3],
          launch.image_is_aligned};
}

// Each block of threads processes some channels of one region.
struct RegionGrid {
  u64 blocks;
  u32 groups;  // groups of channels
  u32 channels_of_group;
};
[[nodiscard]] inline RegionGrid make_region_grid(const RegionStep& step) {
  constexpr u64 kOutputs = 2048;  // per block of threads, roughly
  const u64 bins = static_cast<u64>(step.axes[0].bins) * static_cast<u64>(step.axes[1].bins);
  u64 channels = bins >= kOutputs ? 1 : kOutputs / bins;
  channels = channels < static_cast<u64>(step.channels) ? channels : static_cast<u64>(step.channels);
  RegionGrid grid{};
  grid.channels_of_group = static_cast<u32>(channels);
  grid.groups = static_cast<u32>((static_cast<u64>(step.channels) + channels - 1) / channels);
  grid.blocks = static_cast<u64>(step.regions) * grid.groups;
  return grid;
}
[[nodiscard]] inline u32 launched_blocks(u64 blocks) {
  constexpr u64 kMaxBlocks = 1 << 30;
  return static_cast<u32>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

struct RegionGroup {
  i64 region;
  i64 channel;  // the first channel
  i64 channels;
};
[[nodiscard]] __device__ inline RegionGroup group_of(const RegionLaunch& launch, const RegionGrid& grid, u64 block) {
  const auto region = static_cast<i64>(block / grid.groups);
  const i64 channel = static_cast<i64>(block % grid.groups) * grid.channels_of_group;
  const i64 left = launch.step.channels - channel;
  return {region, channel, left < grid.channels_of_group ? left : grid.channels_of_group};
}

// Calls use(channel, row, column) for this thread's bins of the group. Channels are counted from the group's first
// channel.
template <class Use>
__device__ inline void for_each_bin(const RegionLaunch& launch, const RegionGroup& group, Use use) {
  const u64 bins = static_cast<u64>(launch.step.axes[0].bins) * static_cast<u64>(launch.step.axes[1].bins);
  const u64 count = static_cast<u64>(group.channels) * bins;
  if (count <= 0xffffffff) {
    for (u32 n = threadIdx.x; n < static_cast<u32>(count); n += kRegionThreads) {
      const Quotient column = divide(n, launch.columns);
      const Quotient row = divide(column.quotient, launch.rows);
      use(i64{row.quotient}, i64{row.remainder}, i64{column.remainder});
      if (n > 0xffffffff - kRegionThreads) {
        break;
      }
    }
    return;
  }
  for (u64 n = threadIdx.x; n < count; n += kRegionThreads) {
    const u64 in_plane = n % bins;
    const auto width = static_cast<u64>(launch.step.axes[1].bins);
    use(static_cast<i64>(n / bins), static_cast<i64>(in_plane / width), static_cast<i64>(in_plane % width));
  }
}

}  // namespace anydml::cuda
