// SPDX-License-Identifier: MIT
// Chooses kernels for pooling and unpooling steps.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

#include "ops/pool/cuda/launch.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kMaxOutputs = 0xfffffffe;  // kernels use 32-bit counters
constexpr std::int64_t kMaxSide = 1 << 30;        // positions along an axis, including padding
constexpr const char* kTooMany = "the CUDA backend pools tensors of at most 4,294,967,294 elements";

[[nodiscard]] bool is_multiple(const std::byte* address, u64 steps, std::size_t size) {
  return (reinterpret_cast<std::uintptr_t>(address) | steps) % size == 0;
}

// Returns no value if no column kernel supports these windows.
[[nodiscard]] std::optional<PoolShape> shape_of(const PoolStep& step) {
  if (step.rank != 2 || step.index_type != DataType::unknown ||
      (step.type != DataType::FLOAT32 && step.type != DataType::FLOAT16)) {
    return std::nullopt;
  }
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  const PoolAxis& height = step.axes[0];
  const PoolAxis& width = step.axes[1];
  const bool is_square =
      height.window == width.window && height.stride == width.stride && height.dilation == 1 && width.dilation == 1;
  const bool has_rows =
      (width.input == 1 || width.input_step == element) && (width.output == 1 || width.output_step == element);
  const bool fits =
      std::max({height.input, width.input, height.output, width.output}) + height.padding + width.padding < kMaxSide;
  if (!is_square || !has_rows || !fits) {
    return std::nullopt;
  }
  if (height.window == 2 && height.stride == 2) {
    return PoolShape::two_by_two;
  }
  if (height.window == 3 && height.stride <= 2) {
    return height.stride == 1 ? PoolShape::three_by_one : PoolShape::three_by_two;
  }
  return std::nullopt;
}

// Turns windows along one axis into windows over a plane of one row.
[[nodiscard]] PoolStep with_rows(PoolStep step) {
  if (step.rank == 1) {
    step.axes[1] = step.axes[0];
    PoolAxis& height = step.axes[0];
    height = {};
    height.input = height.output = height.window = height.stride = height.dilation = 1;
    step.rank = 2;
  }
  return step;
}

class PoolRun final : public PreparedStep {
 public:
  PoolRun(const PoolStep& step, u32 outputs) : step_(with_rows(step)) {
    launch_.outputs = outputs;
    launch_.channels = make_divisor(static_cast<u32>(step.channel.output));
    for (u32 i = 0; i < step_.rank; ++i) {
      launch_.sizes[i] = make_divisor(static_cast<u32>(step_.axes[i].output));
      add_steps(step_.axes[i]);
    }
    add_steps(step_.batch);
    add_steps(step_.channel);
    launch_.step = step_;
    launch_.indices_are_wide = element_size(step_.index_type) == sizeof(u64);
    shape_ = shape_of(step_);
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const std::size_t size = element_size(step_.type);
    PoolLaunch launch = launch_;
    launch.input = bases[0];
    launch.output = bases[1];
    launch.indices = step_.index_type != DataType::unknown ? bases[2] : nullptr;
    launch.input_is_aligned = is_multiple(launch.input, input_steps_, size);
    launch.output_is_aligned = is_multiple(launch.output, output_steps_, size);
    launch.indices_are_aligned =
        launch.indices != nullptr && is_multiple(launch.indices, index_steps_, element_size(step_.index_type));
    if (shape_ && launch.input_is_aligned && launch.output_is_aligned) {
      return start_pool_columns(step_.type, *shape_, columns(bases), stream);
    }
    return step_.function == PoolFunction::max ? start_pool_maxima(launch, stream) : start_pool_sums(launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s", shape_ ? "windows by columns" : "windows, element by element");
  }

 private:
  void add_steps(const PoolAxis& axis) {
    input_steps_ |= static_cast<u64>(axis.input_step);
    output_steps_ |= static_cast<u64>(axis.output_step);
    index_steps_ |= static_cast<u64>(axis.index_step);
  }

  [[nodiscard]] PoolColumns columns(std::byte* const* bases) const {
    const PoolAxis& height = step_.axes[0];
    const PoolAxis& width = step_.axes[1];
    const auto strips = static_cast<u32>((height.output + kPoolStrip - 1) / kPoolStrip);
    return {.input = bases[0],
            .output = bases[1],
            .threads = static_cast<u32>(step_.batch.output * step_.channel.output * strips * width.output),
            .height = static_cast<u32>(height.output),
            .width = make_divisor(static_cast<u32>(width.output)),
            .strips = make_divisor(strips),
            .channels = launch_.channels,
            .counts_padding = step_.counts_padding,
            .function = step_.function,
            .input_height = static_cast<i32>(height.input),
            .input_width = static_cast<i32>(width.input),
            .padding = {static_cast<i32>(height.padding), static_cast<i32>(width.padding)},
            .input_row = height.input_step,
            .output_row = height.output_step,
            .input_channel = step_.channel.input_step,
            .output_channel = step_.channel.output_step,
            .input_batch = step_.batch.input_step,
            .output_batch = step_.batch.output_step};
  }

  PoolStep step_;
  PoolLaunch launch_{};
  std::optional<PoolShape> shape_;
  u64 input_steps_ = 0;  // the OR of all strides; only its lowest bits matter
  u64 output_steps_ = 0;
  u64 index_steps_ = 0;
};

class MaxGradientRun final : public PreparedStep {
 public:
  MaxGradientRun(const PoolStep& step, u32 outputs) {
    launch_.step = with_rows(step);
    launch_.outputs = outputs;
    launch_.channels = make_divisor(static_cast<u32>(step.channel.input));
    add_steps(step.batch);
    add_steps(step.channel);
    for (u32 i = 0; i < launch_.step.rank; ++i) {
      const PoolAxis& axis = launch_.step.axes[i];
      launch_.sizes[i] = make_divisor(static_cast<u32>(axis.input));
      launch_.strides[i] = make_divisor(static_cast<u32>(axis.stride));
      launch_.is_far = launch_.is_far || axis.input + axis.padding >= kMaxSide || axis.stride >= kMaxSide ||
                       axis.window >= kMaxSide || (axis.window - 1) * axis.dilation >= kMaxSide;
      add_steps(axis);
    }
  }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const std::size_t size = element_size(launch_.step.type);
    PoolGradientLaunch launch = launch_;
    launch.indices = bases[0];
    launch.gradient = bases[1];
    launch.output = bases[2];
    launch.gradient_is_aligned = is_multiple(launch.gradient, gradient_steps_, size);
    launch.output_is_aligned = is_multiple(launch.output, output_steps_, size);
    return start_max_gradient(launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "gradient of the maximum, by indices");
  }

 private:
  void add_steps(const PoolAxis& axis) {
    gradient_steps_ |= static_cast<u64>(axis.output_step);
    output_steps_ |= static_cast<u64>(axis.input_step);
  }

  PoolGradientLaunch launch_{};
  u64 gradient_steps_ = 0;
  u64 output_steps_ = 0;
};

class UnpoolRun final : public PreparedStep {
 public:
  explicit UnpoolRun(const UnpoolStep& step) : step_(step) {
    launch_.inputs = static_cast<u32>(step.inputs);
    launch_.outputs = static_cast<u32>(step.outputs);
    launch_.input_rank = step.input_rank;
    launch_.output_rank = step.output_rank;
    for (u32 i = 0; i < step.input_rank; ++i) {
      launch_.input_sizes[i] = make_divisor(static_cast<u32>(std::max<std::int64_t>(1, step.input_sizes[i])));
      launch_.input_steps[i] = step.input_steps[i];
      launch_.index_steps[i] = step.index_steps[i];
      const bool is_long = step.input_sizes[i] > 1;
      inputs_low_ |= is_long ? static_cast<u64>(step.input_steps[i]) : 0;
      indices_low_ |= is_long ? static_cast<u64>(step.index_steps[i]) : 0;
    }
    for (u32 i = 0; i < step.output_rank; ++i) {
      launch_.output_sizes[i] = make_divisor(static_cast<u32>(step.output_sizes[i]));
      launch_.output_steps[i] = step.output_steps[i];
      outputs_low_ |= step.output_sizes[i] > 1 ? static_cast<u64>(step.output_steps[i]) : 0;
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override { return u64{launch_.outputs} * sizeof(u32); }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    UnpoolLaunch launch = launch_;
    launch.input = bases[0];
    launch.indices = bases[1];
    launch.output = bases[2];
    launch.last = reinterpret_cast<u32*>(workspace);
    launch.input_is_aligned = is_multiple(launch.input, inputs_low_, element_size(step_.type));
    launch.indices_are_aligned = is_multiple(launch.indices, indices_low_, element_size(step_.index_type));
    launch.output_is_aligned = is_multiple(launch.output, outputs_low_, element_size(step_.type));
    return start_unpooling(step_.type, step_.index_type, launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "scattered by indices");
  }

 private:
  UnpoolStep step_;
  UnpoolLaunch launch_{};
  u64 inputs_low_ = 0;
  u64 indices_low_ = 0;
  u64 outputs_low_ = 0;
};

std::unique_ptr<PreparedStep> prepare(const Step& flat, const GpuProperties&, Neighbors neighbors, const char** why) {
  PoolFunction function{};
  std::memcpy(&function, flat.parameters.data(), sizeof(function));
  if (function == PoolFunction::unpool) {
    UnpoolStep step;
    std::memcpy(&step, flat.parameters.data(), sizeof(step));
    if (std::max(step.inputs, step.outputs) > kMaxOutputs) {
      *why = kTooMany;
      return nullptr;
    }
    return std::make_unique<UnpoolRun>(step);
  }
  if (neighbors.after.step != nullptr) {
    *why = "the CUDA backend cannot join steps to pooling";
    return nullptr;
  }
  PoolStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  // Each output is a separate element in memory, so the product fits in 63 bits.
  const bool is_gradient = function == PoolFunction::max_gradient;
  std::int64_t outputs = step.batch.output * step.channel.output;
  for (u32 i = 0; i < step.rank; ++i) {
    outputs *= is_gradient ? step.axes[i].input : step.axes[i].output;
  }
  if (outputs > kMaxOutputs) {
    *why = kTooMany;
    return nullptr;
  }
  if (is_gradient) {
    return std::make_unique<MaxGradientRun>(step, static_cast<u32>(outputs));
  }
  return std::make_unique<PoolRun>(step, static_cast<u32>(outputs));
}

}  // namespace

extern const FamilyKernels pool_family;
const FamilyKernels pool_family = {.prepare = prepare};

}  // namespace anydml::cuda
