#version 460
// SPDX-License-Identifier: MIT
// Weighted means: along the last level first, then along the one before it, and so on.
#extension GL_GOOGLE_include_directive : require
#include "ops/resample/vulkan/taps.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kKind = 2;  // of the elements; integers have 8 bits
const uint kUnsigned = 0, kSigned = 1, kFloat = 2;

uint import_f32_of_i32(const in uint x) { return x; }
uint import_f32_to_i32(const in uint x) { return x; }
uint import_f32_round_even(const in uint x) { return x; }

uint load_number(uint64_t address) {
  const uint64_t bits = load_bits(address, kBytes, push.input_is_aligned != 0);
  return kKind == kFloat ? value_of(bits, kBytes)
                         : import_f32_of_i32(kKind == kSigned ? uint(int(uint(bits) << 24) >> 24) : uint(bits));
}

uint64_t element_of_mean(uint mean) {
  if (kKind == kFloat) {
    return element_of(mean, kBytes);
  }
  // Means are near the limits of the type at most.
  const int whole = int(import_f32_to_i32(import_f32_round_even(mean)));
  return uint64_t(kKind == kSigned ? clamp(whole, -128, 127) : clamp(whole, 0, 255));
}

struct Taps {
  uint first;
  uint count;
  uint weights;
};
Taps taps_of(Parameters parameters, uint level, uint at) {
  const uint span = parameters.level[level].spans + 3 * at;
  return Taps(parameters.words[span], parameters.words[span + 1], parameters.words[span + 2]);
}

void main() {
  const uint thread = group_index() * 256 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Parameters parameters = Parameters(push.header.parameters);
  const uint row_level = parameters.levels - 2;
  const uint column_level = parameters.levels - 1;
  const Position position = position_of(parameters, thread, row_level, column_level);
  const Taps rows = taps_of(parameters, row_level, position.row);
  const Taps columns = taps_of(parameters, column_level, position.column);
  const int64_t row_stride = parameters.level[row_level].stride;
  const int64_t column_stride = parameters.level[column_level].stride;
  uint64_t at = operand_address(0) + uint64_t(position.from + int64_t(rows.first) * row_stride +
                                              int64_t(columns.first) * column_stride);
  uint numbers[kMaxLevels - 2];
  uint sums[kMaxLevels - 2];
  Taps outer[kMaxLevels - 2];
  for (uint level = 0; level < row_level; ++level) {
    outer[level] = taps_of(parameters, level, position.at[level]);
    at += uint64_t(int64_t(outer[level].first) * parameters.level[level].stride);
    numbers[level] = 0;
  }
  uint value = 0;
  bool goes_on = true;
  while (goes_on) {
    for (uint row = 0; row < rows.count; ++row) {
      uint64_t from = at + uint64_t(int64_t(row) * row_stride);
      uint of_row = 0;
      for (uint column = 0; column < columns.count; ++column) {
        const uint product = multiply_floats(load_number(from), parameters.words[columns.weights + column]);
        of_row = column == 0 ? product : add_floats(of_row, product);
        from += uint64_t(column_stride);
      }
      const uint product = multiply_floats(of_row, parameters.words[rows.weights + row]);
      value = row == 0 ? product : add_floats(value, product);
    }
    goes_on = false;
    for (uint level = row_level; level-- > 0;) {
      const uint number = numbers[level];
      const uint product = multiply_floats(value, parameters.words[outer[level].weights + number]);
      sums[level] = number == 0 ? product : add_floats(sums[level], product);
      if (number + 1 < outer[level].count) {
        numbers[level] = number + 1;
        at += uint64_t(parameters.level[level].stride);
        goes_on = true;
        break;
      }
      at -= uint64_t(int64_t(number) * parameters.level[level].stride);
      numbers[level] = 0;
      value = sums[level];
    }
  }
  store_bits(operand_address(1) + uint64_t(position.to), element_of_mean(value), kBytes, push.output_is_aligned != 0);
}
