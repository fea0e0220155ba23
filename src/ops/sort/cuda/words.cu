// SPDX-License-Identifier: MIT
// Sorts words in the workspace, either parts of rows in shared memory or whole rows.
#include "ops/sort/cuda/words.cuh"

namespace anydml::cuda {
namespace {

template <class Word>
__global__ void __launch_bounds__(kTileThreads) sort_words(const __grid_constant__ SortLaunch launch) {
  __shared__ Word words[kTileWords<Word>];
  const u64 units = u64{launch.rows} * launch.parts;
  const auto* const from = reinterpret_cast<const Word*>(launch.from);
  auto* const to = reinterpret_cast<Word*>(launch.to);
  for (u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const u64 row = unit / launch.parts;
    const u32 first = static_cast<u32>(unit % launch.parts) * launch.part;
    const u32 length = min(launch.part, launch.count - first);
    for (u32 i = threadIdx.x; i < launch.padded; i += blockDim.x) {
      words[i] = i < length ? from[row * launch.pitch + first + i] : Word::last();
    }
    __syncthreads();
    sort_shared(words, launch.padded, launch.padded);
    for (u32 i = threadIdx.x; i < launch.k; i += blockDim.x) {
      to[unit * launch.k + i] = words[i];
    }
    __syncthreads();
  }
}

// Sorts the tiles of a whole-row sort. If `size` is 0, runs all steps up to the size of a tile. Otherwise, runs the
// last steps for a larger size.
template <class Word>
__global__ void __launch_bounds__(kTileThreads) sort_tiles(const WholeSort sort, u64 size) {
  constexpr u32 kTile = kTileWords<Word>;
  __shared__ Word words[kTile];
  auto* const all = reinterpret_cast<Word*>(sort.words);
  for (u64 first = u64{blockIdx.x} * kTile; first < sort.total; first += u64{gridDim.x} * kTile) {
    for (u32 i = threadIdx.x; i < kTile; i += blockDim.x) {
      words[i] = all[first + i];
    }
    __syncthreads();
    for (u64 own = size == 0 ? 2 : size; own <= (size == 0 ? kTile : size); own *= 2) {
      for (u32 stride = static_cast<u32>(own < kTile ? own : kTile) / 2; stride > 0; stride /= 2) {
        exchange(words, kTile, first, sort.padded, own, stride);
      }
    }
    for (u32 i = threadIdx.x; i < kTile; i += blockDim.x) {
      all[first + i] = words[i];
    }
    __syncthreads();
  }
}

// A bitonic step between words that are further apart than a tile.
template <class Word>
__global__ void __launch_bounds__(kTileThreads) exchange_far(const WholeSort sort, u64 size, u64 stride) {
  auto* const words = reinterpret_cast<Word*>(sort.words);
  const u64 threads = u64{gridDim.x} * blockDim.x;
  for (u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x; i < sort.total / 2; i += threads) {
    const u64 a = 2 * (i & ~(stride - 1)) | (i & (stride - 1));
    const bool is_upwards = (a & (sort.padded - 1) & size) == 0;
    const Word left = words[a];
    const Word right = words[a + stride];
    if (right.is_before(left) == is_upwards) {
      words[a] = right;
      words[a + stride] = left;
    }
  }
}

template <class Word>
cudaError_t sort_whole(const WholeSort& sort, cudaStream_t stream) {
  constexpr u32 kTile = kTileWords<Word>;
  const u32 blocks = blocks_for(sort.total / kTile);
  sort_tiles<Word><<<blocks, kTileThreads, 0, stream>>>(sort, 0);
  for (u64 size = 2 * u64{kTile}; size <= sort.padded; size *= 2) {
    for (u64 stride = size / 2; stride >= kTile; stride /= 2) {
      exchange_far<Word><<<blocks_for(sort.total / 2 / kTileThreads), kTileThreads, 0, stream>>>(sort, size, stride);
    }
    sort_tiles<Word><<<blocks, kTileThreads, 0, stream>>>(sort, size);
  }
  return cudaPeekAtLastError();
}

}  // namespace

cudaError_t start_sort_words(std::size_t word_bytes, const SortLaunch& launch, cudaStream_t stream) {
  const u32 blocks = blocks_for(u64{launch.rows} * launch.parts);
  const u32 threads = threads_for(launch.padded);
  if (word_bytes == kWideWord) {
    sort_words<WideWord><<<blocks, threads, 0, stream>>>(launch);
  } else {
    sort_words<NarrowWord><<<blocks, threads, 0, stream>>>(launch);
  }
  return cudaPeekAtLastError();
}

cudaError_t start_whole_sort(std::size_t word_bytes, const WholeSort& sort, cudaStream_t stream) {
  return word_bytes == kWideWord ? sort_whole<WideWord>(sort, stream) : sort_whole<NarrowWord>(sort, stream);
}

}  // namespace anydml::cuda
