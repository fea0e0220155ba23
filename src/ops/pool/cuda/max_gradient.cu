// SPDX-License-Identifier: MIT
// The gradient of max pooling. Each thread computes one element of the output gradient: the sum of the input gradient's
// elements whose index refers to it, in row-major order of the windows.
#include "backend/cuda/kernels/device.cuh"
#include "ops/pool/cuda/launch.h"
#include "ops/pool/scalar/pool.h"

namespace anydml::cuda {
namespace {

// Like pool_windows, but multiplies instead of dividing if the positions fit in 32 bits.
[[nodiscard]] __device__ PoolWindows windows_at(const PoolGradientLaunch& launch, u32 axis, u32 p) {
  const PoolAxis& along = launch.step.axes[axis];
  if (launch.is_far) {
    return pool_windows(along, p);
  }
  const u32 coordinate = p + static_cast<u32>(along.padding);
  const auto reach = static_cast<u32>((along.window - 1) * along.dilation);
  const u32 first =
      coordinate <= reach
          ? 0
          : divide(coordinate - reach + static_cast<u32>(along.stride) - 1, launch.strides[axis]).quotient;
  const u32 end = divide(coordinate, launch.strides[axis]).quotient + 1;
  return {first, end < along.output ? end : along.output};
}

template <class T, class Index>
__global__ void __launch_bounds__(kPoolThreads) add_by_index(const __grid_constant__ PoolGradientLaunch launch) {
  const u64 thread = u64{blockIdx.x} * kPoolThreads + threadIdx.x;
  if (thread >= launch.outputs) {
    return;
  }
  const PoolStep& step = launch.step;
  const u32 rank = step.rank;
  PoolWindows windows[kPoolAxes];
  auto rest = static_cast<u32>(thread);
  std::int64_t output = 0;
  bool has_one = true;
  for (u32 i = rank; i-- > 0;) {
    const Quotient parts = divide(rest, launch.sizes[i]);
    rest = parts.quotient;
    windows[i] = windows_at(launch, i, parts.remainder);
    output += parts.remainder * step.axes[i].input_step;
    has_one = has_one && windows[i].first < windows[i].end;
  }
  const Quotient channel = divide(rest, launch.channels);
  output += channel.remainder * step.channel.input_step + channel.quotient * step.batch.input_step;
  const std::byte* const plane =
      launch.gradient + channel.remainder * step.channel.output_step + channel.quotient * step.batch.output_step;
  const std::byte* const indices =
      launch.indices + channel.remainder * step.channel.index_step + channel.quotient * step.batch.index_step;
  f32 sum = 0.0F;
  if (has_one) {
    const PoolAxis& height = step.axes[rank - 2];
    const PoolAxis& width = step.axes[rank - 1];
    const PoolWindows rows = windows[rank - 2];
    const PoolWindows columns = windows[rank - 1];
    std::int64_t coordinates[kPoolAxes];
    for (u32 i = 0; i + 2 < rank; ++i) {
      coordinates[i] = windows[i].first;
    }
    bool goes_on = true;
    while (goes_on) {
      std::int64_t from = 0;
      std::int64_t by = 0;
      for (u32 i = 0; i + 2 < rank; ++i) {
        from += coordinates[i] * step.axes[i].output_step;
        by += coordinates[i] * step.axes[i].index_step;
      }
      for (std::int64_t row = rows.first; row < rows.end; ++row) {
        for (std::int64_t column = columns.first; column < columns.end; ++column) {
          // Indices are in temporary memory, so they are aligned.
          const u64 index =
              load_element<Index>(indices + by + row * height.index_step + column * width.index_step, true);
          if (index == thread) {
            const std::byte* const at = plane + from + row * height.output_step + column * width.output_step;
            sum = sum + widen(__builtin_bit_cast(T, load_element<T>(at, launch.gradient_is_aligned)));
          }
        }
      }
      goes_on = false;
      for (u32 i = rank - 2; i-- > 0;) {
        if (++coordinates[i] < windows[i].end) {
          goes_on = true;
          break;
        }
        coordinates[i] = windows[i].first;
      }
    }
  }
  store_element<T>(launch.output + output, __builtin_bit_cast(bits_t<T>, narrow<T>(sum)), launch.output_is_aligned);
}

template <class T>
[[nodiscard]] cudaError_t start(const PoolGradientLaunch& launch, cudaStream_t stream) {
  const auto blocks = static_cast<u32>((u64{launch.outputs} + kPoolThreads - 1) / kPoolThreads);
  if (launch.step.index_type == DataType::UINT64) {
    add_by_index<T, u64><<<blocks, kPoolThreads, 0, stream>>>(launch);
  } else {
    add_by_index<T, u32><<<blocks, kPoolThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

}  // namespace

cudaError_t start_max_gradient(const PoolGradientLaunch& launch, cudaStream_t stream) {
  return launch.step.type == DataType::FLOAT16 ? start<f16>(launch, stream) : start<f32>(launch, stream);
}

}  // namespace anydml::cuda
