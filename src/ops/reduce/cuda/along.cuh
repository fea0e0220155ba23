// SPDX-License-Identifier: MIT
// Reduces along the elements of an output. A team of threads, which is part of a warp, processes one block of elements.
#pragma once

#include "ops/reduce/cuda/values.cuh"

namespace anydml::cuda {

// The parameters are values, because selecting between references to array elements would select between addresses and
// keep the array out of registers.
template <class A>
[[nodiscard]] __device__ inline A choose(bool condition, A a, A b) {
  return condition ? a : b;
}

// Combines all values of a team's threads into its first thread, for folds whose order does not affect the result.
template <class W>
[[nodiscard]] __device__ inline typename W::Value fold_team(typename W::Value value, u32 team) {
#pragma unroll 1
  for (u32 distance = team / 2; distance > 0; distance /= 2) {
    value = W::combine(value, W::from_other(value, distance));
  }
  return value;
}

template <class W, u32 kValues>
__device__ inline void fold_halves(typename W::Value (&values)[kValues]) {
#pragma unroll
  for (u32 half = kValues / 2; half > 0; half /= 2) {
#pragma unroll
    for (u32 i = 0; i < half; ++i) {
      values[i] = W::combine(values[i], values[i + half]);
    }
  }
}

// Folds the lanes by repeated halving; thread t has kValues lanes, starting at t * kValues. The result is also correct
// if all lanes are rotated by the same number, because corresponding lanes of the two halves stay half the lanes apart.
template <class W, u32 kValues>
[[nodiscard]] __device__ inline typename W::Value fold_lanes(typename W::Value (&lanes)[kValues], u32 team) {
  if (team < kValues) {
#pragma unroll 1
    for (u32 distance = team / 2; distance > 0; distance /= 2) {
#pragma unroll
      for (u32 i = 0; i < kValues; ++i) {
        lanes[i] = W::combine(lanes[i], W::from_other(lanes[i], distance));
      }
    }
    fold_halves<W>(lanes);
    return lanes[0];
  }
  // Two threads split the work of folding their lanes: each thread folds one half of the lanes. This continues until
  // each thread has one lane.
  u32 distance = team / 2;
#pragma unroll
  for (u32 half = kValues / 2; half > 0; half /= 2) {
    const bool is_upper = (threadIdx.x & distance) != 0;
#pragma unroll
    for (u32 i = 0; i < half; ++i) {
      const typename W::Value low = lanes[i];
      const typename W::Value high = lanes[i + half];
      const typename W::Value given = choose(is_upper, low, high);
      lanes[i] = W::combine(choose(is_upper, high, low), W::from_other(given, distance));
    }
    distance /= 2;
  }
  typename W::Value value = lanes[0];
#pragma unroll 1
  for (; distance > 0; distance /= 2) {
    value = W::combine(value, W::from_other(value, distance));
  }
  // The remaining halvings combine lanes that originally belonged to the same thread.
  distance = team / 2;
#pragma unroll
  for (u32 half = kValues / 2; half > 0; half /= 2) {
    value = W::combine(value, W::from_other(value, distance));
    distance /= 2;
  }
  return value;
}

struct TeamPosition {
  u32 thread;  // index within the team
  Elements elements;
};
[[nodiscard]] __device__ inline TeamPosition position_in_team(const ReduceLaunch& launch) {
  const u64 unit = (u64{blockIdx.x} * kReduceThreads + threadIdx.x) >> launch.team_shift;
  const bool exists = unit < launch.units;  // otherwise the thread only takes part in its warp's shuffles
  const Quotient parts = divide(exists ? static_cast<u32>(unit) : 0, launch.blocks);
  return {threadIdx.x & (launch.team - 1), elements_of(launch, parts.quotient, parts.remainder, exists)};
}

// A block of elements as vectors. In memory the elements may begin in the middle of the first vector.
template <class W>
struct Vectors {
  static constexpr u32 kVector = W::kVector;

  __device__ Vectors(const typename W::Launch& launch_, const Elements& elements)
      : launch(launch_), first(elements.first), count(elements.count) {
    from = launch.input + input_offset(launch, elements.output);
    if (launch.is_plain) {
      from += u64{first} * sizeof(typename W::T);
      skipped = static_cast<u32>(reinterpret_cast<u64>(from) / sizeof(typename W::T)) % kVector;
      from -= skipped * sizeof(typename W::T);
    }
    all = count == 0 ? 0 : (count + skipped + kVector - 1) / kVector;
    first_whole = skipped != 0 ? 1 : 0;
    end_of_whole = count == 0 ? 0 : (count + skipped) / kVector;
  }

  [[nodiscard]] __device__ const std::byte* address(u32 vector) const {
    return launch.is_plain ? from + u64{vector} * kVectorBytes
                           : from + element_offset(launch, first + vector * kVector);
  }
  __device__ void load(u32 vector, u32 (&words)[4]) const { W::vector(launch, address(vector), words); }
  // Whether element i of a vector belongs to the block, which is always true for a whole vector.
  [[nodiscard]] __device__ bool has(u32 vector, u32 i) const { return vector * kVector + i - skipped < count; }
  // Loads a partial vector. Memory next to the elements is read if it belongs to the tensor.
  __device__ __forceinline__ void load_part(u32 vector, u32 (&words)[4]) const {
    const std::byte* const at = address(vector);
    if (at >= launch.lowest && at + kVectorBytes <= launch.end) {
      load_access<16, false>(at, words);
      return;
    }
    words[0] = words[1] = words[2] = words[3] = 0;
#pragma unroll
    for (u32 i = 0; i < kVector; ++i) {
      if (has(vector, i)) {
        insert<typename W::T>(words, static_cast<int>(i),
                              load_element<typename W::T>(at + i * sizeof(typename W::T), true));
      }
    }
  }

  const typename W::Launch& launch;
  const std::byte* from;
  u32 first;
  u32 count;
  u32 skipped = 0;
  u32 all;
  u32 first_whole;
  u32 end_of_whole;
};

// The code that computes elements is instantiated separately for each vector.
template <class W>
inline constexpr u32 kVectorsInFlight = W::kIsComputed    ? 2
                                        : W::kVector >= 8 ? 4
                                                          : 8;

template <class W, bool kWhole>
__device__ inline void add_vector(const Vectors<W>& vectors, u32 vector, const u32 (&words)[4],
                                  typename W::Lane (&lanes)[W::kLanes]) {
#pragma unroll
  for (u32 i = 0; i < W::kVector; ++i) {
    const auto lifted = W::lift(extract<typename W::T>(words, static_cast<int>(i)));
    const typename W::Lane before = lanes[i % W::kLanes];
    const typename W::Lane after = W::Fold::combine(static_cast<typename W::Accumulator>(before), lifted);
    lanes[i % W::kLanes] = choose(kWhole || vectors.has(vector, i), after, before);
  }
}

template <class W>
__device__ inline void add_vectors(const Vectors<W>& vectors, u32 vector, u32 team,
                                   typename W::Lane (&lanes)[W::kLanes]) {
  constexpr u32 kSome = kVectorsInFlight<W>;
  const auto add_part = [&] {
    if constexpr (!W::kIsComputed) {  // computed vectors are always whole
      u32 words[4];
      vectors.load_part(vector, words);
      add_vector<W, false>(vectors, vector, words, lanes);
    }
  };
  if (vector < vectors.first_whole && vector < vectors.all) {
    add_part();
    vector += team;
  }
#pragma unroll 1
  for (; vector + (kSome - 1) * team < vectors.end_of_whole; vector += kSome * team) {
    u32 words[kSome][4];
#pragma unroll
    for (u32 i = 0; i < kSome; ++i) {
      vectors.load(vector + i * team, words[i]);
    }
#pragma unroll
    for (u32 i = 0; i < kSome; ++i) {
      add_vector<W, true>(vectors, vector + i * team, words[i], lanes);
    }
  }
#pragma unroll 1
  for (; vector < vectors.end_of_whole; vector += team) {
    u32 words[4];
    vectors.load(vector, words);
    add_vector<W, true>(vectors, vector, words, lanes);
  }
  if (vector < vectors.all) {
    add_part();
  }
}

// In this function each thread has several vectors of lanes, so that the first halvings combine lanes of the same
// thread. This uses fewer threads and fewer shuffles, and is faster if there are many outputs.
template <class W>
__device__ inline void add_wide(const Vectors<W>& vectors, u32 vector, u32 team,
                                typename W::Accumulator (&lanes)[kLaneVectors][W::kVector]) {
#pragma unroll 1
  for (; vector < vectors.all; vector += kLaneVectors * team) {
    u32 words[kLaneVectors][4];
    if (vector >= vectors.first_whole && vector + (kLaneVectors - 1) * team < vectors.end_of_whole) {
#pragma unroll
      for (u32 i = 0; i < kLaneVectors; ++i) {
        vectors.load(vector + i * team, words[i]);
      }
#pragma unroll
      for (u32 i = 0; i < kLaneVectors; ++i) {
        add_vector<W, true>(vectors, vector + i * team, words[i], lanes[i]);
      }
    } else {
#pragma unroll
      for (u32 i = 0; i < kLaneVectors; ++i) {
        if (vector + i * team < vectors.all) {
          vectors.load_part(vector + i * team, words[i]);
        }
      }
#pragma unroll
      for (u32 i = 0; i < kLaneVectors; ++i) {
        if (vector + i * team < vectors.all) {
          add_vector<W, false>(vectors, vector + i * team, words[i], lanes[i]);
        }
      }
    }
  }
}

// The extreme of a vector. Elements outside the block are ignored.
template <class W>
[[nodiscard]] __device__ inline typename W::Accumulator extreme_of(const Vectors<W>& vectors, u32 vector,
                                                                   const u32 (&words)[4]) {
  const bool whole = vector >= vectors.first_whole && vector < vectors.end_of_whole;
  auto key = W::Fold::kNeutral;
#pragma unroll
  for (u32 i = 0; i < W::kVector; ++i) {
    const auto lifted = W::lift(extract<typename W::T>(words, static_cast<int>(i)));
    key = W::Fold::combine(key, whole || vectors.has(vector, i) ? lifted : W::Fold::kNeutral);
  }
  return key;
}

// A thread first finds the best vector, and then searches inside it. If the last of equal elements wins, vectors and
// elements are visited backward.
template <class W>
[[nodiscard]] __device__ inline typename W::Value search_vectors(const Vectors<W>& vectors, u32 thread, u32 team) {
  using T = typename W::T;
  const ReduceLaunch& launch = vectors.launch;
  if (thread >= vectors.all) {
    return W::neutral();
  }
  const auto vector_at = [&](u32 i) { return launch.takes_last ? vectors.all - 1 - i : i; };
  const auto load = [&](u32 vector, u32(&words)[4]) {
    if (vector >= vectors.first_whole && vector < vectors.end_of_whole) {
      vectors.load(vector, words);
    } else {
      vectors.load_part(vector, words);
    }
  };
  auto key = W::Fold::kNeutral;
  u32 best = thread;
  const auto look = [&](u32 i, const u32(&words)[4]) {
    const auto found = extreme_of<W>(vectors, vector_at(i), words);
    if (W::is_beyond(found, key)) {
      key = found;
      best = i;
    }
  };
  constexpr u32 kSome = 4;
  u32 i = thread;
#pragma unroll 1
  for (; i + (kSome - 1) * team < vectors.all; i += kSome * team) {
    u32 words[kSome][4];
#pragma unroll
    for (u32 k = 0; k < kSome; ++k) {
      load(vector_at(i + k * team), words[k]);
    }
#pragma unroll
    for (u32 k = 0; k < kSome; ++k) {
      look(i + k * team, words[k]);
    }
  }
  u32 words[4];
#pragma unroll 1
  for (; i < vectors.all; i += team) {
    load(vector_at(i), words);
    look(i, words);
  }
  const u32 vector = vector_at(best);
  load(vector, words);
  u32 rank = kNoRank;
#pragma unroll
  for (u32 k = 0; k < W::kVector; ++k) {
    const u32 position = rank_of(launch, vectors.first + vector * W::kVector + k - vectors.skipped);
    if (vectors.has(vector, k) && W::lift(extract<T>(words, static_cast<int>(k))) == key && position < rank) {
      rank = position;
    }
  }
  return {key, rank};
}

template <class W>
__global__ void __launch_bounds__(kReduceThreads) along_vectors(const __grid_constant__ typename W::Launch launch) {
  const auto [thread, elements] = position_in_team(launch);
  const Vectors<W> vectors(launch, elements);
  typename W::Value value;
  if constexpr (W::kIsArg) {
    value = fold_team<W>(search_vectors<W>(vectors, thread, launch.team), launch.team);
  } else {
    typename W::Lane lanes[W::kLanes];
#pragma unroll
    for (u32 i = 0; i < W::kLanes; ++i) {
      lanes[i] = W::Fold::kNeutral;
    }
    add_vectors<W>(vectors, thread, launch.team, lanes);
    if constexpr (W::kOrdered) {
      value = fold_lanes<W>(lanes, launch.team);
    } else {
      value = static_cast<typename W::Accumulator>(lanes[0]);
#pragma unroll
      for (u32 i = 1; i < W::kLanes; ++i) {
        value = W::combine(value, static_cast<typename W::Accumulator>(lanes[i]));
      }
      value = fold_team<W>(value, launch.team);
    }
  }
  if (thread == 0 && elements.count != 0) {
    put<W>(launch, elements.output, elements.block, value);
  }
}

template <class W>
__global__ void __launch_bounds__(kReduceThreads) along_wide(const __grid_constant__ typename W::Launch launch) {
  const auto [thread, elements] = position_in_team(launch);
  const Vectors<W> vectors(launch, elements);
  typename W::Accumulator lanes[kLaneVectors][W::kVector];
#pragma unroll
  for (u32 i = 0; i < kLaneVectors; ++i) {
#pragma unroll
    for (u32 k = 0; k < W::kVector; ++k) {
      lanes[i][k] = W::Fold::kNeutral;
    }
  }
  add_wide<W>(vectors, thread, launch.team, lanes);
#pragma unroll
  for (u32 half = kLaneVectors / 2; half > 0; half /= 2) {
#pragma unroll
    for (u32 i = 0; i < half; ++i) {
#pragma unroll
      for (u32 k = 0; k < W::kVector; ++k) {
        lanes[i][k] = W::combine(lanes[i][k], lanes[i + half][k]);
      }
    }
  }
  const auto value = fold_lanes<W>(lanes[0], launch.team);
  if (thread == 0 && elements.count != 0) {
    put<W>(launch, elements.output, elements.block, value);
  }
}

// Supports elements with any layout. Thread t has the lanes t and t + 32.
template <class W>
__global__ void __launch_bounds__(kReduceThreads) along_elements(const __grid_constant__ typename W::Launch launch) {
  using T = typename W::T;
  constexpr u32 kSome = W::kIsComputed ? 4 : 8;  // even, because a thread has two lanes
  const auto [thread, elements] = position_in_team(launch);
  const std::byte* const from = launch.input + input_offset(launch, elements.output);
  const u32 team = launch.team;
  typename W::Value values[2] = {W::neutral(), W::neutral()};
  const u32 rank = W::kIsArg ? first_rank(launch, elements) : 0;
  if constexpr (W::kIsArg) {
    if (thread < elements.count) {
      values[0].rank = rank + thread;
    }
  }
  const auto load = [&](u32 i) {
    const u32 element = W::kIsArg ? element_at(launch, elements, i) : elements.first + i;
    return W::element(launch, from + element_offset(launch, element));
  };
  const auto add = [&](u32 i, u32 which, bits_t<T> bits) {
    if constexpr (W::kIsArg) {
      W::take(values[0], W::lift(bits), rank + i);
    } else {
      const auto lifted = W::lift(bits);
      values[0] = choose(which == 0, W::combine(values[0], lifted), values[0]);
      values[1] = choose(which == 0, values[1], W::combine(values[1], lifted));
    }
  };
  u32 i = thread;
#pragma unroll 1
  for (; i + (kSome - 1) * team < elements.count; i += kSome * team) {
    bits_t<T> bits[kSome];
#pragma unroll
    for (u32 k = 0; k < kSome; ++k) {
      bits[k] = load(i + k * team);
    }
#pragma unroll
    for (u32 k = 0; k < kSome; ++k) {
      add(i + k * team, k % 2, bits[k]);
    }
  }
#pragma unroll 1
  for (u32 k = 0; i < elements.count; i += team, ++k) {
    add(i, k % 2, load(i));
  }
  const auto value = fold_team<W>(W::combine(values[0], values[1]), team);
  if (thread == 0 && elements.count != 0) {
    put<W>(launch, elements.output, elements.block, value);
  }
}

}  // namespace anydml::cuda
