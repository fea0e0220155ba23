// SPDX-License-Identifier: MIT
// The core of attention. A piece of work is a group of queries of one head. Scores are computed transposed, with keys
// as the rows of a product and queries as its columns. The kernels expect the columns of the second product in exactly
// this layout, so nothing is packed between the two products. The rows of the second product are the columns of the
// values. Each thread stores the scores of only one piece at a time, and they stay in the L2 cache while they are
// needed.
//
// If there are only a few queries, or if the machine has no vector target, queries are processed one by one, and keys
// and values are read in place.
#include "ops/attention/cpu/attend.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/float_bits.h"
#include "ops/attention/cpu/scores.h"
#include "ops/attention/scalar/masks.h"
#include "ops/attention/scalar/scores.h"
#include "ops/product/cpu/kernels.h"
#include "ops/product/cpu/pack.h"
#include "ops/product/cpu/tile.h"
#include "ops/product/cpu/vector_kernels.h"

namespace anydml {
namespace {

constexpr std::int64_t kMaxScores = 32 << 10;    // scores per piece, few enough to leave space in the L2 cache
constexpr std::int64_t kMaxPanels = 4;           // query panels per piece
constexpr std::int64_t kKeyElements = 12 << 10;  // key elements that stay in the L1 cache for all panels
constexpr f32 kNoResult = std::numeric_limits<f32>::quiet_NaN();  // of a query that sees no key
constexpr std::size_t kQ = 0;
constexpr std::size_t kK = 1;
constexpr std::size_t kV = 2;
constexpr std::size_t kFirstMask = 3;
constexpr std::size_t kOutput = 6;

f32 load(const std::byte* from, DataType type) {
  return type == DataType::FLOAT16 ? widen(load_at<f16>(from)) : load_at<f32>(from);
}

// Panels that are already packed in the layout that the kernels expect.
struct PackedColumns {
  const f32* first;
  std::int64_t width;

  void begin(std::int64_t, std::int64_t) {}
  [[nodiscard]] Panel panel(std::int64_t, std::int64_t block, std::int64_t) const {
    return {.first = first + block * width, .step = width};
  }
};

// Like PackedStrips, but k = 0 is the factor `from` of the rows.
struct LaterStrips {
  const f32* first;
  std::int64_t depth;
  std::int64_t from;

  static constexpr bool kAreFar = true;

  void begin(std::int64_t, std::int64_t) {}
  [[nodiscard]] const f32* strip(std::int64_t row, std::int64_t rows, std::int64_t block, std::int64_t) const {
    return first + row * depth + (from + block) * rows;
  }
};

// The sizes of a thread's scratch buffers, in FLOAT32 elements. Each buffer starts at a multiple of 64 bytes.
struct Buffers {
  std::int64_t scores;
  std::int64_t queries;
  std::int64_t outputs;
  std::int64_t partial;  // the sums of one block of keys
  std::int64_t room;

  [[nodiscard]] static std::int64_t rounded(std::int64_t count) { return (count + 15) / 16 * 16; }
  Buffers(const AttentionStep& step, const Scores& of, std::int64_t beside, std::int64_t panels)
      : scores(rounded(of.elements()) * panels),
        queries(rounded(step.depth * beside) * panels),
        outputs(rounded(step.width * beside) * panels),
        partial(rounded(step.width * beside)),
        room(rounded(of.room())) {}
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(scores + queries + outputs + partial + room) * sizeof(f32);
  }
};

class Attention final : public cpu::PreparedStep {
 public:
  Attention(const AttentionStep& step, const ProductKernels* products, const VectorKernels* vectors,
            const ScoreKernels& kernels, DataType key_type, std::int64_t beside, std::int64_t panels,
            cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(step.batches * step.heads * ceil_div(step.queries, beside * panels)), 1,
                     Buffers(step, Scores(step, beside, products, vectors, kernels), beside, panels).bytes()),
        step_(step),
        scores_(step, beside, products, vectors, kernels),
        buffers_(step, scores_, beside, panels),
        products_(products),
        vectors_(vectors),
        kernels_(kernels),
        key_type_(key_type),
        beside_(beside),
        panels_(panels),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t of_head = ceil_div(step_.queries, beside_ * panels_);
    const auto number = static_cast<std::int64_t>(piece.number);
    const std::int64_t head = number / of_head;
    QueryRange range{.batch = head / step_.heads,
                     .head = head % step_.heads,
                     .first = number % of_head * beside_ * panels_,
                     .count = beside_ * panels_};
    range.count = std::min(range.count, step_.queries - range.first);
    auto* const scratch = reinterpret_cast<f32*>(piece.scratch);
    if (step_.is_packed != 0) {
      run_panels(range, operands, scratch);
    } else {
      run_query(range, operands, scratch);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%lld queries at a time, %s, %s kernel", static_cast<long long>(beside_ * panels_),
                  step_.is_packed != 0 ? "packed" : "not packed", cpu::target_name(target_));
  }

 private:
  [[nodiscard]] static Masks masks(std::byte* const* operands) {
    return {.bias = operands[kFirstMask], .mask = operands[kFirstMask + 1], .lengths = operands[kFirstMask + 2]};
  }

  [[nodiscard]] QueryRange panel_of(const QueryRange& range, std::int64_t panel) const {
    QueryRange own = range;
    own.first += panel * beside_;
    own.count = std::min(beside_, range.count - panel * beside_);
    return own;
  }

  void run_panels(const QueryRange& range, std::byte* const* operands, f32* scratch) const {
    f32* const scores = scratch;
    f32* const queries = scores + buffers_.scores;
    f32* const outputs = queries + buffers_.queries;
    f32* const partial = outputs + buffers_.outputs;
    f32* const room = partial + buffers_.partial;
    const std::int64_t scores_step = buffers_.scores / panels_;
    const std::int64_t queries_step = buffers_.queries / panels_;
    const std::int64_t outputs_step = buffers_.outputs / panels_;
    const std::int64_t panels = ceil_div(range.count, beside_);
    const std::int64_t shared =
        range.batch * (step_.heads / step_.group) + range.head / step_.group;  // the index of the key-value head
    SeenKeys seen[kMaxPanels];
    std::int64_t first_key = step_.keys;
    std::int64_t end_key = 0;
    for (std::int64_t i = 0; i < panels; ++i) {
      pack_queries(panel_of(range, i), operands[kQ], queries + i * queries_step);
      seen[i] = scores_.seen(panel_of(range, i), masks(operands));
      first_key = std::min(first_key, seen[i].lowest_first);
      end_key = std::max(end_key, seen[i].highest_end);
    }
    first_key = first_key / products_->strip * products_->strip;
    end_key = std::min(step_.keys, ceil_div(end_key, products_->strip) * products_->strip);
    const auto* const keys = reinterpret_cast<const f32*>(operands[kK]) + shared * step_.keys * step_.depth;
    const std::int64_t at_once =
        std::max<std::int64_t>(1, kKeyElements / std::max<std::int64_t>(1, step_.depth * products_->strip)) *
        products_->strip;
    const bool finds = scores_.is_scaled_later(masks(operands));  // finds maxima while scores are in the L1 cache
    alignas(64) f32 maximum[kMaxPanels][kScorePeriod];
    std::fill_n(maximum[0], kMaxPanels * kScorePeriod, kMinScore);
    for (std::int64_t key = first_key; key < end_key; key += at_once) {
      const std::int64_t count = std::min(at_once, end_key - key);
      for (std::int64_t i = 0; i < panels; ++i) {
        if (key >= seen[i].highest_end) {
          continue;
        }
        f32* const own = scores + i * scores_step + key * beside_;
        multiply(keys + key * step_.depth, count, step_.depth, queries + i * queries_step, panel_of(range, i).count,
                 own);
        if (finds) {
          kernels_.find_max(own, count * beside_, maximum[i]);
        }
      }
    }
    const auto* const values = reinterpret_cast<const f32*>(operands[kV]) + shared * step_.keys * step_.width;
    for (std::int64_t i = 0; i < panels; ++i) {
      const QueryRange own = panel_of(range, i);
      f32* const computed = outputs + i * outputs_step;
      if (seen[i].highest_end == 0) {
        std::fill_n(computed, step_.width * beside_, kNoResult);
      } else {
        alignas(64) f32 totals[kScorePeriod];
        scores_.raise(own, seen[i], masks(operands), scores + i * scores_step, finds ? maximum[i] : nullptr, room,
                      totals);
        weigh(values, scores + i * scores_step, seen[i], own.count, partial, computed);
        kernels_.divide(computed, step_.width * beside_, totals);
      }
      store(own, computed, operands[kOutput], room);
    }
  }

  // Sums the values of the keys from `from` to `to`, which all columns see, times their exponentials.
  void sum_values(const f32* values, const f32* scores, std::int64_t from, std::int64_t to, std::int64_t columns,
                  bool is_first, f32* totals) const {
    for (std::int64_t key = from; key < to;) {
      const std::int64_t next = std::min(to, end_of_block(key));
      const std::int64_t block = is_first && key == from ? 0 : kProductBlock;  // add_panel replaces the totals if 0
      LaterStrips rows{.first = values, .depth = step_.keys, .from = key - block};
      add_panel(*products_, rows, {.first = scores + key * beside_, .step = beside_}, columns, true, block, next - key,
                step_.width, totals, beside_);
      key = next;
    }
  }

  // Computes the second product of a panel. The keys that all its queries see are multiplied by the kernels of
  // products, and the others one by one.
  void weigh(const f32* values, const f32* scores, const SeenKeys& seen, std::int64_t columns, f32* partial,
             f32* totals) const {
    if (seen.are_equal()) {
      sum_values(values, scores, seen.lowest_first, seen.highest_end, columns, true, totals);
      return;
    }
    Weighing work{.values = values, .scores = scores, .seen = seen, .partial = totals, .totals = totals};
    std::int64_t shared = seen.highest_first;
    if (seen.lowest_first != seen.highest_first) {
      shared = std::min(ceil_div(seen.highest_first, kProductBlock) * kProductBlock, seen.highest_end);
      weigh_some(work, seen.lowest_first, seen.lowest_first, shared, partial);
      work.partial = partial;
    }
    std::int64_t last = seen.lowest_end / kProductBlock * kProductBlock;  // the block in which some queries end
    if (last > shared) {
      sum_values(values, scores, shared, last, columns, shared == seen.lowest_first, totals);
      std::fill_n(work.has_total, beside_, true);
      work.partial = partial;
    } else {
      last = shared;
    }
    if (last < seen.lowest_end) {
      sum_values(values, scores, last, seen.lowest_end, columns, true, work.partial);
    }
    if (last < seen.highest_end) {
      weigh_some(work, last, std::max(last, seen.lowest_end), seen.highest_end, partial);
    }
  }

  struct Weighing {
    const f32* values;
    const f32* scores;
    const SeenKeys& seen;
    f32* partial;  // the sums of one block; `totals` until a query has a total
    f32* totals;
    bool has_total[kMaxQueriesBeside] = {};
  };

  // Adds the keys from `from` to `to` to the totals of the queries that see them. The sums of the block that begins at
  // `begun`, up to `from`, are in work.partial already. partial: the memory for the sums of later blocks.
  void weigh_some(Weighing& work, std::int64_t begun, std::int64_t from, std::int64_t to, f32* partial) const {
    do {
      const std::int64_t end = std::min(to, end_of_block(begun));
      if (from == begun) {
        std::fill_n(work.partial, step_.width * beside_, 0.0F);
      }
      i32 firsts[kMaxQueriesBeside];
      i32 ends[kMaxQueriesBeside];
      for (std::int64_t i = 0; i < beside_; ++i) {
        firsts[i] = static_cast<i32>(std::clamp(work.seen.firsts[i] - from, std::int64_t{0}, end - from));
        ends[i] = static_cast<i32>(std::clamp(work.seen.ends[i] - from, std::int64_t{0}, end - from));
      }
      for (std::int64_t row = 0; row < step_.width; row += products_->strip) {
        const std::int64_t rows = std::min(products_->strip, step_.width - row);
        kernels_.extend(work.scores + from * beside_, beside_, work.values + row * step_.keys + from * rows, rows,
                        end - from, firsts, ends, work.partial + row * beside_);
      }
      add_partial(work, begun, end);
      work.partial = partial;
      from = end;
      begun = end;
    } while (begun < to);
  }

  // Adds the sums of the block [begun, end) to the totals, and makes them the totals of queries that have none.
  void add_partial(Weighing& work, std::int64_t begun, std::int64_t end) const {
    bool adds[kMaxQueriesBeside];
    bool keeps[kMaxQueriesBeside];
    bool is_alike = true;  // all queries that see a key add; the results of other columns do not matter
    for (std::int64_t i = 0; i < beside_; ++i) {
      keeps[i] = work.seen.firsts[i] >= end || work.seen.ends[i] <= begun;
      adds[i] = work.has_total[i];
      is_alike = is_alike && ((adds[i] && !keeps[i]) || work.seen.ends[i] == 0);
      work.has_total[i] = work.has_total[i] || !keeps[i];
    }
    if (work.partial == work.totals) {
      return;
    }
    if (is_alike) {
      kernels_.add_lanes(work.totals, work.partial, step_.width * beside_);
      return;
    }
    for (std::int64_t row = 0; row < step_.width; ++row) {
      f32* const totals = work.totals + row * beside_;
      const f32* const partial = work.partial + row * beside_;
      for (std::int64_t i = 0; i < beside_; ++i) {
        const f32 sum = adds[i] ? totals[i] + partial[i] : partial[i];
        totals[i] = keeps[i] ? totals[i] : sum;
      }
    }
  }

  // Multiplies packed rows by the columns of a panel. The sums are stored row by row.
  void multiply(const f32* rows, std::int64_t count, std::int64_t depth, const f32* columns, std::int64_t of_columns,
                f32* totals) const {
    if (depth == 0) {
      std::fill_n(totals, count * beside_, 0.0F);
      return;
    }
    PackedStrips a{.first = rows, .depth = depth};
    PackedColumns b{.first = columns, .width = beside_};
    anydml::add_products(*products_, depth, a, b,
                         {.first = totals, .row_step = beside_, .rows = count, .columns = of_columns});
  }

  void pack_queries(const QueryRange& range, const std::byte* from, f32* to) const {
    const std::byte* const start = from + step_.q.at(range.batch, range.head, range.first, 0);
    if (step_.type == DataType::FLOAT16) {
      pack_halves(products_, vectors_, start, step_.q.column, step_.q.row, step_.depth, range.count, beside_, to);
    } else {
      pack_panel(products_, start, step_.q.column, step_.q.row, step_.depth, range.count, beside_, to);
    }
  }

  // Transposes the output columns and stores them as rows.
  void store(const QueryRange& range, const f32* columns, std::byte* output, f32* room) const {
    const std::int64_t together = buffers_.room;  // in elements
    for (std::int64_t query = 0; query < range.count; ++query) {
      std::byte* const to = output + step_.output.at(range.batch, range.head, range.first + query, 0);
      for (std::int64_t first = 0; first < step_.width; first += together) {
        const std::int64_t count = std::min(together, step_.width - first);
        for (std::int64_t i = 0; i < count; ++i) {
          room[i] = columns[(first + i) * beside_ + query];
        }
        store_row(room, count, to + first * step_.output.column);
      }
    }
  }

  void store_row(const f32* row, std::int64_t count, std::byte* to) const {
    const std::int64_t stride = step_.output.column;
    if (step_.type == DataType::FLOAT32) {
      if (stride == sizeof(f32)) {
        std::memcpy(to, row, static_cast<std::size_t>(count) * sizeof(f32));
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * stride, row + i, sizeof(f32));
      }
    } else if (stride == sizeof(f16)) {
      kernels_.narrow(row, count, to);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        const f16 value = narrow<f16>(row[i]);
        std::memcpy(to + i * stride, &value, sizeof(value));
      }
    }
  }

  // Runs a single query.
  void run_query(const QueryRange& range, std::byte* const* operands, f32* scratch) const {
    f32* const scores = scratch;
    f32* const query = scores + buffers_.scores;
    f32* const computed = query + buffers_.queries;
    f32* const partial = computed + buffers_.outputs;
    f32* const room = partial + buffers_.partial;
    const std::byte* const q = operands[kQ] + step_.q.at(range.batch, range.head, range.first, 0);
    for (std::int64_t i = 0; i < step_.depth; ++i) {
      query[i] = load(q + i * step_.q.column, step_.type);
    }
    const std::int64_t shared = range.head / step_.group;
    const std::byte* const keys = operands[kK] + step_.k.at(range.batch, shared, 0, 0);
    const std::byte* const values = operands[kV] + step_.v.at(range.batch, shared, 0, 0);
    const RowKernels* const rows = vectors_ == nullptr               ? nullptr
                                   : step_.type == DataType::FLOAT16 ? &vectors_->halves
                                                                     : &vectors_->singles;
    const auto bytes = static_cast<std::int64_t>(element_size(key_type_));
    const SeenKeys seen = scores_.seen(range, masks(operands));
    const std::int64_t first = seen.lowest_first;
    const std::int64_t end = seen.highest_end;
    std::byte* const to = operands[kOutput] + step_.output.at(range.batch, range.head, range.first, 0);
    if (end == 0) {
      std::fill_n(computed, step_.width, kNoResult);
      store_row(computed, step_.width, to);
      return;
    }
    if (rows != nullptr && step_.depth != 0 && (step_.k.column == bytes || step_.depth == 1)) {
      rows->across(query, keys + first * step_.k.row, step_.k.row, step_.depth, end - first, scores + first);
    } else {
      for (std::int64_t key = first; key < end; ++key) {
        scores[key] = sum_of_products(
            step_.depth, [&](std::int64_t k) { return query[k]; },
            [&](std::int64_t k) { return load(keys + key * step_.k.row + k * step_.k.column, key_type_); });
      }
    }
    alignas(64) f32 totals[kScorePeriod];
    std::fill_n(scores, first, 0.0F);
    std::fill(scores + end, scores + Buffers::rounded(end), 0.0F);  // kernels read some elements past the end
    scores_.raise(range, seen, masks(operands), scores, nullptr, room, totals);
    if (rows != nullptr && (step_.v.column == bytes || step_.width == 1)) {
      // The kernel counts blocks from its first key.
      const std::int64_t next = first % kProductBlock == 0 ? end : std::min(end, end_of_block(first));
      rows->along(scores + first, values + first * step_.v.row, step_.v.row, next - first, step_.width, computed);
      for (std::int64_t key = next; key < end; key += kProductBlock) {
        rows->along(scores + key, values + key * step_.v.row, step_.v.row, std::min(kProductBlock, end - key),
                    step_.width, partial);
        for (std::int64_t i = 0; i < step_.width; ++i) {
          computed[i] += partial[i];
        }
      }
    } else {
      for (std::int64_t column = 0; column < step_.width; ++column) {
        computed[column] = weighted_sum(
            first, end, [&](std::int64_t k) { return scores[k]; },
            [&](std::int64_t k) { return load(values + k * step_.v.row + column * step_.v.column, key_type_); });
      }
    }
    for (std::int64_t i = step_.width; i < buffers_.outputs; ++i) {
      computed[i] = 0.0F;
    }
    kernels_.divide(computed, buffers_.outputs, totals);
    store_row(computed, step_.width, to);
  }

  AttentionStep step_;
  Scores scores_;
  Buffers buffers_;
  const ProductKernels* products_;
  const VectorKernels* vectors_;
  ScoreKernels kernels_;
  DataType key_type_;  // type of unpacked keys and values
  std::int64_t beside_;
  std::int64_t panels_;
  cpu::Target target_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_attend(const AttentionStep& step, const cpu::StepContext& context) {
  const ProductKernels* const products = product_kernels(context.target);
  const ScoreKernels* const vector_scores = vector_score_kernels(context.target);
  const ScoreKernels& scores = vector_scores != nullptr ? *vector_scores : *generic_score_kernels();
  const VectorKernels* const vectors = products != nullptr ? vector_kernels(context.target) : nullptr;
  if (step.is_packed == 0) {
    return std::make_unique<Attention>(step, products, vectors, scores, step.type, 1, 1, context.target);
  }
  if (products == nullptr) {  // each strip has one row, so the strips form plain matrices
    AttentionStep plain = step;
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));
    const std::int64_t of_keys = step.keys * step.depth * kBytes;
    const std::int64_t of_values = step.keys * step.width * kBytes;
    const std::int64_t heads = step.heads / step.group;
    plain.is_packed = 0;
    plain.k = {.batch = heads * of_keys, .head = of_keys, .row = step.depth * kBytes, .column = kBytes};
    plain.v = {.batch = heads * of_values, .head = of_values, .row = kBytes, .column = step.keys * kBytes};
    return std::make_unique<Attention>(plain, products, vectors, scores, DataType::FLOAT32, 1, 1, context.target);
  }
  const std::int64_t beside = products->panel;
  std::int64_t panels = std::clamp<std::int64_t>(kMaxScores / (beside * step.keys), 1, kMaxPanels);
  const auto pieces = [&] { return step.batches * step.heads * ceil_div(step.queries, beside * panels); };
  while (panels > 1 && (pieces() < 4 * std::int64_t{context.threads} || beside * (panels - 1) >= step.queries)) {
    --panels;
  }
  return std::make_unique<Attention>(step, products, vectors, scores, step.type, beside, panels, context.target);
}

}  // namespace anydml
