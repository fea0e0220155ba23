// SPDX-License-Identifier: MIT
// Runs softmax, log softmax and hardmax on a device with Vulkan, and the other steps of the family (moments.h).
#include <cstdio>
#include <cstring>
#include <vector>

#include "backend/vulkan/axis_loops.h"
#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/normalize/step.h"
#include "ops/normalize/vulkan/moments.h"
#include "ops/scalar/fold_order.h"
#include "shaders/hardmax.h"
#include "shaders/log_softmax.h"
#include "shaders/softmax.h"

namespace anydml::vulkan {
namespace {

// As in rows.glsl.
enum class Pass : u32 { whole, extremes, rows, sums, totals, results };
struct RowConstants {
  u32 units;
  u32 blocks;
  u32 input_is_aligned;
  u32 output_is_aligned;
};
constexpr u64 kBlockResults = 16;  // bytes of the workspace for each block and each row

class NormalizeRun final : public PreparedStep {
 public:
  NormalizeRun(const NormalizeStep& step, Kernels& kernels)
      : loops_(device_loops(step.loops)),
        bytes_(static_cast<u32>(element_size(step.type))),
        blocks_(static_cast<u32>(ceil_div(step.loops.count, kReduceBlock))),
        input_steps_(steps_of(step.loops, &AxisLoop::input)),
        output_steps_(steps_of(step.loops, &AxisLoop::output)),
        // Roughly, for an exponential, which is much longer in integers.
        operations_(step.function == NormalizeFunction::hardmax ? 64
                    : kernels.gpu().has_float64                 ? 512
                                                                : 16384) {
    const u32 team = team_of(step.loops.has_lanes != 0, step.loops.count);
    const bool is_hardmax = step.function == NormalizeFunction::hardmax;
    if (blocks_ == 1) {
      add(step.function, Pass::whole, team, kernels);
      return;
    }
    add(step.function, Pass::extremes, team, kernels);
    add(step.function, Pass::rows, team_of(true, blocks_), kernels);
    if (!is_hardmax) {
      add(step.function, Pass::sums, team, kernels);
      add(step.function, Pass::totals, 1, kernels);
    }
    add(step.function, Pass::results, team, kernels);
  }

  // The number of threads that the largest pass has.
  [[nodiscard]] static u64 threads_of(const NormalizeStep& step) {
    return static_cast<u64>(step.loops.outputs) * static_cast<u64>(ceil_div(step.loops.count, kReduceBlock)) *
           team_of(step.loops.has_lanes != 0, step.loops.count);
  }

  // The iterations of the longest thread.
  [[nodiscard]] static u64 iterations_of_thread(const NormalizeStep& step, const GpuProperties& gpu) {
    constexpr u64 kVisits = 3;  // of each element
    const AxisLoops& loops = step.loops;
    const i64 block = std::min(loops.count, kReduceBlock);
    const u64 elements = static_cast<u64>(ceil_div(block, i64{team_of(loops.has_lanes != 0, loops.count)}));
    const u64 blocks = static_cast<u64>(ceil_div(loops.count, kReduceBlock));
    const u64 operations = step.function == NormalizeFunction::hardmax ? 1 : 32;  // an exponential has about 30
    return std::max(iterations_of(gpu, elements * kVisits, loops.reduced_rank, operations),
                    iterations_of(gpu, blocks, 2, 1));
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return blocks_ == 1 ? 0 : u64{loops_.outputs} * (u64{blocks_} + 1) * kBlockResults;
  }
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&loops_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    std::vector<KernelRef> all;
    for (const Dispatch& pass : passes_) {
      all.push_back(pass.kernel);
    }
    return all;
  }
  void record(Recorder& recorder) const override {
    RowConstants constants{.units = 0,
                           .blocks = blocks_,
                           .input_is_aligned = (input_steps_ | recorder.low_bits(0)) % bytes_ == 0 ? 1U : 0U,
                           .output_is_aligned = (output_steps_ | recorder.low_bits(1)) % bytes_ == 0 ? 1U : 0U};
    for (const Dispatch& pass : passes_) {
      const bool is_of_rows = pass.pass == Pass::rows || pass.pass == Pass::totals;
      constants.units = loops_.outputs * (is_of_rows ? 1 : blocks_);
      if (constants.units == 0) {
        return;
      }
      const u64 elements = is_of_rows ? blocks_ : std::min<u64>(loops_.count, kReduceBlock);
      const u32 teams = kRowThreads / pass.team;
      recorder.dispatch(*pass.kernel, groups_of(constants.units, teams), std::as_bytes(std::span(&constants, 1)),
                        teams * elements * operations_);
      recorder.barrier();
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows of %u block%s", blocks_, blocks_ == 1 ? "" : "s");
  }

 private:
  struct Dispatch {
    Pass pass;
    u32 team;
    KernelRef kernel;
  };

  void add(NormalizeFunction function, Pass pass, u32 team, Kernels& kernels) {
    const u32 constants[] = {team, bytes_, static_cast<u32>(pass)};
    const GpuProperties& gpu = kernels.gpu();
    const KernelCode code = function == NormalizeFunction::softmax ? spirv::linked_kernel("softmax", k_softmax, gpu)
                            : function == NormalizeFunction::log_softmax
                                ? spirv::linked_kernel("log_softmax", k_log_softmax, gpu)
                                : spirv::linked_kernel("hardmax", k_hardmax, gpu);
    passes_.push_back({.pass = pass, .team = team, .kernel = kernels.find(code, constants)});
  }

  DeviceAxisLoops loops_;
  u32 bytes_;
  u32 blocks_;
  u64 input_steps_;
  u64 output_steps_;
  u64 operations_;
  std::vector<Dispatch> passes_;
};

}  // namespace

extern const FamilyKernels normalize_family;
const FamilyKernels normalize_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      const NormalizeFunction function = function_of(flat.parameters);
      if (function == NormalizeFunction::moments) {
        return prepare_moments(flat, kernels, why);
      }
      if (has_windows(function)) {
        return prepare_window_sums(flat, kernels, why);
      }
      if (function == NormalizeFunction::row_gradients) {
        *why = "the Vulkan backend sums gradients by reductions";
        return nullptr;
      }
      NormalizeStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.loops.count > kMaxThreads || step.loops.outputs > kMaxThreads ||
          NormalizeRun::threads_of(step) > kMaxThreads) {
        *why = kTooManyThreads;
        return nullptr;
      }
      if (NormalizeRun::iterations_of_thread(step, kernels.gpu()) > kernels.gpu().max_iterations) {
        *why = kTooManyIterations;
        return nullptr;
      }
      return std::make_unique<NormalizeRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
