// SPDX-License-Identifier: MIT
// Pools windows of any shape, with one output per thread.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/pool/cuda/launch.h"
#include "ops/pool/scalar/pool.h"

namespace anydml::cuda {

// Sums of the windows' elements.
template <class T>
struct PoolSum {
  using Element = T;
  using Value = compute_t<T>;
  PoolFunction function;
  Value total = kNothing<Value>;

  __device__ explicit PoolSum(const PoolStep& step) : function(step.function) {}
  __device__ void take(bits_t<T> bits, std::int64_t) {
    total += pool_lifted<Value>(function, widen(__builtin_bit_cast(T, bits)));
  }
  [[nodiscard]] __device__ bits_t<T> result(f64 divisor) const {
    return __builtin_bit_cast(bits_t<T>, narrow<T>(pool_finished<Value>(function, total, static_cast<Value>(divisor))));
  }
  [[nodiscard]] __device__ std::int64_t index() const { return -1; }
};

// The maximum and its position.
template <class T>
struct PoolMax {
  using Element = T;
  using Key = typename Ordered<T>::Key;
  Key maximum = Ordered<T>::kMin;
  std::int64_t input_index = -1;

  __device__ explicit PoolMax(const PoolStep&) {}
  __device__ void take(bits_t<T> bits, std::int64_t at) {
    const Key key = Ordered<T>::key(__builtin_bit_cast(Key, bits));
    const bool takes = input_index < 0 || key > maximum;
    maximum = takes ? key : maximum;
    input_index = takes ? at : input_index;
  }
  [[nodiscard]] __device__ bits_t<T> result(f64) const {
    return __builtin_bit_cast(bits_t<T>, Ordered<T>::element(maximum));
  }
  [[nodiscard]] __device__ std::int64_t index() const { return input_index; }
};

template <class Fold>
__global__ void __launch_bounds__(kPoolThreads) pool_elements(const __grid_constant__ PoolLaunch launch) {
  using T = typename Fold::Element;
  const u64 thread = u64{blockIdx.x} * kPoolThreads + threadIdx.x;
  if (thread >= launch.outputs) {
    return;
  }
  const PoolStep& step = launch.step;
  const u32 rank = step.rank;
  PoolTaps taps[kPoolAxes];
  auto rest = static_cast<u32>(thread);
  std::int64_t output = 0;
  std::int64_t index = 0;
  std::int64_t plane_size = 1;
  std::int64_t elements = 1;
  f64 window_size = 1;
  for (u32 i = rank; i-- > 0;) {
    const PoolAxis& axis = step.axes[i];
    const Quotient parts = divide(rest, launch.sizes[i]);
    rest = parts.quotient;
    taps[i] = pool_taps(axis, parts.remainder);
    output += parts.remainder * axis.output_step;
    index += parts.remainder * axis.index_step;
    plane_size *= axis.input;
    elements *= taps[i].count();
    window_size *= static_cast<f64>(axis.window);
  }
  const Quotient channel = divide(rest, launch.channels);
  output += channel.remainder * step.channel.output_step + channel.quotient * step.batch.output_step;
  index += channel.remainder * step.channel.index_step + channel.quotient * step.batch.index_step;
  const std::byte* const plane =
      launch.input + channel.remainder * step.channel.input_step + channel.quotient * step.batch.input_step;
  Fold fold(step);
  if (elements != 0) {
    const PoolAxis& height = step.axes[rank - 2];
    const PoolAxis& width = step.axes[rank - 1];
    const PoolTaps& rows = taps[rank - 2];
    const PoolTaps& columns = taps[rank - 1];
    std::int64_t numbers[kPoolAxes];
    for (u32 i = 0; i + 2 < rank; ++i) {
      numbers[i] = taps[i].first;
    }
    bool goes_on = true;
    while (goes_on) {
      std::int64_t offset = 0;
      std::int64_t line = 0;
      for (u32 i = 0; i + 2 < rank; ++i) {
        const std::int64_t coordinate = taps[i].start + numbers[i] * step.axes[i].dilation;
        offset += coordinate * step.axes[i].input_step;
        line = line * step.axes[i].input + coordinate;
      }
      line = rest * plane_size + line * height.input * width.input;
      for (std::int64_t row = rows.first; row < rows.end; ++row) {
        const std::int64_t y = rows.start + row * height.dilation;
        const std::byte* const from = plane + offset + y * height.input_step;
        for (std::int64_t column = columns.first; column < columns.end; ++column) {
          const std::int64_t x = columns.start + column * width.dilation;
          fold.take(load_element<T>(from + x * width.input_step, launch.input_is_aligned), line + y * width.input + x);
        }
      }
      goes_on = false;
      for (u32 i = rank - 2; i-- > 0;) {
        if (++numbers[i] < taps[i].end) {
          goes_on = true;
          break;
        }
        numbers[i] = taps[i].first;
      }
    }
  }
  const f64 divisor = step.counts_padding != 0 ? window_size : static_cast<f64>(elements);
  store_element<T>(launch.output + output, fold.result(divisor), launch.output_is_aligned);
  if (launch.indices != nullptr) {
    if (launch.indices_are_wide) {
      store_element<u64>(launch.indices + index, static_cast<u64>(fold.index()), launch.indices_are_aligned);
    } else {
      store_element<u32>(launch.indices + index, static_cast<u32>(fold.index()), launch.indices_are_aligned);
    }
  }
}

template <class Fold>
[[nodiscard]] cudaError_t start_pool(const PoolLaunch& launch, cudaStream_t stream) {
  const auto blocks = static_cast<u32>((u64{launch.outputs} + kPoolThreads - 1) / kPoolThreads);
  pool_elements<Fold><<<blocks, kPoolThreads, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
