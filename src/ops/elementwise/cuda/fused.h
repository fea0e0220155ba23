// SPDX-License-Identifier: MIT
// Compiles a program of several instructions into one kernel at run time (backend/cuda/runtime.h). If compilation is
// not possible, or the program is not supported, the interpreter runs the program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backend/cuda/runtime.h"
#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/element_step.h"

namespace anydml::cuda {

struct FusedSource {
  KernelSource source;
  KernelSet set = {};       // sizes of elements and vectors only; no kernels
  ScalarBytes scalar = {};  // the attributes of all instructions
};

// Returns false if the program has several stores, or more loads or attributes than the kernels support.
[[nodiscard]] bool write_fused(const ElementStep& step, FusedSource& source);

// Launches kernels that were compiled from this source.
[[nodiscard]] cudaError_t launch_fused(const RuntimeKernels& kernels, const KernelSet& set, KernelShape shape,
                                       const KernelLaunch& launch, cudaStream_t stream) noexcept;

// A program written as a class that a kernel calls for each element. In a kernel of another family, the program either
// receives the element of one operand or computes it (backend/cuda/family.h).
struct InlinedSource {
  std::string text;
  std::vector<std::uint64_t> words;  // the attributes of all instructions; at least one
};
inline constexpr std::uint32_t kNoneForwarded = kMaxOperands;
// forwarded: the operand whose element is passed or computed. vector: the number of elements that the class can also
// compute at a time, or 0. Returns false if the step uses types that its operators do not support.
[[nodiscard]] bool write_inlined(const ElementStep& step, std::uint32_t forwarded, std::uint32_t vector,
                                 const char* name, InlinedSource& source);
// Like write_inlined, but for a separate kernel with any number of loads and stores, which runs element by element.
// Also returns false if there are too many attributes.
[[nodiscard]] bool write_each(const ElementStep& step, InlinedSource& source);
[[nodiscard]] KernelSource each_kernel(const InlinedSource& source);
[[nodiscard]] cudaError_t launch_each(const RuntimeKernels& kernels, const KernelLaunch& launch,
                                      std::span<const std::uint64_t> words, cudaStream_t stream) noexcept;
// The size of an object of the inlined class, which contains a launch with this many operands, and the words.
[[nodiscard]] std::size_t inlined_bytes(std::uint32_t operands, std::size_t words);
void make_inlined(const KernelLaunch& launch, std::span<const std::uint64_t> words, std::byte* object);

}  // namespace anydml::cuda
