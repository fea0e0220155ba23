// SPDX-License-Identifier: MIT
// Runs the attention steps on the CPU, except the core itself (attend.cpp).
#include "backend/cpu/family.h"
#include "base/integers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/attention/cpu/attend.h"
#include "ops/attention/cpu/scores.h"
#include "ops/attention/scalar/masks.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/vector_kernels.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 16 << 10;  // elements, about ten microseconds of work
constexpr std::int64_t kMaxStripsOfPiece = 12;

// Without product kernels, a strip has one row, so the strips form a plain matrix.
std::int64_t strip_of(const ProductKernels* kernels) { return kernels != nullptr ? kernels->strip : 1; }

// Packs rows into strips, several strips per piece.
class PackRun final : public cpu::PreparedStep {
 public:
  PackRun(const AttentionStep& step, const ProductKernels* kernels, const VectorKernels* vectors, std::int64_t strips)
      : PreparedStep(static_cast<std::uint64_t>(
            ceil_div(step.batches * step.heads * ceil_div(step.rows, strip_of(kernels)), strips))),
        step_(step),
        kernels_(kernels),
        vectors_(vectors),
        strips_(strips) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t of_head = ceil_div(step_.rows, strip_of(kernels_));
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.batches * step_.heads * of_head);
    for (std::int64_t number = first; number < end;) {
      const std::int64_t head = number / of_head;
      const std::int64_t count = std::min(end - number, of_head - number % of_head);
      // Pack only a few values of k at a time, for all strips. When values are packed, all strips share the rows of the
      // tensor: for each k, each strip reads part of one row.
      for (std::int64_t k = 0; k < step_.depth; k += kFactorsAtOnce) {
        for (std::int64_t i = 0; i < count; ++i) {
          pack(operands, head, (number % of_head + i) * strip_of(kernels_), k,
               std::min(kFactorsAtOnce, step_.depth - k));
        }
      }
      number += count;
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "strips of %lld rows", static_cast<long long>(strip_of(kernels_)));
  }

 private:
  static constexpr std::int64_t kFactorsAtOnce = 128;

  void pack(std::byte* const* operands, std::int64_t head, std::int64_t row, std::int64_t k, std::int64_t count) const {
    const std::int64_t rows = std::min(strip_of(kernels_), step_.rows - row);
    const std::byte* const from = operands[0] + step_.k.at(head / step_.heads, head % step_.heads, row, k);
    f32* const to = reinterpret_cast<f32*>(operands[1]) + (head * step_.rows + row) * step_.depth + k * rows;
    if (step_.type == DataType::FLOAT16) {
      pack_halves(kernels_, vectors_, from, step_.k.column, step_.k.row, count, rows, rows, to);
    } else {
      pack_panel(kernels_, from, step_.k.column, step_.k.row, count, rows, rows, to);
    }
  }

  AttentionStep step_;
  const ProductKernels* kernels_;
  const VectorKernels* vectors_;
  std::int64_t strips_;
};

// One head per piece.
class AppendRun final : public cpu::PreparedStep {
 public:
  explicit AppendRun(const AttentionStep& step)
      : PreparedStep(static_cast<std::uint64_t>(step.batches * step.heads)), step_(step) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t batch = static_cast<std::int64_t>(piece.number) / step_.heads;
    const std::int64_t head = static_cast<std::int64_t>(piece.number) % step_.heads;
    const std::int64_t past = past_length(step_, operands[2], batch);
    for (std::int64_t row = 0; row < step_.rows; ++row) {
      std::byte* const to = operands[3] + step_.output.at(batch, head, row, 0);
      if (row < past) {
        copy(operands[0] + step_.q.at(batch, head, row, 0), step_.q.column, to);
      } else if (row - past < step_.new_keys) {
        copy(operands[1] + step_.k.at(batch, head, row - past, 0), step_.k.column, to);
      } else {
        constexpr std::byte kZero[sizeof(f32)] = {};
        copy(kZero, 0, to);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows of %lld elements", static_cast<long long>(step_.width));
  }

 private:
  void copy(const std::byte* from, std::int64_t from_stride, std::byte* to) const {
    const std::size_t bytes = element_size(step_.type);
    if (from_stride == static_cast<std::int64_t>(bytes) && step_.output.column == from_stride) {
      std::memcpy(to, from, static_cast<std::size_t>(step_.width) * bytes);
      return;
    }
    for (std::int64_t i = 0; i < step_.width; ++i) {
      std::memcpy(to + i * step_.output.column, from + i * from_stride, bytes);
    }
  }

  AttentionStep step_;
};

// One row of scores per piece. GPUs use these steps; the CPU supports them only for tests.
class RowsRun final : public cpu::PreparedStep {
 public:
  RowsRun(const AttentionStep& step, const Scores& scores)
      : PreparedStep(static_cast<std::uint64_t>(step.batches * step.heads * step.rows), 1,
                     static_cast<std::size_t>(scores.elements() + scores.room()) * sizeof(f32)),
        step_(step),
        scores_(scores) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t head = number / step_.rows;
    const QueryRange range{.batch = head / step_.heads,
                           .head = head % step_.heads,
                           .first = step_.first + number % step_.rows,
                           .count = 1};
    auto* const own = reinterpret_cast<f32*>(piece.scratch);
    const auto bytes = static_cast<std::size_t>(step_.keys) * sizeof(f32);
    std::memcpy(own, operands[0] + piece.number * bytes, bytes);
    std::fill(own + step_.keys, own + scores_.elements(), 0.0F);
    alignas(64) f32 totals[kScorePeriod];
    scores_.raise(range, {.bias = operands[1], .mask = operands[2], .lengths = operands[3]}, own, nullptr,
                  own + scores_.elements(), totals);
    std::memcpy(operands[4] + piece.number * bytes, own, bytes);
    std::memcpy(operands[5] + piece.number * sizeof(f32), totals, sizeof(f32));
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "rows"); }

 private:
  AttentionStep step_;
  Scores scores_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  AttentionStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const ProductKernels* const products = product_kernels(context.target);
  const VectorKernels* const vectors = products != nullptr ? vector_kernels(context.target) : nullptr;
  switch (step.kind) {
    case AttentionKind::attend:
      return prepare_attend(step, context);
    case AttentionKind::append:
      return std::make_unique<AppendRun>(step);
    case AttentionKind::pack: {
      const std::int64_t elements = std::max<std::int64_t>(1, strip_of(products) * step.depth);
      // Keep all strips of a head's values in one piece unless there are too many, because these strips share rows.
      const std::int64_t minimum = std::min(kMaxStripsOfPiece, ceil_div(step.rows, strip_of(products)));
      return std::make_unique<PackRun>(step, products, vectors, std::max(minimum, kMinOfPiece / elements));
    }
    case AttentionKind::rows:
      break;
  }
  return std::make_unique<RowsRun>(step, Scores(step, 1, products, vectors, *generic_score_kernels()));
}

}  // namespace

namespace cpu {
extern const FamilyKernels attention_family;
const FamilyKernels attention_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
