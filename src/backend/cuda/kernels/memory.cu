// SPDX-License-Identifier: MIT
// Kernels for fills, copies within host memory, and timestamps.
#include <algorithm>

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/kernels.h"

namespace anydml::cuda {
namespace {

constexpr u32 kFillThreads = 256;

__global__ void __launch_bounds__(kFillThreads) copy_bytes(std::byte* to, const std::byte* from, u64 bytes) {
  const u64 thread = u64{blockIdx.x} * kFillThreads + threadIdx.x;
  const u64 threads = u64{gridDim.x} * kFillThreads;
  u64 done = 0;
  if ((reinterpret_cast<u64>(to) | reinterpret_cast<u64>(from)) % 16 == 0) {
    for (u64 i = thread; i < bytes / 16; i += threads) {
      reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
    }
    done = bytes / 16 * 16;
  }
  for (u64 i = done + thread; i < bytes; i += threads) {
    to[i] = from[i];
  }
}

constexpr u64 kMaxFillBlocks = 1 << 20;

// The vectors are aligned, and `pattern` is rotated to start at the first vector. The words before the vectors, and the
// words and bytes after them, are written one by one.
__global__ void __launch_bounds__(kFillThreads)
    fill(std::byte* to, u64 bytes, u64 head_words, uint4 head_pattern, uint4 pattern) {
  const u64 thread = u64{blockIdx.x} * kFillThreads + threadIdx.x;
  const u64 head = head_words * 4;
  const u64 vectors = (bytes - head) / 16;
  auto* body = reinterpret_cast<uint4*>(to + head);
  for (u64 i = thread; i < vectors; i += u64{gridDim.x} * kFillThreads) {
    body[i] = pattern;
  }
  const auto word_of = [](const uint4& of, u64 i) { return i == 0 ? of.x : i == 1 ? of.y : i == 2 ? of.z : of.w; };
  if (thread < head_words) {
    reinterpret_cast<u32*>(to)[thread] = word_of(head_pattern, thread);
  } else if (thread >= 4 && thread < 8) {
    const u64 at = head + vectors * 16 + (thread - 4) * 4;
    const u32 word = word_of(pattern, thread - 4);
    if (at + 4 <= bytes) {
      *reinterpret_cast<u32*>(to + at) = word;
    } else {
      for (u64 i = 0; at + i < bytes; ++i) {
        to[at + i] = static_cast<std::byte>(word >> (8 * i));
      }
    }
  }
}

__global__ void timestamp(u64* ticks) {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *ticks = now;
}

}  // namespace

cudaError_t launch_fill(void* to, std::uint64_t bytes, const std::uint32_t* pattern, std::uint32_t pattern_bytes,
                        cudaStream_t stream) noexcept {
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (pattern_bytes != 4 && pattern_bytes != 16) {
    return cudaErrorInvalidValue;
  }
  const std::uint32_t words = pattern_bytes / 4;
  const std::uint64_t head =
      std::min<std::uint64_t>((16 - reinterpret_cast<std::uintptr_t>(to) % 16) % 16 / 4, bytes / 4);
  const auto turned = [&](std::uint64_t by) {
    return uint4{pattern[by % words], pattern[(by + 1) % words], pattern[(by + 2) % words], pattern[(by + 3) % words]};
  };
  const std::uint64_t blocks = std::clamp<std::uint64_t>(bytes / 16 / kFillThreads, 1, kMaxFillBlocks);
  fill<<<static_cast<unsigned>(blocks), kFillThreads, 0, stream>>>(static_cast<std::byte*>(to), bytes, head, turned(0),
                                                                   turned(head));
  return cudaGetLastError();
}

cudaError_t launch_copy(void* to, const void* from, std::uint64_t bytes, cudaStream_t stream) noexcept {
  if (bytes == 0) {
    return cudaSuccess;
  }
  const u64 blocks = std::min<u64>((bytes / 16 + kFillThreads) / kFillThreads, 1024);
  copy_bytes<<<static_cast<unsigned>(blocks), kFillThreads, 0, stream>>>(static_cast<std::byte*>(to),
                                                                         static_cast<const std::byte*>(from), bytes);
  return cudaGetLastError();
}

cudaError_t launch_timestamp(std::uint64_t* ticks, cudaStream_t stream) noexcept {
  timestamp<<<1, 1, 0, stream>>>(ticks);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
