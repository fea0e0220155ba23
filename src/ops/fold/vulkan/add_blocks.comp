#version 460
// SPDX-License-Identifier: MIT
// FOLD: each thread computes one output element and visits the window positions in order.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kBytes = 4;  // of an element
layout(constant_id = 1) const bool kIsFloat = false;
const uint kMaxFoldRank = 6;

// FoldStep (ops/fold/step.h), with at least two dimensions.
struct Dimension {
  int64_t size;
  int64_t window;
  int64_t stride;
  int64_t dilation;
  int64_t padding;
  int64_t blocks;
  int64_t output_step;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Step {
  uint type;
  uint rank;
  int64_t batches;
  int64_t channels;
  int64_t input_batch;
  int64_t input_channel;
  int64_t input_window;
  int64_t input_block;
  int64_t output_batch;
  int64_t output_channel;
  Dimension dimensions[kMaxFoldRank];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint count;
  uint input_is_aligned;
  uint output_is_aligned;
} push;

Value total = 0;
bool is_covered = false;

void add_element(uint64_t address) {
  const uint64_t bits = load_bits(address, kBytes, push.input_is_aligned != 0);
  const Value value = kIsFloat ? value_of(bits, kBytes) : Value(bits);
  total = !is_covered ? value : kIsFloat ? add_floats(total, value) : total + value;
  is_covered = true;
}

// The block whose element at this position of the window is the output's element; at least `blocks` if there is none.
uint block_at(Dimension dimension, uint behind, uint position) {
  const uint back = position * uint(dimension.dilation);
  const uint stride = uint(dimension.stride);
  const uint block = (behind - back) / stride;
  return block * stride == behind - back ? block : 0xffffffffu;
}

// The positions that are not behind the first element of the padding.
uint positions_of(Dimension dimension, uint behind) {
  return min(uint(dimension.window), behind / uint(dimension.dilation) + 1);
}

void main() {
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= push.count) {
    return;
  }
  Step step = Step(push.header.parameters);
  const uint rank = step.rank;
  uint behind[kMaxFoldRank];
  uint rest = number;
  int64_t to = 0;
  for (uint i = rank; i-- > 0;) {
    const uint size = uint(step.dimensions[i].size);
    const uint at = rest % size;
    rest /= size;
    behind[i] = at + uint(step.dimensions[i].padding);
    to += int64_t(at) * step.dimensions[i].output_step;
  }
  const int64_t channel = int64_t(rest % uint(step.channels));
  const int64_t batch = int64_t(rest / uint(step.channels));
  to += channel * step.output_channel + batch * step.output_batch;
  const uint64_t from = operand_address(0) + uint64_t(batch * step.input_batch + channel * step.input_channel);
  const Dimension height = step.dimensions[rank - 2];
  const Dimension width = step.dimensions[rank - 1];
  const uint rows = positions_of(height, behind[rank - 2]);
  const uint columns = positions_of(width, behind[rank - 1]);
  uint positions[kMaxFoldRank];
  for (uint i = 0; i + 2 < rank; ++i) {
    positions[i] = 0;
  }
  bool goes_on = true;
  while (goes_on) {
    // Numbers of the position in the window and of the block, for the outer dimensions.
    uint64_t window = 0;
    uint64_t block = 0;
    bool exists = true;
    for (uint i = 0; i + 2 < rank; ++i) {
      const Dimension dimension = step.dimensions[i];
      const uint of_dimension = block_at(dimension, behind[i], positions[i]);
      exists = exists && of_dimension < uint(dimension.blocks);
      window = window * uint64_t(dimension.window) + positions[i];
      block = block * uint64_t(dimension.blocks) + of_dimension;
    }
    for (uint row = 0; exists && row < rows; ++row) {
      const uint of_rows = block_at(height, behind[rank - 2], row);
      if (of_rows >= uint(height.blocks)) {
        continue;
      }
      const uint64_t window_row = (window * uint64_t(height.window) + row) * uint64_t(width.window);
      const uint64_t block_row = (block * uint64_t(height.blocks) + of_rows) * uint64_t(width.blocks);
      for (uint column = 0; column < columns; ++column) {
        const uint of_columns = block_at(width, behind[rank - 1], column);
        if (of_columns < uint(width.blocks)) {
          add_element(from + (window_row + column) * uint64_t(step.input_window) +
                      (block_row + of_columns) * uint64_t(step.input_block));
        }
      }
    }
    goes_on = false;
    for (uint i = rank - 2; i-- > 0;) {
      positions[i] += 1;
      if (positions[i] < positions_of(step.dimensions[i], behind[i])) {
        goes_on = true;
        break;
      }
      positions[i] = 0;
    }
  }
  store_bits(operand_address(1) + uint64_t(to), kIsFloat ? element_of(total, kBytes) : uint64_t(total), kBytes,
             push.output_is_aligned != 0);
}
