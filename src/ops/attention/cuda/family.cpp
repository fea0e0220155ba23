// SPDX-License-Identifier: MIT
// Chooses the kernel for an attention step. The core consists of two products, which are steps of the product family,
// and a step between them.
#include "backend/cuda/family.h"

#include <cstdio>
#include <cstring>
#include <limits>

#include "ops/attention/cuda/launch.h"

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

class AppendRun final : public PreparedStep {
 public:
  explicit AppendRun(const AttentionStep& step)
      : step_(step), elements_(static_cast<u64>(step.batches * step.heads * step.rows * step.width)) {}

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    if (elements_ == 0) {
      return cudaSuccess;
    }
    const std::size_t bytes = element_size(step_.type);
    const AppendLaunch append_launch{.step = step_,
                                     .past = bases[0],
                                     .fresh = bases[1],
                                     .lengths = bases[2],
                                     .all = bases[3],
                                     .is_aligned = is_aligned(bases[0], step_.q, bytes) &&
                                                   is_aligned(bases[1], step_.k, bytes) &&
                                                   is_aligned(bases[3], step_.output, bytes)};
    return start_append(append_launch, elements_, stream);
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "elements"); }

 private:
  AttentionStep step_;
  u64 elements_;
};

}  // namespace

extern const FamilyKernels attention_family;
const FamilyKernels attention_family = {
    .prepare = [](const Step& flat, const GpuProperties&, Neighbors,
                  const char** why) -> std::unique_ptr<PreparedStep> {
      AttentionStep step;
      std::memcpy(&step, flat.parameters.data(), sizeof(step));
      if (step.kind == AttentionKind::append) {
        return std::make_unique<AppendRun>(step);
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
