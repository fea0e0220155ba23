// SPDX-License-Identifier: MIT
// Sums of products for a tile of outputs, in the order of ops/scalar/sum_of_products.h: chains of fused multiply-adds
// over 256 of k from +0, whose sums are added in order. NUMBERS is the type of the factors: 32 for FLOAT32, 64 for
// FLOAT64, and 8 for bytes, whose differences from their zero points are multiplied modulo 2^32.
//
// A kernel includes this file and defines the functions that are declared here without a body. Numbers are bits, so
// that a device whose floats are not exact needs none of them.
#ifndef ANYDML_TILES_GLSL
#define ANYDML_TILES_GLSL
#extension GL_GOOGLE_include_directive : require
#define DOUBLE (NUMBERS == 64)
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"
#if NUMBERS == 32
#define FUSED_CONSTANT 7
#include "backend/vulkan/shaders/quick_fused.glsl"
#endif

const uint kThreads = 256u;  // as in tiles.h
layout(local_size_x = 256) in;
// Whether all elements of all operands are aligned.
layout(constant_id = 0) const uint kIsAligned = 1u;
// The outputs of a thread, at most 4 x 4, and the threads of a column and a row of the tile.
layout(constant_id = 1) const uint kRowsOfThread = 4u;
layout(constant_id = 2) const uint kColumnsOfThread = 4u;
layout(constant_id = 3) const uint kThreadsDown = 16u;
layout(constant_id = 4) const uint kThreadsAcross = 16u;
// The factors that are in shared memory at a time: a divisor of 256.
layout(constant_id = 5) const uint kDepth = 16u;
// If there are few tiles, each block of k has its own groups, whose sums another dispatch adds.
layout(constant_id = 6) const uint kPass = 0u;
const uint kWhole = 0u, kBlocks = 1u, kTotals = 2u;
const uint kTileRows = kRowsOfThread * kThreadsDown;
const uint kTileColumns = kColumnsOfThread * kThreadsAcross;
const uint kRowPitch = kTileRows + 1u;
const uint kColumnPitch = kTileColumns + 1u;
const uint kBlock = 256u;

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint tiles;      // in all
  uint blocks;     // of k
  uint across;     // tiles
  uint of_matrix;  // tiles
} push;

#define Number Value
const Number kZero = Number(0);

bool is_aligned() { return kIsAligned != 0u; }
uint load_32(uint64_t address) { return uint(load_bits(address, 4u, is_aligned())); }
void store_32(uint64_t address, uint bits) { store_bits(address, uint64_t(bits), 4u, is_aligned()); }

#if NUMBERS == 8
int load_byte(uint64_t address, uint is_signed) {
  const int byte = int(Bits8(address).bits);
  return is_signed != 0u && byte > 127 ? byte - 256 : byte;
}
uint fused(uint a, uint b, uint c) { return a * b + c; }
uint add(uint a, uint b) { return a + b; }
#define quick_fused fused
#define factor_key(x) 0u
#else
#define fused fused_floats
#define add add_floats
#if NUMBERS == 64
#define quick_fused fused
#define factor_key(x) 0u
#endif
Number load_number(uint64_t address) { return Number(load_bits(address, uint(NUMBERS / 8), is_aligned())); }
void store_number(uint64_t address, Number bits) {
  store_bits(address, uint64_t(bits), uint(NUMBERS / 8), is_aligned());
}
#endif

shared Number tile_a[kDepth * kRowPitch];
shared Number tile_b[kDepth * kColumnPitch];
// The guard of FLOAT32's own fused multiply-add: of the factors that this thread loaded, and of the group's.
uint key_of_a, key_of_b;
#if NUMBERS == 32
shared uint least_keys[2];

bool is_chain_exact() {
  if (gl_LocalInvocationIndex < 2u) {
    least_keys[gl_LocalInvocationIndex] = kNoFactor;
  }
  barrier();
  atomicMin(least_keys[0], key_of_a);
  atomicMin(least_keys[1], key_of_b);
  barrier();
  return is_guard_passed(least_keys[0], least_keys[1]);
}
#else
bool has_quick_fused() { return false; }
bool needs_guard() { return false; }
bool is_chain_exact() { return true; }
#endif

// Whether neighboring threads read neighboring k of a factor, instead of neighboring rows or columns.
bool are_rows_along_k();
bool are_columns_along_k();
// All threads call this before the factors from k on are loaded, with barriers around it.
void prepare_depth(uint64_t k);
// Chooses the row or the column, counted in the tile, of the thread's next loads.
void locate_row(uint row);
void locate_column(uint column);
Number load_row(uint64_t k, uint of_tile);
Number load_column(uint64_t k, uint of_tile);
// The address of the workspace.
uint64_t workspace();
// Stores the output of a row and a column, counted in the tile.
void store_total(uint row, uint column, Number total);

void load_rows(uint64_t k, uint count, uint rows) {
  const uint thread = gl_LocalInvocationIndex;
  if (are_rows_along_k()) {
    const uint of_tile = thread % kDepth;
    for (uint row = thread / kDepth; row < kTileRows; row += kThreads / kDepth) {
      Number value = kZero;
      if (of_tile < count && row < rows) {
        locate_row(row);
        value = load_row(k, of_tile);
      }
      key_of_a = min(key_of_a, factor_key(value));
      tile_a[of_tile * kRowPitch + row] = value;
    }
    return;
  }
  const uint row = thread % kTileRows;
  for (uint of_tile = thread / kTileRows; of_tile < kDepth; of_tile += kThreads / kTileRows) {
    Number value = kZero;
    if (of_tile < count && row < rows) {
      value = load_row(k, of_tile);
    }
    key_of_a = min(key_of_a, factor_key(value));
    tile_a[of_tile * kRowPitch + row] = value;
  }
}
void load_columns(uint64_t k, uint count, uint columns) {
  const uint thread = gl_LocalInvocationIndex;
  if (are_columns_along_k()) {
    const uint of_tile = thread % kDepth;
    for (uint column = thread / kDepth; column < kTileColumns; column += kThreads / kDepth) {
      Number value = kZero;
      if (of_tile < count && column < columns) {
        locate_column(column);
        value = load_column(k, of_tile);
      }
      key_of_b = min(key_of_b, factor_key(value));
      tile_b[of_tile * kColumnPitch + column] = value;
    }
    return;
  }
  const uint column = thread % kTileColumns;
  for (uint of_tile = thread / kTileColumns; of_tile < kDepth; of_tile += kThreads / kTileColumns) {
    Number value = kZero;
    if (of_tile < count && column < columns) {
      value = load_column(k, of_tile);
    }
    key_of_b = min(key_of_b, factor_key(value));
    tile_b[of_tile * kColumnPitch + column] = value;
  }
}

// The group's tile among all, and the block of k if it computes only one.
uint tile_number() { return kPass == kBlocks ? group_index() / push.blocks : group_index(); }
uint own_block() { return kPass == kBlocks ? group_index() % push.blocks : 0u; }

uint64_t sum_of_block(uint block, uint row, uint column) {
  const uint64_t number = (uint64_t(block) * push.tiles + tile_number()) * (kTileRows * kTileColumns);
  return workspace() + (number + uint64_t(row * kTileColumns + column)) * (NUMBERS == 64 ? 8ul : 4ul);
}
#if NUMBERS == 64
#define SumOfBlock Bits64
#else
#define SumOfBlock Bits32
#endif

// Adds the sums of the blocks, which other groups computed.
void add_blocks(uint64_t depth, uint rows, uint columns) {
  for (uint i = gl_LocalInvocationIndex; i < rows * kTileColumns; i += kThreads) {
    const uint row = i / kTileColumns;
    const uint column = i % kTileColumns;
    if (column < columns) {
      Number total = kZero;
      for (uint block = 0u; uint64_t(block) * kBlock < depth; ++block) {
        const Number sum = SumOfBlock(sum_of_block(block, row, column)).bits;
        total = block == 0u ? sum : add(total, sum);
      }
      store_total(row, column, total);
    }
  }
}

#define MULTIPLY_TILES(fused_of_numbers)                                                      \
  for (uint of_tile = 0u; of_tile < count; ++of_tile) {                                       \
    Number a[4];                                                                              \
    for (uint i = 0u; i < kRowsOfThread; ++i) {                                               \
      a[i] = tile_a[of_tile * kRowPitch + first_row + i * kThreadsDown];                      \
    }                                                                                         \
    for (uint j = 0u; j < kColumnsOfThread; ++j) {                                            \
      const Number b = tile_b[of_tile * kColumnPitch + first_column + j * kThreadsAcross];    \
      for (uint i = 0u; i < kRowsOfThread; ++i) {                                             \
        sum[i * 4u + j] = fused_of_numbers(a[i], b, sum[i * 4u + j]);                         \
      }                                                                                       \
    }                                                                                         \
  }

// Computes and stores the tile's outputs, or the sums of a block of k. rows and columns: how many of them exist, 1 or
// more. Factors of others are +0, and their sums are not stored.
void compute_tile(uint64_t depth, uint rows, uint columns) {
  if (kPass == kTotals) {
    add_blocks(depth, rows, columns);
    return;
  }
  const uint64_t begin = uint64_t(own_block()) * kBlock;
  const uint64_t end = kPass == kBlocks ? min(depth, begin + kBlock) : depth;
  if (kPass == kBlocks && begin >= depth) {
    return;
  }
  const uint thread = gl_LocalInvocationIndex;
  const uint first_row = thread / kThreadsAcross;
  const uint first_column = thread % kThreadsAcross;
  Number total[16];
  Number sum[16];
  for (uint i = 0u; i < 16u; ++i) {
    total[i] = kZero;
  }
  if (!are_rows_along_k()) {
    locate_row(min(thread % kTileRows, rows - 1u));
  }
  if (!are_columns_along_k()) {
    locate_column(min(thread % kTileColumns, columns - 1u));
  }
  prepare_depth(begin);
  for (uint64_t block = begin; block < end; block += uint64_t(kBlock)) {
    const uint64_t block_end = min(end, block + uint64_t(kBlock));
    // If the guard fails, the block is computed again.
    for (bool is_quick = has_quick_fused();; is_quick = false) {
      for (uint i = 0u; i < 16u; ++i) {
        sum[i] = kZero;
      }
      key_of_a = 0xffffffffu;
      key_of_b = 0xffffffffu;
      barrier();
      for (uint64_t k = block; k < block_end; k += uint64_t(kDepth)) {
        const uint count = uint(min(block_end - k, uint64_t(kDepth)));
        load_rows(k, count, rows);
        load_columns(k, count, columns);
        barrier();
        prepare_depth(k + uint64_t(kDepth));
        if (is_quick) {
          MULTIPLY_TILES(quick_fused)
        } else {
          MULTIPLY_TILES(fused)
        }
        barrier();
      }
      if (!is_quick || !needs_guard() || is_chain_exact()) {
        break;
      }
      barrier();
      prepare_depth(block);
    }
    for (uint i = 0u; i < kRowsOfThread; ++i) {
      for (uint j = 0u; j < kColumnsOfThread; ++j) {
        const uint n = i * 4u + j;
        total[n] = block == begin ? sum[n] : add(total[n], sum[n]);
      }
    }
  }
  for (uint i = 0u; i < kRowsOfThread; ++i) {
    for (uint j = 0u; j < kColumnsOfThread; ++j) {
      const uint row = first_row + i * kThreadsDown;
      const uint column = first_column + j * kThreadsAcross;
      if (row < rows && column < columns) {
        if (kPass == kBlocks) {
          SumOfBlock(sum_of_block(own_block(), row, column)).bits = total[i * 4u + j];
        } else {
          store_total(row, column, total[i * 4u + j]);
        }
      }
    }
  }
}

#endif
