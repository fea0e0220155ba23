// SPDX-License-Identifier: MIT
// What kernels are built from: what a launch hands them, indices, and elements in 32-bit words.
#pragma once

#include "backend/cuda/kernels/kernels.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"

namespace anydml::cuda {

inline constexpr std::uint32_t kVectorBytes = 16;
template <class T>
inline constexpr std::uint32_t kVectorElements = kVectorBytes / sizeof(T);

// A step as a kernel sees it: a kernel's parameter.
struct Launch {
  std::byte* addresses[kMaxOperands];  // of the first element visited
  std::uint32_t operands;
  std::uint32_t count;
  std::uint32_t rank;
  std::uint32_t vectors;
  std::uint8_t inner_broadcast;
  std::uint8_t crossed;
  bool aligned;  // every element lies at a multiple of its size
  FastDivisor vectors_of_row;
  FastDivisor tiles[2];
  FastDivisor sizes[kMaxRank];
  std::int64_t strides[kMaxRank][kMaxOperands];
};

struct Program {
  std::uint32_t instruction_count;
  Instruction instructions[kMaxInstructions];
};

// 1 + multiplier / 2^32 is 2^shift / divisor, rounded up, which is right for every 32-bit index.
[[nodiscard]] constexpr FastDivisor make_divisor(std::uint32_t divisor) {
  std::uint32_t shift = 0;
  while ((std::uint64_t{1} << shift) < divisor) {
    ++shift;
  }
  const std::uint64_t rest = (std::uint64_t{1} << shift) - divisor;
  return {divisor, static_cast<std::uint32_t>((rest << 32) / divisor + 1), shift};
}

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

// Adds to the offsets where an index over the loops [0, loops) leads.
template <int kOperands>
__device__ inline void add_offsets(const Launch& launch, std::uint32_t loops, std::uint32_t index,
                                   std::int64_t (&offsets)[kOperands]) {
#pragma unroll 1
  for (std::uint32_t loop = loops; loop-- > 0;) {
    std::uint32_t at = index;
    if (loop != 0) {
      const Quotient parts = divide(index, launch.sizes[loop]);
      at = parts.remainder;
      index = parts.quotient;
    }
#pragma unroll
    for (int operand = 0; operand < kOperands; ++operand) {
      offsets[operand] += static_cast<std::int64_t>(at) * launch.strides[loop][operand];
    }
  }
}

template <std::size_t kBytes>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = u8;
};
template <>
struct UnsignedOfSize<2> {
  using type = u16;
};
template <>
struct UnsignedOfSize<4> {
  using type = u32;
};
template <>
struct UnsignedOfSize<8> {
  using type = u64;
};
template <class T>
using bits_t = typename UnsignedOfSize<sizeof(T)>::type;

// One element as its bits, wherever it lies. Never through the read-only cache: a task may read what another wrote.
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

// Element `index` of words, as its bits; with a constant index nothing but registers.
template <class T, int kWords>
[[nodiscard]] __device__ inline bits_t<T> extract(const u32 (&words)[kWords], int index) {
  if constexpr (sizeof(T) == 8) {
    return u64{words[2 * index]} | u64{words[2 * index + 1]} << 32;
  } else {
    constexpr int kPerWord = 4 / sizeof(T);
    return static_cast<bits_t<T>>(words[index / kPerWord] >> (index % kPerWord * 8 * sizeof(T)));
  }
}

// Into words that are 0 there.
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

// A word, or two, full of one element.
template <class T>
__device__ inline void fill_words(bits_t<T> bits, u32 (&words)[2]) {
  if constexpr (sizeof(T) == 8) {
    words[0] = static_cast<u32>(bits);
    words[1] = static_cast<u32>(bits >> 32);
  } else {
    words[0] = words[1] = sizeof(T) == 1 ? bits * 0x01010101u : sizeof(T) == 2 ? bits * 0x00010001u : bits;
  }
}

// The first elements of a vector, one by one; the rest of the words is 0. Memory that lies beyond is not touched.
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
