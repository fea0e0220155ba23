// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/entry_kernels.cuh"

namespace anydml::cuda {
namespace {

constexpr u32 kOfVector = 8;

__device__ inline u32 look_up_pair(const u16* table, u32 pair) {
  return u32{table[pair & 0xffff]} | u32{table[pair >> 16]} << 16;
}

}  // namespace

__global__ void __launch_bounds__(kTableThreads)
    look_halves_up(const u16* table, const std::byte* from, std::byte* to, u32 count) {
  extern __shared__ uint4 held[];
  const u32 vectors = count / kOfVector;
  const u32 step = gridDim.x * kTableThreads * kTableVectors;
  u32 first = blockIdx.x * kTableThreads * kTableVectors + threadIdx.x;
  u32 inputs[kTableVectors][4] = {};
  const auto load = [&] {
#pragma unroll
    for (int i = 0; i < kTableVectors; ++i) {
      if (const u32 vector = first + i * kTableThreads; vector < vectors) {
        load_access<16, true>(from + u64{vector} * 16, inputs[i]);
      }
    }
  };
  load();  // in flight while the table is loaded
#pragma unroll
  for (u32 i = 0; i < kTableBytes / sizeof(uint4) / kTableThreads; ++i) {
    held[i * kTableThreads + threadIdx.x] = reinterpret_cast<const uint4*>(table)[i * kTableThreads + threadIdx.x];
  }
  __syncthreads();
  const u16* const results = reinterpret_cast<const u16*>(held);
  while (first < vectors) {
    u32 current[kTableVectors][4];
    const u32 at = first;
#pragma unroll
    for (int i = 0; i < kTableVectors; ++i) {
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        current[i][word] = inputs[i][word];
      }
    }
    first += step;
    load();
#pragma unroll
    for (int i = 0; i < kTableVectors; ++i) {
      if (const u32 vector = at + i * kTableThreads; vector < vectors) {
        u32 out[4];
#pragma unroll
        for (int word = 0; word < 4; ++word) {
          out[word] = look_up_pair(results, current[i][word]);
        }
        store_access<16, true>(to + u64{vector} * 16, out);
      }
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < count % kOfVector) {
    const u64 offset = (u64{vectors} * kOfVector + threadIdx.x) * sizeof(u16);
    store_element<f16>(to + offset, results[load_element<f16>(from + offset, true)], true);
  }
}

cudaError_t launch_half_table(const u16* table, const std::byte* from, std::byte* to, u32 count,
                              const GpuProperties& gpu, cudaStream_t stream) noexcept {
  // Required once per device; repeating the call is cheap.
  if (const cudaError_t error =
          cudaFuncSetAttribute(look_halves_up, cudaFuncAttributeMaxDynamicSharedMemorySize, kTableBytes);
      error != cudaSuccess) {
    return error;
  }
  const u32 of_block = kTableThreads * kTableVectors * kOfVector;
  const u32 blocks = min(ceil_div(count, of_block), gpu.multiprocessors);
  look_halves_up<<<blocks, kTableThreads, kTableBytes, stream>>>(table, from, to, count);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
