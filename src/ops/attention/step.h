// SPDX-License-Identifier: MIT
// The parameters of attention steps. All steps use AttentionStep, and each kind has its own operands:
//
//   attend    queries, keys, values, bias, mask, lengths, output. Keys and values are unpacked or packed.
//   rows      scores, bias, mask, lengths, exponentials, totals: the step between the two products, for devices that
//             compute the products in separate steps. Scores, exponentials and totals are packed FLOAT32, one row per
//             query.
//   scores    queries, keys, mask, lengths, scores: the first product for the keys that a query sees
//   weigh     exponentials, totals, values, mask, lengths, output: the second product over the keys that a query sees,
//             divided by the totals. Only attention that hides keys needs this step and the previous one; other
//             attention uses GEMM.
//   append    past, new, lengths, all: for keys or for values, writes the past rows and then the new rows to `all`. The
//             lengths contain the numbers of past rows. The remaining rows of `all` are not written. If `all` is the
//             same tensor as the past, only the new rows are written.
//   pack_...  keys or values, mask, lengths, packed: in the layout of the CPU's kernels, FLOAT32 in strips of rows. The
//             factors of a strip's rows for k = 0 come first, then those for k = 1, and so on; the last strip may have
//             fewer rows. The rows are the keys, or the columns of the values. The matrices of all heads are stored one
//             after another. Keys that no query of the batch sees may be left out.
//
// Bias, mask and lengths may be absent. Kernels never read keys and values that no query of the batch sees.
#pragma once

#include <cstdint>

#include "base/element.h"

namespace anydml {

enum class AttentionKind : std::uint32_t { attend, rows, scores, weigh, append, pack_keys, pack_values };

// DML_MULTIHEAD_ATTENTION_MASK_TYPE
enum class MaskKind : std::uint32_t { none, key_length, key_end_start, key_query_starts, boolean };

// Strides in bytes between batches, heads, rows and columns. Rows are queries or keys, and columns are their elements.
// In the bias and in a boolean mask, rows are queries and columns are keys.
struct HeadStrides {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t row;
  std::int64_t column;

  [[nodiscard]] ANYDML_HOST_DEVICE constexpr std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t r,
                                                             std::int64_t c) const {
    return b * batch + h * head + r * row + c * column;
  }
};

struct AttentionStep {
  AttentionKind kind;
  MaskKind mask_kind;
  DataType type;         // type of all tensors except mask and lengths
  DataType length_type;  // only meaningful with lengths
  std::uint32_t has_lengths;
  std::uint32_t is_packed;     // attend: whether keys and values are packed
  std::uint32_t hides_masked;  // whether masked keys are hidden: the mask is a list, and the filter is -infinity
  std::uint32_t has_zeros;     // append: whether the rows after the new ones become +0
  f32 scale;
  f32 filter;  // MaskFilterValue
  std::int64_t batches;
  std::int64_t heads;      // query heads
  std::int64_t group;      // query heads that share one head of keys and values
  std::int64_t queries;    // per batch and head
  std::int64_t first;      // rows: the first query of this step, which may cover only some of the queries
  std::int64_t rows;       // rows: the number of queries; append: the number of rows in `all`
  std::int64_t keys;       // per batch and head, including the past
  std::int64_t depth;      // elements of a query and of a key
  std::int64_t width;      // elements of a value
  std::int64_t past_keys;  // upper bound for each length
  std::int64_t new_keys;
  HeadStrides q;  // append: the past; weigh: the exponentials
  HeadStrides k;  // append: the new rows; pack_...: its input
  HeadStrides v;
  HeadStrides bias;
  HeadStrides mask;  // if the mask is a list, only rows and columns are used
  HeadStrides output;
  std::int64_t length_stride;
};

}  // namespace anydml
