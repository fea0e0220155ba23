// SPDX-License-Identifier: MIT
// Builds the parameters of kernels that were compiled at run time, for any number of operands.
#include <algorithm>
#include <array>

#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/interpreter.h"
#include "ops/elementwise/cuda/launch.cuh"

namespace anydml::cuda {
namespace {

struct LaunchOf {
  std::size_t bytes;
  void (*make)(const KernelLaunch& from, std::byte* to);
};
template <std::size_t... kCounts>
constexpr std::array<LaunchOf, sizeof...(kCounts)> launches(std::index_sequence<kCounts...>) {
  return {LaunchOf{sizeof(Launch<static_cast<int>(kCounts) + 1>), [](const KernelLaunch& from, std::byte* to) {
                     const auto launch = make_launch<static_cast<int>(kCounts) + 1>(from);
                     std::copy_n(reinterpret_cast<const std::byte*>(&launch), sizeof(launch), to);
                   }}...};
}
constexpr auto kLaunches = launches(std::make_index_sequence<kMaxOperands>{});

constexpr std::size_t kAlignment = 16;  // alignment of an object that contains words
constexpr std::size_t whole(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

cudaError_t launch_fused(const RuntimeKernels& kernels, const KernelSet& set, KernelShape shape,
                         const KernelLaunch& from, cudaStream_t stream) noexcept {
  u32 input_bytes = 0;
  for (std::uint32_t i = 0; i < set.inputs; ++i) {
    input_bytes += u32{set.vector_elements} * set.element_sizes[i];
  }
  const bool vectors = shape == KernelShape::vector;
  const u32 of_block = kRowThreads * (vectors ? row_vectors_of_thread(input_bytes) : kRowElements);
  const u32 blocks = ceil_div(vectors ? from.geometry.vectors : from.geometry.count, of_block);
  alignas(kAlignment) std::byte launch[sizeof(Launch<kMaxOperands>)];
  kLaunches[set.inputs].make(from, launch);
  ScalarBytes scalar = from.scalar;
  void* parameters[] = {launch, &scalar};
  return kernels.launch(vectors ? 0 : 1, {.blocks = {blocks}, .threads = {kRowThreads}}, parameters, stream);
}

cudaError_t launch_each(const RuntimeKernels& kernels, const KernelLaunch& from, std::span<const std::uint64_t> words,
                        cudaStream_t stream) noexcept {
  alignas(kAlignment) std::byte object[whole(sizeof(Launch<kMaxOperands>)) + kMaxScalars * sizeof(std::uint64_t)];
  make_inlined(from, words, object);
  void* parameters[] = {object};
  const LaunchShape shape{.blocks = {ceil_div(from.geometry.count, kRowThreads)}, .threads = {kRowThreads}};
  return kernels.launch(0, shape, parameters, stream);
}

std::size_t inlined_bytes(std::uint32_t operands, std::size_t words) {
  return whole(kLaunches[operands - 1].bytes) + whole(words * sizeof(std::uint64_t));
}

void make_inlined(const KernelLaunch& from, std::span<const std::uint64_t> words, std::byte* object) {
  const LaunchOf& launch = kLaunches[from.geometry.operands - 1];
  launch.make(from, object);
  std::ranges::copy(std::as_bytes(words), object + whole(launch.bytes));
}

}  // namespace anydml::cuda
