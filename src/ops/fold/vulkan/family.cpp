// SPDX-License-Identifier: MIT
// Runs FOLD on a device with Vulkan: each thread computes one output element.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/fold/step.h"
#include "shaders/add_blocks.h"
#include "shaders/add_blocks_wide.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kOperations = 64;  // for each position of the window, roughly
constexpr u64 kMaxNumber = 0xffffffff - kThreads;

// The constants in add_blocks.comp.
struct FoldConstants {
  u32 count;
  u32 input_is_aligned;
  u32 output_is_aligned;
};
static_assert(sizeof(FoldDimension) == 56 && offsetof(FoldStep, batches) == 8 && offsetof(FoldStep, dimensions) == 72);

u64 count_of(const FoldStep& step) {
  u64 count = static_cast<u64>(step.batches) * static_cast<u64>(step.channels);
  for (u32 i = 0; i < step.rank; ++i) {
    count *= static_cast<u64>(step.dimensions[i].size);  // at most the elements of a tensor
  }
  return count;
}

// The positions of the window that an output visits at most.
u64 positions_of(const FoldStep& step) {
  u64 all = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    const FoldDimension& dimension = step.dimensions[i];
    const i64 positions = std::min(dimension.window, (dimension.size + dimension.padding) / dimension.dilation + 1);
    all = std::min(all * static_cast<u64>(positions), u64{1} << 32);
  }
  return all;
}

// The kernel expects at least two dimensions.
FoldStep with_rows(FoldStep step) {
  if (step.rank == 1) {
    step.dimensions[1] = step.dimensions[0];
    step.dimensions[0] = {.size = 1, .window = 1, .stride = 1, .dilation = 1, .padding = 0, .blocks = 1, .output = 0};
    step.rank = 2;
  }
  return step;
}

class FoldRun final : public PreparedStep {
 public:
  FoldRun(const FoldStep& step, Kernels& kernels)
      : step_(with_rows(step)),
        bytes_(static_cast<u32>(element_size(step.type))),
        count_(static_cast<u32>(count_of(step))),
        input_steps_(static_cast<u64>(step.input_batch | step.input_channel | step.input_window | step.input_block)),
        output_steps_(static_cast<u64>(step.output_batch | step.output_channel)),
        operations_(kOperations * positions_of(step)) {
    for (u32 i = 0; i < step_.rank; ++i) {
      const FoldDimension& dimension = step_.dimensions[i];
      output_steps_ |= static_cast<u64>(dimension.output);
    }
    const u32 constants[] = {bytes_, is_float_type(step.type) ? 1U : 0U};
    kernel_ =
        kernels.find(bytes_ == sizeof(u64) ? spirv::linked_kernel("add_blocks_wide", k_add_blocks_wide, kernels.gpu())
                                           : spirv::linked_kernel("add_blocks", k_add_blocks, kernels.gpu()),
                     constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&step_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const FoldConstants constants{
        .count = count_,
        .input_is_aligned = ((input_steps_ | recorder.low_bits(0)) & (bytes_ - 1)) == 0 ? 1U : 0U,
        .output_is_aligned = ((output_steps_ | recorder.low_bits(1)) & (bytes_ - 1)) == 0 ? 1U : 0U};
    if (count_ != 0) {
      recorder.dispatch(*kernel_, (count_ + kThreads - 1) / kThreads, std::as_bytes(std::span(&constants, 1)),
                        kThreads * operations_);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "element by element");
  }

 private:
  FoldStep step_;
  u32 bytes_;
  u32 count_;
  u64 input_steps_;  // the OR of the strides
  u64 output_steps_;
  u64 operations_;  // of a thread, roughly
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels fold_family;
const FamilyKernels fold_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      FoldStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      u64 largest = count_of(step);
      for (u32 i = 0; i < step.rank; ++i) {
        const FoldDimension& dimension = step.dimensions[i];
        largest = std::max({largest, static_cast<u64>(dimension.size + dimension.padding),
                            static_cast<u64>(dimension.window), static_cast<u64>(dimension.stride),
                            static_cast<u64>(dimension.dilation), static_cast<u64>(dimension.blocks)});
      }
      if (largest > kMaxNumber) {
        *why = "the Vulkan kernels for FOLD write at most 4,294,967,039 elements, at positions up to that number";
        return nullptr;
      }
      constexpr u64 kIterations = 6;  // for each position at most, if windows have one column
      if (kIterations * positions_of(step) > kernels.gpu().max_iterations) {
        *why = "the window has so many positions that this software driver would end the loops over them too early";
        return nullptr;
      }
      return std::make_unique<FoldRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
