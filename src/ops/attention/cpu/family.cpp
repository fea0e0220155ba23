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
#include "ops/attention/scalar/scores.h"
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
    const bool are_keys = step_.kind == AttentionKind::pack_keys;
    const std::int64_t of_head = ceil_div(step_.rows, strip_of(kernels_));
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * strips_;
    const std::int64_t end = std::min(first + strips_, step_.batches * step_.heads * of_head);
    for (std::int64_t number = first; number < end;) {
      const std::int64_t head = number / of_head;
      const std::int64_t count = std::min(end - number, of_head - number % of_head);
      const KeyRange seen = keys_of_batch(step_, operands[1], operands[2], head / step_.heads);
      const auto is_seen = [&](std::int64_t row) {
        return !are_keys || (row < seen.end && row + strip_of(kernels_) > seen.first);
      };
      const std::int64_t first_k = are_keys ? 0 : seen.first;
      const std::int64_t end_k = are_keys ? step_.depth : seen.end;
      // Pack only a few values of k at a time, for all strips. When values are packed, all strips share the rows of the
      // tensor: for each k, each strip reads part of one row.
      for (std::int64_t k = first_k; k < end_k; k += kFactorsAtOnce) {
        for (std::int64_t i = 0; i < count; ++i) {
          if (const std::int64_t row = (number % of_head + i) * strip_of(kernels_); is_seen(row)) {
            pack(operands, head, row, k, std::min(kFactorsAtOnce, end_k - k));
          }
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
    f32* const to = reinterpret_cast<f32*>(operands[3]) + (head * step_.rows + row) * step_.depth + k * rows;
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
    const std::int64_t past = std::min(past_length(step_, operands[2], batch), step_.rows);
    const std::int64_t end = std::min(past + step_.new_keys, step_.rows);
    std::byte* const to = operands[3] + step_.output.at(batch, head, 0, 0);
    if (operands[0] != operands[3]) {  // otherwise the past is there already
      copy(operands[0] + step_.q.at(batch, head, 0, 0), step_.q, past, to);
    }
    copy(operands[1] + step_.k.at(batch, head, 0, 0), step_.k, end - past, to + past * step_.output.row);
    if (step_.has_zeros != 0) {
      constexpr std::byte kZero[sizeof(f32)] = {};
      copy(kZero, {}, step_.rows - end, to + end * step_.output.row);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows of %lld elements", static_cast<long long>(step_.width));
  }

 private:
  void copy(const std::byte* from, const HeadStrides& strides, std::int64_t rows, std::byte* to) const {
    const auto bytes = static_cast<std::int64_t>(element_size(step_.type));
    const std::int64_t of_row = step_.width * bytes;
    const bool are_adjacent = step_.width == 1 || (strides.column == bytes && step_.output.column == bytes);
    if (are_adjacent && strides.row == of_row && step_.output.row == of_row && rows > 0) {
      std::memcpy(to, from, static_cast<std::size_t>(rows * of_row));
      return;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::byte* const from_row = from + row * strides.row;
      std::byte* const to_row = to + row * step_.output.row;
      if (are_adjacent) {
        std::memcpy(to_row, from_row, static_cast<std::size_t>(of_row));
        continue;
      }
      for (std::int64_t i = 0; i < step_.width; ++i) {
        std::memcpy(to_row + i * step_.output.column, from_row + i * strides.column, static_cast<std::size_t>(bytes));
      }
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
    const Masks masks{.bias = operands[1], .mask = operands[2], .lengths = operands[3]};
    const SeenKeys seen = scores_.seen(range, masks);
    const auto all_bytes = static_cast<std::size_t>(step_.keys) * sizeof(f32);
    const auto bytes = static_cast<std::size_t>(seen.highest_end) * sizeof(f32);
    std::memcpy(own, operands[0] + piece.number * all_bytes, bytes);
    std::fill(own + seen.highest_end, own + scores_.elements(), 0.0F);
    alignas(64) f32 totals[kScorePeriod] = {};
    if (seen.highest_end != 0) {
      scores_.raise(range, seen, masks, own, nullptr, own + scores_.elements(), totals);
    }
    std::memcpy(operands[4] + piece.number * all_bytes, own, bytes);
    std::memcpy(operands[5] + piece.number * sizeof(f32), totals, sizeof(f32));
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "rows"); }

 private:
  AttentionStep step_;
  Scores scores_;
};

f32 load(const std::byte* from, DataType type) {
  return type == DataType::FLOAT16 ? widen(load_at<f16>(from)) : load_at<f32>(from);
}

// The products of one query with the keys that it sees, or with their values. As for RowsRun, only tests run these
// steps on the CPU.
class SeenRun final : public cpu::PreparedStep {
 public:
  explicit SeenRun(const AttentionStep& step)
      : PreparedStep(static_cast<std::uint64_t>(step.batches * step.heads * step.rows)), step_(step) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t head = number / step_.rows % step_.heads;
    const std::int64_t batch = number / step_.rows / step_.heads;
    const std::int64_t row = number % step_.rows;
    const bool is_first = step_.kind == AttentionKind::scores;
    const std::byte* const* const masks = operands + (is_first ? 2 : 3);
    const KeyRange seen = seen_keys(step_, masks[0], masks[1], batch, step_.first + row);
    if (is_first) {
      const std::byte* const query = operands[0] + step_.q.at(batch, head, row, 0);
      const std::byte* const keys = operands[1] + step_.k.at(batch, head / step_.group, 0, 0);
      for (std::int64_t key = seen.first; key < seen.end; ++key) {
        const f32 score = sum_of_products(
            step_.depth, [&](std::int64_t k) { return load(query + k * step_.q.column, step_.type); },
            [&](std::int64_t k) { return load(keys + key * step_.k.row + k * step_.k.column, step_.type); });
        const f32 scaled = score * step_.scale;
        std::memcpy(operands[4] + (number * step_.keys + key) * std::int64_t{sizeof(f32)}, &scaled, sizeof(f32));
      }
      return;
    }
    const std::byte* const exponentials = operands[0] + number * step_.keys * std::int64_t{sizeof(f32)};
    const f32 total = load_at<f32>(operands[1] + number * std::int64_t{sizeof(f32)});
    const std::byte* const values = operands[2] + step_.v.at(batch, head / step_.group, 0, 0);
    for (std::int64_t column = 0; column < step_.width; ++column) {
      const f32 sum = weighted_sum(
          seen.first, seen.end,
          [&](std::int64_t key) { return load_at<f32>(exponentials + key * std::int64_t{sizeof(f32)}); },
          [&](std::int64_t key) { return load(values + key * step_.v.row + column * step_.v.column, step_.type); });
      std::byte* const to = operands[5] + step_.output.at(batch, head, row, column);
      const f32 result = sum / total;
      const f16 half = narrow<f16>(result);
      std::memcpy(to, step_.type == DataType::FLOAT16 ? static_cast<const void*>(&half) : &result,
                  element_size(step_.type));
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "the keys that a query sees");
  }

 private:
  AttentionStep step_;
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
    case AttentionKind::pack_keys:
    case AttentionKind::pack_values: {
      const std::int64_t elements = std::max<std::int64_t>(1, strip_of(products) * step.depth);
      // Keep all strips of a head's values in one piece unless there are too many, because these strips share rows.
      const std::int64_t minimum = std::min(kMaxStripsOfPiece, ceil_div(step.rows, strip_of(products)));
      return std::make_unique<PackRun>(step, products, vectors, std::max(minimum, kMinOfPiece / elements));
    }
    case AttentionKind::scores:
    case AttentionKind::weigh:
      return std::make_unique<SeenRun>(step);
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
