// SPDX-License-Identifier: MIT
// ROI_ALIGN_GRAD: each element of a gradient is computed by one thread or one warp, which adds its terms in the defined
// order.
#include "ops/regions/cuda/regions.cuh"

namespace anydml::cuda {
namespace {

// The weight of an image element in a bin: the sum of its weights in the bin's samples, in order of ascending
// coordinates. Only samples within one element of it can contribute.
__device__ f32 weight_in_bin(const RegionSamples& samples, i64 bin, i64 element) {
  const f32 low = static_cast<f32>(element) - 1.0F;
  const f32 high = static_cast<f32>(element) + 1.0F;
  if (samples.coordinate(bin, samples.count() - 1) < low || samples.coordinate(bin, 0) > high) {
    return 0.0F;
  }
  const RegionRange range = samples.inside(bin);
  i64 first = range.first;
  for (i64 end = range.end; first < end;) {
    const i64 middle = first + (end - first) / 2;
    if (samples.coordinate(bin, middle) < low) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  f32 weight = 0.0F;
  for (i64 number = first; number < range.end && samples.coordinate(bin, number) <= high; ++number) {
    const RegionTap tap = samples.tap(bin, number);
    if (tap.first == element) {
      weight += 1.0F - tap.second;
    } else if (tap.first + 1 == element) {
      weight += tap.second;
    }
  }
  return weight;
}

// Each thread computes one element of the tile for several channels. For each region, the block computes the weights of
// the tile's rows and columns in all bins.
template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    add_averages(const __grid_constant__ RegionLaunch launch, const __grid_constant__ RegionTile tile) {
  extern __shared__ f32 weights[];
  const RegionStep& step = launch.step;
  const auto bin_rows = static_cast<u32>(step.axes[0].bins);
  const auto bin_columns = static_cast<u32>(step.axes[1].bins);
  f32* const row_weights = weights;
  f32* const column_weights = weights + tile.rows * bin_rows;
  const u32 tiles_down = (static_cast<u32>(step.axes[0].size) + tile.rows - 1) / tile.rows;
  const u32 tiles_across = (static_cast<u32>(step.axes[1].size) + tile.columns - 1) / tile.columns;
  const u64 groups = (static_cast<u64>(step.channels) + kRegionTileChannels - 1) / kRegionTileChannels;
  const u64 blocks = static_cast<u64>(step.batches) * groups * tiles_down * tiles_across;
  for (u64 block = blockIdx.x; block < blocks; block += gridDim.x) {
    u64 rest = block;
    const i64 first_column = static_cast<i64>(rest % tiles_across) * tile.columns;
    rest /= tiles_across;
    const i64 first_row = static_cast<i64>(rest % tiles_down) * tile.rows;
    rest /= tiles_down;
    const i64 first_channel = static_cast<i64>(rest % groups) * kRegionTileChannels;
    const auto batch = static_cast<i64>(rest / groups);
    const u32 own_row = threadIdx.x / tile.columns;
    const u32 own_column = threadIdx.x % tile.columns;
    const i64 row = first_row + own_row;
    const i64 column = first_column + own_column;
    const bool exists = own_row < tile.rows && row < step.axes[0].size && column < step.axes[1].size;
    f32 sums[kRegionTileChannels] = {};
    for (i64 region = 0; region < step.regions; ++region) {
      if (batch_of(launch, region) != batch) {  // the same for all threads
        continue;
      }
      const RegionSamples rows = row_samples<T>(launch, region);
      const RegionSamples columns = column_samples<T>(launch, region);
      bool has_row = false;
      for (u32 n = threadIdx.x; n < tile.rows * bin_rows; n += kRegionThreads) {
        row_weights[n] = weight_in_bin(rows, n % bin_rows, first_row + n / bin_rows);
        has_row = has_row || row_weights[n] != 0.0F;
      }
      bool has_column = false;
      for (u32 n = threadIdx.x; n < tile.columns * bin_columns; n += kRegionThreads) {
        column_weights[n] = weight_in_bin(columns, n % bin_columns, first_column + n / bin_columns);
        has_column = has_column || column_weights[n] != 0.0F;
      }
      const bool any_row = __syncthreads_or(has_row ? 1 : 0) != 0;
      const bool any_column = __syncthreads_or(has_column ? 1 : 0) != 0;
      if (any_row && any_column && exists) {
        const auto samples = static_cast<f32>(rows.count() * columns.count());
        const std::byte* const bins = launch.bins + region * step.bins[0] + first_channel * step.bins[1];
        for (u32 y = 0; y < bin_rows; ++y) {
          const f32 row_weight = row_weights[own_row * bin_rows + y];
          if (row_weight == 0.0F) {
            continue;
          }
          for (u32 x = 0; x < bin_columns; ++x) {
            const f32 column_weight = column_weights[own_column * bin_columns + x];
            if (column_weight == 0.0F) {
              continue;
            }
            const std::byte* const at = bins + i64{y} * step.bins[2] + i64{x} * step.bins[3];
#pragma unroll
            for (u32 c = 0; c < kRegionTileChannels; ++c) {
              if (first_channel + c < step.channels) {
                const f32 share = load_wide<T>(at + i64{c} * step.bins[1], launch.bins_are_aligned) / samples;
                sums[c] += share * row_weight * column_weight;
              }
            }
          }
        }
      }
      __syncthreads();
    }
    if (exists) {
      std::byte* const to = launch.result + batch * step.result[0] + first_channel * step.result[1] +
                            row * step.result[2] + column * step.result[3];
#pragma unroll
      for (u32 c = 0; c < kRegionTileChannels; ++c) {
        if (first_channel + c < step.channels) {
          store_narrow<T>(to + i64{c} * step.result[1], sums[c], launch.result_is_aligned);
        }
      }
    }
  }
}

// ---- Gradient of maxima ---------------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    find_peaks(const __grid_constant__ RegionLaunch launch, const __grid_constant__ RegionGrid grid,
               RegionPeakTaps* peaks) {
  const RegionStep& step = launch.step;
  const i64 bins = step.axes[0].bins * step.axes[1].bins;
  for (u64 block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const RegionGroup group = group_of(launch, grid, block);
    const i64 batch = batch_of(launch, group.region);
    const RegionSamples rows = row_samples<T>(launch, group.region);
    const RegionSamples columns = column_samples<T>(launch, group.region);
    RegionPeakTaps* const to = peaks + (group.region * step.channels + group.channel) * bins;
    for_each_bin(launch, group, [&](i64 channel, i64 row, i64 column) {
      RegionPeakTaps taps{-1, 0, 0.0F, 0.0F};
      if (batch >= 0) {
        const RegionPeak peak =
            find_region_peak(rows, columns, row, column, plane_of<T>(launch, batch, group.channel + channel));
        if (peak.exists) {
          const RegionTap y = rows.tap(row, peak.numbers[0]);
          const RegionTap x = columns.tap(column, peak.numbers[1]);
          taps = {static_cast<i32>(y.first), static_cast<i32>(x.first), y.second, x.second};
        }
      }
      to[channel * bins + row * step.axes[1].bins + column] = taps;
    });
  }
}

// Whether a region's samples are too far from an element to depend on it.
[[nodiscard]] __device__ bool is_far(const RegionSamples& samples, i64 bins, i64 element) {
  const f32 first[2] = {samples.coordinate(0, 0), samples.coordinate(bins - 1, 0)};
  const f32 last[2] = {samples.coordinate(0, samples.count() - 1), samples.coordinate(bins - 1, samples.count() - 1)};
  const auto position = static_cast<f32>(element);
  return (first[0] > position + 1.0F && first[1] > position + 1.0F) ||
         (last[0] < position - 1.0F && last[1] < position - 1.0F);
}

template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    add_peaks(const __grid_constant__ RegionLaunch launch, const RegionPeakTaps* peaks, u64 elements) {
  const RegionStep& step = launch.step;
  const i64 bins = step.axes[0].bins * step.axes[1].bins;
  for (u64 n = u64{blockIdx.x} * kRegionThreads + threadIdx.x; n < elements; n += u64{gridDim.x} * kRegionThreads) {
    u64 rest = n;
    const auto column = static_cast<i64>(rest % static_cast<u64>(step.axes[1].size));
    rest /= static_cast<u64>(step.axes[1].size);
    const auto row = static_cast<i64>(rest % static_cast<u64>(step.axes[0].size));
    rest /= static_cast<u64>(step.axes[0].size);
    const auto channel = static_cast<i64>(rest % static_cast<u64>(step.channels));
    const auto batch = static_cast<i64>(rest / static_cast<u64>(step.channels));
    f32 sum = 0.0F;
    for (i64 region = 0; region < step.regions; ++region) {
      if (bins == 0 || batch_of(launch, region) != batch ||
          is_far(row_samples<T>(launch, region), step.axes[0].bins, row) ||
          is_far(column_samples<T>(launch, region), step.axes[1].bins, column)) {
        continue;
      }
      const RegionPeakTaps* const of = peaks + (region * step.channels + channel) * bins;
      const std::byte* const from = launch.bins + region * step.bins[0] + channel * step.bins[1];
      for (i64 bin = 0; bin < bins; ++bin) {
        const RegionPeakTaps taps = of[bin];
        const i64 down = row - taps.row;
        const i64 across = column - taps.column;
        if (taps.row < 0 || down < 0 || down > 1 || across < 0 || across > 1) {
          continue;
        }
        const f32 row_weight = down == 0 ? 1.0F - taps.second_row : taps.second_row;
        const f32 column_weight = across == 0 ? 1.0F - taps.second_column : taps.second_column;
        if (row_weight != 0.0F && column_weight != 0.0F) {
          const std::byte* const at =
              from + bin / step.axes[1].bins * step.bins[2] + bin % step.axes[1].bins * step.bins[3];
          sum += load_wide<T>(at, launch.bins_are_aligned) * row_weight * column_weight;
        }
      }
    }
    store_narrow<T>(launch.result + batch * step.result[0] + channel * step.result[1] + row * step.result[2] +
                        column * step.result[3],
                    sum, launch.result_is_aligned);
  }
}

// ---- Box gradient ---------------------------------------------------------------------------------------------------

// Each warp processes one region; its threads split the channels.
template <class T>
__global__ void __launch_bounds__(kRegionThreads) add_boxes(const __grid_constant__ RegionLaunch launch) {
  constexpr u32 kWarps = kRegionThreads / kRegionLanes;
  const RegionStep& step = launch.step;
  const u32 lane = threadIdx.x % kRegionLanes;
  const i64 first = i64{blockIdx.x} * kWarps + threadIdx.x / kRegionLanes;
  for (i64 region = first; region < step.regions; region += i64{gridDim.x} * kWarps) {
    const i64 batch = batch_of(launch, region);
    f32 sums[4] = {};
    if (batch >= 0) {
      const RegionSamples rows = row_samples<T>(launch, region);
      const RegionSamples columns = column_samples<T>(launch, region);
      for (i64 channel = lane; channel < step.channels; channel += kRegionLanes) {
        const RegionPlane<T> plane = plane_of<T>(launch, batch, channel);
        const std::byte* const bins = launch.bins + region * step.bins[0] + channel * step.bins[1];
        for (i64 y = 0; y < step.axes[0].bins; ++y) {
          for (i64 x = 0; x < step.axes[1].bins; ++x) {
            const i64 coordinates[2] = {y, x};
            const f32 gradient = load_wide<T>(bins + y * step.bins[2] + x * step.bins[3], launch.bins_are_aligned);
            add_bin_gradient(rows, columns, coordinates, step.is_max != 0, gradient, plane, sums);
          }
        }
      }
    }
    __syncwarp();
#pragma unroll
    for (u32 half = kRegionLanes / 2; half > 0; half /= 2) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        sums[i] += __shfl_down_sync(0xffffffff, sums[i], half);
      }
    }
    if (lane == 0) {
#pragma unroll
      for (u32 i = 0; i < 4; ++i) {
        store_narrow<T>(launch.result + region * step.result[0] + i64{i} * step.result[1],
                        sums[i] * step.axes[i % 2 == 0 ? 1 : 0].scale, launch.result_is_aligned);
      }
    }
  }
}

template <class T>
cudaError_t start_average(const RegionLaunch& launch, const RegionTile& tile, cudaStream_t stream) {
  const RegionStep& step = launch.step;
  const auto blocks =
      static_cast<u64>(step.batches * ceil_div(step.channels, kRegionTileChannels) *
                       ceil_div(step.axes[0].size, tile.rows) * ceil_div(step.axes[1].size, tile.columns));
  add_averages<T><<<launched_blocks(blocks), kRegionThreads, tile.shared_bytes, stream>>>(launch, tile);
  return cudaGetLastError();
}

template <class T>
cudaError_t start_peaks(const RegionLaunch& launch, RegionPeakTaps* peaks, cudaStream_t stream) {
  const RegionStep& step = launch.step;
  if (step.regions > 0 && step.axes[0].bins > 0 && step.axes[1].bins > 0) {
    const RegionGrid grid = make_region_grid(step);
    find_peaks<T><<<launched_blocks(grid.blocks), kRegionThreads, 0, stream>>>(launch, grid, peaks);
  }
  const u64 elements = static_cast<u64>(step.batches) * static_cast<u64>(step.channels) *
                       static_cast<u64>(step.axes[0].size) * static_cast<u64>(step.axes[1].size);
  const u64 blocks = (elements + kRegionThreads - 1) / kRegionThreads;
  add_peaks<T><<<launched_blocks(blocks), kRegionThreads, 0, stream>>>(launch, peaks, elements);
  return cudaGetLastError();
}

template <class T>
cudaError_t start_boxes(const RegionLaunch& launch, cudaStream_t stream) {
  constexpr u64 kWarps = kRegionThreads / kRegionLanes;
  const u64 blocks = (static_cast<u64>(launch.step.regions) + kWarps - 1) / kWarps;
  add_boxes<T><<<launched_blocks(blocks), kRegionThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_image_gradient(const RegionLaunch& launch, const RegionTile& tile, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16 ? start_average<f16>(launch, tile, stream)
                                               : start_average<f32>(launch, tile, stream);
}

cudaError_t start_peak_gradient(const RegionLaunch& launch, RegionPeakTaps* peaks, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16 ? start_peaks<f16>(launch, peaks, stream)
                                               : start_peaks<f32>(launch, peaks, stream);
}

cudaError_t start_box_gradient(const RegionLaunch& launch, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16 ? start_boxes<f16>(launch, stream) : start_boxes<f32>(launch, stream);
}

}  // namespace anydml::cuda
