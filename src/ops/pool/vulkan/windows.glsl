// SPDX-License-Identifier: MIT
// Visits the elements of a window in row-major order: one thread for each output, with neighbors along the rows.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

// As in family.cpp.
layout(constant_id = 0) const uint kBytes = 4;  // of an element

const uint kPoolAxes = 6;

// PoolStep and PoolAxis (ops/pool/step.h), with at least two axes.
struct Axis {
  int64_t count;
  int64_t outputs;
  int64_t window;
  int64_t stride;
  int64_t dilation;
  int64_t padding;
  int64_t input_step;
  int64_t output_step;
  int64_t index_step;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Step {
  uint function;
  uint type;
  uint index_type;
  uint counts_padding;
  uint rank;
  uint unused;
  Axis batch;
  Axis channel;
  Axis axes[kPoolAxes];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint64_t window_size;  // the bits of the number of positions in a window
  uint outputs;
  uint index_bytes;  // 0 if there are no indices
  uint input_is_aligned;
  uint output_is_aligned;
  uint indices_are_aligned;
  uint is_far;  // positions do not fit into 31 bits
} push;

// pool_taps
struct Taps {
  int64_t first;
  int64_t end;
  int64_t start;
};
Taps taps_of(Axis axis, uint at) {
  Taps taps;
  taps.start = int64_t(at) * axis.stride - axis.padding;
  taps.first = taps.start >= 0 ? int64_t(0) : -taps.start;
  taps.end = taps.start >= axis.count ? int64_t(0) : axis.count - taps.start;
  if (axis.dilation != 1) {
    taps.first = (taps.first + axis.dilation - 1) / axis.dilation;
    taps.end = (taps.end + axis.dilation - 1) / axis.dilation;
  }
  taps.end = min(taps.end, axis.window);
  taps.end = max(taps.end, taps.first);
  return taps;
}

// A kernel defines what happens to an element: its bits and its index in the input.
void take(uint64_t bits, int64_t index);

struct Window {
  int64_t elements;  // that exist
  int64_t to;        // offsets in bytes
  int64_t index_to;
};

Window visit_window(Step step, uint number) {
  const uint rank = step.rank;
  const Axis height = step.axes[rank - 2];
  const Axis width = step.axes[rank - 1];
  uint rest = number / uint(width.outputs);
  const uint column = number - rest * uint(width.outputs);
  const uint row = rest % uint(height.outputs);
  rest /= uint(height.outputs);
  const Taps rows = taps_of(height, row);
  const Taps columns = taps_of(width, column);
  Window window;
  window.elements = (rows.end - rows.first) * (columns.end - columns.first);
  window.to = int64_t(row) * height.output_step + int64_t(column) * width.output_step;
  window.index_to = int64_t(row) * height.index_step + int64_t(column) * width.index_step;
  int64_t plane_size = height.count * width.count;
  Taps outer[kPoolAxes - 2];
  int64_t numbers[kPoolAxes - 2];
  for (uint i = rank - 2; i-- > 0;) {
    const Axis axis = step.axes[i];
    const uint at = rest % uint(axis.outputs);
    rest /= uint(axis.outputs);
    outer[i] = taps_of(axis, at);
    numbers[i] = outer[i].first;
    window.elements *= outer[i].end - outer[i].first;
    window.to += int64_t(at) * axis.output_step;
    window.index_to += int64_t(at) * axis.index_step;
    plane_size *= axis.count;
  }
  const int64_t channel = int64_t(rest % uint(step.channel.outputs));
  const int64_t batch = int64_t(rest / uint(step.channel.outputs));
  window.to += channel * step.channel.output_step + batch * step.batch.output_step;
  window.index_to += channel * step.channel.index_step + batch * step.batch.index_step;
  const uint64_t plane =
      operand_address(0) + uint64_t(channel * step.channel.input_step + batch * step.batch.input_step);
  bool goes_on = window.elements != 0;
  while (goes_on) {
    int64_t offset = 0;
    int64_t line = 0;
    for (uint i = 0; i + 2 < rank; ++i) {
      const int64_t coordinate = outer[i].start + numbers[i] * step.axes[i].dilation;
      offset += coordinate * step.axes[i].input_step;
      line = line * step.axes[i].count + coordinate;
    }
    line = int64_t(rest) * plane_size + line * height.count * width.count;
    const int64_t x = columns.start + columns.first * width.dilation;
    for (int64_t of_row = rows.first; of_row < rows.end; ++of_row) {
      const int64_t y = rows.start + of_row * height.dilation;
      uint64_t from = plane + uint64_t(offset + y * height.input_step + x * width.input_step);
      int64_t index = line + y * width.count + x;
      for (int64_t of_column = columns.first; of_column < columns.end; ++of_column) {
        take(load_bits(from, kBytes, push.input_is_aligned != 0), index);
        from += uint64_t(width.dilation * width.input_step);
        index += width.dilation;
      }
    }
    goes_on = false;
    for (uint i = rank - 2; i-- > 0;) {
      numbers[i] += 1;
      if (numbers[i] < outer[i].end) {
        goes_on = true;
        break;
      }
      numbers[i] = outer[i].first;
    }
  }
  return window;
}
