// SPDX-License-Identifier: MIT
// Runs RANDOM_GENERATOR on a device with Vulkan.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "ops/random/step.h"
#include "shaders/philox.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr u64 kOperations = 256;  // of a thread, roughly
constexpr u64 kMaxThreads = 0xffffffff - u64{kThreads};

// The layouts in philox.comp.
struct LoopParameters {
  i64 size;
  i64 index;
  i64 to;
};
struct RandomParameters {
  i64 index_offset;
  i64 to_offset;
  i64 state_stride;
  i64 next_stride;
  u64 count;
  u32 rank;
  u32 unused;
  LoopParameters loops[kMaxRank];
};

bool is_contiguous(const LoopNest& nest) {
  const Loop& inner = nest.innermost();
  return nest.count == 0 || (nest.rank == 1 && inner.strides[0] == 1 && inner.strides[1] == sizeof(u32));
}
u64 threads_of(const RandomStep& step) {
  const auto count = static_cast<u64>(step.nest.count);
  return is_contiguous(step.nest) ? (count + kPhiloxWords - 1) / kPhiloxWords : count;
}

class RandomRun final : public PreparedStep {
 public:
  RandomRun(const RandomStep& step, bool has_next, Kernels& kernels)
      : groups_(static_cast<u32>(std::max<u64>((threads_of(step) + kThreads - 1) / kThreads, 1))),
        output_steps_(static_cast<u64>(step.nest.offsets[1])) {
    parameters_ = {.index_offset = step.nest.offsets[0],
                   .to_offset = step.nest.offsets[1],
                   .state_stride = step.from,
                   .next_stride = step.to,
                   .count = static_cast<u64>(step.nest.count),
                   .rank = step.nest.rank,
                   .unused = 0,
                   .loops = {}};
    for (u32 i = 0; i < step.nest.rank; ++i) {
      const Loop& loop = step.nest.loops[i];
      parameters_.loops[i] = {.size = loop.size, .index = loop.strides[0], .to = loop.strides[1]};
      output_steps_ |= static_cast<u64>(loop.strides[1]);
    }
    const u32 constants[] = {is_contiguous(step.nest) ? 1U : 0U, has_next ? 1U : 0U};
    kernel_ = kernels.find({.key = "philox", .words = k_philox, .make = {}}, constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand != 0};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const u32 is_aligned = (output_steps_ | recorder.low_bits(1)) % sizeof(u32) == 0 ? 1 : 0;
    recorder.dispatch(*kernel_, groups_, std::as_bytes(std::span(&is_aligned, 1)), kThreads * kOperations);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "Philox, %u loop%s", parameters_.rank, parameters_.rank == 1 ? "" : "s");
  }

 private:
  u32 groups_;
  u64 output_steps_;  // the OR of the offset and the strides
  RandomParameters parameters_{};
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels random_family;
const FamilyKernels random_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      RandomStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (threads_of(step) > kMaxThreads) {
        *why =
            "the Vulkan kernels for random numbers fill at most 4,294,967,039 elements that are not contiguous, and "
            "four times as many that are";
        return nullptr;
      }
      return std::make_unique<RandomRun>(step, has_address(flat.operands[2].slot), kernels);
    },
};

}  // namespace anydml::vulkan
