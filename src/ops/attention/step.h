// SPDX-License-Identifier: MIT
// The parameters of attention's steps. All of them are AttentionSteps, and each kind has operands of its own:
//
//   attend    queries, keys, values, bias, mask, lengths, output. Keys and values are unpacked or packed.
//   rows      scores, bias, mask, lengths, powers, totals: the part between the two products, for devices that compute
//             these by steps of their own. Scores, powers and totals are FLOAT32 and packed, one row for each query.
//   append    past, new, lengths, all: the rows of the past, whose number the lengths give, and after
//             them the new rows, for keys or for values. The rows that are left are +0.
//   pack      keys or values in the form that the CPU's kernels take: FLOAT32, in strips of rows. The factors of a
//             strip's rows for k = 0 come first, then those for k = 1, and so on; the last strip has fewer rows. The
//             rows are the keys, or the columns of the values. Matrices follow one another, one for each head.
//
// Bias, mask and lengths may be absent.
#pragma once

#include <cstdint>

#include "base/element.h"

namespace anydml {

enum class AttentionKind : std::uint32_t { attend, rows, append, pack };

// DML_MULTIHEAD_ATTENTION_MASK_TYPE
enum class MaskKind : std::uint32_t { none, key_length, key_end_start, key_query_starts, boolean };

// From one batch, head, row and column to the next, in bytes. Rows are queries or keys, and columns their elements. Of
// the bias and of a boolean mask, rows are queries and columns are keys.
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
  DataType type;         // of all tensors except mask and lengths
  DataType length_type;  // if there are lengths
  std::uint32_t has_lengths;
  std::uint32_t is_packed;  // attend: keys and values are
  f32 scale;
  f32 filter;  // MaskFilterValue
  std::int64_t batches;
  std::int64_t heads;      // of the queries
  std::int64_t group;      // queries' heads that share one head of keys and values
  std::int64_t queries;    // of one batch and head
  std::int64_t first;      // rows: the first query of this step, which may have only some of them
  std::int64_t rows;       // rows: the number of queries; append: of rows in `all`
  std::int64_t keys;       // likewise, including those of the past
  std::int64_t depth;      // elements of a query and of a key
  std::int64_t width;      // elements of a value
  std::int64_t past_keys;  // the largest value of a length
  std::int64_t new_keys;
  HeadStrides q;  // append: the past
  HeadStrides k;  // append: the new rows; pack: its input
  HeadStrides v;
  HeadStrides bias;
  HeadStrides mask;  // of a list: only rows and columns
  HeadStrides output;
  std::int64_t length_stride;
};

}  // namespace anydml
