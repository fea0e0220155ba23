// SPDX-License-Identifier: MIT
#include "ops/attention/cpu/scores.h"

#include <algorithm>
#include <cstring>

#include "ops/attention/scalar/masks.h"
#include "ops/attention/scalar/scores.h"
#include "ops/product/cpu/pack.h"
#include "ops/scalar/fold_order.h"

namespace anydml {
namespace {

constexpr std::int64_t kBlockElements = 1024;  // fits in the L1 cache together with a buffer of the same size

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

// Combines kScorePeriod numbers into one number for each of the `beside` interleaved queries.
template <class Combine>
void fold_period(f32* period, std::int64_t beside, Combine combine) {
  for (std::int64_t half = kScorePeriod / 2; half >= beside; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) {
      period[i] = combine(period[i], period[i + half]);
    }
  }
}

void repeat(f32* period, std::int64_t beside) {
  for (std::int64_t i = beside; i < kScorePeriod; ++i) {
    period[i] = period[i - beside];
  }
}

}  // namespace

std::int64_t Scores::block() const { return std::max(kReduceLanes, kBlockElements / beside_); }

std::int64_t Scores::elements() const { return rounded_up(step_.keys * beside_, kScoresTogether); }

std::int64_t Scores::room() const { return kReduceLanes * beside_ + block() * beside_; }

void Scores::gather(const QueryRange& queries, const HeadStrides& strides, const std::byte* from, DataType type,
                    std::int64_t first, std::int64_t count, f32* to) const {
  const std::byte* const start = from + strides.at(queries.batch, queries.head, queries.first, first);
  if (type == DataType::FLOAT16) {
    pack_halves(products_, vectors_, start, strides.column, strides.row, count, queries.count, beside_, to);
  } else {
    pack_panel(products_, start, strides.column, strides.row, count, queries.count, beside_, to);
  }
}

void Scores::add_filter(const QueryRange& queries, const std::byte* mask, std::int64_t first, std::int64_t count,
                        f32* scores, f32* room) const {
  const std::int64_t elements = rounded_up(count * beside_, kScoresTogether);
  if (step_.mask_kind == MaskKind::boolean) {
    gather(queries, step_.mask, mask, DataType::INT32, first, count, room);
    kernels_.add_where(scores, elements, reinterpret_cast<const i32*>(room), step_.filter);
    return;
  }
  if (step_.mask_kind == MaskKind::key_query_starts) {
    for (std::int64_t query = 0; query < queries.count; ++query) {
      const KeyRange range = unmasked_keys(step_, mask, queries.batch, queries.first + query);
      for (std::int64_t key = first; key < first + count; ++key) {
        if (key < range.first || key >= range.end) {
          scores[(key - first) * beside_ + query] += step_.filter;
        }
      }
    }
    return;
  }
  // The unmasked keys are the same for all queries.
  const KeyRange range = unmasked_keys(step_, mask, queries.batch, queries.first);
  const std::int64_t before = std::clamp<std::int64_t>(range.first - first, 0, count) * beside_;
  const std::int64_t after = std::clamp<std::int64_t>(range.end - first, 0, count) * beside_;
  const auto add = [&](std::int64_t from, std::int64_t end) {
    for (; from < end && from % kScoresTogether != 0; ++from) {
      scores[from] += step_.filter;
    }
    const std::int64_t whole = end == count * beside_ ? rounded_up(end, kScoresTogether) : end;
    const std::int64_t vectors = std::max<std::int64_t>(0, (whole - from) / kScoresTogether * kScoresTogether);
    kernels_.add_one(scores + from, vectors, step_.filter);
    for (from += vectors; from < end; ++from) {
      scores[from] += step_.filter;
    }
  };
  add(0, before);
  add(std::max(before, after), count * beside_);
}

SeenKeys Scores::seen(const QueryRange& queries, const Masks& masks) const {
  SeenKeys seen{};
  bool is_any = false;
  for (std::int64_t i = 0; i < queries.count; ++i) {
    const KeyRange range = seen_keys(step_, masks.mask, masks.lengths, queries.batch, queries.first + i);
    seen.firsts[i] = range.first;
    seen.ends[i] = range.end;
    if (range.end == 0) {
      continue;
    }
    seen.lowest_first = is_any ? std::min(seen.lowest_first, range.first) : range.first;
    seen.highest_first = std::max(seen.highest_first, range.first);
    seen.lowest_end = is_any ? std::min(seen.lowest_end, range.end) : range.end;
    seen.highest_end = std::max(seen.highest_end, range.end);
    is_any = true;
  }
  return seen;
}

void Scores::hide(const QueryRange& queries, const SeenKeys& seen, std::int64_t first, std::int64_t count,
                  f32* scores) const {
  for (std::int64_t query = 0; query < queries.count; ++query) {
    const auto hide_keys = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t key = from; key < to; ++key) {
        scores[(key - first) * beside_ + query] = kMinScore;
      }
    };
    hide_keys(first, std::min(first + count, seen.firsts[query]));
    hide_keys(std::max(first, seen.ends[query]), first + count);
  }
}

void Scores::set(const QueryRange& queries, const SeenKeys& seen, const Masks& masks, std::int64_t first,
                 std::int64_t count, f32* scores, f32* room) const {
  const std::int64_t elements = rounded_up(count * beside_, kScoresTogether);
  if (step_.kind == AttentionKind::attend && !is_scaled_later(masks)) {
    kernels_.scale(scores, elements, step_.scale);
  }
  if (masks.bias != nullptr) {
    gather(queries, step_.bias, masks.bias, step_.type, first, count, room);
    kernels_.add(scores, elements, room);
  }
  if (masks.mask != nullptr && step_.hides_masked == 0) {
    add_filter(queries, masks.mask, first, count, scores, room);
  }
  if (hides_keys(masks)) {
    hide(queries, seen, first, count, scores);
  }
}

// The maximum score times a non-negative factor equals the maximum of the scaled scores.
bool Scores::is_scaled_later(const Masks& masks) const {
  return step_.kind == AttentionKind::attend && step_.scale >= 0 && masks.bias == nullptr && masks.mask == nullptr &&
         masks.lengths == nullptr;
}

void Scores::raise(const QueryRange& queries, const SeenKeys& seen, const Masks& masks, f32* scores, f32* found,
                   f32* room, f32* totals) const noexcept {
  const std::int64_t keys = seen.highest_end;
  f32* const lanes = room;
  f32* const others = room + kReduceLanes * beside_;
  alignas(64) f32 own_max[kScorePeriod];
  f32* const maximum = found != nullptr ? found : own_max;
  if (found == nullptr) {
    std::fill_n(maximum, kScorePeriod, kMinScore);
    for (std::int64_t first = 0; first < keys; first += block()) {
      const std::int64_t count = std::min(block(), keys - first);
      set(queries, seen, masks, first, count, scores + first * beside_, others);
      kernels_.find_max(scores + first * beside_, count * beside_, maximum);
    }
  }
  fold_period(maximum, beside_, greater_score);
  const f32 factor = is_scaled_later(masks) ? step_.scale : 1.0F;
  for (std::int64_t i = 0; i < beside_; ++i) {
    maximum[i] *= factor;
  }
  repeat(maximum, beside_);
  BlockTree<f32> trees[kMaxQueriesBeside];
  for (std::int64_t first = 0; first < keys; first += kReduceBlock) {
    const std::int64_t end = std::min(keys, first + kReduceBlock);
    const std::int64_t all = kReduceLanes * beside_;
    std::fill_n(lanes, all, kNothing<f32>);
    for (std::int64_t key = first; key < end; key += block()) {
      f32* const own = scores + key * beside_;
      const std::int64_t count = std::min(block(), end - key) * beside_;
      if (count % kScoresTogether == 0) {
        kernels_.raise(own, count, factor, maximum, lanes, all);
        continue;
      }
      kernels_.raise(own, rounded_up(count, kScoresTogether), factor, maximum, nullptr, all);
      for (std::int64_t i = 0; i < count; i += all) {
        kernels_.add_lanes(lanes, own + i, std::min(all, count - i));
      }
    }
    for (std::int64_t half = all / 2; half >= beside_; half /= 2) {
      kernels_.add_lanes(lanes, lanes + half, half);
    }
    for (std::int64_t i = 0; i < beside_; ++i) {
      trees[i].add(lanes[i], sum_exponentials);
    }
  }
  for (std::int64_t i = 0; i < beside_; ++i) {
    totals[i] = trees[i].total(sum_exponentials);
  }
  repeat(totals, beside_);
}

}  // namespace anydml
