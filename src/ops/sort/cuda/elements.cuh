// SPDX-License-Identifier: MIT
// Converts elements to keys, locates rows, and contains the kernels that only load words or write results. U: the
// unsigned type with the size of an element.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/sort/cuda/words.cuh"

namespace anydml::cuda {

template <class U>
struct TypesOfSize;
template <>
struct TypesOfSize<u8> {
  using Signed = i8;
  using Float = u8;  // unused
};
template <>
struct TypesOfSize<u16> {
  using Signed = i16;
  using Float = f16;
};
template <>
struct TypesOfSize<u32> {
  using Signed = i32;
  using Float = f32;
};
template <>
struct TypesOfSize<u64> {
  using Signed = i64;
  using Float = f64;
};

// Computes several keys at a time, so that the type is checked only once.
template <class U, int kCount>
__device__ inline void keys_of(const U (&bits)[kCount], SortKind kind, bool largest, sort_key_t<U> (&keys)[kCount]) {
  using Types = TypesOfSize<U>;
  const auto convert = [&]<class T>(T) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      keys[i] = sort_key<T>(__builtin_bit_cast(T, bits[i]), largest);
    }
  };
  if (kind == SortKind::floating) {
    convert(typename Types::Float{});
  } else if (kind == SortKind::signed_integer) {
    convert(typename Types::Signed{});
  } else {
    convert(U{});
  }
}

struct RowOffsets {
  std::int64_t input = 0;  // in bytes
  std::int64_t values = 0;
  std::int64_t indices = 0;
};

[[nodiscard]] __device__ inline RowOffsets offsets_of(const SortLaunch& launch, u32 row) {
  RowOffsets offsets;
  for (u32 i = launch.rank; i-- > 0;) {
    const Quotient at = divide(row, launch.sizes[i]);
    offsets.input += at.remainder * launch.row_input[i];
    offsets.values += at.remainder * launch.row_values[i];
    offsets.indices += at.remainder * launch.row_indices[i];
    row = at.quotient;
  }
  return offsets;
}

template <class U>
[[nodiscard]] __device__ inline sort_key_t<U> load_key(const SortLaunch& launch, const std::byte* row, u32 index) {
  const U bits[1] = {load_element<U>(row + index * launch.axis_input, launch.input_is_aligned)};
  sort_key_t<U> keys[1];
  keys_of(bits, launch.kind, launch.largest, keys);
  return keys[0];
}

// Writes the element at `index` of a row as the result with this rank.
template <class U>
__device__ inline void write_result(const SortLaunch& launch, const RowOffsets& offsets, u32 rank, u32 index) {
  const U bits = load_element<U>(launch.input + offsets.input + index * launch.axis_input, launch.input_is_aligned);
  store_element<U>(launch.values + offsets.values + rank * launch.axis_values, bits, launch.values_is_aligned);
  std::byte* const to = launch.indices + offsets.indices + rank * launch.axis_indices;
  if (launch.has_wide_indices) {
    store_element<u64>(to, index, launch.indices_is_aligned);
  } else {
    store_element<u32>(to, index, launch.indices_is_aligned);
  }
}

// Sorts several parts of rows at a time, up to the number that fits into shared memory.
template <class U>
__global__ void __launch_bounds__(kTileThreads) sort_parts(const __grid_constant__ SortLaunch launch) {
  using Word = word_t<sort_key_t<U>>;
  __shared__ Word words[kTileWords<Word>];
  const u32 together = kTileWords<Word> / launch.padded;
  const u64 units = u64{launch.rows} * launch.parts;
  for (u64 first_unit = u64{blockIdx.x} * together; first_unit < units; first_unit += u64{gridDim.x} * together) {
    const u32 here = static_cast<u32>(min(u64{together}, units - first_unit));
    const u32 total = here * launch.padded;
    for (u32 i = threadIdx.x; i < total; i += blockDim.x) {
      const u64 unit = first_unit + i / launch.padded;
      const u32 first = static_cast<u32>(unit % launch.parts) * launch.part;
      const u32 length = min(launch.part, launch.count - first);
      const u32 own = i % launch.padded;
      Word word = Word::last();
      if (own < length) {
        const RowOffsets offsets = offsets_of(launch, launch.first_row + static_cast<u32>(unit / launch.parts));
        word = Word::make(load_key<U>(launch, launch.input + offsets.input, first + own), first + own);
      }
      words[i] = word;
    }
    __syncthreads();
    sort_shared(words, total, launch.padded);
    for (u32 i = threadIdx.x; i < here * launch.k; i += blockDim.x) {
      const u32 number = i / launch.k;
      const u32 rank = i % launch.k;
      const u64 unit = first_unit + number;
      const Word word = words[number * launch.padded + rank];
      if (launch.to != nullptr) {
        reinterpret_cast<Word*>(launch.to)[unit * launch.k + rank] = word;
      } else {
        write_result<U>(launch, offsets_of(launch, launch.first_row + static_cast<u32>(unit)), rank, word.index());
      }
    }
    __syncthreads();
  }
}

template <class U>
__global__ void __launch_bounds__(kTileThreads) load_words(const __grid_constant__ SortLaunch launch) {
  using Word = word_t<sort_key_t<U>>;
  const u64 total = u64{launch.rows} * launch.pitch;
  const u64 threads = u64{gridDim.x} * blockDim.x;
  for (u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x; i < total; i += threads) {
    const u32 index = static_cast<u32>(i % launch.pitch);
    Word word = Word::last();
    if (index < launch.count) {
      const RowOffsets offsets = offsets_of(launch, launch.first_row + static_cast<u32>(i / launch.pitch));
      word = Word::make(load_key<U>(launch, launch.input + offsets.input, index), index);
    }
    reinterpret_cast<Word*>(launch.to)[i] = word;
  }
}

template <class U>
__global__ void __launch_bounds__(kTileThreads) write_words(const __grid_constant__ SortLaunch launch) {
  using Word = word_t<sort_key_t<U>>;
  const u64 total = u64{launch.rows} * launch.k;
  const u64 threads = u64{gridDim.x} * blockDim.x;
  for (u64 i = u64{blockIdx.x} * blockDim.x + threadIdx.x; i < total; i += threads) {
    const u64 row = i / launch.k;
    const u32 rank = static_cast<u32>(i % launch.k);
    const Word word = reinterpret_cast<const Word*>(launch.from)[row * launch.pitch + rank];
    write_result<U>(launch, offsets_of(launch, launch.first_row + static_cast<u32>(row)), rank, word.index());
  }
}

}  // namespace anydml::cuda
