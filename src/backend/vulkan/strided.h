// SPDX-License-Identifier: MIT
// Copies of bytes between two nests of loops, and fills, which families make their steps of. Types do not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/vulkan/family.h"

namespace anydml::vulkan {

struct StridedLoop {
  std::int64_t size;
  std::int64_t from;  // strides in bytes
  std::int64_t to;
};

inline constexpr std::uint32_t kFromConstant = 0xffffffff;
inline constexpr std::size_t kMaxStridedLoops = 16;

struct StridedCopy {
  std::uint32_t from = kFromConstant;  // the operand, or kFromConstant
  std::uint32_t to = 0;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
  std::int64_t run = 0;              // bytes that are contiguous on both sides
  std::uint64_t constant = 0;        // repeated without end, first byte lowest; its strides and offset are 0
  std::vector<StridedLoop> loops{};  // outermost first, not empty
};

// The copies of a step, which do not depend on each other.
class StridedCopies {
 public:
  explicit StridedCopies(Kernels& kernels) : device_(kernels) {}
  // May throw std::bad_alloc.
  void add(const StridedCopy& copy);
  // Called after the last copy. May throw std::bad_alloc.
  void finish();

  [[nodiscard]] std::span<const std::byte> parameters() const { return parameters_; }
  [[nodiscard]] std::vector<KernelRef> kernels() const;
  void record(Recorder& recorder) const;
  [[nodiscard]] std::size_t count() const { return parts_.size(); }
  // The bytes that all copies use of an operand.
  [[nodiscard]] OperandUse use_of(std::size_t operand) const;

 private:
  struct Part {
    StridedCopy copy;
    std::uint32_t parameters = 0;  // the offset of its parameters
    std::uint64_t steps = 0;       // the OR of the strides, offsets and the run: a word divides them if it divides this
    std::uint64_t bytes = 0;
  };
  void add_part(StridedCopy copy);

  Kernels& device_;
  std::vector<Part> parts_;
  std::vector<std::byte> parameters_;
  KernelRef kernels_[5];  // for words of 1, 2, 4, 8 and 16 bytes
};

// The largest word, up to 16 bytes, that divides a number.
[[nodiscard]] std::uint32_t word_of(std::uint64_t number);

}  // namespace anydml::vulkan
