// SPDX-License-Identifier: MIT
// The kernels that a prepared step can use: for each variant of each entry a set, one for each shape, found once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/family.h"
#include "backend/cuda/fast_divisor.h"
#include "ops/elementwise/entries.h"

namespace anydml::cuda {

// A definition with its attributes, as kernels take it: the bytes of an object of the definition's class.
inline constexpr std::size_t kScalarBytes = 128;
struct ScalarBytes {
  alignas(16) std::byte bytes[kScalarBytes];
};

// Where elements lie and how they are walked. Operands: the inputs of the kernel in order, then its output.
struct Geometry {
  std::uint32_t operands;
  std::uint32_t rank;
  std::uint32_t count;
  FastDivisor sizes[kMaxRank];  // outermost first
  std::int64_t strides[kMaxRank][kMaxOperands];
  std::uint32_t stays;  // bit i: operand i stays along the innermost loop
  // By vectors: of all rows, and of one; a partial vector at the end of a row counts as one.
  std::uint32_t vectors;
  FastDivisor vectors_of_row;
  // By tiles: the operands that are contiguous along the second innermost loop, and the number of tiles along the
  // innermost loop, along the second innermost loop, and in all.
  std::uint32_t crossed;
  FastDivisor tiles[2];
  std::uint32_t tile_count;
};

// The parameters of a kernel launch.
struct KernelLaunch {
  const Geometry& geometry;
  const ScalarBytes& scalar;
  const Machine& machine;
  std::byte* addresses[kMaxOperands];  // of the first element visited
  bool aligned;                        // every element lies at a multiple of its size
};
using LaunchKernel = cudaError_t (*)(const KernelLaunch& launch, cudaStream_t stream) noexcept;

enum class KernelShape : std::uint8_t { vector, transposed, strided, interpreted };

// The kernels of one variant. Shapes that it does not have are null.
struct KernelSet {
  LaunchKernel strided;  // any layout at any address
  // Rows that are contiguous, or stay at one element: vector_elements at a time, which each operand reads or writes in
  // one access at a multiple of its size.
  LaunchKernel vector;
  // Tiles through shared memory: an input is contiguous along the second innermost loop.
  LaunchKernel transposed;
  std::uint8_t inputs;
  std::uint8_t most_staying;     // inputs that may stay along a row of vectors
  std::uint8_t vector_elements;  // of one vector
  std::uint8_t tile_elements;    // along one side of a tile
  std::uint8_t output_type;      // DataType, of the same bits where the entry only moves them
  std::uint8_t element_sizes[kMaxInputs + 1];
  // From the attributes of a ScaleBias before the entry, if present, and of the entry.
  void (*make_scalar)(const Attributes& scale_bias, const Attributes& attributes, ScalarBytes& scalar);
};

// Null when the entry has no such variant.
[[nodiscard]] const KernelSet* find_kernels(EntryId entry, std::uint32_t variant) noexcept;
// A ScaleBias of the first input, then the entry. Null when the entry has none, or not for these types.
[[nodiscard]] const KernelSet* find_scaled_kernels(EntryId entry, std::uint32_t variant) noexcept;

// Small tasks, whose codes are EntryIds.
[[nodiscard]] bool takes_small_tasks(EntryId entry) noexcept;
[[nodiscard]] cudaError_t launch_at_once(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;
[[nodiscard]] cudaError_t launch_in_waves(const SmallTask* tasks, std::uint32_t count, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
