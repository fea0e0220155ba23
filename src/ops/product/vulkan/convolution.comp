// SPDX-License-Identifier: MIT
// A convolution as products: the rows are the output channels of a group of channels, and the columns are the pixels
// of one class (ops/product/window.h) in all images. k counts the channels, and in each of them its taps. A group
// computes a tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/product/vulkan/tiles.glsl"
#define WORD 4
#include "backend/vulkan/shaders/strided.glsl"

// As in windows.cpp. A class has at least one tap here, or tap_count is 0.
struct Class {
  FastDivisor outputs;
  FastDivisor taps;
  uint tap_count;
  uint first_output;
  uint output_stride;
  uint first_tap;
  uint tap_step;
  int first;
  int output_move;
  int tap_move;
};
struct Axis {
  int64_t input_step;
  int64_t filter_step;
  int64_t output_step;
  uint inputs;
  uint classes;
  uint first_class;  // in the list of all classes
  uint unused;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t input_image;
  int64_t input_channel;
  int64_t filter_group;
  int64_t filter_row;
  int64_t filter_channel;
  int64_t bias_channel;
  int64_t output_image;
  int64_t output_channel;
  int64_t filter_zero;  // only for bytes, like the next one
  int64_t filter_scale;
  Axis axes[3];
  uint images;
  uint rows;
  uint channels;
  uint tiles_across;  // in the class with the most pixels
  uint tiles_of_class;
  uint all_classes;
  uint finish;
  uint signed_filter;
  uint signed_input;
  uint signed_output;
  Class classes[];
};

#if NUMBERS == 8
#include "ops/product/vulkan/integer_finish.glsl"
const uint kFilter = kA, kInput = kB;
shared int zeros_a[kTileRows];
int row_zero;
int input_zero;
#else
const uint kInput = 0u, kFilter = 1u, kBias = 2u, kOutput = 3u;
#endif

// For each k of a tile: the offset in a row of the filter, the offset in the input, and the distance in pixels.
shared int64_t filter_offset[kDepth];
shared int64_t input_offset[kDepth];
shared int move_0[kDepth];
shared int move_1[kDepth];
shared int move_2[kDepth];

uint class_index[3];  // of this group, in the list
uint channel_group;
uint tile_row, tile_column;
uint class_depth;
uint64_t base_filter, base_input;
// The row and the column of the thread's loads.
uint64_t row_address, column_address;
int position[3];  // of the column's first tap in the input

Parameters parameters() { return Parameters(push.header.parameters); }

uint64_t workspace() { return operand_address(kOutput + 1u); }
bool are_rows_along_k() { return true; }
bool are_columns_along_k() { return false; }

void prepare_depth(uint64_t k) {
  const uint thread = gl_LocalInvocationIndex;
  if (thread >= kDepth || uint(k) + thread >= class_depth) {
    return;
  }
  Parameters p = parameters();
  int64_t in_filter = 0;
  int64_t in_input = 0;
  int moves[3];
  uint rest = uint(k) + thread;
  for (uint i = 3u; i-- > 0u;) {
    uint tap;
    rest = divide(rest, p.classes[class_index[i]].taps, tap);
    moves[i] = int(tap) * p.classes[class_index[i]].tap_move;
    in_filter +=
        int64_t(p.classes[class_index[i]].first_tap + tap * p.classes[class_index[i]].tap_step) * p.axes[i].filter_step;
    in_input += int64_t(moves[i]) * p.axes[i].input_step;
  }
  filter_offset[thread] = in_filter + int64_t(rest) * p.filter_channel;
  input_offset[thread] = in_input + int64_t(rest) * p.input_channel;
  move_0[thread] = moves[0];
  move_1[thread] = moves[1];
  move_2[thread] = moves[2];
}

void locate_row(uint row) {
  row_address = base_filter + uint64_t(int64_t(tile_row + row) * parameters().filter_row);
#if NUMBERS == 8
  row_zero = zeros_a[row];
#endif
}
void locate_column(uint column) {
  Parameters p = parameters();
  int64_t offset = 0;
  uint rest = tile_column + column;
  for (uint i = 3u; i-- > 0u;) {
    uint pixel;
    rest = divide(rest, p.classes[class_index[i]].outputs, pixel);
    position[i] = p.classes[class_index[i]].first + int(pixel) * p.classes[class_index[i]].output_move;
    offset += int64_t(position[i]) * p.axes[i].input_step;
  }
  column_address = base_input + uint64_t(offset + int64_t(rest) * p.input_image);
}
Number load_row(uint64_t k, uint of_tile) {
  const uint64_t address = row_address + uint64_t(filter_offset[of_tile]);
#if NUMBERS == 8
  return uint(load_byte(address, parameters().signed_filter) - row_zero);
#else
  return load_number(address);
#endif
}
// Padding is +0. In bytes it equals the zero point.
Number load_column(uint64_t k, uint of_tile) {
  Parameters p = parameters();
  if (uint(position[0] + move_0[of_tile]) >= p.axes[0].inputs || uint(position[1] + move_1[of_tile]) >= p.axes[1].inputs ||
      uint(position[2] + move_2[of_tile]) >= p.axes[2].inputs) {
    return kZero;
  }
  const uint64_t address = column_address + uint64_t(input_offset[of_tile]);
#if NUMBERS == 8
  return uint(load_byte(address, p.signed_input) - input_zero);
#else
  return load_number(address);
#endif
}

void store_total(uint row, uint column, Number total) {
  Parameters p = parameters();
  const int64_t channel = int64_t(channel_group * p.rows + tile_row + row);
  int64_t offset = channel * p.output_channel;
  uint rest = tile_column + column;
  for (uint i = 3u; i-- > 0u;) {
    uint pixel;
    rest = divide(rest, p.classes[class_index[i]].outputs, pixel);
    offset += int64_t(p.classes[class_index[i]].first_output + pixel * p.classes[class_index[i]].output_stride) *
              p.axes[i].output_step;
  }
  const uint64_t to = operand_address(kOutput) + uint64_t(offset + int64_t(rest) * p.output_image);
  const uint64_t bias = operand_address(kBias) + uint64_t(channel * p.bias_channel);
  const bool has_bias = operand_address(kBias) != 0ul;
#if NUMBERS == 8
  const uint biased = has_bias ? total + load_32(bias) : total;
  if (p.finish == kFinishInt32) {
    store_32(to, biased);
    return;
  }
  const uint factor =
      quantized_factor(load_scale(kBScale, 0l), load_scale(kAScale, channel * p.filter_scale), load_scale(kOutputScale, 0l));
  Bits8(to).bits = uint8_t(quantized_total(int(biased), factor, load_zero(kOutputZero, 0l, p.signed_output), p.signed_output));
#else
  store_number(to, has_bias ? add(total, load_number(bias)) : total);
#endif
}

void main() {
  Parameters p = parameters();
  const uint group = tile_number();
  const uint tile = group % p.tiles_of_class;
  uint rest = group / p.tiles_of_class;
  channel_group = rest / p.all_classes;
  rest %= p.all_classes;
  uint columns = p.images;
  class_depth = p.channels;
  for (uint i = 3u; i-- > 0u;) {
    class_index[i] = p.axes[i].first_class + rest % p.axes[i].classes;
    rest /= p.axes[i].classes;
    columns *= p.classes[class_index[i]].outputs.divisor;
    class_depth *= p.classes[class_index[i]].tap_count;
  }
  tile_row = tile / p.tiles_across * kTileRows;
  tile_column = tile % p.tiles_across * kTileColumns;
  if (tile_column >= columns) {
    return;
  }
  base_filter = operand_address(kFilter) + uint64_t(int64_t(channel_group) * p.filter_group);
  base_input = operand_address(kInput) + uint64_t(int64_t(channel_group) * int64_t(p.channels) * p.input_channel);
  const uint rows = min(p.rows - tile_row, kTileRows);
#if NUMBERS == 8
  input_zero = load_zero(kBZero, 0l, p.signed_input);
  for (uint i = gl_LocalInvocationIndex; i < rows; i += kThreads) {
    zeros_a[i] =
        load_zero(kAZero, int64_t(channel_group * p.rows + tile_row + i) * p.filter_zero, p.signed_filter);
  }
  barrier();
#endif
  compute_tile(uint64_t(class_depth), rows, min(columns - tile_column, kTileColumns));
}
