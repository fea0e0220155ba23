// SPDX-License-Identifier: MIT
// Attention whose scores change before the softmax, or whose softmax has a sink: neither is possible with DirectML's
// operator, so it consists of products and element-wise operators (scored_attention.cpp). docs/numerics.md defines the
// results; without these options, they have the bits of MULTIHEAD_ATTENTION1.
#pragma once

#include "onnx/values/array.h"

namespace anydml::onnx {

struct ScoredAttention {
  Array query;       // {batch, heads, queries, elements}
  Array key, value;  // {batch, shared heads, keys, elements}
  Array seen;        // truths {batch or 1, 1, queries, keys}: the keys that each query sees
  Array bias;        // added to the scores; it broadcasts to {batch, heads, queries, keys}. May be absent.
  Array sink;        // a number for each head, or one for all; may be absent
  double scale = 1;
  double softcap = 0;  // 0: none
};

// Returns {batch, heads, queries, elements} in the type of the query.
[[nodiscard]] Array attend_by_scores(const ScoredAttention& given);

}  // namespace anydml::onnx
