// SPDX-License-Identifier: MIT
// Prepares attention steps. The core consists of two products and a step between them. The products of attention that
// hides keys are steps of this family; others are GEMM.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "backend/vulkan/family.h"
#include "backend/vulkan/spirv/functions.h"
#include "backend/vulkan/spirv/primitives.h"
#include "base/integers.h"
#include "ops/attention/step.h"
#include "shaders/add_blocks.h"
#include "shaders/append.h"
#include "shaders/rows.h"
#include "shaders/scores.h"
#include "shaders/weigh.h"

namespace anydml::vulkan {
namespace {

// step.glsl reads the step as it is.
static_assert(sizeof(AttentionStep) == 328 && offsetof(AttentionStep, batches) == 40 &&
              offsetof(AttentionStep, q) == 128 && offsetof(AttentionStep, length_stride) == 320);
static_assert(static_cast<std::uint32_t>(DataType::INT32) == 6 && static_cast<std::uint32_t>(DataType::FLOAT16) == 2);

constexpr std::int64_t kMaxGroups = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kBlock = 256;  // the keys of a chain of sums
// The numbers of the shaders.
constexpr std::int64_t kThreads = 128;        // of scores.comp, weigh.comp and add_blocks.comp
constexpr std::int64_t kAppendThreads = 256;  // of append.comp
constexpr std::uint32_t kTeam = 64;           // threads for a row, in groups of 256 threads
constexpr std::int64_t kRowsOfGroup = 4;
constexpr std::uint32_t kFewPairs = 4;  // queries that a group multiplies together
constexpr std::uint32_t kManyPairs = 16;

constexpr const char* kTooMany = "the Vulkan backend computes attention with up to 4,294,967,295 groups of threads";

std::uint64_t all_strides(const HeadStrides& strides) {
  return static_cast<std::uint64_t>(strides.batch) | static_cast<std::uint64_t>(strides.head) |
         static_cast<std::uint64_t>(strides.row) | static_cast<std::uint64_t>(strides.column);
}

class AttentionRun : public PreparedStep {
 public:
  explicit AttentionRun(const AttentionStep& step) : step_(step) {}
  [[nodiscard]] std::span<const std::byte> parameters() const noexcept override {
    return std::as_bytes(std::span(&step_, 1));
  }

 protected:
  [[nodiscard]] const AttentionStep& step() const noexcept { return step_; }
  [[nodiscard]] std::uint64_t element_bytes() const { return element_size(step_.type); }
  [[nodiscard]] static bool is_aligned(const Recorder& recorder, std::size_t operand, const HeadStrides& strides,
                                       std::uint64_t bytes) {
    return (all_strides(strides) | recorder.low_bits(operand)) % bytes == 0;
  }

 private:
  AttentionStep step_;
};

class RowsRun final : public AttentionRun {
 public:
  RowsRun(const AttentionStep& step, Kernels& kernels)
      : AttentionRun(step),
        kernel_(kernels.find(spirv::linked_kernel("attention_rows", k_rows, kernels.gpu()), std::span(&kTeam, 1))) {}

  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand >= 4;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const std::int64_t rows = step().batches * step().heads * step().rows;
    const std::uint32_t constants[] = {static_cast<std::uint32_t>(rows),
                                       is_aligned(recorder, 1, step().bias, element_bytes()) ? 1U : 0U,
                                       is_aligned(recorder, 2, step().mask, sizeof(i32)) ? 1U : 0U};
    constexpr std::uint64_t kOperations = 64;  // for an exponential
    recorder.dispatch(*kernel_, static_cast<std::uint32_t>(ceil_div(rows, kRowsOfGroup)),
                      std::as_bytes(std::span(constants)),
                      kOperations * static_cast<std::uint64_t>(kRowsOfGroup * step().keys));
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows in teams of %u threads", kTeam);
  }

 private:
  KernelRef kernel_;
};

class AppendRun final : public AttentionRun {
 public:
  AppendRun(const AttentionStep& step, Kernels& kernels)
      : AttentionRun(step),
        kernel_(kernels.find(spirv::linked_kernel("attention_append", k_append, kernels.gpu()), {})) {}

  [[nodiscard]] static std::uint64_t elements_of(const AttentionStep& step) {
    return of_rows(step, step.past_keys) + of_rows(step, step.new_keys) +
           (step.has_zeros != 0 ? of_rows(step, step.rows) : 0);
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand == 3;
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override { return {kernel_}; }
  void record(Recorder& recorder) const override {
    const std::uint64_t bytes = element_bytes();
    const bool is_aligned_all = is_aligned(recorder, 0, step().q, bytes) && is_aligned(recorder, 1, step().k, bytes) &&
                                is_aligned(recorder, 3, step().output, bytes);
    const struct {
      std::uint64_t past_elements;
      std::uint64_t new_elements;
      std::uint64_t elements;
      std::uint32_t bytes;
      std::uint32_t is_aligned;
    } constants = {.past_elements = of_rows(step(), step().past_keys),
                   .new_elements = of_rows(step(), step().new_keys),
                   .elements = elements_of(step()),
                   .bytes = static_cast<std::uint32_t>(bytes),
                   .is_aligned = is_aligned_all ? 1U : 0U};
    if (constants.elements != 0) {
      recorder.dispatch(*kernel_, groups_of(step()), std::as_bytes(std::span(&constants, 1)), kAppendThreads);
    }
  }
  [[nodiscard]] static std::uint32_t groups_of(const AttentionStep& step) {
    return static_cast<std::uint32_t>((elements_of(step) + kAppendThreads - 1) / kAppendThreads);
  }
  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "elements"); }

 private:
  [[nodiscard]] static std::uint64_t of_rows(const AttentionStep& step, std::int64_t rows) {
    return static_cast<std::uint64_t>(step.batches * step.heads * step.width * rows);
  }

  KernelRef kernel_;
};

// The groups of the two products of attention that hides keys.
struct PairGrid {
  std::uint32_t pairs;  // of a group
  std::int64_t pair_groups;
  std::int64_t tiles;
  std::int64_t heads;  // of keys and values, in all batches
  std::int64_t blocks;
  bool is_split;

  [[nodiscard]] std::int64_t groups() const { return tiles * pair_groups * heads * (is_split ? blocks : 1); }
};

PairGrid grid_of(const AttentionStep& step, const GpuProperties& gpu) {
  constexpr std::int64_t kFewGroups = 1024;  // that leave a large GPU idle
  const std::int64_t pairs = step.group * step.rows;
  const bool is_short = spirv::needs_short_threads(gpu);
  const std::uint32_t together = is_short ? 1 : pairs > kFewPairs ? kManyPairs : kFewPairs;
  const bool are_keys = step.kind == AttentionKind::scores;
  PairGrid grid{.pairs = together,
                .pair_groups = ceil_div(pairs, std::int64_t{together}),
                .tiles = ceil_div(are_keys ? step.keys : step.width, kThreads),
                .heads = step.batches * (step.heads / step.group),
                .blocks = ceil_div(step.keys, kBlock),
                .is_split = false};
  grid.is_split = !are_keys && grid.blocks > 1 && (is_short || grid.groups() < kFewGroups);
  return grid;
}

class PairsRun final : public AttentionRun {
 public:
  PairsRun(const AttentionStep& step, const PairGrid& grid, Kernels& kernels)
      : AttentionRun(step), grid_(grid), are_keys_(step.kind == AttentionKind::scores) {
    const auto find = [&](const char* key, std::span<const std::uint32_t> words) {
      const std::uint32_t constants[] = {grid_.pairs, spirv::quick_fused_constant(kernels.gpu())};
      return kernels.find(spirv::linked_kernel(key, words, kernels.gpu()), constants);
    };
    kernel_ = are_keys_ ? find("attention_scores", k_scores) : find("attention_weigh", k_weigh);
    if (grid.is_split) {
      add_blocks_ = find("attention_add_blocks", k_add_blocks);
    }
  }

  [[nodiscard]] std::uint64_t workspace_bytes() const noexcept override {
    return grid_.is_split ? static_cast<std::uint64_t>(results() * grid_.blocks) * sizeof(f32) : 0;
  }
  [[nodiscard]] OperandUse use_of(std::size_t operand) const noexcept override {
    OperandUse use;
    use.is_written = operand == output();
    return use;
  }
  [[nodiscard]] std::vector<KernelRef> kernels() const override {
    return grid_.is_split ? std::vector<KernelRef>{kernel_, add_blocks_} : std::vector<KernelRef>{kernel_};
  }

  void record(Recorder& recorder) const override {
    const std::uint64_t bytes = element_bytes();
    const bool are_factors_aligned =
        are_keys_ ? is_aligned(recorder, 0, step().q, bytes) && is_aligned(recorder, 1, step().k, bytes)
                  : is_aligned(recorder, 2, step().v, bytes);
    const bool is_output_aligned = !are_keys_ && is_aligned(recorder, output(), step().output, bytes);
    const std::uint32_t constants[] = {static_cast<std::uint32_t>(grid_.tiles),
                                       static_cast<std::uint32_t>(grid_.pair_groups),
                                       static_cast<std::uint32_t>(grid_.blocks),
                                       grid_.is_split ? 1U : 0U,
                                       are_factors_aligned ? 1U : 0U,
                                       is_output_aligned ? 1U : 0U};
    const std::int64_t depth = are_keys_ ? step().depth : grid_.is_split ? kBlock : step().keys;
    recorder.dispatch(*kernel_, static_cast<std::uint32_t>(grid_.groups()), std::as_bytes(std::span(constants)),
                      static_cast<std::uint64_t>(kThreads) * grid_.pairs * static_cast<std::uint64_t>(depth + 1));
    if (grid_.is_split) {
      recorder.barrier();
      recorder.dispatch(*add_blocks_, static_cast<std::uint32_t>(ceil_div(results(), kThreads)),
                        std::as_bytes(std::span(constants)),
                        static_cast<std::uint64_t>(kThreads) * static_cast<std::uint64_t>(grid_.blocks));
    }
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u queries at a time, the keys that they see%s", grid_.pairs,
                  grid_.is_split ? ", in blocks" : "");
  }

 private:
  [[nodiscard]] std::size_t output() const { return are_keys_ ? 4 : 5; }
  [[nodiscard]] std::int64_t results() const { return step().batches * step().heads * step().rows * step().width; }

  PairGrid grid_;
  bool are_keys_;
  KernelRef kernel_;
  KernelRef add_blocks_;
};

std::unique_ptr<PreparedStep> prepare(const Step& flat, Kernels& kernels, const char** why) {
  AttentionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  // Threads that must be short can compute a few exponentials, or the products of a short query.
  constexpr std::int64_t kShortKeys = 512;
  constexpr std::int64_t kShortDepth = 1024;
  if (spirv::needs_short_threads(kernels.gpu()) && ((step.kind == AttentionKind::rows && step.keys > kShortKeys) ||
                                                    (step.kind == AttentionKind::scores && step.depth > kShortDepth))) {
    *why = "the driver computes on the CPU and needs integers for floats, so attention has at most 512 keys";
    return nullptr;
  }
  switch (step.kind) {
    case AttentionKind::rows:
      if (step.batches * step.heads > (kMaxGroups - kRowsOfGroup) / std::max<std::int64_t>(step.rows, 1)) {
        *why = "the Vulkan backend computes attention with up to 4,294,967,291 queries";
        return nullptr;
      }
      return std::make_unique<RowsRun>(step, kernels);
    case AttentionKind::append:
      if (AppendRun::elements_of(step) > static_cast<std::uint64_t>(kMaxGroups * kAppendThreads)) {
        *why = kTooMany;
        return nullptr;
      }
      return std::make_unique<AppendRun>(step, kernels);
    case AttentionKind::scores:
    case AttentionKind::weigh: {
      const PairGrid grid = grid_of(step, kernels.gpu());
      const std::int64_t results = step.batches * step.heads * step.rows * step.width;
      if (grid.groups() > kMaxGroups || ceil_div(results, kThreads) > kMaxGroups) {
        *why = kTooMany;
        return nullptr;
      }
      return std::make_unique<PairsRun>(step, grid, kernels);
    }
    default:
      *why = "the Vulkan backend computes attention as two products";
      return nullptr;
  }
}

}  // namespace

extern const FamilyKernels attention_family;
const FamilyKernels attention_family = {
    .lacks = [](const GpuProperties& gpu, const AskedOperator&) -> const char* {
      return gpu.max_group_threads < kAppendThreads ? "its kernels for attention need groups of 256 threads" : nullptr;
    },
    .prepare = prepare,
};

}  // namespace anydml::vulkan
