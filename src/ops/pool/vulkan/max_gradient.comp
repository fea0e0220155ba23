#version 460
// SPDX-License-Identifier: MIT
// The gradient of maxima. A thread adds up, for one element of the output gradient, the elements of the input gradient
// whose index names it, in row-major order of the windows.
#extension GL_GOOGLE_include_directive : require
#include "ops/pool/vulkan/windows.glsl"
#include "backend/vulkan/shaders/floats.glsl"

layout(local_size_x = 256) in;

void take(uint64_t, int64_t) {}

// pool_windows: the windows that may contain a position.
struct Windows {
  int64_t first;
  int64_t end;
};
Windows windows_of(Axis axis, uint at) {
  const int64_t coordinate = int64_t(at) + axis.padding;
  const int64_t before = coordinate - (axis.window - 1) * axis.dilation;
  Windows windows;
  if (push.is_far != 0) {
    windows.first = before <= 0 ? int64_t(0) : (before + axis.stride - 1) / axis.stride;
    windows.end = coordinate / axis.stride + 1;
  } else {
    const uint stride = uint(axis.stride);
    windows.first = before <= 0 ? int64_t(0) : int64_t((uint(before) + stride - 1) / stride);
    windows.end = int64_t(uint(coordinate) / stride + 1);
  }
  windows.end = min(windows.end, axis.outputs);
  return windows;
}

void main() {
  const uint number = group_index() * 256 + gl_LocalInvocationIndex;
  if (number >= push.outputs) {
    return;
  }
  Step step = Step(push.header.parameters);
  const uint rank = step.rank;
  const Axis height = step.axes[rank - 2];
  const Axis width = step.axes[rank - 1];
  uint rest = number / uint(width.count);
  const uint x = number - rest * uint(width.count);
  const uint y = rest % uint(height.count);
  rest /= uint(height.count);
  const Windows rows = windows_of(height, y);
  const Windows columns = windows_of(width, x);
  int64_t to = int64_t(y) * height.input_step + int64_t(x) * width.input_step;
  bool goes_on = rows.first < rows.end && columns.first < columns.end;
  Windows outer[kPoolAxes - 2];
  int64_t numbers[kPoolAxes - 2];
  for (uint i = rank - 2; i-- > 0;) {
    const Axis axis = step.axes[i];
    const uint at = rest % uint(axis.count);
    rest /= uint(axis.count);
    outer[i] = windows_of(axis, at);
    numbers[i] = outer[i].first;
    goes_on = goes_on && outer[i].first < outer[i].end;
    to += int64_t(at) * axis.input_step;
  }
  const int64_t channel = int64_t(rest % uint(step.channel.count));
  const int64_t batch = int64_t(rest / uint(step.channel.count));
  to += channel * step.channel.input_step + batch * step.batch.input_step;
  const uint64_t indices =
      operand_address(0) + uint64_t(channel * step.channel.index_step + batch * step.batch.index_step);
  const uint64_t gradient =
      operand_address(1) + uint64_t(channel * step.channel.output_step + batch * step.batch.output_step);
  Value total = 0;
  while (goes_on) {
    int64_t by = 0;
    int64_t from = 0;
    for (uint i = 0; i + 2 < rank; ++i) {
      by += numbers[i] * step.axes[i].index_step;
      from += numbers[i] * step.axes[i].output_step;
    }
    for (int64_t row = rows.first; row < rows.end; ++row) {
      for (int64_t column = columns.first; column < columns.end; ++column) {
        // Indices are in temporary memory, so they are aligned.
        const uint64_t at = indices + uint64_t(by + row * height.index_step + column * width.index_step);
        if (load_bits(at, push.index_bytes, true) == uint64_t(number)) {
          const uint64_t element =
              gradient + uint64_t(from + row * height.output_step + column * width.output_step);
          total = add_floats(total, value_of(load_bits(element, kBytes, push.input_is_aligned != 0), kBytes));
        }
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
  store_bits(operand_address(2) + uint64_t(to), element_of(total, kBytes), kBytes, push.output_is_aligned != 0);
}
