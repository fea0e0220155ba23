// SPDX-License-Identifier: MIT
// A product of FLOAT32 matrices in the order of ops/scalar/sum_of_products.h: chains of fused multiply-adds over 256 of
// k from +0, whose sums are added in order. A group computes a tile of 64 x 64 outputs, a thread 4 x 4 of them.
//
// The functions import_* are replaced by the device's primitives (backend/vulkan/spirv/builder.h). Numbers are bits, so
// that a device whose floats are not exact needs none of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/kernel.glsl"

layout(local_size_x = 256) in;

const uint kTile = 64u;
const uint kDepth = 16u;  // factors that are in shared memory at a time
const uint kBlock = 256u;
const uint kBatchRank = 6u;

struct Strides {  // in bytes
  int64_t row;
  int64_t column;
  int64_t batch[kBatchRank];
};
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Parameters {
  Strides a;
  Strides b;
  Strides c;
  Strides result;
  uint64_t batch_sizes[kBatchRank];
  uint batch_rank;
  uint rows;
  uint columns;
  uint64_t depth;
  uint tiles_across;
  uint tiles_of_matrix;
  uint alpha;
  uint beta;
  uint has_c;
};
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { uint bits; };
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Byte { uint8_t bits; };
// Whether all elements of all operands are aligned. If not, they are accessed byte by byte.
layout(constant_id = 0) const uint kIsAligned = 1u;

layout(push_constant, std430) uniform Push { KernelHeader header; } push;

shared uint tile_a[kDepth][kTile + 1u];
shared uint tile_b[kDepth][kTile + 1u];

uint import_f32_fused(const in uint a, const in uint b, const in uint c) { return a ^ b ^ c; }
uint import_f32_add(const in uint a, const in uint b) { return a ^ b; }
uint import_f32_multiply(const in uint a, const in uint b) { return a ^ b; }

uint load_element(const in uint64_t address) {
  if (kIsAligned != 0u) {
    return Word(address).bits;
  }
  uint bits = 0u;
  for (uint i = 0u; i < 4u; ++i) {
    bits |= uint(Byte(address + uint64_t(i)).bits) << (8u * i);
  }
  return bits;
}
void store_element(const in uint64_t address, const in uint bits) {
  if (kIsAligned != 0u) {
    Word(address).bits = bits;
    return;
  }
  for (uint i = 0u; i < 4u; ++i) {
    Byte(address + uint64_t(i)).bits = uint8_t(bits >> (8u * i));
  }
}

void main() {
  Parameters p = Parameters(push.header.parameters);
  const uint group = group_index();
  const uint matrix = group / p.tiles_of_matrix;
  const uint tile = group % p.tiles_of_matrix;
  const uint first_row = tile / p.tiles_across * kTile;
  const uint first_column = tile % p.tiles_across * kTile;
  uint64_t a = operand_address(0);
  uint64_t b = operand_address(1);
  uint64_t c = operand_address(2);
  uint64_t result = operand_address(3);
  uint64_t batch = matrix;
  for (uint i = p.batch_rank; i-- > 0u;) {
    const int64_t at = int64_t(batch % p.batch_sizes[i]);
    batch /= p.batch_sizes[i];
    a += uint64_t(at * p.a.batch[i]);
    b += uint64_t(at * p.b.batch[i]);
    c += uint64_t(at * p.c.batch[i]);
    result += uint64_t(at * p.result.batch[i]);
  }

  const uint thread = gl_LocalInvocationIndex;
  const uint row = thread / 16u * 4u;  // of the thread's outputs in the tile
  const uint column = thread % 16u * 4u;
  uint total[4][4];
  uint sum[4][4];
  for (uint i = 0u; i < 4u; ++i) {
    for (uint j = 0u; j < 4u; ++j) {
      total[i][j] = 0u;
      sum[i][j] = 0u;
    }
  }
  for (uint64_t k = 0ul; k < p.depth; k += uint64_t(kDepth)) {
    const uint count = uint(min(p.depth - k, uint64_t(kDepth)));
    // Rows and columns beyond the matrices are never stored, so their factors may be anything.
    for (uint i = thread; i < kDepth * kTile; i += 256u) {
      const uint of_k = i / kTile;
      const uint side = i % kTile;
      uint value_a = 0u;
      uint value_b = 0u;
      if (of_k < count && first_row + side < p.rows) {
        value_a = load_element(a + uint64_t(int64_t(first_row + side) * p.a.row + int64_t(k + of_k) * p.a.column));
      }
      if (of_k < count && first_column + side < p.columns) {
        value_b = load_element(b + uint64_t(int64_t(first_column + side) * p.b.column + int64_t(k + of_k) * p.b.row));
      }
      tile_a[of_k][side] = value_a;
      tile_b[of_k][side] = value_b;
    }
    barrier();
    for (uint of_k = 0u; of_k < count; ++of_k) {
      for (uint i = 0u; i < 4u; ++i) {
        for (uint j = 0u; j < 4u; ++j) {
          sum[i][j] = import_f32_fused(tile_a[of_k][row + i], tile_b[of_k][column + j], sum[i][j]);
        }
      }
    }
    barrier();
    const uint64_t next = k + uint64_t(kDepth);
    if (next % uint64_t(kBlock) == 0ul || next >= p.depth) {
      const bool is_first = k < uint64_t(kBlock);
      for (uint i = 0u; i < 4u; ++i) {
        for (uint j = 0u; j < 4u; ++j) {
          total[i][j] = is_first ? sum[i][j] : import_f32_add(total[i][j], sum[i][j]);
          sum[i][j] = 0u;
        }
      }
    }
  }
  for (uint i = 0u; i < 4u; ++i) {
    for (uint j = 0u; j < 4u; ++j) {
      const uint to_row = first_row + row + i;
      const uint to_column = first_column + column + j;
      if (to_row < p.rows && to_column < p.columns) {
        uint value = import_f32_multiply(p.alpha, total[i][j]);
        if (p.has_c != 0u) {
          const uint64_t at = c + uint64_t(int64_t(to_row) * p.c.row + int64_t(to_column) * p.c.column);
          value = import_f32_add(value, import_f32_multiply(p.beta, load_element(at)));
        }
        store_element(result + uint64_t(int64_t(to_row) * p.result.row + int64_t(to_column) * p.result.column), value);
      }
    }
  }
}
