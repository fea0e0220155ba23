// SPDX-License-Identifier: MIT
// The sizes of an attention operator, and the sources of its queries, keys and values.
#pragma once

#include <cstdint>

#include "ops/attention/step.h"
#include "ops/op_desc.h"

namespace anydml::attentions {

// The inputs, in field order.
enum Position : std::uint32_t {
  kQuery,
  kKey,
  kValue,
  kQueryKey,
  kKeyValue,
  kQueryKeyValue,
  kBias,
  kMask,
  kRelativeBias,
  kPastKey,
  kPastValue,
  kLengths,  // only in the newer operator
};

// A tensor that contains the rows of all heads side by side, or stacked with other tensors.
struct Source {
  bool is_given = false;
  std::uint32_t tensor = 0;
  std::int64_t stacked = 0;  // number of tensors stacked together; 0 if not stacked
  std::int64_t index = 0;    // index of this tensor in the stack
};

struct Geometry {
  Source query;
  Source key;    // absent if all keys are past keys
  Source value;  // absent if all values are past values
  std::int64_t batches = 0;
  std::int64_t heads = 0;
  std::int64_t shared_heads = 0;  // heads of keys and values
  std::int64_t queries = 0;
  std::int64_t new_keys = 0;
  std::int64_t past_keys = 0;
  std::int64_t keys = 0;  // per query: past keys, new keys and, with lengths, unused keys
  std::int64_t depth = 0;
  std::int64_t width = 0;
  MaskKind mask = MaskKind::none;
};

[[nodiscard]] bool has_tensor(const OpDesc& desc, Position position);

// Rejects meaningless sizes and combinations with a message.
[[nodiscard]] Result<Geometry> geometry_of(const OpDesc& desc);

// The size of a dimension counted from the end; missing leading dimensions have size 1.
[[nodiscard]] inline std::int64_t size_from_end(const TensorDesc& tensor, std::uint32_t from_end) {
  return from_end <= tensor.rank ? tensor.sizes[tensor.rank - from_end] : 1;
}

}  // namespace anydml::attentions
