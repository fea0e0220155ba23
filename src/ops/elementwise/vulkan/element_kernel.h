// SPDX-License-Identifier: MIT
// The kernel of an element-wise step: a main that is written here, instruction by instruction, around calls of the
// library's functions. Steps with the same program, types and number of loops share a kernel; sizes, strides and
// attributes are parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/vulkan/family.h"
#include "ops/elementwise/element_step.h"

namespace anydml::vulkan {

// Everything that the words of a kernel depend on, except the device.
struct ElementKernel {
  struct Call {
    EntryId entry;
    std::uint16_t variant;
    std::uint16_t sources[kMaxInputs];
  };
  std::uint32_t rank = 0;
  // The number of consecutive elements that a thread computes. With more than one, each operand is either contiguous
  // along the innermost loop, or the bit `stays` of it is set: then it has one element for all of them.
  std::uint32_t vector = 1;
  std::uint32_t stays = 0;
  bool is_wide = false;  // whether positions and offsets need 64 bits
  std::uint32_t loads = 0;
  std::vector<std::uint8_t> sizes;  // of the operands' elements in bytes
  std::vector<Call> calls;
  std::vector<std::uint16_t> stored;

  [[nodiscard]] std::string key() const;
};

// The push constants of the kernel: the threads of the dispatch, counted over all elements or vectors. If is_aligned is
// 0, elements are accessed byte by byte; it is always 1 for vectors. The kernel's parameters begin at this many bytes
// after the step's.
struct ElementConstants {
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t is_aligned;
  std::uint64_t parameters;
};

// The parameters of the kernel in memory: for each loop, outermost first, its size; then for each loop the stride of
// each operand; then the offset of each operand; then the words of all attributes. `nest` describes threads instead of
// elements: for vectors, its innermost loop has fewer steps with larger strides.
[[nodiscard]] std::vector<std::uint32_t> write_parameters(const ElementKernel& kernel, const LoopNest& nest,
                                                          const std::vector<std::uint32_t>& attributes);

// Throws std::runtime_error if the library lacks a function.
[[nodiscard]] std::vector<std::uint32_t> write_kernel(const ElementKernel& kernel, const GpuProperties& gpu);

}  // namespace anydml::vulkan
