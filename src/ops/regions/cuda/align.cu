// SPDX-License-Identifier: MIT
// ROI_ALIGN: a block of threads processes some channels of a region and computes the region's samples once. For
// averages, the elements and weights of the bins are kept in shared memory if they fit; otherwise each thread
// recomputes the elements and weights of its bin.
#include "ops/regions/cuda/regions.cuh"

namespace anydml::cuda {
namespace {

constexpr u32 kKeptElements = 1024;  // per axis
constexpr u32 kKeptBins = 256;

struct KeptAxis {
  i32 elements[kKeptElements];
  f32 weights[kKeptElements];
  i32 counts[kKeptBins];
  i32 inside[kKeptBins];
};

// The callbacks for elements are classes, because device lambdas cannot be called from host-device functions.
struct KeepElement {
  KeptAxis& kept;
  u32 first;
  u32 room;
  u32& count;
  ANYDML_HOST_DEVICE void operator()(i64 element, f32 weight) const {
    if (count < room) {
      kept.elements[first + count] = static_cast<i32>(element);
      kept.weights[first + count] = weight;
    }
    ++count;
  }
};

// All bins have the same amount of space. Returns false if there is not enough space.
__device__ bool keep(const RegionSamples& samples, u32 bin, u32 bins, KeptAxis& kept) {
  const u32 room = kKeptElements / bins;
  u32 count = 0;
  const RegionRange range = samples.inside(bin);
  samples.for_each_element(bin, range, KeepElement{kept, bin * room, room, count});
  kept.counts[bin] = static_cast<i32>(count);
  kept.inside[bin] = static_cast<i32>(range.count());
  return count <= room;
}

// The sum of a bin's elements times their weights.
template <class T>
__device__ f32 kept_sum(const KeptAxis& rows, const KeptAxis& columns, u32 row_first, u32 row_count, u32 column_first,
                        u32 column_count, const RegionPlane<T>& plane) {
  f32 sum = 0.0F;
  for (u32 i = 0; i < row_count; ++i) {
    const std::byte* const at = plane.at + i64{rows.elements[row_first + i]} * plane.row;
    f32 along = 0.0F;
    for (u32 j = 0; j < column_count; ++j) {
      const f32 element = load_wide<T>(at + i64{columns.elements[column_first + j]} * plane.column, plane.aligned);
      const f32 product = element * columns.weights[column_first + j];
      along = j == 0 ? product : along + product;
    }
    const f32 product = along * rows.weights[row_first + i];
    sum = i == 0 ? product : sum + product;
  }
  return sum;
}

// A sum that starts with its first product.
struct RegionSum {
  f32 value = 0.0F;
  bool begins = true;
  __device__ void add(f32 product) {
    value = begins ? product : value + product;
    begins = false;
  }
};

template <class T>
struct AddColumn {
  const RegionPlane<T>& plane;
  i64 row;
  RegionSum& sum;
  __device__ void operator()(i64 column, f32 weight) const { sum.add(plane(row, column) * weight); }
};

template <class T>
struct AddRow {
  const RegionPlane<T>& plane;
  const RegionSamples& columns;
  i64 bin;
  const RegionRange& range;
  RegionSum& sum;
  __device__ void operator()(i64 row, f32 weight) const {
    RegionSum along;
    columns.for_each_element(bin, range, AddColumn<T>{plane, row, along});
    sum.add(along.value * weight);
  }
};

template <class T>
__device__ f32 found_sum(const RegionSamples& rows, const RegionSamples& columns, i64 row, i64 column,
                         const RegionRange& in_rows, const RegionRange& in_columns, const RegionPlane<T>& plane) {
  RegionSum sum;
  rows.for_each_element(row, in_rows, AddRow<T>{plane, columns, column, in_columns, sum});
  return sum.value;
}

template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    align_averages(const __grid_constant__ RegionLaunch launch, const __grid_constant__ RegionGrid grid) {
  __shared__ KeptAxis kept[2];
  const RegionStep& step = launch.step;
  const u32 bins[2] = {static_cast<u32>(step.axes[0].bins), static_cast<u32>(step.axes[1].bins)};
  for (u64 block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const RegionGroup group = group_of(launch, grid, block);
    const i64 batch = batch_of(launch, group.region);
    const RegionSamples rows = row_samples<T>(launch, group.region);
    const RegionSamples columns = column_samples<T>(launch, group.region);
    bool fits = bins[0] <= kKeptBins && bins[1] <= kKeptBins;
    if (fits && batch >= 0) {
      for (u32 n = threadIdx.x; n < bins[0] + bins[1]; n += kRegionThreads) {
        const bool ok = n < bins[0] ? keep(rows, n, bins[0], kept[0]) : keep(columns, n - bins[0], bins[1], kept[1]);
        fits = fits && ok;
      }
    }
    const bool is_kept = __syncthreads_and(fits ? 1 : 0) != 0;
    const i64 all = rows.count() * columns.count();
    std::byte* const to = launch.bins + group.region * step.bins[0] + group.channel * step.bins[1];
    for_each_bin(launch, group, [&](i64 channel, i64 row, i64 column) {
      f32 value = step.outside;
      if (batch >= 0) {
        const RegionPlane<T> plane = plane_of<T>(launch, batch, group.channel + channel);
        if (is_kept) {
          const u32 row_room = kKeptElements / bins[0];
          const u32 column_room = kKeptElements / bins[1];
          const f32 sum =
              kept_sum<T>(kept[0], kept[1], static_cast<u32>(row) * row_room, static_cast<u32>(kept[0].counts[row]),
                          static_cast<u32>(column) * column_room, static_cast<u32>(kept[1].counts[column]), plane);
          value = region_average(sum, i64{kept[0].inside[row]} * kept[1].inside[column], all, step.outside);
        } else {
          const RegionRange in_rows = rows.inside(row);
          const RegionRange in_columns = columns.inside(column);
          const f32 sum = found_sum<T>(rows, columns, row, column, in_rows, in_columns, plane);
          value = region_average(sum, in_rows.count() * in_columns.count(), all, step.outside);
        }
      }
      store_narrow<T>(to + channel * step.bins[1] + row * step.bins[2] + column * step.bins[3], value,
                      launch.bins_are_aligned);
    });
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    align_maxima(const __grid_constant__ RegionLaunch launch, const __grid_constant__ RegionGrid grid) {
  const RegionStep& step = launch.step;
  for (u64 block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const RegionGroup group = group_of(launch, grid, block);
    const i64 batch = batch_of(launch, group.region);
    const RegionSamples rows = row_samples<T>(launch, group.region);
    const RegionSamples columns = column_samples<T>(launch, group.region);
    std::byte* const to = launch.bins + group.region * step.bins[0] + group.channel * step.bins[1];
    for_each_bin(launch, group, [&](i64 channel, i64 row, i64 column) {
      f32 value = step.outside;
      if (batch >= 0) {
        const RegionPlane<T> plane = plane_of<T>(launch, batch, group.channel + channel);
        const RegionRange in_rows = rows.inside(row);
        const RegionRange in_columns = columns.inside(column);
        f32 maximum = from_bits<f32>(0xff800000);  // -infinity
        for (i64 i = in_rows.first; i < in_rows.end; ++i) {
          const RegionTap y = rows.tap(row, i);
          for (i64 j = in_columns.first; j < in_columns.end; ++j) {
            maximum = greater_of(maximum, region_sample(y, columns.tap(column, j), plane));
          }
        }
        value = region_max(maximum, in_rows.count() * in_columns.count(), rows.count() * columns.count(), step.outside);
      }
      store_narrow<T>(to + channel * step.bins[1] + row * step.bins[2] + column * step.bins[3], value,
                      launch.bins_are_aligned);
    });
  }
}

template <class T>
__global__ void __launch_bounds__(kRegionThreads)
    pool_regions(const __grid_constant__ RegionLaunch launch, const __grid_constant__ RegionGrid grid) {
  const RegionStep& step = launch.step;
  for (u64 block = blockIdx.x; block < grid.blocks; block += gridDim.x) {
    const RegionGroup group = group_of(launch, grid, block);
    const i64 batch = pooled_batch(box_number<T>(launch, group.region, 0), step.batches);
    i64 corners[4];
#pragma unroll
    for (i64 i = 0; i < 4; ++i) {
      corners[i] = pooled_corner(box_number<T>(launch, group.region, 1 + i), step.axes[0].scale);
    }
    std::byte* const to = launch.bins + group.region * step.bins[0] + group.channel * step.bins[1];
    for_each_bin(launch, group, [&](i64 channel, i64 row, i64 column) {
      const PooledRange y = pooled_range(corners[1], corners[3], row, step.axes[0].bins, step.axes[0].size);
      const PooledRange x = pooled_range(corners[0], corners[2], column, step.axes[1].bins, step.axes[1].size);
      f32 value = 0.0F;
      if (batch >= 0 && y.first < y.end && x.first < x.end) {
        const RegionPlane<T> plane = plane_of<T>(launch, batch, group.channel + channel);
        value = from_bits<f32>(0xff800000);  // -infinity
        for (i64 i = y.first; i < y.end; ++i) {
          for (i64 j = x.first; j < x.end; ++j) {
            value = greater_of(value, plane(i, j));
          }
        }
      }
      store_narrow<T>(to + channel * step.bins[1] + row * step.bins[2] + column * step.bins[3], value,
                      launch.bins_are_aligned);
    });
  }
}

template <class T>
cudaError_t start(const RegionLaunch& launch, cudaStream_t stream) {
  const RegionGrid grid = make_region_grid(launch.step);
  const u32 blocks = launched_blocks(grid.blocks);
  if (launch.step.kind == RegionKind::pooling) {
    pool_regions<T><<<blocks, kRegionThreads, 0, stream>>>(launch, grid);
  } else if (launch.step.is_max != 0) {
    align_maxima<T><<<blocks, kRegionThreads, 0, stream>>>(launch, grid);
  } else {
    align_averages<T><<<blocks, kRegionThreads, 0, stream>>>(launch, grid);
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_regions(const RegionLaunch& launch, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16 ? start<f16>(launch, stream) : start<f32>(launch, stream);
}

}  // namespace anydml::cuda
