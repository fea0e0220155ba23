// SPDX-License-Identifier: MIT
// A convolution as products: a group computes a tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/product/vulkan/tiles.glsl"
#if NUMBERS == 8
#include "ops/product/vulkan/integer_finish.glsl"
const uint kFilter = kA, kInput = kB;
shared int zeros_a[kTileRows];
int row_zero;
int input_zero;
#else
const uint kInput = 0u, kFilter = 1u, kBias = 2u, kOutput = 3u;
#endif
#include "ops/product/vulkan/window.glsl"

shared Depth depths[kDepth];  // of the k of a tile

// The row and the column of the thread's loads.
uint64_t row_address;
Pixel pixel;

uint64_t workspace() { return operand_address(kOutput + 1u); }
bool are_rows_along_k() { return true; }
bool are_columns_along_k() { return false; }

void prepare_depth(uint64_t k) {
  const uint thread = gl_LocalInvocationIndex;
  if (thread < kDepth && uint(k) + thread < class_depth) {
    depths[thread] = locate_depth(uint(k) + thread);
  }
}

void locate_row(uint row) {
  row_address = base_filter + uint64_t(int64_t(tile_row + row) * parameters().filter_row);
#if NUMBERS == 8
  row_zero = zeros_a[row];
#endif
}
void locate_column(uint column) { pixel = locate_pixel(column); }
Number load_row(uint64_t k, uint of_tile) {
  const uint64_t address = row_address + uint64_t(depths[of_tile].in_filter);
#if NUMBERS == 8
  return uint(load_byte(address, parameters().signed_filter) - row_zero);
#else
  return load_number(address);
#endif
}
// Padding is +0. In bytes it equals the zero point.
Number load_column(uint64_t k, uint of_tile) {
  Parameters p = parameters();
  const ivec3 at = pixel.position + depths[of_tile].moves;
  if (uint(at.x) >= p.axes[0].inputs || uint(at.y) >= p.axes[1].inputs || uint(at.z) >= p.axes[2].inputs) {
    return kZero;
  }
  const uint64_t address = pixel.address + uint64_t(depths[of_tile].in_input);
#if NUMBERS == 8
  return uint(load_byte(address, p.signed_input) - input_zero);
#else
  return load_number(address);
#endif
}

void store_total(uint row, uint column, Number total) {
  Parameters p = parameters();
  const uint64_t to = output_at(row, column);
  const bool has_bias = operand_address(kBias) != 0ul;
#if NUMBERS == 8
  const uint biased = has_bias ? total + load_32(bias_at(row)) : total;
  if (p.finish == kFinishInt32) {
    store_32(to, biased);
    return;
  }
  const int64_t channel = int64_t(channel_of(row));
  const uint factor =
      quantized_factor(load_scale(kBScale, 0l), load_scale(kAScale, channel * p.filter_scale), load_scale(kOutputScale, 0l));
  Bits8(to).bits = uint8_t(quantized_total(int(biased), factor, load_zero(kOutputZero, 0l, p.signed_output), p.signed_output));
#else
  store_number(to, has_bias ? add(total, load_number(bias_at(row))) : total);
#endif
}

void main() {
  const uint columns = locate_tile();
  if (columns == 0u) {
    return;
  }
  Parameters p = parameters();
  const uint rows = min(p.rows - tile_row, kTileRows);
#if NUMBERS == 8
  input_zero = load_zero(kBZero, 0l, p.signed_input);
  for (uint i = gl_LocalInvocationIndex; i < rows; i += kThreads) {
    zeros_a[i] = load_zero(kAZero, int64_t(channel_of(i)) * p.filter_zero, p.signed_filter);
  }
  barrier();
#endif
  compute_tile(uint64_t(class_depth), rows, columns);
}
