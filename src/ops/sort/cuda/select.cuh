// SPDX-License-Identifier: MIT
// Selects the first K words of each part of a row with one thread block. Each thread reads some of the keys, and the
// K-th smallest of the threads' minima is a bound: at least K keys do not exceed it, and usually not many more. The
// keys up to the bound become words in shared memory, and the rank of each word is counted. If too many keys are below
// the bound, for example because many keys are equal, bisection finds the K-th key and the last index to be included.
#pragma once

#include "ops/sort/cuda/elements.cuh"

namespace anydml::cuda {

// The keys of one thread. If kHeld is set, all of them are in registers; otherwise they are loaded at each visit.
template <class U, bool kHeld>
class ThreadKeys {
 public:
  using Key = sort_key_t<U>;

  __device__ ThreadKeys(const SortLaunch& launch, const std::byte* from, u32 length)
      : launch_(launch), from_(from), length_(length) {
    if constexpr (kHeld) {
#pragma unroll
      for (u32 i = 0; i < kGroups; ++i) {
        load(i, held_[i]);
      }
    }
  }

  // Calls use(key, index in the part) for each key.
  template <class Use>
  __device__ void visit(const Use& use) const {
    if constexpr (kHeld) {
#pragma unroll
      for (u32 i = 0; i < kGroups; ++i) {
        visit_group(i, held_[i], use);
      }
    } else {
      const u32 groups = (length_ + kVector * kSelectThreads - 1) / (kVector * kSelectThreads);
      for (u32 i = 0; i < groups; ++i) {
        Key keys[kVector];
        load(i, keys);
        visit_group(i, keys, use);
      }
    }
  }

  static constexpr u32 kMaxHeld = kHeldBytes / sizeof(Key) * kSelectThreads;

 private:
  static constexpr u32 kVector = kVectorElements<U>;
  static constexpr u32 kGroups = kHeldBytes / sizeof(Key) / kVector;  // per thread, one vector each

  // Each vector belongs to one thread; without vectors, adjacent threads load adjacent elements.
  [[nodiscard]] __device__ u32 index_of(u32 group, u32 own) const {
    return launch_.has_vectors ? (group * kSelectThreads + threadIdx.x) * kVector + own
                               : (group * kVector + own) * kSelectThreads + threadIdx.x;
  }

  __device__ void load(u32 group, Key (&keys)[kVector]) const {
    U bits[kVector];
    const u32 first = index_of(group, 0);
    if (launch_.has_vectors && first + kVector <= length_) {
      u32 words[4];
      load_access<kVectorBytes, false>(from_ + u64{first} * sizeof(U), words);
#pragma unroll
      for (u32 i = 0; i < kVector; ++i) {
        bits[i] = extract<U>(words, static_cast<int>(i));
      }
    } else {
#pragma unroll
      for (u32 i = 0; i < kVector; ++i) {
        const u32 index = index_of(group, i);
        bits[i] = index < length_ ? load_element<U>(from_ + index * launch_.axis_input, launch_.input_is_aligned) : 0;
      }
    }
    keys_of(bits, launch_.kind, launch_.largest, keys);
  }

  template <class Use>
  __device__ void visit_group(u32 group, const Key (&keys)[kVector], const Use& use) const {
#pragma unroll
    for (u32 i = 0; i < kVector; ++i) {
      const u32 index = index_of(group, i);
      if (index < length_) {
        use(keys[i], index);
      }
    }
  }

  const SortLaunch& launch_;
  const std::byte* from_;
  u32 length_;
  Key held_[kHeld ? kGroups : 1][kVector];
};

[[nodiscard]] __device__ inline u32 block_sum(u32 own, u32 (&sums)[kSelectThreads / 32]) {
#pragma unroll
  for (u32 offset = 16; offset > 0; offset /= 2) {
    own += __shfl_xor_sync(0xffffffffU, own, offset);
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = own;
  }
  __syncthreads();
  u32 sum = 0;
#pragma unroll
  for (const u32 part : sums) {
    sum += part;
  }
  return sum;
}

// A key that at least K keys do not exceed, or the maximum key if no better bound is found. minima: the minimum of each
// thread's keys; threads without keys have the maximum key.
template <class Key>
__device__ void find_limit(Key minimum, u32 k, Key (&minima)[kSelectThreads], Key& limit) {
  constexpr u32 kFew = 24;  // up to this K, the minima of groups of four threads are close enough
  if (threadIdx.x == 0) {
    limit = kMaxKey<Key>;
  }
  if (k <= kFew) {
    static_assert(kSelectThreads == 4 * 32);
    minimum = min(minimum, __shfl_xor_sync(0xffffffffU, minimum, 1));
    minimum = min(minimum, __shfl_xor_sync(0xffffffffU, minimum, 2));
    if (threadIdx.x % 4 == 0) {
      minima[threadIdx.x / 4] = minimum;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      const Key own = minima[threadIdx.x];
      u32 before = 0;
#pragma unroll 8
      for (u32 i = 0; i < 32; ++i) {
        const Key other = __shfl_sync(0xffffffffU, own, i);
        before += other < own || (other == own && i < threadIdx.x) ? 1 : 0;
      }
      if (before == k - 1) {
        limit = own;
      }
    }
  } else {
    minima[threadIdx.x] = minimum;
    __syncthreads();
    u32 before = 0;
#pragma unroll 8
    for (u32 i = 0; i < kSelectThreads; ++i) {
      const Key other = minima[i];
      before += other < minimum || (other == minimum && i < threadIdx.x) ? 1 : 0;
    }
    if (before == k - 1) {
      limit = minimum;
    }
  }
  __syncthreads();
}

// The smallest number in [low, high] for which enough(number) is true. It must be true for `high`, and if it is true
// for a number, it must be true for all greater numbers. All threads call this with the same arguments.
template <class Number, class Enough>
[[nodiscard]] __device__ Number bisect(Number low, Number high, const Enough& enough) {
  using Unsigned = std::make_unsigned_t<Number>;
  while (low < high) {
    const auto half = static_cast<Unsigned>(static_cast<Unsigned>(high) - static_cast<Unsigned>(low)) / 2;
    const auto middle = static_cast<Number>(static_cast<Unsigned>(low) + half);
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

template <class U, bool kHeld>
__global__ void __launch_bounds__(kSelectThreads) select_parts(const __grid_constant__ SortLaunch launch) {
  using Key = sort_key_t<U>;
  using Word = word_t<Key>;
  __shared__ Word candidates[kMaxCandidates];
  __shared__ Key minima[kSelectThreads];
  __shared__ u32 sums[kSelectThreads / 32];
  __shared__ Key limit;
  __shared__ u32 size;
  const u64 units = u64{launch.rows} * launch.parts;
  for (u64 unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const RowOffsets offsets = offsets_of(launch, launch.first_row + static_cast<u32>(unit / launch.parts));
    const u32 first = static_cast<u32>(unit % launch.parts) * launch.part;
    const u32 length = min(launch.part, launch.count - first);
    const ThreadKeys<U, kHeld> keys(launch, launch.input + offsets.input + first * launch.axis_input, length);
    Key minimum = kMaxKey<Key>;
    keys.visit([&minimum](Key key, u32) { minimum = min(minimum, key); });
    if (threadIdx.x == 0) {
      size = 0;
    }
    find_limit(minimum, launch.k, minima, limit);
    const auto add = [&](Key key, u32 index) {
      const u32 at = atomicAdd(&size, 1U);
      if (at < kMaxCandidates) {
        candidates[at] = Word::make(key, first + index);
      }
    };
    const Key bound = limit;
    keys.visit([&](Key key, u32 index) {
      if (key <= bound) {
        add(key, index);
      }
    });
    __syncthreads();
    if (size > kMaxCandidates) {  // this is also more than K
      const auto count = [&](const auto& wanted) {
        u32 own = 0;
        keys.visit([&](Key key, u32 index) { own += wanted(key, index) ? 1 : 0; });
        return block_sum(own, sums);
      };
      const Key last = bisect<Key>(-kMaxKey<Key> - 1, bound, [&](Key middle) {
        return count([middle](Key key, u32) { return key <= middle; }) >= launch.k;
      });
      const u32 before = count([last](Key key, u32) { return key < last; });
      const u32 end = bisect<u32>(0, length - 1, [&](u32 middle) {
        return before + count([=](Key key, u32 index) { return key == last && index <= middle; }) >= launch.k;
      });
      __syncthreads();
      if (threadIdx.x == 0) {
        size = 0;
      }
      __syncthreads();
      keys.visit([&](Key key, u32 index) {
        if (key < last || (key == last && index <= end)) {
          add(key, index);
        }
      });
      __syncthreads();
    }
    const u32 found = size;
    for (u32 i = threadIdx.x; i < max(found, launch.k); i += kSelectThreads) {
      if (i >= found) {  // a part may have fewer elements than K
        reinterpret_cast<Word*>(launch.to)[unit * launch.k + i] = Word::last();
        continue;
      }
      const Word own = candidates[i];
      u32 rank = 0;
      for (u32 other = 0; other < found; ++other) {
        rank += candidates[other].is_before(own) ? 1 : 0;
      }
      if (rank >= launch.k) {
        continue;
      }
      if (launch.to != nullptr) {
        reinterpret_cast<Word*>(launch.to)[unit * launch.k + rank] = own;
      } else {
        write_result<U>(launch, offsets, rank, own.index());
      }
    }
    __syncthreads();
  }
}

template <class U>
cudaError_t start_select(const SortLaunch& launch, cudaStream_t stream) {
  const u32 blocks = blocks_for(u64{launch.rows} * launch.parts);
  if (launch.part <= ThreadKeys<U, true>::kMaxHeld) {
    select_parts<U, true><<<blocks, kSelectThreads, 0, stream>>>(launch);
  } else {
    select_parts<U, false><<<blocks, kSelectThreads, 0, stream>>>(launch);
  }
  return cudaPeekAtLastError();
}

template <class U>
cudaError_t start_sort(const SortLaunch& launch, cudaStream_t stream) {
  const u32 words = kTileWords<word_t<sort_key_t<U>>>;
  const u64 units = u64{launch.rows} * launch.parts;
  const u64 together = words / launch.padded;
  sort_parts<U><<<blocks_for((units + together - 1) / together), threads_for(words), 0, stream>>>(launch);
  return cudaPeekAtLastError();
}

template <class U>
cudaError_t start_load(const SortLaunch& launch, cudaStream_t stream) {
  const u64 total = u64{launch.rows} * launch.pitch;
  load_words<U><<<blocks_for((total + kTileThreads - 1) / kTileThreads), kTileThreads, 0, stream>>>(launch);
  return cudaPeekAtLastError();
}

template <class U>
cudaError_t start_write(const SortLaunch& launch, cudaStream_t stream) {
  const u64 total = u64{launch.rows} * launch.k;
  write_words<U><<<blocks_for((total + kTileThreads - 1) / kTileThreads), kTileThreads, 0, stream>>>(launch);
  return cudaPeekAtLastError();
}

template <class U>
inline constexpr SortStarts kStartsOf = {start_select<U>, start_sort<U>, start_load<U>, start_write<U>};

}  // namespace anydml::cuda
