#version 460
// SPDX-License-Identifier: MIT
// Gradients: a thread adds up, for one element of the output gradient, the elements of the input gradient whose taps
// include it. The sums along the first level are the innermost ones. All sums start from +0. If there are many taps along
// the last level, some of them are added in each part of the step.
#extension GL_GOOGLE_include_directive : require
#include "ops/resample/vulkan/taps.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kDivisor = 0;  // GradientDivisor
const uint kNone = 0, kTaps = 1;

// GradientTaps
struct Span {
  uint first;
  uint second;
  uint end;
};
Span span_of(Parameters parameters, uint level, uint at) {
  const uint word = parameters.level[level].spans + 3 * at;
  Span span = Span(parameters.words[word], parameters.words[word + 1], parameters.words[word + 2]);
  if (level + 1 == parameters.levels) {
    const uint first = span.first;
    span.first = min(first + push.first_tap, span.end);
    span.end = min(first + push.end_tap, span.end);
  }
  return span;
}

// The sums of an earlier part, in the workspace.
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Sum { uint bits; };

// Of element o of the input gradient.
uint weight_of(Parameters parameters, uint level, Span span, uint o) {
  return parameters.words[parameters.level[level].weights + 3 * o + (o < span.second ? 1 : 0)];
}
uint64_t elements_of(Parameters parameters, uint level, uint o) {
  return uint64_t(parameters.words[parameters.level[level].weights + 3 * o + 2]);
}

uint load_number(uint64_t address, uint64_t elements) {
  const uint value = value_of(load_bits(address, kBytes, push.input_is_aligned != 0), kBytes);
  return kDivisor == kNone ? value
                           : divide_floats(value, kDivisor == kTaps ? push.divisor : float_of_integer(elements));
}

void main() {
  const uint thread = group_index() * 256 + gl_LocalInvocationIndex;
  if (thread >= push.count) {
    return;
  }
  Parameters parameters = Parameters(push.header.parameters);
  const Position position = position_of(parameters, thread, 0, 1);
  const Span rows = span_of(parameters, 0, position.row);
  const Span columns = span_of(parameters, 1, position.column);
  Sum sum = Sum(operand_address(2) + uint64_t(thread) * 4);
  const uint carried = push.first_tap == 0 ? 0 : sum.bits;
  bool goes_on = true;
  Span outer[kMaxLevels];
  uint numbers[kMaxLevels];
  uint sums[kMaxLevels];
  for (uint level = 2; level < parameters.levels; ++level) {
    outer[level] = span_of(parameters, level, position.at[level]);
    numbers[level] = outer[level].first;
    sums[level] = level + 1 == parameters.levels ? carried : 0;
    goes_on = goes_on && outer[level].first < outer[level].end;
  }
  uint value = carried;
  while (goes_on) {
    uint64_t from = operand_address(0) + uint64_t(position.from);
    uint64_t elements = 1;
    for (uint level = 2; level < parameters.levels; ++level) {
      from += uint64_t(int64_t(numbers[level]) * parameters.level[level].stride);
      elements *= elements_of(parameters, level, numbers[level]);
    }
    value = parameters.levels == 2 ? carried : 0;
    for (uint column = columns.first; column < columns.end; ++column) {
      const uint64_t of_column = elements * elements_of(parameters, 1, column);
      const uint64_t top = from + uint64_t(int64_t(column) * parameters.level[1].stride);
      uint total = 0;
      for (uint row = rows.first; row < rows.end; ++row) {
        const uint number = load_number(top + uint64_t(int64_t(row) * parameters.level[0].stride),
                                        of_column * elements_of(parameters, 0, row));
        total = add_floats(total, multiply_floats(number, weight_of(parameters, 0, rows, row)));
      }
      value = add_floats(value, multiply_floats(total, weight_of(parameters, 1, columns, column)));
    }
    goes_on = false;
    for (uint level = 2; level < parameters.levels; ++level) {
      sums[level] = add_floats(sums[level], multiply_floats(value, weight_of(parameters, level, outer[level],
                                                                             numbers[level])));
      if (numbers[level] + 1 < outer[level].end) {
        numbers[level] += 1;
        goes_on = true;
        break;
      }
      numbers[level] = outer[level].first;
      value = sums[level];
      sums[level] = 0;
    }
  }
  if (push.is_last_part == 0) {
    sum.bits = value;
    return;
  }
  store_bits(operand_address(1) + uint64_t(position.to), element_of(value, kBytes), kBytes,
             push.output_is_aligned != 0);
}
