// SPDX-License-Identifier: MIT
// A product of matrices: a group computes a tile of outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/product/vulkan/tiles.glsl"

const uint kBatchRank = 6u;

struct Strides {  // in bytes
  int64_t row;
  int64_t column;
  int64_t batch[kBatchRank];
};
struct SideStrides {
  int64_t row;
  int64_t column;
};
// As in matrices.cpp. Only bytes have zero points and scales.
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Strides a;
  Strides b;
  Strides c;
  Strides result;
  uint64_t batch_sizes[kBatchRank];
  uint64_t depth;
  uint64_t alpha;
  uint64_t beta;
  SideStrides a_zero;
  SideStrides b_zero;
  SideStrides a_scale;
  SideStrides b_scale;
  SideStrides output_scale;
  SideStrides output_zero;
  uint finish;
  uint signed_a;
  uint signed_b;
  uint signed_output;
  uint batch_rank;
  uint rows;
  uint columns;
  uint tiles_across;
  uint tiles_of_matrix;
  uint a_is_along_k;
  uint b_is_along_k;
};

#if NUMBERS == 8
#include "ops/product/vulkan/integer_finish.glsl"
shared int zeros_a[kTileRows];
shared int zeros_b[kTileColumns];
#else
const uint kA = 0u, kB = 1u, kBias = 2u, kOutput = 3u;
#endif

// The matrices of this group, and its first row and column.
uint64_t base_a, base_b, base_c, base_result;
uint tile_row, tile_column;
// The row and the column of the thread's loads.
uint64_t row_address, column_address;
int row_zero, column_zero;

Parameters parameters() { return Parameters(push.header.parameters); }

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
  Number value = multiply_floats(Number(p.alpha), total);
  if (operand_address(kBias) != 0ul) {
    const Number added = load_number(base_c + uint64_t(row * p.c.row + column * p.c.column));
    value = add(value, multiply_floats(Number(p.beta), added));
  }
  store_number(base_result + uint64_t(row * p.result.row + column * p.result.column), value);
}
#endif

void main() {
  Parameters p = parameters();
  const uint group = tile_number();
  const uint tile = group % p.tiles_of_matrix;
  tile_row = tile / p.tiles_across * kTileRows;
  tile_column = tile % p.tiles_across * kTileColumns;
  base_a = operand_address(kA);
  base_b = operand_address(kB);
  base_c = operand_address(kBias);
  base_result = operand_address(kOutput);
  uint64_t batch = uint64_t(group / p.tiles_of_matrix);
  for (uint i = p.batch_rank; i-- > 0u;) {
    const int64_t at = int64_t(batch % p.batch_sizes[i]);
    batch /= p.batch_sizes[i];
    base_a += uint64_t(at * p.a.batch[i]);
    base_b += uint64_t(at * p.b.batch[i]);
    base_c += uint64_t(at * p.c.batch[i]);
    base_result += uint64_t(at * p.result.batch[i]);
  }
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
