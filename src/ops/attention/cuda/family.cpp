// SPDX-License-Identifier: MIT
// Chooses the kernel for an attention step. The core consists of two products, which are steps of the product family,
// and a step between them.
#include "backend/cuda/family.h"

#include <cstdio>
#include <cstring>
#include <limits>

#include "ops/attention/cuda/launch.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {
namespace {

bool is_aligned(const std::byte* address, const HeadStrides& strides, std::size_t bytes) {
  const auto all = reinterpret_cast<std::uintptr_t>(address) | static_cast<std::uintptr_t>(strides.batch) |
                   static_cast<std::uintptr_t>(strides.head) | static_cast<std::uintptr_t>(strides.row) |
                   static_cast<std::uintptr_t>(strides.column);
  return all % bytes == 0;
}

class RowsRun final : public PreparedStep {
 public:
  RowsRun(const AttentionStep& step, bool has_bias, bool has_mask, bool has_lengths)
      : step_(step),
        rows_(static_cast<u32>(step.batches * step.heads * step.rows)),
        threads_(step.keys <= 256    ? 64
                 : step.keys <= 1024 ? 128
                                     : kMaxRowThreads),
        has_bias_(has_bias),
        has_mask_(has_mask),
        has_lengths_(has_lengths) {}

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const RowsLaunch rows_launch{.step = step_,
                                 .scores = reinterpret_cast<const f32*>(bases[0]),
                                 .bias = has_bias_ ? bases[1] : nullptr,
                                 .mask = has_mask_ ? bases[2] : nullptr,
                                 .lengths = has_lengths_ ? bases[3] : nullptr,
                                 .exponentials = reinterpret_cast<f32*>(bases[4]),
                                 .totals = reinterpret_cast<f32*>(bases[5]),
                                 .bias_is_aligned = is_aligned(bases[1], step_.bias, element_size(step_.type)),
                                 .mask_is_aligned = is_aligned(bases[2], step_.mask, sizeof(i32))};
    return start_rows(rows_launch, rows_, threads_, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows in blocks of %u threads", threads_);
  }

 private:
  AttentionStep step_;
  u32 rows_;
  u32 threads_;
  bool has_bias_;
  bool has_mask_;
  bool has_lengths_;
};

u64 number_of(i64 count) { return static_cast<u64>(count); }

u32 ceil_div(u64 count, u64 by) { return static_cast<u32>((count + by - 1) / by); }

class AppendRun final : public PreparedStep {
 public:
  explicit AppendRun(const AttentionStep& step) : step_(step) {}

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const std::size_t bytes = element_size(step_.type);
    const u64 of_rows = number_of(step_.batches * step_.heads * step_.width);
    const bool is_there = bases[0] == bases[3];
    const AppendLaunch append_launch{.step = step_,
                                     .past = bases[0],
                                     .fresh = bases[1],
                                     .lengths = bases[2],
                                     .all = bases[3],
                                     .past_elements = is_there ? 0 : of_rows * number_of(step_.past_keys),
                                     .new_elements = of_rows * number_of(step_.new_keys),
                                     .is_aligned = is_aligned(bases[0], step_.q, bytes) &&
                                                   is_aligned(bases[1], step_.k, bytes) &&
                                                   is_aligned(bases[3], step_.output, bytes)};
    return start_append(append_launch, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "elements"); }

 private:
  AttentionStep step_;
};

// The pairs of a thread block: few if there are few, and otherwise as many as share the keys and values that it reads.
SeenGrid grid_of(const AttentionStep& step) {
  const u64 pairs = number_of(step.group * step.rows);
  const u32 together = pairs > kFewPairs ? kManyPairs : kFewPairs;
  return {.pairs = together,
          .pair_groups = ceil_div(pairs, together),
          .tiles = 1,
          .heads = static_cast<u32>(step.batches * (step.heads / step.group)),
          .threads = step.width <= 32   ? 32U
                     : step.width <= 64 ? 64U
                                        : kColumnsAtOnce};
}

class ScoresRun final : public PreparedStep {
 public:
  ScoresRun(const AttentionStep& step, const SeenGrid& grid, bool has_mask, bool has_lengths)
      : step_(step), grid_(grid), has_mask_(has_mask), has_lengths_(has_lengths) {}

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    const std::size_t bytes = element_size(step_.type);
    return start_scores({.step = step_,
                         .grid = grid_,
                         .queries = bases[0],
                         .keys = bases[1],
                         .mask = has_mask_ ? bases[2] : nullptr,
                         .lengths = has_lengths_ ? bases[3] : nullptr,
                         .scores = reinterpret_cast<f32*>(bases[4]),
                         .is_aligned = is_aligned(bases[0], step_.q, bytes) && is_aligned(bases[1], step_.k, bytes)},
                        stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u queries at a time, the keys that they see", grid_.pairs);
  }

 private:
  AttentionStep step_;
  SeenGrid grid_;
  bool has_mask_;
  bool has_lengths_;
};

class WeighRun final : public PreparedStep {
 public:
  WeighRun(const AttentionStep& step, const SeenGrid& grid, i64 blocks, bool is_split, bool has_mask, bool has_lengths)
      : step_(step),
        grid_(grid),
        blocks_(blocks),
        is_split_(is_split),
        has_mask_(has_mask),
        has_lengths_(has_lengths) {}

  [[nodiscard]] u64 workspace_bytes() const noexcept override {
    return is_split_ ? number_of(step_.batches * step_.heads * step_.rows * blocks_ * step_.width) * sizeof(f32) : 0;
  }
  [[nodiscard]] u64 launches() const noexcept override { return is_split_ ? 2 : 1; }
  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte* workspace,
                                   cudaStream_t stream) const noexcept override {
    const std::size_t bytes = element_size(step_.type);
    return start_weigh({.step = step_,
                        .grid = grid_,
                        .exponentials = reinterpret_cast<const f32*>(bases[0]),
                        .totals = reinterpret_cast<const f32*>(bases[1]),
                        .values = bases[2],
                        .mask = has_mask_ ? bases[3] : nullptr,
                        .lengths = has_lengths_ ? bases[4] : nullptr,
                        .output = bases[5],
                        .sums = is_split_ ? reinterpret_cast<f32*>(workspace) : nullptr,
                        .blocks = blocks_,
                        .values_are_aligned = is_aligned(bases[2], step_.v, bytes),
                        .output_is_aligned = is_aligned(bases[5], step_.output, bytes)},
                       stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%u queries at a time, the keys that they see%s", grid_.pairs,
                  is_split_ ? ", in blocks" : "");
  }

 private:
  AttentionStep step_;
  SeenGrid grid_;
  i64 blocks_;
  bool is_split_;
  bool has_mask_;
  bool has_lengths_;
};

// The products of attention that hides keys.
std::unique_ptr<PreparedStep> prepare_seen(const Step& flat, const AttentionStep& step, const GpuProperties& gpu,
                                           const char** why) {
  const auto has = [&](std::size_t i) { return flat.operands[i].slot != kAbsentSlot; };
  const bool are_keys = step.kind == AttentionKind::scores;
  SeenGrid grid = grid_of(step);
  const u64 tiles =
      are_keys ? ceil_div(number_of(step.keys), kKeysAtOnce) : ceil_div(number_of(step.width), grid.threads);
  const u64 blocks = ceil_div(number_of(step.keys), number_of(kProductBlock));
  const u64 all = tiles * grid.pair_groups * grid.heads;
  // Blocks of keys are split if there is too little other work for the GPU.
  const bool is_split = !are_keys && blocks > 1 && all < u64{8} * gpu.multiprocessors;
  if (all * (is_split ? blocks : 1) > number_of(std::numeric_limits<i32>::max())) {
    *why = "the CUDA backend supports attention with at most 2,147,483,647 thread blocks";
    return nullptr;
  }
  grid.tiles = static_cast<u32>(tiles);
  if (are_keys) {
    return std::make_unique<ScoresRun>(step, grid, has(2), has(3));
  }
  return std::make_unique<WeighRun>(step, grid, static_cast<i64>(blocks), is_split, has(3), has(4));
}

}  // namespace

extern const FamilyKernels attention_family;
const FamilyKernels attention_family = {
    .prepare = [](const Step& flat, const GpuProperties& gpu, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      AttentionStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.kind == AttentionKind::append) {
        return std::make_unique<AppendRun>(step);
      }
      if (step.kind == AttentionKind::scores || step.kind == AttentionKind::weigh) {
        return prepare_seen(flat, step, gpu, why);
      }
      if (step.kind != AttentionKind::rows) {
        *why = "the CUDA backend computes attention as two products";
        return nullptr;
      }
      if (step.batches * step.heads > std::numeric_limits<i32>::max() / step.rows) {
        *why = "the CUDA backend supports attention with at most 2,147,483,647 queries";
        return nullptr;
      }
      const auto has = [&](std::size_t i) { return flat.operands[i].slot != kAbsentSlot; };
      return std::make_unique<RowsRun>(step, has(1), has(2), has(3));
    },
};

}  // namespace anydml::cuda
