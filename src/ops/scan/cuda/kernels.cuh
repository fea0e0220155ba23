// SPDX-License-Identifier: MIT
// Computes chains of additions or multiplications on a GPU. A chain is serial, so one warp computes 32 chains. The
// other warps of its block load the elements into shared memory, a few tiles ahead, and store the results.
#pragma once

#include <cuda_pipeline.h>

#include "backend/cuda/kernels/device.cuh"
#include "ops/scan/cuda/launch.h"
#include "ops/scan/scalar/scan.h"

namespace anydml::cuda {

inline constexpr u32 kMovers = 256;  // threads that load and store
inline constexpr u32 kScanThreads = 32 + kMovers;
inline constexpr u32 kTileRow = 256;  // bytes of each chain in a tile
// One stage is computed, one is stored, one is free for the next tile, and the remaining stages are being loaded.
inline constexpr u32 kStages = 5;
inline constexpr u32 kSlots = kScanChains * kTileRow / kVectorBytes;  // vectors per tile
inline constexpr u32 kSlotsOfThread = kSlots / kMovers;

[[nodiscard]] __device__ inline std::int64_t row_offset(u32 row, const ScanLaunch& launch,
                                                        const std::int64_t* strides) {
  std::int64_t offset = 0;
#pragma unroll 1
  for (u32 loop = launch.kept_rank; loop-- > 1;) {
    const Quotient parts = divide(row, launch.kept_sizes[loop]);
    offset += static_cast<std::int64_t>(parts.remainder) * strides[loop];
    row = parts.quotient;
  }
  return offset + static_cast<std::int64_t>(row) * strides[0];
}

// The chains of a block of threads. In a tile, each chain has its own row of elements, which starts four banks after
// the previous row. Across: the elements of all chains form lines instead.
template <class T, bool kAcross>
struct ScanTile {
  static constexpr u32 kSize = sizeof(T);
  static constexpr u32 kColumns = kTileRow / kSize;  // elements per chain
  static constexpr u32 kPitch = kAcross ? kScanChains * kSize : kTileRow + kVectorBytes;
  static constexpr u32 kBytes = kAcross ? kColumns * kPitch : kScanChains * kPitch;
  static constexpr u32 kOfVector = kVectorElements<T>;
  static constexpr u32 kVectors = kPitch / kVectorBytes;  // per line

  [[nodiscard]] __device__ static u32 offset_of(u32 chain, u32 column) {
    return kAcross ? column * kPitch + chain * kSize : chain * kPitch + column * kSize;
  }
};

struct ScanChain {
  const std::byte* input;
  std::byte* output;
  u64 length;  // 0 if the chain does not exist
};

// Copies elements to shared memory, asynchronously if the machine supports it.
template <class T>
__device__ inline void bring_element(std::byte* to, const std::byte* from, bool is_aligned) {
  if constexpr (sizeof(T) >= 4) {
    if (is_aligned) {
      __pipeline_memcpy_async(to, from, sizeof(T));
      return;
    }
  }
  *reinterpret_cast<bits_t<T>*>(to) = load_element<T>(from, is_aligned);
}

// One vector of a tile: its first chain and column, and the number of its elements.
struct ScanSlot {
  u32 chain;
  u32 column;
  u32 count;
};

template <class T, bool kAcross>
[[nodiscard]] __device__ inline ScanSlot slot_of(u32 number, u64 first, const ScanChain* chains, u32 width) {
  using Tile = ScanTile<T, kAcross>;
  if constexpr (kAcross) {
    const u32 chain = number % Tile::kVectors * Tile::kOfVector;
    const u32 column = number / Tile::kVectors;
    const bool exists = first + column < chains[0].length && chain < width;
    return {chain, column, exists ? min(Tile::kOfVector, width - chain) : 0};
  } else {
    constexpr u32 kOfRow = kTileRow / kVectorBytes;
    const u32 chain = number / kOfRow;
    const u32 column = number % kOfRow * Tile::kOfVector;
    const u64 length = chains[chain].length;
    const u64 at = first + column;
    return {chain, column, at >= length ? 0 : static_cast<u32>(min(static_cast<u64>(Tile::kOfVector), length - at))};
  }
}

template <class T, bool kAcross>
__device__ void load_tile(const ScanLaunch& launch, const ScanChain* chains, u32 width, u64 first, u32 mover,
                          std::byte* tile) {
  using Tile = ScanTile<T, kAcross>;
  if (launch.input_has_vectors) {
#pragma unroll
    for (u32 k = 0; k < kSlotsOfThread; ++k) {
      const ScanSlot slot = slot_of<T, kAcross>(mover + k * kMovers, first, chains, width);
      const std::byte* const from =
          chains[slot.chain].input + static_cast<std::int64_t>(first + slot.column) * launch.along_input;
      std::byte* const to = tile + Tile::offset_of(slot.chain, slot.column);
      if (slot.count == Tile::kOfVector) {
        __pipeline_memcpy_async(to, from, kVectorBytes);
      } else {
#pragma unroll 1
        for (u32 i = 0; i < slot.count; ++i) {
          *reinterpret_cast<bits_t<T>*>(to + i * sizeof(T)) = load_element<T>(from + i * sizeof(T), true);
        }
      }
    }
  } else {
#pragma unroll 8
    for (u32 number = mover; number < kScanChains * Tile::kColumns; number += kMovers) {
      const u32 chain = kAcross ? number % kScanChains : number / Tile::kColumns;
      const u32 column = kAcross ? number / kScanChains : number % Tile::kColumns;
      if (first + column < chains[chain].length) {
        bring_element<T>(tile + Tile::offset_of(chain, column),
                         chains[chain].input + static_cast<std::int64_t>(first + column) * launch.along_input,
                         launch.input_is_aligned);
      }
    }
  }
}

template <class T, bool kAcross>
__device__ void store_tile(const ScanLaunch& launch, const ScanChain* chains, u32 width, u64 first, u32 mover,
                           const std::byte* tile) {
  using Tile = ScanTile<T, kAcross>;
  if (launch.output_has_vectors) {
#pragma unroll
    for (u32 k = 0; k < kSlotsOfThread; ++k) {
      const ScanSlot slot = slot_of<T, kAcross>(mover + k * kMovers, first, chains, width);
      std::byte* const to =
          chains[slot.chain].output + static_cast<std::int64_t>(first + slot.column) * launch.along_output;
      const std::byte* const from = tile + Tile::offset_of(slot.chain, slot.column);
      if (slot.count == Tile::kOfVector) {
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      } else {
#pragma unroll 1
        for (u32 i = 0; i < slot.count; ++i) {
          store_element<T>(to + i * sizeof(T), *reinterpret_cast<const bits_t<T>*>(from + i * sizeof(T)), true);
        }
      }
    }
  } else {
#pragma unroll 8
    for (u32 number = mover; number < kScanChains * Tile::kColumns; number += kMovers) {
      const u32 chain = kAcross ? number % kScanChains : number / Tile::kColumns;
      const u32 column = kAcross ? number / kScanChains : number % Tile::kColumns;
      if (first + column < chains[chain].length) {
        store_element<T>(chains[chain].output + static_cast<std::int64_t>(first + column) * launch.along_output,
                         *reinterpret_cast<const bits_t<T>*>(tile + Tile::offset_of(chain, column)),
                         launch.output_is_aligned);
      }
    }
  }
}

template <class T>
[[nodiscard]] __device__ inline scan_t<T> widened(bits_t<T> bits) {
  return static_cast<scan_t<T>>(widen(__builtin_bit_cast(T, bits)));
}
template <class T>
[[nodiscard]] __device__ inline bits_t<T> narrowed(scan_t<T> value) {
  return __builtin_bit_cast(bits_t<T>, narrow<T>(static_cast<compute_t<T>>(value)));
}

// A chain that is being computed.
template <class T, ScanFunction kFunction>
struct RunningChain {
  using C = scan_t<T>;
  C sum = kScanIdentity<C, kFunction>;
  C carry = kScanIdentity<C, kFunction>;

  [[nodiscard]] __device__ bits_t<T> next(bits_t<T> element, bool is_exclusive) {
    const C after = scanned<kFunction>(sum, widened<T>(element));
    const C result = scanned<kFunction>(carry, is_exclusive ? sum : after);
    sum = after;
    return narrowed<T>(result);
  }
  __device__ void end_block() {
    carry = scanned<kFunction>(carry, sum);
    sum = kScanIdentity<C, kFunction>;
  }
};

// Elements beyond the end of a chain are arbitrary; their results are not stored.
template <class T, ScanFunction kFunction, bool kAcross>
__device__ void compute_tile(std::byte* tile, u32 lane, bool is_exclusive, RunningChain<T, kFunction>& chain) {
  using Tile = ScanTile<T, kAcross>;
  if constexpr (kAcross) {
#pragma unroll 16
    for (u32 column = 0; column < Tile::kColumns; ++column) {
      auto* const at = reinterpret_cast<bits_t<T>*>(tile + Tile::offset_of(lane, column));
      *at = chain.next(*at, is_exclusive);
    }
  } else {
#pragma unroll 4
    for (u32 vector = 0; vector < kTileRow / kVectorBytes; ++vector) {
      auto* const at = reinterpret_cast<uint4*>(tile + Tile::offset_of(lane, vector * Tile::kOfVector));
      const uint4 loaded = *at;
      const u32 words[4] = {loaded.x, loaded.y, loaded.z, loaded.w};
      u32 computed[4] = {};
#pragma unroll
      for (int i = 0; i < static_cast<int>(Tile::kOfVector); ++i) {
        insert<T>(computed, i, chain.next(extract<T>(words, i), is_exclusive));
      }
      *at = uint4{computed[0], computed[1], computed[2], computed[3]};
    }
  }
}

template <class T, ScanFunction kFunction, bool kAcross>
__global__ void __launch_bounds__(kScanThreads) scan_chains(const __grid_constant__ ScanLaunch launch) {
  using Tile = ScanTile<T, kAcross>;
  using C = scan_t<T>;
  constexpr auto kBlock = static_cast<u32>(kScanBlock);
  static_assert(kBlock % Tile::kColumns == 0);
  __shared__ alignas(16) std::byte stages[kStages][Tile::kBytes];
  __shared__ ScanChain chains[kScanChains];
  __shared__ u64 numbers[kScanChains];  // indices of the chains among all chains
  __shared__ u64 longest;
  const u32 thread = threadIdx.x;
  u32 width = kScanChains;  // the number of chains
  if constexpr (kAcross) {
    const u32 group = blockIdx.x / launch.chains_of_row;
    const u32 columns = launch.kept_sizes[launch.kept_rank - 1].divisor;
    width = min(kScanChains, columns - group % launch.tiles_of_loop * kScanChains);
  }
  if (thread < kScanChains) {
    u64 row = 0;
    u32 block = 0;
    bool exists = true;
    if constexpr (kAcross) {
      const u32 group = blockIdx.x / launch.chains_of_row;
      const u32 columns = launch.kept_sizes[launch.kept_rank - 1].divisor;
      block = blockIdx.x % launch.chains_of_row;
      row = static_cast<u64>(group / launch.tiles_of_loop) * columns + group % launch.tiles_of_loop * kScanChains +
            thread;
      exists = thread < width;
    } else {
      const u64 number = static_cast<u64>(blockIdx.x) * kScanChains + thread;
      row = number / launch.chains_of_row;
      block = static_cast<u32>(number % launch.chains_of_row);
      exists = row < launch.rows;
    }
    ScanChain chain{launch.input, launch.output, 0};
    if (exists) {
      const u64 first = static_cast<u64>(block) * kBlock;
      const auto at = static_cast<std::int64_t>(first);
      chain.input += row_offset(static_cast<u32>(row), launch, launch.kept_input) + at * launch.along_input;
      chain.output += row_offset(static_cast<u32>(row), launch, launch.kept_output) + at * launch.along_output;
      chain.length = launch.chains_of_row == 1 ? launch.count : min(static_cast<u64>(kBlock), launch.count - first);
    }
    chains[thread] = chain;
    numbers[thread] = row * launch.chains_of_row + block;
  }
  __syncthreads();
  if (thread == 0) {
    u64 maximum = 0;
    for (u32 i = 0; i < kScanChains; ++i) {
      maximum = max(maximum, chains[i].length);
    }
    longest = maximum;
  }
  __syncthreads();
  const u64 tiles = (longest + Tile::kColumns - 1) / Tile::kColumns;
  const bool computes = thread < 32;
  const u32 mover = thread - 32;
  RunningChain<T, kFunction> chain;
  const bool exists = computes && chains[thread % 32].length != 0;
  const bool is_first = computes && (launch.chains_of_row == 1 || numbers[thread % 32] % launch.chains_of_row == 0);
  auto* const totals = reinterpret_cast<C*>(launch.totals);
  if (exists && totals != nullptr && launch.output != nullptr) {
    chain.carry = totals[numbers[thread]];
  }
  if (!computes) {
#pragma unroll 1
    for (u32 tile = 0; tile < kStages - 2; ++tile) {
      load_tile<T, kAcross>(launch, chains, width, static_cast<u64>(tile) * Tile::kColumns, mover, stages[tile]);
      __pipeline_commit();
    }
  }
#pragma unroll 1
  for (u64 tile = 0; tile <= tiles; ++tile) {
    if (!computes) {
      __pipeline_wait_prior(kStages - 3);  // the data for this tile has arrived
    }
    __syncthreads();
    if (computes) {
      if (tile < tiles) {
        if (tile != 0 && tile * Tile::kColumns % kBlock == 0) {
          chain.end_block();
        }
        std::byte* const stage = stages[tile % kStages];
        compute_tile<T, kFunction, kAcross>(stage, thread, launch.is_exclusive, chain);
        if (tile == 0 && is_first && launch.first_is_zero) {
          *reinterpret_cast<bits_t<T>*>(stage + Tile::offset_of(thread, 0)) = 0;
        }
      }
    } else {
      if (tile != 0 && launch.output != nullptr) {
        store_tile<T, kAcross>(launch, chains, width, (tile - 1) * Tile::kColumns, mover, stages[(tile - 1) % kStages]);
      }
      const u64 later = tile + kStages - 2;  // loaded into the stage that was stored before the last barrier
      load_tile<T, kAcross>(launch, chains, width, later * Tile::kColumns, mover, stages[later % kStages]);
      __pipeline_commit();
    }
  }
  if (exists && launch.output == nullptr) {
    totals[numbers[thread]] = chain.sum;
  }
}

// Processes one row per warp. All threads of the warp compute the same chain, and each thread keeps one carry.
template <class C, ScanFunction kFunction>
__global__ void __launch_bounds__(256) carry_rows(C* totals, u32 rows, u32 chains_of_row) {
  constexpr u32 kAll = 0xffffffff;
  const u64 row = static_cast<u64>(blockIdx.x) * 8 + threadIdx.x / 32;
  if (row >= rows) {
    return;  // the whole warp returns
  }
  const u32 lane = threadIdx.x % 32;
  C* const own = totals + row * chains_of_row;
  C carry = kScanIdentity<C, kFunction>;
  C ahead = lane < chains_of_row ? own[lane] : kScanIdentity<C, kFunction>;
#pragma unroll 1
  for (u64 first = 0; first < chains_of_row; first += 32) {
    const C total = ahead;
    const u64 later = first + 32 + lane;
    ahead = later < chains_of_row ? own[later] : kScanIdentity<C, kFunction>;
    C before = carry;
#pragma unroll
    for (u32 i = 0; i < 32; ++i) {
      before = lane == i ? carry : before;
      carry = scanned<kFunction>(carry, __shfl_sync(kAll, total, static_cast<int>(i)));
    }
    if (first + lane < chains_of_row) {
      own[first + lane] = before;
    }
  }
}

template <class T, ScanFunction kFunction>
[[nodiscard]] cudaError_t start_scan(bool across, u32 groups, const ScanLaunch& launch, cudaStream_t stream) {
  if (across) {
    scan_chains<T, kFunction, true><<<groups, kScanThreads, 0, stream>>>(launch);
  } else {
    scan_chains<T, kFunction, false><<<groups, kScanThreads, 0, stream>>>(launch);
  }
  return cudaGetLastError();
}

template <class C, ScanFunction kFunction>
[[nodiscard]] cudaError_t start_carry(const ScanLaunch& launch, cudaStream_t stream) {
  const u32 groups = launch.rows / 8 + (launch.rows % 8 != 0 ? 1 : 0);
  carry_rows<C, kFunction>
      <<<groups, 256, 0, stream>>>(reinterpret_cast<C*>(launch.totals), launch.rows, launch.chains_of_row);
  return cudaGetLastError();
}

// Integers wrap, so their signs do not matter.
template <ScanFunction kFunction>
[[nodiscard]] cudaError_t start_for(DataType type, bool across, u32 groups, const ScanLaunch& launch,
                                    cudaStream_t stream) {
  switch (type) {
    case DataType::FLOAT16:
      return start_scan<f16, kFunction>(across, groups, launch, stream);
    case DataType::FLOAT32:
      return start_scan<f32, kFunction>(across, groups, launch, stream);
    case DataType::FLOAT64:
      return start_scan<f64, kFunction>(across, groups, launch, stream);
    default:
      break;
  }
  switch (element_size(type)) {
    case 1:
      return start_scan<u8, kFunction>(across, groups, launch, stream);
    case 2:
      return start_scan<u16, kFunction>(across, groups, launch, stream);
    case 4:
      return start_scan<u32, kFunction>(across, groups, launch, stream);
    default:
      return start_scan<u64, kFunction>(across, groups, launch, stream);
  }
}

template <ScanFunction kFunction>
[[nodiscard]] cudaError_t carry_for(DataType type, const ScanLaunch& launch, cudaStream_t stream) {
  switch (type) {
    case DataType::FLOAT16:
    case DataType::FLOAT32:
      return start_carry<f32, kFunction>(launch, stream);
    case DataType::FLOAT64:
      return start_carry<f64, kFunction>(launch, stream);
    default:
      return element_size(type) == 8 ? start_carry<u64, kFunction>(launch, stream)
                                     : start_carry<u32, kFunction>(launch, stream);
  }
}

}  // namespace anydml::cuda
