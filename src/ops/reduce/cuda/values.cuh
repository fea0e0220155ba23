// SPDX-License-Identifier: MIT
// The values that threads of a reduction keep and exchange, the locations of elements, and the destinations of results.
#pragma once

#include "backend/cuda/kernels/device.cuh"
#include "ops/reduce/cuda/launch.h"
#include "ops/reduce/scalar/totals.h"

namespace anydml::cuda {

inline constexpr u32 kAllThreads = 0xffffffff;

// An extreme and its index. The rank is the index or, if the last of equal elements wins, the index counted from the
// end. If keys are equal, the lower rank wins. kNoRank with the neutral key means no element.
inline constexpr u32 kNoRank = 0xffffffff;
template <class Key>
struct IndexedKey {
  Key key;
  u32 rank;
};

template <class A>
[[nodiscard]] __device__ inline A shuffle(A value, u32 distance) {
  if constexpr (sizeof(A) == 8) {
    return __builtin_bit_cast(
        A, static_cast<u64>(__shfl_xor_sync(kAllThreads, __builtin_bit_cast(unsigned long long, value), distance)));
  } else if constexpr (sizeof(A) == 4) {
    return __builtin_bit_cast(A, __shfl_xor_sync(kAllThreads, __builtin_bit_cast(u32, value), distance));
  } else {
    return static_cast<A>(__shfl_xor_sync(kAllThreads, static_cast<u32>(value), distance));
  }
}

// Elements are in memory, and no joined step computes or consumes them.
struct alignas(16) InMemory {};

// A launch with the joined steps before and after it, which are part of the same kernel (backend/cuda/family.h).
template <class Before, class After>
struct JoinedLaunch : ReduceLaunch {
  Before before;
  After after;
};

// The state of a reduction, which is an accumulator or a key with its index, and its sources and destinations.
template <class Fold_, bool kIsArg_, class Before = InMemory, class After = InMemory>
struct Work {
  using Fold = Fold_;
  static constexpr bool kIsComputed = !std::is_same_v<Before, InMemory>;
  static constexpr bool kIsForwarded = !std::is_same_v<After, InMemory>;
  using Launch = std::conditional_t<kIsComputed || kIsForwarded, JoinedLaunch<Before, After>, ReduceLaunch>;
  static constexpr bool kIsArg = kIsArg_;
  using T = typename Fold::Element;
  using Loaded = typename Fold::Loaded;
  using Accumulator = typename Fold::Accumulator;
  using Value = std::conditional_t<kIsArg, IndexedKey<Accumulator>, Accumulator>;
  static_assert(sizeof(Value) <= static_cast<std::size_t>(kIsArg ? 16 : 8));
  static constexpr u32 kVector = kVectorElements<T>;
  // The number of values that a thread keeps in the kernels along elements: one per lane for an ordered fold, otherwise
  // enough to keep the thread busy, in whole registers.
  static constexpr u32 kLanes = Fold::kOrdered || kVector < 4 ? kVector : 4;
  using Lane = std::conditional_t<(sizeof(Accumulator) >= 4), Accumulator,
                                  std::conditional_t<std::is_signed_v<Accumulator>, i32, u32>>;
  static constexpr bool kOrdered = Fold::kOrdered;
  static constexpr bool kHalfSums = std::is_same_v<T, f16> && std::is_same_v<Value, f64>;

  // The element at an address, or a vector of them. If elements are computed, addresses count from 0.
  [[nodiscard]] __device__ static bits_t<T> element(const Launch& launch, const std::byte* at) {
    if constexpr (kIsComputed) {
      return launch.before(static_cast<u32>(reinterpret_cast<u64>(at) / sizeof(T)));
    } else {
      return load_element<T>(at, launch.input_is_aligned);
    }
  }
  __device__ static void vector(const Launch& launch, const std::byte* at, u32 (&words)[4]) {
    if constexpr (kIsComputed) {
      launch.before.vector(static_cast<u32>(reinterpret_cast<u64>(at) / sizeof(T)), words);
    } else {
      load_access<kVectorBytes, true>(at, words);
    }
  }

  [[nodiscard]] __device__ static Loaded loaded(bits_t<T> bits) {
    if constexpr (Fold::kWidens) {
      return widen(from_bits<f16>(bits));
    } else {
      return __builtin_bit_cast(Loaded, bits);
    }
  }
  [[nodiscard]] __device__ static Accumulator lift(bits_t<T> bits) { return Fold::lift(loaded(bits)); }

  [[nodiscard]] __device__ static Value neutral() {
    if constexpr (kIsArg) {
      return {Fold::kNeutral, kNoRank};
    } else {
      return Fold::kNeutral;
    }
  }
  // Combining is commutative, and combining with a neutral value changes nothing.
  [[nodiscard]] __device__ static Value combine(const Value& a, const Value& b) {
    if constexpr (kIsArg) {
      return is_beyond(b.key, a.key) || (a.key == b.key && b.rank < a.rank) ? b : a;
    } else {
      return Fold::combine(a, b);
    }
  }
  [[nodiscard]] __device__ static bool is_beyond(Accumulator key, Accumulator other) {
    return Fold::kNeutral == Fold::kMin ? other < key : key < other;
  }
  // Callers visit elements in ascending order of rank, so only a better key replaces the current one.
  __device__ static void take(IndexedKey<Accumulator>& found, Accumulator key, u32 rank) {
    const bool beyond = is_beyond(key, found.key);
    found.key = beyond ? key : found.key;
    found.rank = beyond ? rank : found.rank;
  }
  [[nodiscard]] __device__ static Value from_other(const Value& value, u32 distance) {
    if constexpr (kIsArg) {
      return {shuffle(value.key, distance), shuffle(value.rank, distance)};
    } else {
      return shuffle(value, distance);
    }
  }
};

[[nodiscard]] __device__ inline std::int64_t input_offset(const ReduceLaunch& launch, u32 output) {
  return loop_offset(output, launch.kept_rank, launch.kept_sizes, launch.kept_input);
}
[[nodiscard]] __device__ inline std::int64_t element_offset(const ReduceLaunch& launch, u32 element) {
  return loop_offset(element, launch.reduced_rank, launch.reduced_sizes, launch.reduced_input);
}

// The elements [first, first + count) of an output's reduction.
struct Elements {
  u32 output;
  u32 block;
  u32 first;
  u32 count;
};
[[nodiscard]] __device__ inline Elements elements_of(const ReduceLaunch& launch, u32 output, u32 block, bool exist) {
  const u32 first = block * static_cast<u32>(kReduceBlock);
  const u32 rest = launch.count - first;
  return {output, block, first, !exist ? 0 : rest < kReduceBlock ? rest : static_cast<u32>(kReduceBlock)};
}

// The i-th element of a block in visiting order. If the last of equal elements wins, blocks are visited backward, so
// that the rank of this element is i plus the rank of the element visited first.
[[nodiscard]] __device__ inline u32 element_at(const ReduceLaunch& launch, const Elements& elements, u32 i) {
  return elements.first + (launch.takes_last ? elements.count - 1 - i : i);
}
[[nodiscard]] __device__ inline u32 rank_of(const ReduceLaunch& launch, u32 element) {
  return launch.takes_last ? launch.count - 1 - element : element;
}
[[nodiscard]] __device__ inline u32 first_rank(const ReduceLaunch& launch, const Elements& elements) {
  return rank_of(launch, element_at(launch, elements, 0));
}

// Bits: an unsigned type with the size of an output element.
template <class W, class Bits>
__device__ inline void store_bits(const typename W::Launch& launch, u32 output, Bits bits) {
  if constexpr (W::kIsForwarded) {
    launch.after(output, bits);
  } else {
    std::byte* const to = launch.output + loop_offset(output, launch.kept_rank, launch.kept_sizes, launch.kept_output);
    store_element<Bits>(to, bits, launch.output_is_aligned);
  }
}

template <class W>
__device__ inline void store_result(const typename W::Launch& launch, u32 output, const typename W::Value& value) {
  if constexpr (W::kIsArg) {
    const u32 index = launch.takes_last ? launch.count - 1 - value.rank : value.rank;
    if (launch.index_bytes == sizeof(u64)) {
      store_bits<W>(launch, output, u64{index});
    } else {
      store_bits<W>(launch, output, index);
    }
  } else {
    using T = typename W::T;
    const T element = element_of_total<typename W::Fold>(launch.function, launch.count, value);
    store_bits<W>(launch, output, __builtin_bit_cast(bits_t<T>, element));
  }
}

// Stores the result of a block as a partial result for the next step, or as the output's element.
template <class W>
__device__ inline void put(const typename W::Launch& launch, u32 output, u32 block, const typename W::Value& value) {
  if (launch.to_partials) {
    reinterpret_cast<typename W::Value*>(launch.output)[u64{output} * launch.blocks.divisor + block] = value;
  } else {
    store_result<W>(launch, output, value);
  }
}

}  // namespace anydml::cuda
