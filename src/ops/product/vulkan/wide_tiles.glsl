// SPDX-License-Identifier: MIT
// Sums of products of FLOAT32 in the order of tiles.glsl, for large tiles and for devices whose own fused multiply-add
// can be used (backend/vulkan/shaders/quick_fused.glsl). A kernel defines these macros:
//   THREAD_ROWS, THREAD_COLUMNS  the outputs of a thread: 4, 8 or 16
//   TILE_ROWS, TILE_COLUMNS      the outputs of a group
//   TILE_DEPTH                   the k in shared memory at a time: 8 or 16. There are two such parts: one is multiplied
//                                while the factors of the next one are loaded
//   TOTALS_IN_MEMORY             1 if the totals of more than one block of k are in the workspace, which leaves enough
//                                registers for the sums
// and the functions that are declared here without a body. Everything that a thread keeps is in arrays with constant
// indices, so that drivers keep it in registers; loops over them are written as macros.
#ifndef ANYDML_WIDE_TILES_GLSL
#define ANYDML_WIDE_TILES_GLSL
#define FUSED_CONSTANT 4
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/quick_fused.glsl"

#define Number Value
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Bits128 { uvec4 bits; };

// How neighboring threads read the factors of a side, and how many at once.
layout(constant_id = 0) const uint kRowOrder = 0u;
layout(constant_id = 1) const uint kColumnOrder = 0u;
const uint kAlongK = 0u, kVectorsAlongK = 1u, kAlongSide = 2u, kVectorsAlongSide = 3u;
layout(constant_id = 2) const uint kPass = 0u;
const uint kWhole = 0u, kBlocks = 1u, kTotals = 2u;
// Whether four outputs of a row, which begin at a multiple of 4, are 16 aligned bytes.
layout(constant_id = 3) const uint kStoresVectors = 0u;

const uint kThreads = TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS);
layout(local_size_x = TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS)) in;
const uint kTileRows = TILE_ROWS;
const uint kTileColumns = TILE_COLUMNS;
const uint kDepth = TILE_DEPTH;
const uint kBlock = 256u;
// The distance between the k of a side in shared memory, in vectors. Threads that write along k, and their neighbors,
// then use different banks.
const uint kRowPitch = kTileRows / 4u + 1u;
const uint kColumnPitch = kTileColumns / 4u + 1u;
// The vectors that a thread loads.
#define ROW_SLOTS (TILE_ROWS * TILE_DEPTH / 4 / (TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS)))
#define COLUMN_SLOTS (TILE_COLUMNS * TILE_DEPTH / 4 / (TILE_ROWS / THREAD_ROWS * (TILE_COLUMNS / THREAD_COLUMNS)))

layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint tiles;       // in all
  uint blocks;      // of k
  uint across;      // tiles
  uint of_matrix;   // tiles
  uint first_tile;  // of this dispatch
} push;

shared uvec4 side_a[2u * kDepth * kRowPitch];
shared uvec4 side_b[2u * kDepth * kColumnPitch];
shared uint least_keys[4];  // of A and B, for two blocks

// Whether the kernel has a table of offsets for each k (prepare_depth).
bool has_depth_table();
// All threads call this before factors from k on are loaded, with a barrier in between. There are three tables: two for
// parts that are loaded one after the other, and one for chains that are computed again.
void prepare_depth(uint k, uint table);
// Called once for each slot, with the first of its factors in the tile. The side is limited to those that exist.
void locate_row(uint slot, uvec2 place);
void locate_column(uint slot, uvec2 place);
// Four factors of a slot, along k or along the side, from the place at k + place.x. Factors from depth on are `fill`.
uvec4 load_row(uint slot, uint k, uint depth, uint table);
uvec4 load_column(uint slot, uint k, uint depth, uint table);
uint64_t workspace();
// Stores four outputs of a row from `column` on, both counted in the tile. rows and columns: how many exist.
void store_totals(uint row, uint column, uvec4 totals, uint rows, uint columns);

// The first k and the first of the side of a thread's slot.
uvec2 place_of(const uint order, const uint slot, const uint sides) {
  const uint vector = gl_LocalInvocationIndex + slot * kThreads;
  if (order == kVectorsAlongSide) {
    return uvec2(vector / (sides / 4u), vector % (sides / 4u) * 4u);
  }
  if (order == kAlongSide) {
    return uvec2(vector / sides * 4u, vector % sides);
  }
  // Two threads along k read 32 bytes, and the next ones continue along the side.
  return uvec2(((vector & 1u) + 2u * (vector / (2u * sides))) * 4u, (vector >> 1) % sides);
}

// Missing factors are +0 in A and -0 in B, whose products change no sum.
uvec4 load_factors(const uint order, uint64_t address, int64_t k_stride, uint k, uint depth, const uint fill) {
  uvec4 four = uvec4(fill);
  if (order == kVectorsAlongK || order == kVectorsAlongSide) {
    if (k < depth) {
      four = Bits128(address).bits;
    }
    return four;
  }
  if (k < depth) four.x = Bits32(address).bits;
  if (k + 1u < depth) four.y = Bits32(address + uint64_t(k_stride)).bits;
  if (k + 2u < depth) four.z = Bits32(address + uint64_t(2l * k_stride)).bits;
  if (k + 3u < depth) four.w = Bits32(address + uint64_t(3l * k_stride)).bits;
  return four;
}

#define STORE_SIDE(shared_side, order, place, part, pitch, four)                                  \
  if (order == kVectorsAlongSide) {                                                               \
    shared_side[((part) * kDepth + place.x) * pitch + place.y / 4u] = four;                       \
  } else {                                                                                        \
    const uint at = ((part) * kDepth + place.x) * pitch + place.y / 4u;                           \
    const uint component = place.y & 3u;                                                          \
    shared_side[at][component] = four.x;                                                          \
    shared_side[at + pitch][component] = four.y;                                                  \
    shared_side[at + 2u * pitch][component] = four.z;                                             \
    shared_side[at + 3u * pitch][component] = four.w;                                             \
  }

#define SLOTS_1(M) M(0)
#define SLOTS_2(M) M(0) M(1)
#define SLOTS_4(M) SLOTS_2(M) M(2) M(3)
#if ROW_SLOTS == 1
#define EACH_ROW_SLOT(M) SLOTS_1(M)
#elif ROW_SLOTS == 2
#define EACH_ROW_SLOT(M) SLOTS_2(M)
#else
#define EACH_ROW_SLOT(M) SLOTS_4(M)
#endif
#if COLUMN_SLOTS == 1
#define EACH_COLUMN_SLOT(M) SLOTS_1(M)
#elif COLUMN_SLOTS == 2
#define EACH_COLUMN_SLOT(M) SLOTS_2(M)
#else
#define EACH_COLUMN_SLOT(M) SLOTS_4(M)
#endif

// The vectors of a thread's outputs: THREAD_ROWS times THREAD_COLUMNS / 4.
const uint kQuads = THREAD_COLUMNS / 4;
const uint kVectors = THREAD_ROWS * THREAD_COLUMNS / 4;
#if THREAD_COLUMNS == 4
#define QUADS(M, i) M(i, 0)
#define EACH_QUAD(M) M(0)
#elif THREAD_COLUMNS == 8
#define QUADS(M, i) M(i, 0) M(i, 1)
#define EACH_QUAD(M) M(0) M(1)
#else
#define QUADS(M, i) M(i, 0) M(i, 1) M(i, 2) M(i, 3)
#define EACH_QUAD(M) M(0) M(1) M(2) M(3)
#endif
#define ROWS_4(M) QUADS(M, 0) QUADS(M, 1) QUADS(M, 2) QUADS(M, 3)
#define ROWS_8(M) ROWS_4(M) QUADS(M, 4) QUADS(M, 5) QUADS(M, 6) QUADS(M, 7)
#if THREAD_ROWS == 4
#define EACH_VECTOR(M) ROWS_4(M)
#define EACH_FOUR_ROWS(M) M(0)
#elif THREAD_ROWS == 8
#define EACH_VECTOR(M) ROWS_8(M)
#define EACH_FOUR_ROWS(M) M(0) M(1)
#else
#define EACH_VECTOR(M) \
  ROWS_8(M) QUADS(M, 8) QUADS(M, 9) QUADS(M, 10) QUADS(M, 11) QUADS(M, 12) QUADS(M, 13) QUADS(M, 14) QUADS(M, 15)
#define EACH_FOUR_ROWS(M) M(0) M(1) M(2) M(3)
#endif
#define VECTOR(i, j) ((i) * (THREAD_COLUMNS / 4) + (j))

// 32 threads compute 4 x 8 parts of four rows and four columns; the next parts of each thread are 16 rows and 32 columns
// away. Sixteen of them read two vectors of A and eight of B.
uint row_of_thread, column_of_thread;
uint row_of(const uint i) { return row_of_thread + i / 4u * 16u + i % 4u; }
uint column_of(const uint j) { return column_of_thread + j * 32u; }
void place_thread() {
  const uint team = gl_LocalInvocationIndex / 32u;
  const uint lane = gl_LocalInvocationIndex % 32u;
  const uint kTeamsAcross = TILE_COLUMNS / (8u * THREAD_COLUMNS);
  row_of_thread = team / kTeamsAcross * (4u * THREAD_ROWS) + (lane / 16u * 2u + lane % 2u) * 4u;
  column_of_thread = team % kTeamsAcross * (8u * THREAD_COLUMNS) + lane / 2u % 8u * 4u;
}

uvec2 row_place[ROW_SLOTS];
uvec2 column_place[COLUMN_SLOTS];

uvec4 add_four(uvec4 a, uvec4 b) {
  return uvec4(add_floats(a.x, b.x), add_floats(a.y, b.y), add_floats(a.z, b.z), add_floats(a.w, b.w));
}

uint64_t kept_vector(uint number, uint vector) {
  return workspace() + uint64_t((number * kVectors + vector) * kThreads + gl_LocalInvocationIndex) * 16ul;
}

// Multiplies the factors in a part of shared memory in small loops, with the exact operation or the device's own.
void multiply_in_loops(uint part, const bool is_quick, inout uvec4 to[kVectors]) {
  [[dont_unroll]] for (uint n = 0u; n < kVectors; ++n) {
    const uint i = n / kQuads;
    const uint a_at = part * kDepth * kRowPitch + row_of_thread / 4u + i / 4u * 4u;
    const uint b_at = part * kDepth * kColumnPitch + column_of_thread / 4u + n % kQuads * 8u;
    uvec4 sum = to[n];
    [[dont_unroll]] for (uint k = 0u; k < kDepth; ++k) {
      const uint a = side_a[a_at + k * kRowPitch][i & 3u];
      const uvec4 b = side_b[b_at + k * kColumnPitch];
      if (is_quick) {
        sum = uvec4(quick_fused(a, b.x, sum.x), quick_fused(a, b.y, sum.y), quick_fused(a, b.z, sum.z),
                    quick_fused(a, b.w, sum.w));
      } else {
        sum = uvec4(fused_floats(a, b.x, sum.x), fused_floats(a, b.y, sum.y), fused_floats(a, b.z, sum.z),
                    fused_floats(a, b.w, sum.w));
      }
    }
    to[n] = sum;
  }
}

// Multiplies the factors in a part of shared memory. `sums` is an array of the caller: drivers keep only arrays of main,
// whose indices are constants, in registers.
#define LOAD_A(n) const uvec4 a##n = side_a[a_at + k * kRowPitch + n * 4u];
#define LOAD_B(n) const uvec4 b##n = side_b[b_at + k * kColumnPitch + n * 8u];
#define A_OF_0 a0.x
#define A_OF_1 a0.y
#define A_OF_2 a0.z
#define A_OF_3 a0.w
#define A_OF_4 a1.x
#define A_OF_5 a1.y
#define A_OF_6 a1.z
#define A_OF_7 a1.w
#define A_OF_8 a2.x
#define A_OF_9 a2.y
#define A_OF_10 a2.z
#define A_OF_11 a2.w
#define A_OF_12 a3.x
#define A_OF_13 a3.y
#define A_OF_14 a3.z
#define A_OF_15 a3.w
#define MULTIPLY(i, j)                                                              \
  sums[VECTOR(i, j)] = uvec4(quick_fused(A_OF_##i, b##j.x, sums[VECTOR(i, j)].x),   \
                             quick_fused(A_OF_##i, b##j.y, sums[VECTOR(i, j)].y),   \
                             quick_fused(A_OF_##i, b##j.z, sums[VECTOR(i, j)].z),   \
                             quick_fused(A_OF_##i, b##j.w, sums[VECTOR(i, j)].w));
#define TO_SLOW(i, j) slow[VECTOR(i, j)] = sums[VECTOR(i, j)];
#define FROM_SLOW(i, j) sums[VECTOR(i, j)] = slow[VECTOR(i, j)];
#define MULTIPLY_PART(part)                                                            \
  if (kFusedKind == kFusedPretends) { /* which has many instructions */                \
    uvec4 slow[kVectors];                                                              \
    EACH_VECTOR(TO_SLOW)                                                               \
    multiply_in_loops(part, true, slow);                                               \
    EACH_VECTOR(FROM_SLOW)                                                             \
  } else {                                                                             \
    const uint a_at = part * kDepth * kRowPitch + row_of_thread / 4u;                  \
    const uint b_at = part * kDepth * kColumnPitch + column_of_thread / 4u;            \
    [[unroll]] for (uint k = 0u; k < kDepth; ++k) {                                    \
      EACH_FOUR_ROWS(LOAD_A)                                                           \
      EACH_QUAD(LOAD_B)                                                                \
      EACH_VECTOR(MULTIPLY)                                                            \
    }                                                                                  \
  }

// Computes a chain again, from the k `begin` on, with the exact operation. The part of shared memory is free.
void multiply_exactly(uint begin, uint end, uint depth, uint part, out uvec4 exact[kVectors]) {
  for (uint n = 0u; n < kVectors; ++n) {
    exact[n] = uvec4(0u);
  }
  for (uint k = begin; k < end; k += kDepth) {
    if (has_depth_table()) {
      prepare_depth(k, 2u);
    }
    barrier();
#define LOAD_ROW_AGAIN(slot)                                                     \
  {                                                                              \
    const uvec4 four = load_row(slot, k, depth, 2u);                                 \
    STORE_SIDE(side_a, kRowOrder, row_place[slot], part, kRowPitch, four)        \
  }
#define LOAD_COLUMN_AGAIN(slot)                                                  \
  {                                                                              \
    const uvec4 four = load_column(slot, k, depth, 2u);                          \
    STORE_SIDE(side_b, kColumnOrder, column_place[slot], part, kColumnPitch, four) \
  }
    EACH_ROW_SLOT(LOAD_ROW_AGAIN)
    EACH_COLUMN_SLOT(LOAD_COLUMN_AGAIN)
    barrier();
    multiply_in_loops(part, false, exact);
  }
  barrier();
}

// Adds the sums of the blocks, which other groups computed. A group adds one vector of each thread of a tile.
void add_blocks(uint tile, uint vector, uint blocks, uint rows, uint columns) {
  uvec4 total = Bits128(kept_vector(tile, vector)).bits;
  for (uint block = 1u; block < blocks; ++block) {
    total = add_four(total, Bits128(kept_vector(block * push.tiles + tile, vector)).bits);
  }
  store_totals(row_of(vector / kQuads), column_of(vector % kQuads), total, rows, columns);
}

// The tile of this group, and the block of k or the vector if it computes only one.
uint tile_number() {
  return push.first_tile + (kPass == kBlocks   ? group_index() / push.blocks
                            : kPass == kTotals ? group_index() / kVectors
                                               : group_index());
}

// Computes and stores the tile's outputs, or the sums of a block of k. rows and columns: how many of them exist, 1 or
// more.
void compute_tile(uint depth, uint rows, uint columns) {
  place_thread();
  uvec4 sums[kVectors];
  const uint blocks = max((depth + kBlock - 1u) / kBlock, 1u);
  if (kPass == kTotals) {
    add_blocks(tile_number(), group_index() % kVectors, blocks, rows, columns);
    return;
  }
  const uint own_block = kPass == kBlocks ? group_index() % push.blocks : 0u;
  if (own_block >= blocks) {
    return;
  }
  const uint begin = own_block * kBlock;
  const uint end = kPass == kBlocks ? min(depth, begin + kBlock) : depth;
#if !TOTALS_IN_MEMORY
  uvec4 totals[kVectors];
#define CLEAR_TOTAL(i, j) totals[VECTOR(i, j)] = uvec4(0u);
  EACH_VECTOR(CLEAR_TOTAL)
#endif
#define CLEAR(i, j) sums[VECTOR(i, j)] = uvec4(0u);
  EACH_VECTOR(CLEAR)
  if (begin < end) {
    uvec4 rows_ahead[ROW_SLOTS];
    uvec4 columns_ahead[COLUMN_SLOTS];
    uint key_of_a = kNoFactor;
    uint key_of_b = kNoFactor;
#define LOCATE_ROW(slot)                                         \
  row_place[slot] = place_of(kRowOrder, slot, kTileRows);        \
  locate_row(slot, row_place[slot]);
#define LOCATE_COLUMN(slot)                                              \
  column_place[slot] = place_of(kColumnOrder, slot, kTileColumns);       \
  locate_column(slot, column_place[slot]);
    EACH_ROW_SLOT(LOCATE_ROW)
    EACH_COLUMN_SLOT(LOCATE_COLUMN)
#define LOAD_ROW(slot) rows_ahead[slot] = load_row(slot, LOADED, depth, LOADED / kDepth & 1u);
#define LOAD_COLUMN(slot) columns_ahead[slot] = load_column(slot, LOADED, depth, LOADED / kDepth & 1u);
#define STORE_ROW(slot)                                                                      \
  STORE_SIDE(side_a, kRowOrder, row_place[slot], STORED, kRowPitch, rows_ahead[slot])        \
  if (needs_guard()) key_of_a = min(key_of_a, factor_key(rows_ahead[slot]));
#define STORE_COLUMN(slot)                                                                            \
  STORE_SIDE(side_b, kColumnOrder, column_place[slot], STORED, kColumnPitch, columns_ahead[slot])     \
  if (needs_guard()) key_of_b = min(key_of_b, factor_key(columns_ahead[slot]));
    if (has_depth_table()) {
      prepare_depth(begin, begin / kDepth & 1u);
      barrier();
    }
#define LOADED begin
#define STORED 0u
    EACH_ROW_SLOT(LOAD_ROW)
    EACH_COLUMN_SLOT(LOAD_COLUMN)
    EACH_ROW_SLOT(STORE_ROW)
    EACH_COLUMN_SLOT(STORE_COLUMN)
#undef LOADED
#undef STORED
    if (has_depth_table()) {
      prepare_depth(begin + kDepth, (begin / kDepth & 1u) ^ 1u);
    }
    if (gl_LocalInvocationIndex < 4u) {
      least_keys[gl_LocalInvocationIndex] = kNoFactor;
    }
    barrier();
    uint part = 0u;
    [[dont_unroll]] for (uint k = begin; k < end;) {
      const uint next = k + kDepth;
      const bool is_more = next < end;
#define LOADED next
#define STORED (part ^ 1u)
      if (is_more) {
        EACH_ROW_SLOT(LOAD_ROW)
        EACH_COLUMN_SLOT(LOAD_COLUMN)
      }
      MULTIPLY_PART(part)
      if (!is_more || next % kBlock == 0u) {
        const uint block = k / kBlock;
        if (needs_guard()) {
          const uint cell = block % 2u * 2u;
          atomicMin(least_keys[cell], key_of_a);
          atomicMin(least_keys[cell + 1u], key_of_b);
          key_of_a = kNoFactor;
          key_of_b = kNoFactor;
          barrier();
          const bool is_passed = is_guard_passed(least_keys[cell], least_keys[cell + 1u]);
          if (gl_LocalInvocationIndex < 2u) {
            least_keys[(cell ^ 2u) + gl_LocalInvocationIndex] = kNoFactor;
          }
          if (!is_passed) {
            uvec4 exact[kVectors];
            multiply_exactly(block * kBlock, min(end, (block + 1u) * kBlock), depth, part ^ 1u, exact);
#define TAKE(i, j) sums[VECTOR(i, j)] = exact[VECTOR(i, j)];
            EACH_VECTOR(TAKE)
          }
        }
#if TOTALS_IN_MEMORY
#define KEEP(i, j) Bits128(kept_vector(tile_number() - push.first_tile, VECTOR(i, j))).bits = sums[VECTOR(i, j)];
#define ADD_KEPT(i, j)        \
  sums[VECTOR(i, j)] = add_four( \
      Bits128(kept_vector(tile_number() - push.first_tile, VECTOR(i, j))).bits, sums[VECTOR(i, j)]);
        if (kPass == kWhole) {
          if (k >= kBlock) {
            EACH_VECTOR(ADD_KEPT)
          }
          if (is_more) {
            EACH_VECTOR(KEEP)
            EACH_VECTOR(CLEAR)
          }
        }
#else
#define ADD_TOTAL(i, j)                                                                                       \
  totals[VECTOR(i, j)] =                                                                                      \
      kPass == kBlocks || block == 0u ? sums[VECTOR(i, j)] : add_four(totals[VECTOR(i, j)], sums[VECTOR(i, j)]); \
  sums[VECTOR(i, j)] = uvec4(0u);
        EACH_VECTOR(ADD_TOTAL)
#endif
      }
      if (is_more) {
        EACH_ROW_SLOT(STORE_ROW)
        EACH_COLUMN_SLOT(STORE_COLUMN)
        if (has_depth_table()) {
          prepare_depth(next + kDepth, next / kDepth & 1u ^ 1u);
        }
      }
      barrier();
      part ^= 1u;
      k = next;
    }
  }
#if TOTALS_IN_MEMORY
#define TOTAL(i, j) sums[VECTOR(i, j)]
#else
#define TOTAL(i, j) totals[VECTOR(i, j)]
#endif
#define STORE_BLOCK(i, j) \
  Bits128(kept_vector(own_block * push.tiles + tile_number(), VECTOR(i, j))).bits = TOTAL(i, j);
#define STORE_TOTALS(i, j) store_totals(row_of(i), column_of(j), TOTAL(i, j), rows, columns);
  if (kPass == kBlocks) {
    EACH_VECTOR(STORE_BLOCK)
  } else {
    EACH_VECTOR(STORE_TOTALS)
  }
}

#endif
