// SPDX-License-Identifier: MIT
// The matrices of a product. A kernel includes tiles.glsl or wide_tiles.glsl first.
#ifndef ANYDML_MATRIX_GLSL
#define ANYDML_MATRIX_GLSL

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
  uint a_is_along_k;
  uint b_is_along_k;
};

Parameters parameters() { return Parameters(push.header.parameters); }

// The matrices of this group, and its first row and column.
uint64_t base_a, base_b, base_c, base_result;
uint tile_row, tile_column;

void locate_tile() {
  Parameters p = parameters();
  const uint number = tile_number();
  const uint tile = number % push.of_matrix;
  tile_row = tile / push.across * kTileRows;
  tile_column = tile % push.across * kTileColumns;
  base_a = operand_address(kA);
  base_b = operand_address(kB);
  base_c = operand_address(kBias);
  base_result = operand_address(kOutput);
  uint64_t batch = uint64_t(number / push.of_matrix);
  for (uint i = p.batch_rank; i-- > 0u;) {
    const int64_t at = int64_t(batch % p.batch_sizes[i]);
    batch /= p.batch_sizes[i];
    base_a += uint64_t(at * p.a.batch[i]);
    base_b += uint64_t(at * p.b.batch[i]);
    base_c += uint64_t(at * p.c.batch[i]);
    base_result += uint64_t(at * p.result.batch[i]);
  }
}

#if NUMBERS != 8
Number scaled_total(Number total, uint64_t addend) {
  Parameters p = parameters();
  const Number value = multiply_floats(Number(p.alpha), total);
  return addend == 0ul ? value
                       : add_floats(value, multiply_floats(Number(p.beta), Number(load_bits(addend, uint(NUMBERS / 8), is_aligned()))));
}
#endif

#endif
