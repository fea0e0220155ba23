// SPDX-License-Identifier: MIT
// Determines which keys a query sees. Shared by the kernels of all devices. Values from tensors are never used as
// addresses here.
#pragma once

#include <cstring>

#include "base/float_bits.h"
#include "base/scalar.h"
#include "ops/attention/step.h"

namespace anydml {

// The keys [first, end): those that are not masked, or those that a query sees. MaskFilterValue is added to the scores
// of masked keys. A key that a query does not see takes no part in its result.
struct KeyRange {
  i64 first;
  i64 end;
};

template <class T>
[[nodiscard]] ANYDML_HOST_DEVICE inline T load_at(const std::byte* from) {
  T value;
  memcpy(&value, from, sizeof(value));
  return value;
}

// The unmasked keys of a query if the mask is a list of numbers. If the list contains the starts of sequences, keys and
// queries are numbered across all batches.
[[nodiscard]] ANYDML_HOST_DEVICE inline KeyRange unmasked_keys(const AttentionStep& step, const std::byte* mask,
                                                               i64 batch, i64 query) {
  const auto number = [&](i64 row, i64 column) {
    return static_cast<i64>(load_at<i32>(mask + row * step.mask.row + column * step.mask.column));
  };
  KeyRange range{0, step.keys};
  if (step.mask_kind == MaskKind::key_length) {
    range.end = number(0, batch);
  } else if (step.mask_kind == MaskKind::key_end_start) {
    range = {number(1, batch), number(0, batch)};
  } else if (step.mask_kind == MaskKind::key_query_starts) {
    const i64 length = number(0, batch);
    const i64 query_index = batch * step.queries + query;
    const i64 first = number(0, 2 * step.batches + 1 + batch);
    const i64 next = number(0, 2 * step.batches + 2 + batch);
    const bool has_query =
        query_index >= number(0, step.batches + batch) && query_index < number(0, step.batches + 1 + batch);
    range.first = first - batch * step.keys;
    range.end = has_query ? (next < first + length ? next : first + length) - batch * step.keys : range.first;
  }
  range.first = range.first < 0 ? 0 : range.first > step.keys ? step.keys : range.first;
  range.end = range.end < range.first ? range.first : range.end > step.keys ? step.keys : range.end;
  return range;
}

// The number of past rows of a batch, clamped to the number of rows.
[[nodiscard]] ANYDML_HOST_DEVICE inline i64 past_length(const AttentionStep& step, const std::byte* lengths,
                                                        i64 batch) {
  const std::byte* const from = lengths + batch * step.length_stride;
  i64 length = 0;
  if (step.length_type == DataType::INT32) {
    length = load_at<i32>(from);
  } else {
    const f32 given = step.length_type == DataType::FLOAT16 ? widen(load_at<f16>(from)) : load_at<f32>(from);
    length = Scalar(static_cast<f64>(given)).as<i64>();
  }
  return length < 0 ? 0 : length > step.past_keys ? step.past_keys : length;
}

// With lengths, a query sees the keys up to its own position: the last new key belongs to the last query. It sees none
// if its own key has no place among the keys. If masked keys are hidden, it does not see these either. mask and
// lengths: null if absent.
[[nodiscard]] ANYDML_HOST_DEVICE inline KeyRange seen_keys(const AttentionStep& step, const std::byte* mask,
                                                           const std::byte* lengths, i64 batch, i64 query) {
  KeyRange range{0, step.keys};
  if (lengths != nullptr) {
    range.end = past_length(step, lengths, batch) + step.new_keys - step.queries + query + 1;
    range.end = range.end < 0 || range.end > step.keys ? 0 : range.end;
  }
  if (step.hides_masked != 0 && mask != nullptr) {
    const KeyRange unmasked = unmasked_keys(step, mask, batch, query);
    range.first = unmasked.first;
    range.end = unmasked.end < range.end ? unmasked.end : range.end;
  }
  return range.first < range.end ? range : KeyRange{0, 0};
}

// All keys that any query of the batch sees are in this range.
[[nodiscard]] ANYDML_HOST_DEVICE inline KeyRange keys_of_batch(const AttentionStep& step, const std::byte* mask,
                                                               const std::byte* lengths, i64 batch) {
  KeyRange range{0, step.keys};
  if (lengths != nullptr) {
    const i64 end = past_length(step, lengths, batch) + step.new_keys;
    range.end = end < step.keys ? end : step.keys;
  }
  if (step.hides_masked != 0 && mask != nullptr && step.mask_kind != MaskKind::key_query_starts) {
    const KeyRange unmasked = unmasked_keys(step, mask, batch, 0);
    range.first = unmasked.first;
    range.end = unmasked.end < range.end ? unmasked.end : range.end;
  }
  return range.first < range.end ? range : KeyRange{0, 0};
}

}  // namespace anydml
