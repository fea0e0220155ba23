// SPDX-License-Identifier: MIT
// The windows of a convolution. The rows of the product are the output channels of a group of channels, and the columns
// are the pixels of one class (ops/product/window.h) in all images. k counts the channels, and in each of them its taps.
// A kernel includes tiles.glsl or wide_tiles.glsl first.
#ifndef ANYDML_WINDOW_GLSL
#define ANYDML_WINDOW_GLSL
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
  uint all_classes;
  uint finish;
  uint signed_filter;
  uint signed_input;
  uint signed_output;
  Class classes[];
};

Parameters parameters() { return Parameters(push.header.parameters); }

uint class_index[3];  // of this group, in the list
uint channel_group;
uint tile_row, tile_column;
uint class_depth;
uint64_t base_filter, base_input;

// Finds the tile of this group, and returns the number of its columns; 0 if its class has fewer tiles than others.
uint locate_tile() {
  Parameters p = parameters();
  const uint number = tile_number();
  const uint tile = number % push.of_matrix;
  uint rest = number / push.of_matrix;
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
  tile_row = tile / push.across * kTileRows;
  tile_column = tile % push.across * kTileColumns;
  base_filter = operand_address(kFilter) + uint64_t(int64_t(channel_group) * p.filter_group);
  base_input = operand_address(kInput) + uint64_t(int64_t(channel_group) * int64_t(p.channels) * p.input_channel);
  return tile_column >= columns ? 0u : min(columns - tile_column, kTileColumns);
}

// A value of k: the offset in a row of the filter, the offset in the input, and the distance in pixels.
struct Depth {
  int64_t in_filter;
  int64_t in_input;
  ivec3 moves;
};
Depth locate_depth(uint k) {
  Parameters p = parameters();
  Depth at = Depth(0l, 0l, ivec3(0));
  uint rest = k;
  for (uint i = 3u; i-- > 0u;) {
    uint tap;
    rest = divide(rest, p.classes[class_index[i]].taps, tap);
    at.moves[i] = int(tap) * p.classes[class_index[i]].tap_move;
    at.in_filter +=
        int64_t(p.classes[class_index[i]].first_tap + tap * p.classes[class_index[i]].tap_step) * p.axes[i].filter_step;
    at.in_input += int64_t(at.moves[i]) * p.axes[i].input_step;
  }
  at.in_filter += int64_t(rest) * p.filter_channel;
  at.in_input += int64_t(rest) * p.input_channel;
  return at;
}

// The position of a column's first tap in the input, and its address.
struct Pixel {
  uint64_t address;
  ivec3 position;
};
Pixel locate_pixel(uint column) {
  Parameters p = parameters();
  Pixel at;
  int64_t offset = 0;
  uint rest = tile_column + column;
  for (uint i = 3u; i-- > 0u;) {
    uint pixel;
    rest = divide(rest, p.classes[class_index[i]].outputs, pixel);
    at.position[i] = p.classes[class_index[i]].first + int(pixel) * p.classes[class_index[i]].output_move;
    offset += int64_t(at.position[i]) * p.axes[i].input_step;
  }
  at.address = base_input + uint64_t(offset + int64_t(rest) * p.input_image);
  return at;
}

uint channel_of(uint row) { return channel_group * parameters().rows + tile_row + row; }
uint64_t output_at(uint row, uint column) {
  Parameters p = parameters();
  int64_t offset = int64_t(channel_of(row)) * p.output_channel;
  uint rest = tile_column + column;
  for (uint i = 3u; i-- > 0u;) {
    uint pixel;
    rest = divide(rest, p.classes[class_index[i]].outputs, pixel);
    offset += int64_t(p.classes[class_index[i]].first_output + pixel * p.classes[class_index[i]].output_stride) *
              p.axes[i].output_step;
  }
  return operand_address(kOutput) + uint64_t(offset + int64_t(rest) * p.output_image);
}
uint64_t bias_at(uint row) {
  return operand_address(kBias) + uint64_t(int64_t(channel_of(row)) * parameters().bias_channel);
}

#endif
