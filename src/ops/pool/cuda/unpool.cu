// SPDX-License-Identifier: MIT
// Writes elements to the positions given by their indices. If several elements have the same index, the last one wins:
// a first pass finds the last input for each output, and a second pass copies that input, or writes 0.
#include "backend/cuda/kernels/device.cuh"
#include "ops/pool/cuda/launch.h"

namespace anydml::cuda {
namespace {

[[nodiscard]] __device__ std::int64_t offset_of(u32 number, u32 rank, const FastDivisor* sizes,
                                                const std::int64_t* steps) {
  std::int64_t offset = 0;
  for (u32 i = rank; i-- > 0;) {
    const Quotient parts = divide(number, sizes[i]);
    offset += parts.remainder * steps[i];
    number = parts.quotient;
  }
  return offset;
}

template <class Index>
__global__ void __launch_bounds__(kPoolThreads) find_last(const __grid_constant__ UnpoolLaunch launch) {
  const u64 thread = u64{blockIdx.x} * kPoolThreads + threadIdx.x;
  if (thread >= launch.inputs) {
    return;
  }
  const auto number = static_cast<u32>(thread);
  const std::int64_t at = offset_of(number, launch.input_rank, launch.input_sizes, launch.index_steps);
  const u64 index = load_element<Index>(launch.indices + at, launch.indices_are_aligned);
  if (index < launch.outputs) {
    atomicMax(launch.last + index, number + 1);
  }
}

template <class Bits>
__global__ void __launch_bounds__(kPoolThreads) take_last(const __grid_constant__ UnpoolLaunch launch) {
  const u64 thread = u64{blockIdx.x} * kPoolThreads + threadIdx.x;
  if (thread >= launch.outputs) {
    return;
  }
  const auto number = static_cast<u32>(thread);
  const u32 last = launch.last[number];
  Bits bits = 0;
  if (last != 0) {
    const std::int64_t at = offset_of(last - 1, launch.input_rank, launch.input_sizes, launch.input_steps);
    bits = load_element<Bits>(launch.input + at, launch.input_is_aligned);
  }
  const std::int64_t to = offset_of(number, launch.output_rank, launch.output_sizes, launch.output_steps);
  store_element<Bits>(launch.output + to, bits, launch.output_is_aligned);
}

[[nodiscard]] u32 blocks_for(u32 threads) { return (threads - 1) / kPoolThreads + 1; }

}  // namespace

cudaError_t start_unpooling(DataType type, DataType index_type, const UnpoolLaunch& launch, cudaStream_t stream) {
  const cudaError_t cleared = cudaMemsetAsync(launch.last, 0, u64{launch.outputs} * sizeof(u32), stream);
  if (cleared != cudaSuccess) {
    return cleared;
  }
  if (launch.inputs != 0) {
    if (element_size(index_type) == sizeof(u64)) {
      find_last<u64><<<blocks_for(launch.inputs), kPoolThreads, 0, stream>>>(launch);
    } else {
      find_last<u32><<<blocks_for(launch.inputs), kPoolThreads, 0, stream>>>(launch);
    }
  }
  const u32 blocks = blocks_for(launch.outputs);
  switch (element_size(type)) {
    case 1:
      take_last<u8><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
    case 2:
      take_last<u16><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
    case 4:
      take_last<u32><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
    default:
      take_last<u64><<<blocks, kPoolThreads, 0, stream>>>(launch);
      break;
  }
  return cudaGetLastError();
}

}  // namespace anydml::cuda
