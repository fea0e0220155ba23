// SPDX-License-Identifier: MIT
// The building blocks of source that is generated at run time (fused_source.cpp): definitions are called with the bits
// of their values, and each definition interprets them according to its own types.
#pragma once

#include "ops/elementwise/cuda/entry_device.cuh"
#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/variant_lists.h"

namespace anydml::cuda {

template <class Scalar, class Call = decltype(&Scalar::operator())>
struct ByBits;
template <class Scalar, class Result, class... Inputs>
struct ByBits<Scalar, Result (Scalar::*)(Inputs...) const> {
  [[nodiscard]] static __device__ bits_t<Result> call(const Scalar& scalar, bits_t<Inputs>... inputs) {
    return __builtin_bit_cast(bits_t<Result>, scalar(__builtin_bit_cast(Inputs, inputs)...));
  }
};

// words: the definition's attributes, if it has any.
template <class Scalar, class... Inputs>
[[nodiscard]] __device__ auto call_by_bits(const u64* words, Inputs... inputs) {
  using Kernel = KernelScalar<Scalar>;
  if constexpr (std::is_constructible_v<Kernel, const Attributes&>) {
    return ByBits<Kernel>::call(*reinterpret_cast<const Kernel*>(words), inputs...);
  } else {
    return ByBits<Kernel>::call(Kernel{}, inputs...);
  }
}

// Loads contiguous elements, or repeats the single element of a broadcast operand.
template <class T, int kElements, int kOperands>
__device__ inline void load_elements(const Launch<kOperands>& launch, int operand,
                                     const std::int64_t (&offsets)[kOperands], u32 (&words)[4]) {
  const std::byte* const from = launch.addresses[operand] + offsets[operand];
  if ((launch.stays >> operand & 1) != 0) {
    u32 filled[2];
    fill_words<T>(load_element<T>(from, true), filled);
    words[0] = words[2] = filled[0];
    words[1] = words[3] = filled[1];
  } else {
    load_access<kElements * sizeof(T), true>(from, words);
  }
}

// Runs a program that write_each has turned into a class, one element per thread.
template <class Program>
__global__ void __launch_bounds__(kRowThreads) each_element(const __grid_constant__ Program program) {
  const u32 index = blockIdx.x * kRowThreads + threadIdx.x;
  if (index < program.launch.count) {
    program(index);
  }
}

}  // namespace anydml::cuda
