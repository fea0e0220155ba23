// SPDX-License-Identifier: MIT
// Building blocks for the kernels of every family: indices, loads and stores, and elements in 32-bit words.
#pragma once

#include "backend/cuda/fast_divisor.h"
#include "backend/cuda/kernels/bits.h"
#include "base/element.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kVectorBytes = 16;
template <class T>
inline constexpr std::uint32_t kVectorElements = kVectorBytes / sizeof(T);

#if defined(__CUDACC__)

struct Quotient {
  std::uint32_t quotient;
  std::uint32_t remainder;
};

[[nodiscard]] __device__ inline Quotient divide(std::uint32_t index, const FastDivisor& by) {
  const std::uint64_t sum = std::uint64_t{__umulhi(index, by.multiplier)} + index;
  const auto quotient = static_cast<std::uint32_t>(sum >> by.shift);
  return {quotient, index - quotient * by.divisor};
}

// The offset of a position in a nest of loops, with the last loop fastest. The size of the first loop is not needed.
[[nodiscard]] __device__ inline std::int64_t loop_offset(std::uint32_t index, std::uint32_t rank,
                                                         const FastDivisor* sizes, const std::int64_t* strides) {
  std::int64_t offset = 0;
#pragma unroll 1
  for (std::uint32_t loop = rank; loop-- > 1;) {
    const Quotient parts = divide(index, sizes[loop]);
    offset += static_cast<std::int64_t>(parts.remainder) * strides[loop];
    index = parts.quotient;
  }
  return offset + static_cast<std::int64_t>(index) * strides[0];
}

// Loads one element as bits, at any alignment. Does not use the read-only cache, because a task may read the output of
// another task.
template <class T>
[[nodiscard]] __device__ inline bits_t<T> load_element(const std::byte* from, bool aligned) {
  if (aligned || sizeof(T) == 1) {
    return *reinterpret_cast<const bits_t<T>*>(from);
  }
  bits_t<T> bits = 0;
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits = static_cast<bits_t<T>>(bits | static_cast<bits_t<T>>(static_cast<bits_t<T>>(from[i]) << (8 * i)));
  }
  return bits;
}

template <class T>
__device__ inline void store_element(std::byte* to, bits_t<T> bits, bool aligned) {
  if (aligned || sizeof(T) == 1) {
    *reinterpret_cast<bits_t<T>*>(to) = bits;
    return;
  }
#pragma unroll
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    to[i] = static_cast<std::byte>(bits >> (8 * i));
  }
}

// Loads kBytes from an address that is a multiple of kBytes into the first words. kStreaming: the data is not used
// again.
template <int kBytes, bool kStreaming>
__device__ inline void load_access(const std::byte* from, u32 (&words)[4]) {
  const auto load = [from]<class Vector>(Vector) {
    const auto* vector = reinterpret_cast<const Vector*>(from);
    return kStreaming ? __ldcs(vector) : *vector;
  };
  if constexpr (kBytes == 16) {
    const uint4 loaded = load(uint4{});
    words[0] = loaded.x;
    words[1] = loaded.y;
    words[2] = loaded.z;
    words[3] = loaded.w;
  } else if constexpr (kBytes == 8) {
    const uint2 loaded = load(uint2{});
    words[0] = loaded.x;
    words[1] = loaded.y;
  } else if constexpr (kBytes == 4) {
    words[0] = load(unsigned{});
  } else {
    words[0] = load(typename UnsignedOfSize<kBytes>::type{});
  }
}

template <int kBytes, bool kStreaming>
__device__ inline void store_access(std::byte* to, const u32 (&words)[4]) {
  const auto store = [to]<class Vector>(Vector value) {
    auto* vector = reinterpret_cast<Vector*>(to);
    if constexpr (kStreaming) {
      __stcs(vector, value);
    } else {
      *vector = value;
    }
  };
  if constexpr (kBytes == 16) {
    store(uint4{words[0], words[1], words[2], words[3]});
  } else if constexpr (kBytes == 8) {
    store(uint2{words[0], words[1]});
  } else if constexpr (kBytes == 4) {
    store(unsigned{words[0]});
  } else {
    store(static_cast<typename UnsignedOfSize<kBytes>::type>(words[0]));
  }
}

// Element `index` of the words, as bits. With a constant index, it uses only registers.
template <class T, int kWords>
[[nodiscard]] __device__ inline bits_t<T> extract(const u32 (&words)[kWords], int index) {
  if constexpr (sizeof(T) == 8) {
    return u64{words[2 * index]} | u64{words[2 * index + 1]} << 32;
  } else {
    constexpr int kPerWord = 4 / sizeof(T);
    return static_cast<bits_t<T>>(words[index / kPerWord] >> (index % kPerWord * 8 * sizeof(T)));
  }
}

// Stores the bits as element `index` of the words, which must be 0 at that position.
template <class T, int kWords>
__device__ inline void insert(u32 (&words)[kWords], int index, bits_t<T> bits) {
  if constexpr (sizeof(T) == 8) {
    words[2 * index] = static_cast<u32>(bits);
    words[2 * index + 1] = static_cast<u32>(bits >> 32);
  } else {
    constexpr int kPerWord = 4 / sizeof(T);
    words[index / kPerWord] |= static_cast<u32>(bits) << (index % kPerWord * 8 * sizeof(T));
  }
}

// Fills one word, or two words, with copies of one element.
template <class T>
__device__ inline void fill_words(bits_t<T> bits, u32 (&words)[2]) {
  if constexpr (sizeof(T) == 8) {
    words[0] = static_cast<u32>(bits);
    words[1] = static_cast<u32>(bits >> 32);
  } else {
    words[0] = words[1] = sizeof(T) == 1 ? bits * 0x01010101u : sizeof(T) == 2 ? bits * 0x00010001u : bits;
  }
}

// Loads the first elements of a vector one by one. The remaining words are 0, and memory beyond the elements is not
// accessed.
template <class T>
__device__ inline void load_some(const std::byte* from, u32 elements, u32* words) {
  for (u32 i = 0; i < kVectorBytes / 4; ++i) {
    words[i] = 0;
  }
#pragma unroll 1
  for (u32 i = 0; i < elements; ++i) {
    const bits_t<T> bits = load_element<T>(from + i * sizeof(T), true);
    if constexpr (sizeof(T) == 8) {
      words[2 * i] = static_cast<u32>(bits);
      words[2 * i + 1] = static_cast<u32>(bits >> 32);
    } else {
      words[i * sizeof(T) / 4] |= static_cast<u32>(bits) << (i * sizeof(T) % 4 * 8);
    }
  }
}

template <class T>
__device__ inline void store_some(std::byte* to, u32 elements, const u32* words) {
#pragma unroll 1
  for (u32 i = 0; i < elements; ++i) {
    if constexpr (sizeof(T) == 8) {
      store_element<T>(to + i * sizeof(T), u64{words[2 * i]} | u64{words[2 * i + 1]} << 32, true);
    } else {
      store_element<T>(to + i * sizeof(T), static_cast<bits_t<T>>(words[i * sizeof(T) / 4] >> (i * sizeof(T) % 4 * 8)),
                       true);
    }
  }
}

#endif

}  // namespace anydml::cuda
