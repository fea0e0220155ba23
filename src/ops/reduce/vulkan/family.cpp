// SPDX-License-Identifier: MIT
// Runs reductions on a device with Vulkan. Integers, extremes and exact sums of FLOAT16 are computed with integers,
// other floats with the device's primitives.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/axis_loops.h"
#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "ops/reduce/scalar/folds.h"
#include "ops/reduce/step.h"
#include "shaders/fold_blocks.h"
#include "shaders/fold_blocks_of_doubles.h"
#include "shaders/fold_blocks_of_floats.h"
#include "shaders/fold_columns.h"
#include "shaders/fold_columns_of_doubles.h"
#include "shaders/fold_columns_of_floats.h"
#include "shaders/fold_lanes.h"
#include "shaders/fold_lanes_of_doubles.h"
#include "shaders/fold_lanes_of_floats.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint32_t kThreads = 64;
constexpr std::uint64_t kOperations = 64;  // for each element, roughly
constexpr std::uint64_t kMaxUnits = (std::uint64_t{1} << 32) - kThreads;

// The constants in fold.glsl. The parameters are the loops.
struct FoldConstants {
  std::uint32_t units;
  std::uint32_t blocks;
  std::uint32_t input_is_aligned;
  std::uint32_t output_is_aligned;
};
static_assert(static_cast<u32>(FoldId::sum) == 0 && static_cast<u32>(FoldId::absolute_sum) == 1 &&
              static_cast<u32>(FoldId::square_sum) == 2 && static_cast<u32>(FoldId::product) == 3 &&
              static_cast<u32>(FoldId::max) == 4 && static_cast<u32>(FoldId::min) == 5 &&
              static_cast<u32>(FoldId::argmax) == 6 && static_cast<u32>(FoldId::argmin) == 7);

enum class Finish : std::uint32_t { nothing, average, square_root };
enum class Kind : std::uint32_t { unsigned_integer, signed_integer, floating };

Kind kind_of(DataType type) {
  return visit_type(type, []<class T>() {
    return is_float<T> ? Kind::floating : std::is_signed_v<T> ? Kind::signed_integer : Kind::unsigned_integer;
  });
}

Finish finish_of(ReduceFunction function) {
  return function == ReduceFunction::AVERAGE ? Finish::average
         : function == ReduceFunction::L2    ? Finish::square_root
                                             : Finish::nothing;
}

// Whether a result depends on the order of its elements, which are then floats.
bool is_ordered(const ReduceStep& step) {
  const FoldId fold = fold_of(step.function);
  return is_product(fold) ? is_float_type(step.input_type)
                          : is_sum(fold) && is_float_type(step.input_type) && step.input_type != DataType::FLOAT16;
}

struct FoldKernel {
  const char* key;
  std::span<const std::uint32_t> words;
};
#define ANYDML_FOLD_KERNEL(name) \
  FoldKernel { #name, k_##name }
FoldKernel kernel_of(const ReduceStep& step) {
  // Of integers, floats and doubles.
  static constexpr FoldKernel kBlocks[] = {ANYDML_FOLD_KERNEL(fold_blocks), ANYDML_FOLD_KERNEL(fold_blocks_of_floats),
                                           ANYDML_FOLD_KERNEL(fold_blocks_of_doubles)};
  static constexpr FoldKernel kLanes[] = {ANYDML_FOLD_KERNEL(fold_lanes), ANYDML_FOLD_KERNEL(fold_lanes_of_floats),
                                          ANYDML_FOLD_KERNEL(fold_lanes_of_doubles)};
  static constexpr FoldKernel kColumns[] = {ANYDML_FOLD_KERNEL(fold_columns),
                                            ANYDML_FOLD_KERNEL(fold_columns_of_floats),
                                            ANYDML_FOLD_KERNEL(fold_columns_of_doubles)};
  const std::size_t numbers = !is_ordered(step) ? 0 : step.input_type == DataType::FLOAT64 ? 2 : 1;
  return (step.phase == ReducePhase::combine ? kBlocks : step.has_lanes != 0 ? kLanes : kColumns)[numbers];
}
#undef ANYDML_FOLD_KERNEL

AxisLoops loops_of(const ReduceStep& step) {
  AxisLoops loops{};
  loops.kept_rank = step.kept_rank;
  loops.reduced_rank = step.reduced_rank;
  loops.input_offset = step.input_offset;
  loops.output_offset = step.output_offset;
  loops.outputs = step.outputs;
  loops.count = step.count;
  std::copy_n(step.kept, step.kept_rank, loops.kept);
  for (u32 i = 0; i < step.reduced_rank; ++i) {
    loops.reduced[i] = {.size = step.reduced[i].size, .input = step.reduced[i].input, .output = 0};
  }
  return loops;
}

class ReduceRun final : public PreparedStep {
 public:
  ReduceRun(const ReduceStep& step, Kernels& kernels)
      : loops_(device_loops(loops_of(step))),
        blocks_(static_cast<u32>(step.blocks())),
        combines_(step.phase == ReducePhase::combine),
        has_lanes_(step.has_lanes != 0),
        input_steps_(steps_of(loops_of(step), &AxisLoop::input)),
        output_steps_(steps_of(loops_of(step), &AxisLoop::output)),
        input_bytes_(static_cast<u32>(element_size(step.input_type))),
        output_bytes_(static_cast<u32>(element_size(step.output_type))) {
    const u32 constants[] = {static_cast<u32>(fold_of(step.function)),
                             static_cast<u32>(finish_of(step.function)),
                             static_cast<u32>(kind_of(step.input_type)),
                             input_bytes_,
                             output_bytes_,
                             step.phase == ReducePhase::blocks ? 1U : 0U,
                             step.takes_last};
    const FoldKernel fold = kernel_of(step);
    const KernelCode code = is_ordered(step) ? spirv::linked_kernel(fold.key, fold.words, kernels.gpu())
                                             : KernelCode{.key = fold.key, .words = fold.words, .make = {}};
    kernel_ = kernels.find(code, constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&loops_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const u32 units = combines_ ? loops_.outputs : loops_.outputs * blocks_;
    const FoldConstants constants{
        .units = units,
        .blocks = blocks_,
        .input_is_aligned = (input_steps_ | recorder.low_bits(0)) % input_bytes_ == 0 ? 1U : 0U,
        .output_is_aligned = (output_steps_ | recorder.low_bits(1)) % output_bytes_ == 0 ? 1U : 0U};
    const u64 elements =
        combines_ ? u64{kThreads} * blocks_ : std::min<u64>(loops_.count, kReduceBlock) * (has_lanes_ ? 1 : kThreads);
    const u32 groups = !combines_ && has_lanes_ ? units : (units + kThreads - 1) / kThreads;
    if (units != 0) {
      recorder.dispatch(*kernel_, groups, std::as_bytes(std::span(&constants, 1)), elements * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s", combines_ ? "blocks" : has_lanes_ ? "lanes" : "columns");
  }

 private:
  DeviceAxisLoops loops_;
  u32 blocks_;
  bool combines_;
  bool has_lanes_;
  u64 input_steps_;
  u64 output_steps_;
  u32 input_bytes_;
  u32 output_bytes_;
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels reduce_family;
const FamilyKernels reduce_family = {
    .lacks = [](const GpuProperties&, const AskedOperator&) -> const char* { return nullptr; },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      ReduceStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (static_cast<u64>(step.count) > kMaxUnits || static_cast<u64>(step.outputs) > kMaxUnits ||
          static_cast<u64>(step.outputs) * static_cast<u64>(step.blocks()) > kMaxUnits) {
        *why = "the Vulkan kernels for reductions have at most 4,294,967,232 elements in a reduction, or blocks";
        return nullptr;
      }
      const bool combines = step.phase == ReducePhase::combine;
      const i64 elements = combines              ? 2 * step.blocks()
                           : step.has_lanes != 0 ? kReduceBlock / kReduceLanes
                                                 : std::min(step.count, kReduceBlock);
      if (iterations_of(kernels.gpu(), static_cast<u64>(elements), combines ? 1 : step.reduced_rank,
                        is_ordered(step) ? 2 : 0) > kernels.gpu().max_iterations) {
        *why = kTooManyIterations;
        return nullptr;
      }
      return std::make_unique<ReduceRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
