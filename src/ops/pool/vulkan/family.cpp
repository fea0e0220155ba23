// SPDX-License-Identifier: MIT
// Runs pooling, its gradient and unpooling on a device with Vulkan: a thread computes one output. The definitions are
// written again in GLSL over primitives: they are loops around very few operations, and compiled functions would have
// to get their elements through memory.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "base/float_bits.h"
#include "ops/pool/step.h"
#include "shaders/max_gradient.h"
#include "shaders/pool_maxima.h"
#include "shaders/pool_sums.h"
#include "shaders/pool_sums_double.h"
#include "shaders/unpool.h"

namespace anydml::vulkan {
namespace {

constexpr u32 kThreads = 256;
constexpr i64 kMaxOutputs = 0xfffffffe - i64{kThreads};  // kernels number outputs in 32 bits
constexpr i64 kMaxSide = 1 << 30;                        // of positions along an axis that fit into 31 bits
constexpr u64 kOperations = 32;                          // for each element, roughly

// The constants in windows.glsl and unpool.comp.
struct WindowConstants {
  u64 window_size;
  u32 outputs;
  u32 index_bytes;
  u32 input_is_aligned;
  u32 output_is_aligned;
  u32 indices_are_aligned;
  u32 is_far;
};
struct UnpoolConstants {
  u32 count;
  u32 input_is_aligned;
  u32 output_is_aligned;
  u32 indices_are_aligned;
};
static_assert(sizeof(PoolAxis) == 72 && offsetof(PoolStep, batch) == 24 && kPoolAxes == 6);
static_assert(offsetof(UnpoolStep, inputs) == 24 && kMaxRank == 8);
static_assert(static_cast<u32>(PoolFunction::average) == 1 && static_cast<u32>(PoolFunction::l1) == 3 &&
              static_cast<u32>(PoolFunction::l2) == 4);

enum class Kind : u32 { unsigned_integer, signed_integer, floating };  // pool_maxima.comp

Kind kind_of(DataType type) {
  return visit_type(type, []<class T>() {
    return is_float<T> ? Kind::floating : std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer;
  });
}

u32 is_aligned(u64 steps, std::size_t bytes) { return (steps & (bytes - 1)) == 0 ? 1 : 0; }
u32 groups_of(u64 threads) { return static_cast<u32>((threads + kThreads - 1) / kThreads); }

// The kernels expect at least two axes along which windows move.
PoolStep with_rows(PoolStep step) {
  if (step.rank == 1) {
    step.axes[1] = step.axes[0];
    PoolAxis& height = step.axes[0];
    height = {};
    height.input = height.output = height.window = height.stride = height.dilation = 1;
    step.rank = 2;
  }
  return step;
}

// The elements that an output visits at most along each axis, or windows if it is a gradient's.
u64 visited_along(const PoolStep& step, const PoolAxis& axis) {
  return static_cast<u64>(step.function == PoolFunction::max_gradient
                              ? std::min((axis.window - 1) * axis.dilation / axis.stride + 1, axis.output)
                              : std::min(axis.window, axis.input));
}
u64 visited_of(const PoolStep& step) {
  u64 all = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    all = std::min(all * visited_along(step, step.axes[i]), u64{1} << 32);
  }
  return all;
}
// The iterations of all loops of a thread.
u64 iterations_of(const PoolStep& step) {
  const u64 columns = std::max<u64>(visited_along(step, step.axes[step.rank - 1]), 1);
  return visited_of(step) / columns * (columns + 4) + 64;
}

// Windows, and the gradient of maxima. The operands are described in step.h.
class WindowRun final : public PreparedStep {
 public:
  WindowRun(const PoolStep& step, u32 outputs, Kernels& kernels)
      : step_(with_rows(step)), is_gradient_(step.function == PoolFunction::max_gradient) {
    const bool is_double = step.type == DataType::FLOAT64;
    const auto bytes = static_cast<u32>(element_size(step.type));
    constants_.outputs = outputs;
    constants_.index_bytes = step.index_type != DataType::unknown ? static_cast<u32>(element_size(step.index_type)) : 0;
    f64 window_size = 1;
    operations_ = kOperations * visited_of(step);
    add_steps(step_.batch);
    add_steps(step_.channel);
    for (u32 i = 0; i < step_.rank; ++i) {
      const PoolAxis& axis = step_.axes[i];
      add_steps(axis);
      window_size *= static_cast<f64>(axis.window);
      if (std::max({axis.input + axis.padding, axis.stride, axis.window, (axis.window - 1) * axis.dilation}) >=
          kMaxSide) {
        constants_.is_far = 1;
      }
    }
    constants_.window_size = is_double ? to_bits(window_size) : to_bits(static_cast<f32>(window_size));
    const GpuProperties& gpu = kernels.gpu();
    const u32 of_sums[] = {bytes, static_cast<u32>(step.function)};
    const u32 of_maxima[] = {bytes, static_cast<u32>(kind_of(step.type))};
    kernel_ = is_gradient_ ? kernels.find(spirv::linked_kernel("max_gradient", k_max_gradient, gpu), {&bytes, 1})
              : step.function == PoolFunction::max
                  ? kernels.find({.key = "pool_maxima", .words = k_pool_maxima, .make = {}}, of_maxima)
              : is_double ? kernels.find(spirv::linked_kernel("pool_sums_double", k_pool_sums_double, gpu), of_sums)
                          : kernels.find(spirv::linked_kernel("pool_sums", k_pool_sums, gpu), of_sums);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&step_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand >= (is_gradient_ ? 2U : 1U)};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const std::size_t bytes = element_size(step_.type);
    WindowConstants constants = constants_;
    // The gradient's elements have the strides of the pooling's output.
    constants.input_is_aligned = is_gradient_ ? is_aligned(output_steps_ | recorder.low_bits(1), bytes)
                                              : is_aligned(input_steps_ | recorder.low_bits(0), bytes);
    constants.output_is_aligned = is_gradient_ ? is_aligned(input_steps_ | recorder.low_bits(2), bytes)
                                               : is_aligned(output_steps_ | recorder.low_bits(1), bytes);
    if (!is_gradient_ && constants.index_bytes != 0) {
      constants.indices_are_aligned = is_aligned(index_steps_ | recorder.low_bits(2), constants.index_bytes);
    }
    if (constants.outputs != 0) {
      recorder.dispatch(*kernel_, groups_of(constants.outputs), std::as_bytes(std::span(&constants, 1)),
                        kThreads * operations_);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s", is_gradient_ ? "gradient of the maximum, by indices" : "windows");
  }

 private:
  void add_steps(const PoolAxis& axis) {
    input_steps_ |= static_cast<u64>(axis.input_step);
    output_steps_ |= static_cast<u64>(axis.output_step);
    index_steps_ |= static_cast<u64>(axis.index_step);
  }

  PoolStep step_;
  bool is_gradient_;
  WindowConstants constants_{};
  u64 operations_ = 0;   // of a thread, roughly
  u64 input_steps_ = 0;  // the OR of the strides
  u64 output_steps_ = 0;
  u64 index_steps_ = 0;
  KernelRef kernel_;
};

class UnpoolRun final : public PreparedStep {
 public:
  UnpoolRun(const UnpoolStep& step, Kernels& kernels) : step_(step) {
    const auto add = [](u64& all, i64 size, i64 stride) { all |= size > 1 ? static_cast<u64>(stride) : 0; };
    for (u32 i = 0; i < step.input_rank; ++i) {
      add(input_steps_, step.input_sizes[i], step.input_steps[i]);
      add(index_steps_, step.input_sizes[i], step.index_steps[i]);
    }
    for (u32 i = 0; i < step.output_rank; ++i) {
      add(output_steps_, step.output_sizes[i], step.output_steps[i]);
    }
    for (u32 pass = 0; pass < 3; ++pass) {
      const u32 constants[] = {pass, static_cast<u32>(element_size(step.type)),
                               static_cast<u32>(element_size(step.index_type))};
      passes_[pass] = kernels.find({.key = "unpool", .words = k_unpool, .make = {}}, constants);
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return static_cast<u64>(step_.outputs) * sizeof(u32);
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&step_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    if (operand == 3) {
      return {.begin = 0, .end = 0, .is_written = false};  // the marks, which are for the CPU
    }
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 2};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {passes_, passes_ + 3}; }
  void record(Recorder& recorder) const override {
    const auto dispatch = [&](u32 pass, i64 count) {
      const UnpoolConstants constants{
          .count = static_cast<u32>(count),
          .input_is_aligned = is_aligned(input_steps_ | recorder.low_bits(0), element_size(step_.type)),
          .output_is_aligned = is_aligned(output_steps_ | recorder.low_bits(2), element_size(step_.type)),
          .indices_are_aligned = is_aligned(index_steps_ | recorder.low_bits(1), element_size(step_.index_type))};
      if (count != 0) {
        recorder.dispatch(*passes_[pass], groups_of(constants.count), std::as_bytes(std::span(&constants, 1)),
                          kThreads * kOperations * 4);
        recorder.barrier();
      }
    };
    dispatch(0, step_.outputs);
    dispatch(1, step_.inputs);
    dispatch(2, step_.outputs);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "scattered by indices");
  }

 private:
  UnpoolStep step_;
  u64 input_steps_ = 0;
  u64 output_steps_ = 0;
  u64 index_steps_ = 0;
  KernelRef passes_[3];
};

constexpr const char* kTooMany = "the Vulkan kernels for pooling have tensors of at most 4,294,967,038 elements";

}  // namespace

extern const FamilyKernels pool_family;
const FamilyKernels pool_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      PoolFunction function{};
      std::memcpy(&function, flat.parameters.data(), sizeof(function));
      if (function == PoolFunction::unpool) {
        UnpoolStep step;
        std::memcpy(&step, flat.parameters.data(), sizeof(step));
        if (std::max(step.inputs, step.outputs) > kMaxOutputs) {
          *why = kTooMany;
          return nullptr;
        }
        return std::make_unique<UnpoolRun>(step, kernels);
      }
      PoolStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      // Each output is a separate element in memory, so the product fits in 63 bits.
      i64 outputs = step.batch.output * step.channel.output;
      for (u32 i = 0; i < step.rank; ++i) {
        outputs *= function == PoolFunction::max_gradient ? step.axes[i].input : step.axes[i].output;
      }
      if (outputs > kMaxOutputs) {
        *why = kTooMany;
        return nullptr;
      }
      if (iterations_of(step) > kernels.gpu().max_iterations) {
        *why = "a window has so many elements that this software driver would end the loops over them too early";
        return nullptr;
      }
      return std::make_unique<WindowRun>(step, static_cast<u32>(outputs), kernels);
    },
};

}  // namespace anydml::vulkan
