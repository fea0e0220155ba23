// SPDX-License-Identifier: MIT
// The parameters of attention steps, and which keys a query sees: ops/attention/scalar/masks.h. Numbers from tensors are
// never used as addresses without limits.
#ifndef ANYDML_ATTENTION_STEP_GLSL
#define ANYDML_ATTENTION_STEP_GLSL
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

const uint kKeyLength = 1, kKeyEndStart = 2, kKeyQueryStarts = 3, kBoolean = 4;  // MaskKind
const uint kInt32 = 6, kFloat16 = 2;                                             // DataType

// As in ops/attention/step.h.
struct HeadStrides {
  int64_t batch;
  int64_t head;
  int64_t row;
  int64_t column;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AttentionStep {
  uint kind;
  uint mask_kind;
  uint type;
  uint length_type;
  uint has_lengths;
  uint is_packed;
  uint hides_masked;
  uint has_zeros;
  uint scale;
  uint filter_value;
  int64_t batches;
  int64_t heads;
  int64_t group;
  int64_t queries;
  int64_t first;
  int64_t rows;
  int64_t keys;
  int64_t depth;
  int64_t width;
  int64_t past_keys;
  int64_t new_keys;
  HeadStrides q;
  HeadStrides k;
  HeadStrides v;
  HeadStrides bias;
  HeadStrides mask;
  HeadStrides result;
  int64_t length_stride;
};

uint64_t element_at(uint64_t base, HeadStrides strides, int64_t batch, int64_t head, int64_t row, int64_t column) {
  return base + uint64_t(batch * strides.batch + head * strides.head + row * strides.row + column * strides.column);
}

struct KeyRange {
  int64_t first;
  int64_t end;
};

int64_t number_of_mask(AttentionStep step, uint64_t mask, int64_t row, int64_t column) {
  const uint64_t at = mask + uint64_t(row * step.mask.row + column * step.mask.column);
  return int64_t(int(uint(load_bits(at, 4, false))));
}

KeyRange unmasked_keys(AttentionStep step, uint64_t mask, int64_t batch, int64_t query) {
  KeyRange range = KeyRange(0, step.keys);
  if (step.mask_kind == kKeyLength) {
    range.end = number_of_mask(step, mask, 0, batch);
  } else if (step.mask_kind == kKeyEndStart) {
    range = KeyRange(number_of_mask(step, mask, 1, batch), number_of_mask(step, mask, 0, batch));
  } else if (step.mask_kind == kKeyQueryStarts) {
    const int64_t length = number_of_mask(step, mask, 0, batch);
    const int64_t query_index = batch * step.queries + query;
    const int64_t first = number_of_mask(step, mask, 0, 2 * step.batches + 1 + batch);
    const int64_t next = number_of_mask(step, mask, 0, 2 * step.batches + 2 + batch);
    const bool has_query = query_index >= number_of_mask(step, mask, 0, step.batches + batch) &&
                           query_index < number_of_mask(step, mask, 0, step.batches + 1 + batch);
    range.first = first - batch * step.keys;
    range.end = has_query ? min(next, first + length) - batch * step.keys : range.first;
  }
  range.first = clamp(range.first, int64_t(0), step.keys);
  range.end = range.end < range.first ? range.first : min(range.end, step.keys);
  return range;
}

// The integer part of a FLOAT32, from 0 to `most`. NaN becomes 0.
int64_t whole_part(uint x, int64_t most) {
  if (x < 0x3f800000u || x > 0x7f800000u) {  // less than 1, negative or NaN
    return 0;
  }
  const uint exponent = (x >> 23) - 127;
  if (exponent > 62) {
    return most;
  }
  const int64_t significand = int64_t((x & 0x7fffffu) | 0x800000u);
  return min(exponent > 23 ? significand << (exponent - 23) : significand >> (23 - exponent), most);
}

int64_t past_length(AttentionStep step, uint64_t lengths, int64_t batch) {
  const uint64_t from = lengths + uint64_t(batch * step.length_stride);
  if (step.length_type == kInt32) {
    return clamp(int64_t(int(uint(load_bits(from, 4, false)))), int64_t(0), step.past_keys);
  }
  const uint bytes = step.length_type == kFloat16 ? 2 : 4;
  return whole_part(value_of(load_bits(from, bytes, false), bytes), step.past_keys);
}

// mask and lengths: 0 if absent.
KeyRange seen_keys(AttentionStep step, uint64_t mask, uint64_t lengths, int64_t batch, int64_t query) {
  KeyRange range = KeyRange(0, step.keys);
  if (lengths != 0) {
    range.end = past_length(step, lengths, batch) + step.new_keys - step.queries + query + 1;
    range.end = range.end < 0 || range.end > step.keys ? int64_t(0) : range.end;
  }
  if (step.hides_masked != 0 && mask != 0) {
    const KeyRange unmasked = unmasked_keys(step, mask, batch, query);
    range.first = unmasked.first;
    range.end = min(unmasked.end, range.end);
  }
  if (range.first < range.end) {
    return range;
  }
  return KeyRange(0, 0);
}

#endif
