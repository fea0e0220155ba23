// SPDX-License-Identifier: MIT
// A convolution of FLOAT32 as products: a group computes a large tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/product/vulkan/wide_tiles.glsl"
const uint kInput = 0u, kFilter = 1u, kBias = 2u, kOutput = 3u;
#include "ops/product/vulkan/window.glsl"

shared Depth depths[3u * kDepth];  // the tables of prepare_depth

uint64_t row_address[ROW_SLOTS];
Pixel pixels[COLUMN_SLOTS];

uint64_t workspace() { return operand_address(kOutput + 1u); }
bool has_depth_table() { return true; }
void prepare_depth(uint k, uint table) {
  const uint thread = gl_LocalInvocationIndex;
  if (thread < kDepth && k + thread < class_depth) {
    depths[table * kDepth + thread] = locate_depth(k + thread);
  }
}

// Rows and columns that do not exist are replaced by the last ones.
uint columns_of_tile;
void locate_row(uint slot, uvec2 place) {
  const uint row = min(tile_row + place.y, parameters().rows - 1u);
  row_address[slot] = base_filter + uint64_t(int64_t(row) * parameters().filter_row);
}
void locate_column(uint slot, uvec2 place) { pixels[slot] = locate_pixel(min(place.y, columns_of_tile - 1u)); }

// Vectors along k: the factors of a row are contiguous.
uvec4 load_row(uint slot, uint k, uint depth, uint table) {
  const uint at = k + row_place[slot].x;
  uvec4 four = uvec4(0u);
  if (kRowOrder == kVectorsAlongK) {
    if (at < depth) {
      four = Bits128(row_address[slot] + uint64_t(at) * 4ul).bits;
    }
    return four;
  }
  const uint of_table = table * kDepth + row_place[slot].x;
  if (at < depth) four.x = Bits32(row_address[slot] + uint64_t(depths[of_table].in_filter)).bits;
  if (at + 1u < depth) four.y = Bits32(row_address[slot] + uint64_t(depths[of_table + 1u].in_filter)).bits;
  if (at + 2u < depth) four.z = Bits32(row_address[slot] + uint64_t(depths[of_table + 2u].in_filter)).bits;
  if (at + 3u < depth) four.w = Bits32(row_address[slot] + uint64_t(depths[of_table + 3u].in_filter)).bits;
  return four;
}

// Padding is +0, and factors that do not exist are -0.
uvec3 input_sizes;
uint load_pixel(uint slot, uint of_table, bool exists) {
  if (!exists) {
    return kSignOfValue;
  }
  const uvec3 at = uvec3(pixels[slot].position + depths[of_table].moves);
  uint bits = 0u;
  if (at.x < input_sizes.x && at.y < input_sizes.y && at.z < input_sizes.z) {
    bits = Bits32(pixels[slot].address + uint64_t(depths[of_table].in_input)).bits;
  }
  return bits;
}
uvec4 load_column(uint slot, uint k, uint depth, uint table) {
  const uint at = k + column_place[slot].x;
  const uint of_table = table * kDepth + column_place[slot].x;
  return uvec4(load_pixel(slot, of_table, at < depth), load_pixel(slot, of_table + 1u, at + 1u < depth),
               load_pixel(slot, of_table + 2u, at + 2u < depth), load_pixel(slot, of_table + 3u, at + 3u < depth));
}

uint biased(uint row, uint total) {
  return operand_address(kBias) == 0ul ? total : add_floats(total, Bits32(bias_at(row)).bits);
}
void store_totals(uint row, uint column, uvec4 totals, uint rows, uint columns) {
  if (row >= rows || column >= columns) {
    return;
  }
  if (kStoresVectors != 0u) {
    Bits128(output_at(row, column)).bits =
        uvec4(biased(row, totals.x), biased(row, totals.y), biased(row, totals.z), biased(row, totals.w));
    return;
  }
  for (uint n = 0u; n < 4u && column + n < columns; ++n) {
    Bits32(output_at(row, column + n)).bits = biased(row, totals[n]);
  }
}

void main() {
  columns_of_tile = locate_tile();
  if (columns_of_tile == 0u) {
    return;
  }
  Parameters p = parameters();
  input_sizes = uvec3(p.axes[0].inputs, p.axes[1].inputs, p.axes[2].inputs);
  compute_tile(class_depth, min(p.rows - tile_row, kTileRows), columns_of_tile);
}
