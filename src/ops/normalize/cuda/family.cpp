// SPDX-License-Identifier: MIT
// Chooses the kernel for a step that normalizes rows.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ops/normalize/cuda/launch.h"
#include "ops/normalize/cuda/moments.h"
#include "ops/normalize/cuda/quads.cuh"
#include "ops/scalar/fold_order.h"

namespace anydml::cuda {
namespace {

class NormalizeRun final : public PreparedStep {
 public:
  explicit NormalizeRun(const NormalizeStep& step) : function_(step.function), type_(step.type) {
    const AxisLoops& loops = step.loops;
    input_offset_ = loops.input_offset;
    output_offset_ = loops.output_offset;
    launch_.rows = static_cast<u32>(loops.outputs);
    launch_.count = static_cast<u32>(loops.count);
    launch_.held = std::min(static_cast<u32>((loops.count + kReduceBlock - 1) / kReduceBlock), kMaxBlocksHeld);
    launch_.kept_rank = loops.kept_rank;
    launch_.reduced_rank = loops.reduced_rank;
    for (u32 i = 0; i < loops.kept_rank; ++i) {
      add(loops.kept[i], launch_.kept_sizes[i], launch_.kept_input[i], launch_.kept_output[i]);
    }
    kept_low_ = inputs_low_ | outputs_low_;
    for (u32 i = 0; i < loops.reduced_rank; ++i) {
      add(loops.reduced[i], launch_.reduced_sizes[i], launch_.reduced_input[i], launch_.reduced_output[i]);
    }
    const auto element = static_cast<std::int64_t>(element_size(type_));
    is_contiguous_ = loops.reduced_rank == 1 && loops.reduced[0].input == element &&
                     loops.reduced[0].output == element && loops.count % kTogether == 0;
    // Adjacent threads access adjacent elements if the order of sums allows it. The order does not allow it if a row is
    // a single chain of additions, because one thread must then process the whole row.
    const std::int64_t along = std::abs(loops.reduced[loops.reduced_rank - 1].input);
    const AxisLoop& column = loops.kept[loops.kept_rank - 1];
    const bool across_is_nearer = column.size > 1 && column.input != 0 && std::abs(column.input) < along;
    const bool is_chain = loops.has_lanes == 0 && loops.count > 1 && function_ != NormalizeFunction::hardmax;
    kernel_ = is_chain                    ? NormalizeKernel::across
              : across_is_nearer          ? NormalizeKernel::across_lanes
              : loops.count <= kMaxInWarp ? NormalizeKernel::warps
                                          : NormalizeKernel::blocks;
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    NormalizeLaunch launch = launch_;
    launch.input = bases[0] + input_offset_;
    launch.output = bases[1] + output_offset_;
    const auto size = element_size(type_);
    launch.input_is_aligned = (reinterpret_cast<std::uintptr_t>(launch.input) | inputs_low_) % size == 0;
    launch.output_is_aligned = (reinterpret_cast<std::uintptr_t>(launch.output) | outputs_low_) % size == 0;
    launch.is_simple = launch.reduced_rank == 1 && launch.input_is_aligned && launch.output_is_aligned;
    const auto addresses =
        reinterpret_cast<std::uintptr_t>(launch.input) | reinterpret_cast<std::uintptr_t>(launch.output);
    launch.is_plain = is_contiguous_ && (addresses | kept_low_) % (kTogether * size) == 0;
    switch (function_) {
      case NormalizeFunction::softmax:
        return start_softmax(type_, kernel_, launch, stream);
      case NormalizeFunction::log_softmax:
        return start_log_softmax(type_, kernel_, launch, stream);
      default:
        break;
    }
    return start_hardmax(type_, kernel_, launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const char* const names[] = {"rows in warps", "rows in blocks", "rows across, lanes", "rows across"};
    std::snprintf(text, capacity, "%s", names[static_cast<u32>(kernel_)]);
  }

 private:
  void add(const AxisLoop& loop, FastDivisor& size, std::int64_t& input, std::int64_t& output) {
    size = make_divisor(static_cast<u32>(loop.size));
    input = loop.input;
    output = loop.output;
    inputs_low_ |= static_cast<u64>(loop.input);
    outputs_low_ |= static_cast<u64>(loop.output);
  }

  NormalizeFunction function_;
  DataType type_;
  NormalizeKernel kernel_ = NormalizeKernel::warps;
  NormalizeLaunch launch_{};
  std::int64_t input_offset_ = 0;
  std::int64_t output_offset_ = 0;
  u64 inputs_low_ = 0;  // the OR of all strides; only its lowest bits matter
  u64 outputs_low_ = 0;
  u64 kept_low_ = 0;  // the same for the strides between rows of the input and the output
  bool is_contiguous_ = false;
};

}  // namespace

extern const FamilyKernels normalize_family;
const FamilyKernels normalize_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      const NormalizeFunction function = function_of(flat.parameters);
      if (function == NormalizeFunction::moments) {
        return prepare_moments(flat, why);
      }
      if (has_windows(function)) {
        return prepare_windows(flat, why);
      }
      NormalizeStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.loops.outputs > kMaxElements / std::max<std::int64_t>(step.loops.count, 1)) {
        *why = kTooManyElements;
        return nullptr;
      }
      return std::make_unique<NormalizeRun>(step);
    },
};

}  // namespace anydml::cuda
