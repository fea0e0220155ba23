// SPDX-License-Identifier: MIT
// The kernels that a prepared step can use: each variant of each entry has a set with one kernel per shape.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/family.h"
#include "backend/cuda/fast_divisor.h"
#include "ops/elementwise/entries.h"

namespace anydml::cuda {

// A definition with its attributes, as passed to kernels: the bytes of an object of the definition's class.
inline constexpr std::size_t kScalarBytes = 128;
struct ScalarBytes {
  alignas(16) std::byte bytes[kScalarBytes];
};

// The layout of the elements and the loops over them. Operands: the inputs of the kernel in order, then its output.
struct Geometry {
  std::uint32_t operands;
  std::uint32_t rank;
  std::uint32_t count;
  FastDivisor sizes[kMaxRank];  // outermost first
  std::int64_t strides[kMaxRank][kMaxOperands];
  std::uint32_t stays;  // bit i: operand i does not move along the innermost loop
  // For vectors: the number of vectors in all rows and in one row; a partial vector at the end of a row counts as one.
  std::uint32_t vectors;
  FastDivisor vectors_of_row;
  // For tiles: the operands that are contiguous along the second innermost loop, and the number of tiles along the
  // innermost loop, along the second innermost loop, and in total.
  std::uint32_t crossed;
  FastDivisor tiles[2];
  std::uint32_t tile_count;
};

// The parameters of a kernel launch.
struct KernelLaunch {
  const Geometry& geometry;
  const ScalarBytes& scalar;
  const GpuProperties& gpu;
  std::byte* addresses[kMaxOperands];  // address of the first element visited
  bool aligned;                        // every element's address is a multiple of its size
};
using LaunchKernel = cudaError_t (*)(const KernelLaunch& launch, cudaStream_t stream) noexcept;

enum class KernelShape : std::uint8_t { vector, transposed, strided, interpreted };

// The kernels of one variant. Missing shapes are null.
struct KernelSet {
  LaunchKernel strided;  // any layout at any address
  // Rows that are contiguous or have a single element. Processes vector_elements at a time; each operand is read or
  // written in one naturally aligned access.
  LaunchKernel vector;
  // Tiles through shared memory: an input is contiguous along the second innermost loop.
  LaunchKernel transposed;
  std::uint8_t inputs;
  std::uint8_t max_staying;      // inputs that may be broadcast along a row of vectors
  std::uint8_t vector_elements;  // per vector
  std::uint8_t tile_elements;    // along one side of a tile
  std::uint8_t output_type;      // DataType; a different type of the same width if the entry only moves bits
  std::uint8_t element_sizes[kMaxInputs + 1];
  // Constructs the scalar from the attributes of the entry and of the ScaleBias before it, if present.
  void (*make_scalar)(const Attributes& scale_bias, const Attributes& attributes, ScalarBytes& scalar);
};

// Null if the entry has no such variant.
[[nodiscard]] const KernelSet* find_kernels(EntryId entry, std::uint32_t variant) noexcept;
// A ScaleBias of the first input, followed by the entry. Null if the entry has no such kernels, or none for these
// types.
[[nodiscard]] const KernelSet* find_scaled_kernels(EntryId entry, std::uint32_t variant) noexcept;

// Small tasks, whose codes are EntryIds.
[[nodiscard]] bool takes_small_tasks(EntryId entry) noexcept;
[[nodiscard]] cudaError_t launch_at_once(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;
[[nodiscard]] cudaError_t launch_in_waves(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
