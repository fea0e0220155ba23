// SPDX-License-Identifier: MIT
// An element-wise step with its chosen kernels and all precomputed data that does not depend on addresses.
#pragma once

#include <memory>
#include <vector>

#include "ops/elementwise/cuda/fused.h"
#include "ops/elementwise/cuda/interpreter.h"
#include "ops/elementwise/cuda/kernel_set.h"
#include "ops/elementwise/element_step.h"

namespace anydml::cuda {

class PreparedElements final : public PreparedStep {
 public:
  // Returns null, or the reason why the step cannot be run. May throw std::bad_alloc.
  [[nodiscard]] const char* prepare(const ElementStep& step, const GpuProperties& gpu);

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override;
  [[nodiscard]] bool make_small_task(std::byte* const* bases, SmallTask& task) const noexcept override;
  void explain(char* text, std::size_t capacity) const noexcept override;

  // The shape to run if the addresses allow it; otherwise the strided kernel runs.
  [[nodiscard]] KernelShape shape() const { return shape_; }
  // For tests that compare kernels with one another: forces these kernels and this shape.
  void replace_kernels(const KernelSet& kernels, KernelShape shape);

 private:
  [[nodiscard]] bool find_kernels_of(const ElementStep& step);
  // Finds or compiles kernels for this program; false if compiling them is impossible or not worthwhile.
  [[nodiscard]] bool find_fused_of(const ElementStep& step);
  void map_operand(const LoopNest& nest, std::uint32_t from, std::size_t element_bytes);
  void choose_shape(const LoopNest& nest);
  [[nodiscard]] bool choose_vectors(std::uint32_t inner_size, std::int64_t rows);
  [[nodiscard]] bool choose_tiles();
  [[nodiscard]] bool fits(KernelShape shape, const KernelLaunch& launch) const;
  [[nodiscard]] std::int64_t stride(std::uint32_t loop, std::uint32_t operand) const;

  // The source of a kernel operand.
  struct Source {
    std::uint16_t operand;      // operand of the step
    std::uint8_t bytes;         // size of an element
    std::uint8_t access_bytes;  // size of a vector
    std::uint8_t strides_low;   // the low bits of all strides, combined with OR
    std::int64_t offset;        // from the operand's address to the first element visited
  };

  KernelShape shape_ = KernelShape::strided;
  std::uint8_t small_type_ = 0;         // DataType; 0 if not a small task
  std::uint16_t small_code_ = 0;        // EntryId
  const KernelSet* kernels_ = nullptr;  // null if the step is interpreted, or fused element by element
  std::unique_ptr<Code> code_;          // null unless the step is interpreted
  KernelSet fused_set_ = {};
  std::shared_ptr<const RuntimeKernels> fused_;  // if set, kernels_ is null or fused_set_ (sizes only)
  std::vector<std::uint64_t> words_;             // attributes of a program that is fused element by element
  ScalarBytes scalar_ = {};
  Source sources_[kMaxOperands] = {};
  Geometry geometry_ = {};
  GpuProperties gpu_;
};

// Prepares a step that is joined before or after a step of another family; null if it cannot be joined.
[[nodiscard]] std::unique_ptr<JoinedStep> prepare_joined(const Step& step, const char* name);

[[nodiscard]] const char* shape_name(KernelShape shape) noexcept;

}  // namespace anydml::cuda
