// SPDX-License-Identifier: MIT
// Runs reductions on a device with Vulkan. FLOAT32 and FLOAT16 are computed with integers, which are exact on every
// device.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "backend/vulkan/family.h"
#include "ops/reduce/scalar/folds.h"
#include "ops/reduce/step.h"
#include "shaders/fold_blocks.h"
#include "shaders/fold_columns.h"
#include "shaders/fold_lanes.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint32_t kThreads = 64;
constexpr std::uint64_t kOperations = 64;  // for each element, roughly
constexpr std::uint64_t kMaxUnits = (std::uint64_t{1} << 32) - kThreads;

// The layouts and constants in fold.glsl.
struct LoopParameters {
  std::uint32_t size;
  std::uint32_t unused;
  std::int64_t from;
  std::int64_t to;
};
struct FoldParameters {
  std::int64_t input_offset;
  std::int64_t output_offset;
  std::uint32_t outputs;
  std::uint32_t count;
  std::uint32_t blocks;
  std::uint32_t kept_rank;
  std::uint32_t reduced_rank;
  std::uint32_t unused;
  LoopParameters kept[kMaxRank];
  LoopParameters reduced[kMaxRank];
};
struct FoldConstants {
  std::uint32_t units;
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

struct KernelName {
  const char* key;
  std::span<const std::uint32_t> words;
};
KernelName kernel_of(const ReduceStep& step) {
  if (step.phase == ReducePhase::combine) {
    return {"fold_blocks", k_fold_blocks};
  }
  return step.has_lanes != 0 ? KernelName{"fold_lanes", k_fold_lanes} : KernelName{"fold_columns", k_fold_columns};
}

class ReduceRun final : public PreparedStep {
 public:
  ReduceRun(const ReduceStep& step, Kernels& kernels)
      : combines_(step.phase == ReducePhase::combine), has_lanes_(step.has_lanes != 0) {
    parameters_.input_offset = step.input_offset;
    parameters_.output_offset = step.output_offset;
    parameters_.outputs = static_cast<u32>(step.outputs);
    parameters_.count = static_cast<u32>(step.count);
    parameters_.blocks = static_cast<u32>(step.blocks());
    parameters_.kept_rank = step.kept_rank;
    parameters_.reduced_rank = step.reduced_rank;
    const auto bytes = static_cast<u32>(element_size(step.input_type));
    const auto output_bytes = static_cast<u32>(element_size(step.output_type));
    input_steps_ = static_cast<u64>(step.input_offset);
    output_steps_ = static_cast<u64>(step.output_offset);
    input_mask_ = bytes - 1;
    output_mask_ = output_bytes - 1;
    const auto add = [&](const ReduceLoop* from, u32 rank, LoopParameters* to, bool is_kept) {
      for (u32 i = 0; i < rank; ++i) {
        to[i] = {.size = static_cast<u32>(from[i].size), .unused = 0, .from = from[i].input, .to = from[i].output};
        input_steps_ |= static_cast<u64>(from[i].input);
        output_steps_ |= is_kept ? static_cast<u64>(from[i].output) : 0;
      }
    };
    add(step.kept, step.kept_rank, parameters_.kept, true);
    add(step.reduced, step.reduced_rank, parameters_.reduced, false);
    const u32 constants[] = {static_cast<u32>(fold_of(step.function)),
                             static_cast<u32>(finish_of(step.function)),
                             static_cast<u32>(kind_of(step.input_type)),
                             bytes,
                             output_bytes,
                             step.phase == ReducePhase::blocks ? 1U : 0U,
                             step.takes_last};
    const KernelName name = kernel_of(step);
    kernel_ = kernels.find({.key = name.key, .words = name.words, .make = {}}, constants);
  }

  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&parameters_, 1));
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    return {.begin = INT64_MIN, .end = INT64_MAX, .is_written = operand == 1};
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const u32 units = combines_ ? parameters_.outputs : parameters_.outputs * parameters_.blocks;
    const FoldConstants constants{
        .units = units,
        .input_is_aligned = ((input_steps_ | recorder.low_bits(0)) & input_mask_) == 0 ? 1U : 0U,
        .output_is_aligned = ((output_steps_ | recorder.low_bits(1)) & output_mask_) == 0 ? 1U : 0U};
    const u64 elements = combines_ ? u64{kThreads} * parameters_.blocks
                                   : std::min<u64>(parameters_.count, kReduceBlock) * (has_lanes_ ? 1 : kThreads);
    const u32 groups = !combines_ && has_lanes_ ? units : (units + kThreads - 1) / kThreads;
    if (units != 0) {
      recorder.dispatch(*kernel_, groups, std::as_bytes(std::span(&constants, 1)), elements * kOperations);
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%s", combines_ ? "blocks" : has_lanes_ ? "lanes" : "columns");
  }

 private:
  FoldParameters parameters_{};
  bool combines_;
  bool has_lanes_;
  // The OR of the offset and the strides: elements are aligned if no bit of the mask is set, in the address either.
  u64 input_steps_ = 0;
  u64 output_steps_ = 0;
  u64 input_mask_ = 0;
  u64 output_mask_ = 0;
  KernelRef kernel_;
};

}  // namespace

extern const FamilyKernels reduce_family;
const FamilyKernels reduce_family = {
    .lacks = [](const GpuProperties&, const AskedOperator& op) -> const char* {
      const bool is_reduce = op.name == "REDUCE";
      if (!is_reduce && op.name != "ARGMIN" && op.name != "ARGMAX") {
        return nullptr;  // it consists of other operators
      }
      return is_reduce && std::ranges::find(op.types, DataType::FLOAT64) != op.types.end()
                 ? "its Vulkan kernels for reductions have no FLOAT64"
                 : nullptr;
    },
    .prepare = [](const Step& flat, Kernels& kernels, const char** why) -> std::unique_ptr<PreparedStep> {
      ReduceStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      const FoldId fold = fold_of(step.function);
      if (step.input_type == DataType::FLOAT64 && (is_sum(fold) || is_product(fold))) {
        *why = "the Vulkan kernels for sums and products have no FLOAT64";
        return nullptr;
      }
      if (static_cast<u64>(step.count) > kMaxUnits || static_cast<u64>(step.outputs) > kMaxUnits ||
          static_cast<u64>(step.outputs) * static_cast<u64>(step.blocks()) > kMaxUnits) {
        *why = "the Vulkan kernels for reductions have at most 4,294,967,232 elements in a reduction, or blocks";
        return nullptr;
      }
      return std::make_unique<ReduceRun>(step, kernels);
    },
};

}  // namespace anydml::vulkan
