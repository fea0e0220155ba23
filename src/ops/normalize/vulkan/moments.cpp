// SPDX-License-Identifier: MIT
#include "ops/normalize/vulkan/moments.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "backend/vulkan/axis_loops.h"
#include "backend/vulkan/spirv/functions.h"
#include "base/float_bits.h"
#include "ops/normalize/step.h"
#include "ops/scalar/fold_order.h"
#include "shaders/moments.h"
#include "shaders/windows.h"

namespace anydml::vulkan {
namespace {

constexpr u64 kOperations = 64;  // for each element and pass, roughly

// The constants in moments.comp. The parameters are the loops of the rows and of the scale and bias.
struct MomentConstants {
  u32 units;
  u32 blocks;
  u32 divisor;
  u32 epsilon;
  u32 input_is_aligned;
  u32 affine_is_aligned;
  u32 output_is_aligned;
};
enum MomentOperand : std::size_t { kInput, kScale, kBias, kOutput };
enum class MomentPass : u32 { whole, sums, means, squares, roots, results };

class MomentRun final : public PreparedStep {
 public:
  MomentRun(const MomentStep& step, bool has_scale, bool has_bias, Kernels& kernels)
      : loops_{device_loops(step.loops), device_loops(step.affine)},
        bytes_(static_cast<u32>(element_size(step.type))),
        blocks_(static_cast<u32>(ceil_div(step.loops.count, kReduceBlock))),
        team_(team_of(step.loops.has_lanes != 0, step.loops.count)),
        is_present_{true, has_scale, has_bias, true},
        steps_{steps_of(step.loops, &AxisLoop::input), steps_of(step.affine, &AxisLoop::input),
               steps_of(step.affine, &AxisLoop::output), steps_of(step.loops, &AxisLoop::output)},
        divisor_(to_bits(static_cast<f32>(step.loops.count))),
        epsilon_(to_bits(step.epsilon)) {
    const auto* const reduced = step.affine.reduced;
    const bool scale_varies = has_scale && std::any_of(reduced, reduced + step.affine.reduced_rank,
                                                       [](const AxisLoop& loop) { return loop.input != 0; });
    const auto add = [&](MomentPass pass) {
      const bool is_of_rows = pass == MomentPass::means || pass == MomentPass::roots;
      const u32 team = is_of_rows ? 1 : team_;
      const u32 constants[] = {team,
                               bytes_,
                               step.uses_mean,
                               step.uses_variance,
                               has_scale ? 1U : 0U,
                               has_bias ? 1U : 0U,
                               scale_varies ? 1U : 0U,
                               static_cast<u32>(pass)};
      passes_.push_back({.is_of_rows = is_of_rows,
                         .team = team,
                         .kernel = kernels.find(spirv::linked_kernel("moments", k_moments, kernels.gpu()), constants)});
    };
    if (blocks_ == 1) {
      add(MomentPass::whole);
      return;
    }
    if (step.uses_mean != 0) {
      add(MomentPass::sums);
      add(MomentPass::means);
    }
    if (step.uses_variance != 0) {
      add(MomentPass::squares);
      add(MomentPass::roots);
    }
    add(MomentPass::results);
  }

  // The number of threads that the largest pass has.
  [[nodiscard]] static u64 threads_of(const MomentStep& step) {
    return static_cast<u64>(step.loops.outputs) * static_cast<u64>(ceil_div(step.loops.count, kReduceBlock)) *
           team_of(step.loops.has_lanes != 0, step.loops.count);
  }

  // The iterations of the longest thread.
  [[nodiscard]] static u64 iterations_of_thread(const MomentStep& step, const GpuProperties& gpu) {
    const AxisLoops& loops = step.loops;
    const i64 block = std::min(loops.count, kReduceBlock);
    const u64 elements = static_cast<u64>(ceil_div(block, i64{team_of(loops.has_lanes != 0, loops.count)}));
    const u64 blocks = static_cast<u64>(ceil_div(loops.count, kReduceBlock));
    const u64 visits = blocks == 1 ? 3 : 1;  // of each element
    return std::max(iterations_of(gpu, visits * elements, loops.reduced_rank + step.affine.reduced_rank, 3),
                    iterations_of(gpu, blocks, 2, 1));
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    constexpr u64 kSumBytes = 4;  // for each block
    constexpr u64 kRowBytes = 8;
    return blocks_ == 1 ? 0 : u64{loops_[0].outputs} * (u64{blocks_} * kSumBytes + kRowBytes);
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(loops_));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == kOutput};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    for (const Dispatch& pass : passes_) {
      all.push_back(pass.kernel);
    }
    return all;
  }
  void record(Recorder& recorder) const override {
    const auto is_aligned = [&](std::size_t operand) {
      return !is_present_[operand] || (steps_[operand] | recorder.low_bits(operand)) % bytes_ == 0;
    };
    MomentConstants constants{.units = 0,
                              .blocks = blocks_,
                              .divisor = divisor_,
                              .epsilon = epsilon_,
                              .input_is_aligned = is_aligned(kInput) ? 1U : 0U,
                              .affine_is_aligned = is_aligned(kScale) && is_aligned(kBias) ? 1U : 0U,
                              .output_is_aligned = is_aligned(kOutput) ? 1U : 0U};
    for (const Dispatch& pass : passes_) {
      constants.units = loops_[0].outputs * (pass.is_of_rows ? 1 : blocks_);
      if (constants.units == 0) {
        return;
      }
      const u64 elements = pass.is_of_rows ? blocks_ : std::min<u64>(loops_[0].count, kReduceBlock);
      const u32 teams = kRowThreads / pass.team;
      recorder.dispatch(*pass.kernel, groups_of(constants.units, teams), std::as_bytes(std::span(&constants, 1)),
                        teams * elements * kOperations * (blocks_ == 1 ? 3 : 1));
      recorder.barrier();
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "mean and variance of rows of %u block%s, %u thread%s each", blocks_,
                  blocks_ == 1 ? "" : "s", team_, team_ == 1 ? "" : "s");
  }

 private:
  struct Dispatch {
    bool is_of_rows;
    u32 team;
    KernelRef kernel;
  };

  DeviceAxisLoops loops_[2];
  u32 bytes_;
  u32 blocks_;
  u32 team_;
  bool is_present_[4];
  u64 steps_[4];
  u32 divisor_;
  u32 epsilon_;
  std::vector<Dispatch> passes_;
};

// The parameters and constants in windows.comp.
struct DimensionParameters {
  u32 size;
  u32 is_windowed;
  i64 stride;
};
struct WindowParameters {
  u32 count;
  u32 rank;
  u32 before;
  u32 after;
  DimensionParameters dimensions[kMaxRank];
};
struct WindowConstants {
  u32 input_is_aligned;
  u32 output_is_aligned;
};

class WindowRun final : public PreparedStep {
 public:
  WindowRun(const WindowStep& step, u32 count, u64 additions, Kernels& kernels)
      : bytes_(static_cast<u32>(element_size(step.type))),
        squares_(step.function == NormalizeFunction::window_squares),
        additions_(additions) {
    const i64 longest = *std::max_element(step.sizes, step.sizes + step.rank);
    parameters_.count = count;
    parameters_.rank = step.rank;
    parameters_.before = static_cast<u32>(std::min(step.before, longest));
    parameters_.after = static_cast<u32>(std::min(step.after, longest));
    for (u32 i = 0; i < step.rank; ++i) {
      const bool is_windowed = (step.windowed >> i & 1) != 0;
      parameters_.dimensions[i] = {
          .size = static_cast<u32>(step.sizes[i]), .is_windowed = is_windowed ? 1U : 0U, .stride = step.strides[i]};
      steps_ |= static_cast<u64>(step.strides[i]);
    }
    const u32 constants[] = {bytes_, squares_ ? 1U : 0U};
    kernel_ = kernels.find(spirv::linked_kernel("windows", k_windows, kernels.gpu()), constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const WindowConstants constants{.input_is_aligned = (steps_ | recorder.low_bits(0)) % bytes_ == 0 ? 1U : 0U,
                                    .output_is_aligned = recorder.low_bits(1) % sizeof(f32) == 0 ? 1U : 0U};
    if (parameters_.count != 0) {
      recorder.dispatch(*kernel_, groups_of(parameters_.count, kRowThreads), std::as_bytes(std::span(&constants, 1)),
                        kRowThreads * additions_ * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s", squares_ ? "sums of squares of windows" : "sums of windows");
  }

 private:
  WindowParameters parameters_{};
  u32 bytes_;
  bool squares_;
  u64 additions_;  // for each sum
  u64 steps_ = 0;
  KernelRef kernel_;
};

}  // namespace

std::unique_ptr<PreparedStep> prepare_moments(const Step& flat, Kernels& kernels, const char** why) {
  MomentStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  if (step.gives_moments != 0) {
    *why = "the Vulkan backend computes mean and variance alone by reductions";
    return nullptr;
  }
  if (step.loops.count > kMaxThreads || step.loops.outputs > kMaxThreads || MomentRun::threads_of(step) > kMaxThreads) {
    *why = kTooManyThreads;
    return nullptr;
  }
  if (MomentRun::iterations_of_thread(step, kernels.gpu()) > kernels.gpu().max_iterations) {
    *why = kTooManyIterations;
    return nullptr;
  }
  return std::make_unique<MomentRun>(step, has_address(flat.operands[kScale].slot),
                                     has_address(flat.operands[kBias].slot), kernels);
}

std::unique_ptr<PreparedStep> prepare_window_sums(const Step& flat, Kernels& kernels, const char** why) {
  WindowStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  i64 count = 1;
  u64 additions = 1;
  for (u32 i = 0; i < step.rank; ++i) {
    count *= step.sizes[i];
    const i64 window = (step.windowed >> i & 1) != 0 ? std::min(step.sizes[i], step.before + 1 + step.after) : 1;
    additions *= static_cast<u64>(window);
  }
  if (count > kMaxThreads) {
    *why = kTooManyThreads;
    return nullptr;
  }
  if (iterations_of(kernels.gpu(), additions, step.rank + 1, 3) > kernels.gpu().max_iterations) {
    *why = "windows are so large that this software driver would end the loops over their elements too early";
    return nullptr;
  }
  return std::make_unique<WindowRun>(step, static_cast<u32>(count), additions, kernels);
}

}  // namespace anydml::vulkan
