// SPDX-License-Identifier: MIT
// Fills tensors on a device with Vulkan.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/strided.h"
#include "ops/fill/step.h"
#include "shaders/sequence.h"
#include "shaders/sequence_of_doubles.h"
#include "shaders/sequence_of_floats.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::int64_t kMaxCount = (std::int64_t{1} << 32) - kThreads;

class FillRun final : public PreparedStep {
 public:
  FillRun(const FillStep& step, Kernels& kernels) : copies_(kernels), rank_(step.nest.rank) {
    const auto bytes = static_cast<std::int64_t>(element_size(step.type));
    StridedCopy copy{.to = 0, .to_offset = step.nest.offsets[0], .run = bytes, .constant = repeated(step.bits, bytes)};
    for (std::uint32_t i = 0; i < step.nest.rank && step.nest.count != 0; ++i) {
      copy.loops.push_back({.size = step.nest.loops[i].size, .from = 0, .to = step.nest.loops[i].strides[0]});
    }
    if (!copy.loops.empty() && copy.loops.back().to == bytes) {
      copy.run *= copy.loops.back().size;
      copy.loops.pop_back();
    }
    if (step.nest.count != 0) {
      copies_.add(copy);
    }
    copies_.finish();
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override { return copies_.parameters(); }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override { return copies_.use_of(operand); }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return copies_.kernels(); }
  void record(Recorder& recorder) const override { copies_.record(recorder); }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "fill, %u loop%s", rank_, rank_ == 1 ? "" : "s");
  }

 private:
  static std::uint64_t repeated(std::uint64_t bits, std::int64_t bytes) {
    for (std::int64_t size = bytes; size < 8; size *= 2) {
      const std::uint64_t low = bits & ((std::uint64_t{1} << (8 * size)) - 1);
      bits = low | low << (8 * size);
    }
    return bits;
  }

  StridedCopies copies_;
  std::uint32_t rank_;
};

// The layout in sequence.comp, from the step's parameters.
struct SequenceLoop {
  std::int64_t size;
  std::int64_t index;  // the strides of the index and of the output
  std::int64_t to;
};
struct SequenceParameters {
  std::int64_t index_offset;
  std::int64_t to_offset;
  std::uint64_t start;
  std::uint64_t delta;
  std::uint32_t count;
  std::uint32_t rank;
  SequenceLoop loops[kMaxRank];
};

class SequenceRun final : public PreparedStep {
 public:
  SequenceRun(const FillStep& step, Kernels& kernels)
      : bytes_(static_cast<std::uint32_t>(element_size(step.type))),
        steps_(static_cast<std::uint64_t>(step.nest.offsets[1])) {
    parameters_.index_offset = step.nest.offsets[0];
    parameters_.to_offset = step.nest.offsets[1];
    parameters_.start = step.bits;
    parameters_.delta = step.delta;
    parameters_.count = static_cast<std::uint32_t>(step.nest.count);
    parameters_.rank = step.nest.rank;
    for (std::uint32_t i = 0; i < step.nest.rank; ++i) {
      const Loop& loop = step.nest.loops[i];
      parameters_.loops[i] = {.size = loop.size, .index = loop.strides[0], .to = loop.strides[1]};
      steps_ |= static_cast<std::uint64_t>(loop.strides[1]);
    }
    const GpuProperties& gpu = kernels.gpu();
    const KernelCode code = !is_float_type(step.type) ? KernelCode{.key = "sequence", .words = k_sequence, .make = {}}
                            : step.type == DataType::FLOAT64
                                ? spirv::linked_kernel("sequence_of_doubles", k_sequence_of_doubles, gpu)
                                : spirv::linked_kernel("sequence_of_floats", k_sequence_of_floats, gpu);
    kernel_ = kernels.find(code, std::span(&bytes_, 1));
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    if (parameters_.count != 0) {
      constexpr std::uint64_t kOperations = 512;  // of a thread, roughly
      const std::uint32_t is_aligned = (steps_ | recorder.low_bits(0)) % bytes_ == 0 ? 1 : 0;
      recorder.dispatch(*kernel_, (parameters_.count + kThreads - 1) / kThreads,
                        std::as_bytes(std::span(&is_aligned, 1)), kThreads * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "sequence, %u loop%s", parameters_.rank, parameters_.rank == 1 ? "" : "s");
  }

 private:
  std::uint32_t bytes_;
  std::uint64_t steps_;  // the OR of the output's offset and strides
  SequenceParameters parameters_{};
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels fill_family;
const FamilyKernels fill_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      FillStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.is_sequence == 0) {
        return std::make_unique<FillRun>(step, kernels);
      }
      if (step.nest.count > kMaxCount) {
        *why = "the Vulkan kernels for sequences have at most 4,294,967,040 elements";
        return nullptr;
      }
      return std::make_unique<SequenceRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
