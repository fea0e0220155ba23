// SPDX-License-Identifier: MIT
// A product of matrices: a group computes a tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/product/vulkan/tiles.glsl"

#if NUMBERS == 8
#include "ops/product/vulkan/integer_finish.glsl"
shared int zeros_a[kTileRows];
shared int zeros_b[kTileColumns];
#else
const uint kA = 0u, kB = 1u, kBias = 2u, kOutput = 3u;
#endif
#include "ops/product/vulkan/matrix.glsl"

// The row and the column of the thread's loads.
uint64_t row_address, column_address;
int row_zero, column_zero;

uint64_t workspace() { return operand_address(kOutput + 1u); }
bool are_rows_along_k() { return parameters().a_is_along_k != 0u; }
bool are_columns_along_k() { return parameters().b_is_along_k != 0u; }
void prepare_depth(uint64_t k) {}

void locate_row(uint row) {
  row_address = base_a + uint64_t(int64_t(tile_row + row) * parameters().a.row);
#if NUMBERS == 8
  row_zero = zeros_a[row];
#endif
}
void locate_column(uint column) {
  column_address = base_b + uint64_t(int64_t(tile_column + column) * parameters().b.column);
#if NUMBERS == 8
  column_zero = zeros_b[column];
#endif
}
Number load_row(uint64_t k, uint of_tile) {
  const uint64_t address = row_address + uint64_t(int64_t(k + of_tile) * parameters().a.column);
#if NUMBERS == 8
  return uint(load_byte(address, parameters().signed_a) - row_zero);
#else
  return load_number(address);
#endif
}
Number load_column(uint64_t k, uint of_tile) {
  const uint64_t address = column_address + uint64_t(int64_t(k + of_tile) * parameters().b.row);
#if NUMBERS == 8
  return uint(load_byte(address, parameters().signed_b) - column_zero);
#else
  return load_number(address);
#endif
}

#if NUMBERS == 8
int64_t side_offset(SideStrides strides, uint row, uint column) {
  return int64_t(row) * strides.row + int64_t(column) * strides.column;
}
void store_total(uint of_rows, uint of_columns, uint total) {
  Parameters p = parameters();
  const uint row = tile_row + of_rows;
  const uint column = tile_column + of_columns;
  const uint64_t to = base_result + uint64_t(int64_t(row) * p.result.row + int64_t(column) * p.result.column);
  if (p.finish == kFinishInt32) {
    store_32(to, total);
    return;
  }
  const uint a_scale = load_scale(kAScale, side_offset(p.a_scale, row, column));
  const uint b_scale = load_scale(kBScale, side_offset(p.b_scale, row, column));
  if (p.finish == kFinishFloat32) {
    uint value = scaled_total(int(total), multiply_floats(a_scale, b_scale));
    if (operand_address(kBias) != 0ul) {
      const uint64_t at = base_c + uint64_t(int64_t(row) * p.c.row + int64_t(column) * p.c.column);
      value = add_floats(value, load_32(at));
    }
    store_32(to, value);
    return;
  }
  const uint output_scale = load_scale(kOutputScale, side_offset(p.output_scale, row, column));
  const int zero = load_zero(kOutputZero, side_offset(p.output_zero, row, column), p.signed_output);
  Bits8(to).bits = uint8_t(quantized_total(int(total), quantized_factor(a_scale, b_scale, output_scale), zero, p.signed_output));
}
#else
void store_total(uint of_rows, uint of_columns, Number total) {
  Parameters p = parameters();
  const int64_t row = int64_t(tile_row + of_rows);
  const int64_t column = int64_t(tile_column + of_columns);
  const uint64_t addend =
      operand_address(kBias) == 0ul ? 0ul : base_c + uint64_t(row * p.c.row + column * p.c.column);
  store_number(base_result + uint64_t(row * p.result.row + column * p.result.column), scaled_total(total, addend));
}
#endif

void main() {
  Parameters p = parameters();
  locate_tile();
  const uint rows = min(p.rows - tile_row, kTileRows);
  const uint columns = min(p.columns - tile_column, kTileColumns);
#if NUMBERS == 8
  for (uint i = gl_LocalInvocationIndex; i < rows; i += kThreads) {
    zeros_a[i] = load_zero(kAZero, int64_t(tile_row + i) * p.a_zero.row, p.signed_a);
  }
  for (uint i = gl_LocalInvocationIndex; i < columns; i += kThreads) {
    zeros_b[i] = load_zero(kBZero, int64_t(tile_column + i) * p.b_zero.column, p.signed_b);
  }
  barrier();
#endif
  compute_tile(p.depth, rows, columns);
}
