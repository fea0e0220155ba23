// SPDX-License-Identifier: MIT
// FLOAT64 convolutions. DirectML does not support these, so this kernel is simple: every thread computes outputs one
// after another, tap by tap in the order of the filter.
#include <algorithm>

#include "ops/product/cuda/double_memory.cuh"
#include "ops/product/cuda/kernel_set.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreads = 128;
constexpr i64 kMaxGrid = 65'536;

// The element that a filter tap reads along a dimension. kSkipped means that the tap does not contribute to this
// output.
constexpr i64 kSkipped = -1;
constexpr i64 kOutside = -2;
__device__ i64 coordinate_of(const DoubleWindowLaunch& launch, u32 axis, i64 output, i64 tap) {
  const DoubleAxisLaunch& along = launch.axes[axis];
  const i64 k = launch.is_flipped ? along.taps - 1 - tap : tap;
  i64 coordinate = 0;
  if (launch.is_backward) {
    const i64 start = output + along.padding - k * along.dilation;
    if (start % along.stride != 0) {
      return kSkipped;
    }
    coordinate = start / along.stride;
  } else {
    coordinate = output * along.stride + k * along.dilation - along.padding;
  }
  return coordinate >= 0 && coordinate < along.input ? coordinate : kOutside;
}

// The running sum of a block, and the total of the previous blocks.
struct Sum {
  f64 total = 0;
  f64 chain = 0;
  i64 count = 0;

  __device__ void add(f64 a, f64 b) {
    if (count != 0 && count % kProductBlock == 0) {
      close();
    }
    chain = fused(a, b, chain);
    ++count;
  }
  __device__ void close() {
    total = count <= kProductBlock ? chain : total + chain;
    chain = 0;
  }
  __device__ f64 finish() {
    if (count != 0) {
      close();
    }
    return total;
  }
};

__global__ void convolve_doubles(const __grid_constant__ DoubleWindowLaunch launch) {
  const i64 of_grid = static_cast<i64>(gridDim.x) * blockDim.x;
  const DoubleAxisLaunch* const axes = launch.axes;
  for (i64 number = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; number < launch.outputs;
       number += of_grid) {
    i64 rest = number;
    i64 at[3];
    for (u32 i = 3; i-- > 0;) {
      at[i] = rest % axes[i].output;
      rest /= axes[i].output;
    }
    const i64 row = rest % launch.rows;
    rest /= launch.rows;
    const i64 group = rest % launch.groups;
    const i64 image = rest / launch.groups;
    const std::byte* const input =
        launch.input + image * launch.input_image + group * launch.channels * launch.input_channel;
    const std::byte* const filter = launch.filter + group * launch.filter_group + row * launch.filter_row;
    Sum sum;
    for (i64 channel = 0; channel < launch.channels; ++channel) {
      for (i64 i = 0; i < axes[0].taps; ++i) {
        const i64 first = coordinate_of(launch, 0, at[0], i);
        for (i64 j = 0; first != kSkipped && j < axes[1].taps; ++j) {
          const i64 second = coordinate_of(launch, 1, at[1], j);
          for (i64 k = 0; second != kSkipped && k < axes[2].taps; ++k) {
            const i64 third = coordinate_of(launch, 2, at[2], k);
            if (third == kSkipped) {
              continue;
            }
            const f64 weight = read_double(filter + channel * launch.filter_channel + i * axes[0].filter_step +
                                               j * axes[1].filter_step + k * axes[2].filter_step,
                                           launch.is_aligned);
            const bool meets = first >= 0 && second >= 0 && third >= 0;
            sum.add(meets ? read_double(input + channel * launch.input_channel + first * axes[0].input_step +
                                            second * axes[1].input_step + third * axes[2].input_step,
                                        launch.is_aligned)
                          : 0.0,
                    weight);
          }
        }
      }
    }
    const i64 channel = group * launch.rows + row;
    const f64 total = sum.finish();
    const f64 value = launch.bias == nullptr
                          ? total
                          : total + read_double(launch.bias + channel * launch.bias_channel, launch.is_aligned);
    write_double(launch.output + image * launch.output_image + channel * launch.output_channel +
                     at[0] * axes[0].output_step + at[1] * axes[1].output_step + at[2] * axes[2].output_step,
                 value, launch.is_aligned);
  }
}

}  // namespace

cudaError_t start_double_convolution(const DoubleWindowLaunch& launch, cudaStream_t stream) {
  const i64 blocks = std::min((launch.outputs + kThreads - 1) / kThreads, kMaxGrid);
  convolve_doubles<<<static_cast<u32>(blocks), kThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
