// SPDX-License-Identifier: MIT
// A product of FLOAT32 matrices: a group computes a large tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#define NUMBERS 32
#include "ops/product/vulkan/wide_tiles.glsl"
const uint kA = 0u, kB = 1u, kBias = 2u, kOutput = 3u;
bool is_aligned() { return true; }
#include "ops/product/vulkan/matrix.glsl"

uint64_t row_address[ROW_SLOTS];
uint64_t column_address[COLUMN_SLOTS];
uint row_k_stride, column_k_stride;  // less than 2^32

uint64_t workspace() { return operand_address(kOutput + 1u); }
bool has_depth_table() { return false; }
void prepare_depth(uint k, uint table) {}

// Sides that do not exist are replaced by the last ones; with vectors, the number of sides is a multiple of 4.
void locate_row(uint slot, uvec2 place) {
  const uint row = min(tile_row + place.y, parameters().rows - (kRowOrder == kVectorsAlongSide ? 4u : 1u));
  row_address[slot] = base_a + uint64_t(int64_t(row) * parameters().a.row) + uint64_t(place.x) * uint64_t(row_k_stride);
}
void locate_column(uint slot, uvec2 place) {
  const uint column =
      min(tile_column + place.y, parameters().columns - (kColumnOrder == kVectorsAlongSide ? 4u : 1u));
  column_address[slot] =
      base_b + uint64_t(int64_t(column) * parameters().b.column) + uint64_t(place.x) * uint64_t(column_k_stride);
}
uvec4 load_row(uint slot, uint k, uint depth, uint table) {
  const uint64_t address = row_address[slot] + uint64_t(k) * uint64_t(row_k_stride);
  return load_factors(kRowOrder, address, row_k_stride, k + row_place[slot].x, depth, 0u);
}
uvec4 load_column(uint slot, uint k, uint depth, uint table) {
  const uint64_t address = column_address[slot] + uint64_t(k) * uint64_t(column_k_stride);
  return load_factors(kColumnOrder, address, column_k_stride, k + column_place[slot].x, depth, kSignOfValue);
}

void store_totals(uint of_rows, uint of_columns, uvec4 totals, uint rows, uint columns) {
  if (of_rows >= rows || of_columns >= columns) {
    return;
  }
  Parameters p = parameters();
  const int64_t row = int64_t(tile_row + of_rows);
  const int64_t column = int64_t(tile_column + of_columns);
  const uint64_t to = base_result + uint64_t(row * p.result.row + column * p.result.column);
  const bool has_addend = operand_address(kBias) != 0ul;
  const uint64_t addend = base_c + uint64_t(row * p.c.row + column * p.c.column);
  if (kStoresVectors != 0u) {
    uvec4 values;
    [[unroll]] for (uint n = 0u; n < 4u; ++n) {
      values[n] = scaled_total(totals[n], has_addend ? addend + uint64_t(int64_t(n) * p.c.column) : 0ul);
    }
    Bits128(to).bits = values;
    return;
  }
  for (uint n = 0u; n < 4u && of_columns + n < columns; ++n) {
    Bits32(to + uint64_t(int64_t(n) * p.result.column)).bits =
        scaled_total(totals[n], has_addend ? addend + uint64_t(int64_t(n) * p.c.column) : 0ul);
  }
}

void main() {
  locate_tile();
  Parameters p = parameters();
  row_k_stride = uint(p.a.column);
  column_k_stride = uint(p.b.row);
  compute_tile(uint(p.depth), min(p.rows - tile_row, kTileRows), min(p.columns - tile_column, kTileColumns));
}
