// SPDX-License-Identifier: MIT
// Kernels that use AMX: TDPBUSD multiplies up to 16 rows of 64 unsigned bytes of A by 16 columns of signed bytes of B,
// and adds the products to 32-bit sums without saturation. A strip is at most two such tiles of A, and a panel two
// tiles of B. Linux lets a process use tiles only after it has asked for permission. Functions that use tiles are
// called only if it was granted.
//
// Packed panels are those of VPDPBUSD, so products that tiles do not suit use its loops (integer_vnni.cpp).
#include "ops/product/cpu/integer_kernels.h"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "ops/product/cpu/integer_pack.h"
#include "ops/product/cpu/integer_quads.h"
#include "ops/product/cpu/integer_row_dots.h"

namespace anydml {
namespace {

constexpr std::size_t kTileRows = 16;
constexpr std::size_t kRows = 2 * kTileRows;
constexpr std::int64_t kPanel = 32;
constexpr std::int64_t kGroup = 4;
constexpr std::int64_t kBlock = 64;  // bytes of a row of a tile
static_assert(kBlock == kVnniBlock);
constexpr std::int64_t kPanelStep = kPanel * kGroup;

// The form that LDTILECFG reads.
struct alignas(64) TileShapes {
  u8 palette = 1;
  u8 first_row = 0;
  u8 reserved[14] = {};
  u16 row_bytes[16] = {};
  u8 rows[16] = {};

  void set(std::size_t tile, std::int64_t count, std::int64_t bytes) {
    rows[tile] = static_cast<u8>(count);
    row_bytes[tile] = static_cast<u16>(count == 0 ? 0 : bytes);
  }
};
static_assert(sizeof(TileShapes) == 64);

// The intrinsics do not say that they read or write memory.
#define ANYDML_MEMORY_IS_USED asm volatile("" ::: "memory")
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,amx-tile,amx-int8"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,amx-tile,amx-int8")
#endif

// Adds the products for `blocks` blocks of `bytes` bytes of k. Tiles 0 to 3 are the sums, 4 and 5 are A, 6 and 7 are B.
void add_blocks(const u8* a, const u8* b, std::int64_t blocks, std::int64_t bytes, std::int64_t rows,
                std::int64_t a_step, u32* totals, std::int64_t totals_step, bool is_first) {
  constexpr std::int64_t kHalf = kPanel / 2;
  const std::int64_t step = totals_step * static_cast<std::int64_t>(sizeof(u32));
  const bool has_lower = rows > static_cast<std::int64_t>(kTileRows);
  u32* const lower = totals + static_cast<std::int64_t>(kTileRows) * totals_step;
  if (is_first) {
    _tile_zero(0);
    _tile_zero(1);
  } else {
    _tile_loadd(0, totals, step);
    _tile_loadd(1, totals + kHalf, step);
  }
  if (has_lower) {
    if (is_first) {
      _tile_zero(2);
      _tile_zero(3);
    } else {
      _tile_loadd(2, lower, step);
      _tile_loadd(3, lower + kHalf, step);
    }
  }
  for (std::int64_t block = 0; block < blocks; ++block, a += a_step, b += kBlock / kGroup * kPanelStep) {
    _tile_loadd(6, b, kPanelStep);
    _tile_loadd(7, b + kPanelStep / 2, kPanelStep);
    _tile_loadd(4, a, bytes);
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
    if (has_lower) {
      _tile_loadd(5, a + static_cast<std::int64_t>(kTileRows) * bytes, bytes);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }
  _tile_stored(0, totals, step);
  _tile_stored(1, totals + kHalf, step);
  if (has_lower) {
    _tile_stored(2, lower, step);
    _tile_stored(3, lower + kHalf, step);
  }
}

void add_start(const IntegerBlockArguments& arguments, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    u32* const totals = arguments.totals + row * arguments.totals_step;
    for (std::int64_t column = 0; column < kPanel; ++column) {
      totals[column] = arguments.start[column] + (arguments.is_first ? 0 : totals[column]);
    }
  }
}

// The blocks of 64 bytes are multiplied first, and then, with other shapes of tiles, the rest of k.
void add_strips(const IntegerBlockArguments& arguments, std::int64_t rows, std::int64_t strips) {
  bool is_first = arguments.is_first;
  if (arguments.start != kNoStart) {
    add_start(arguments, rows * strips);
    is_first = false;
  }
  const std::int64_t depth = arguments.groups * kGroup;
  const std::int64_t whole = depth / kBlock;
  const std::int64_t rest = depth % kBlock;
  const std::int64_t upper = std::min<std::int64_t>(rows, kTileRows);
  for (const std::int64_t bytes : {kBlock, rest}) {
    const std::int64_t blocks = bytes == kBlock ? whole : 1;
    if (blocks == 0 || bytes == 0) {
      continue;
    }
    TileShapes shapes;
    for (std::size_t i = 0; i < 2; ++i) {
      shapes.set(i, upper, kBlock);
      shapes.set(i + 2, rows - upper, kBlock);
      shapes.set(i + 4, i == 0 ? upper : rows - upper, bytes);
      shapes.set(i + 6, bytes / kGroup, kBlock);
    }
    ANYDML_MEMORY_IS_USED;
    _tile_loadconfig(&shapes);
    const std::int64_t skipped = bytes == kBlock ? 0 : whole * kBlock;
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      add_blocks(arguments.a + strip * rows * depth + skipped * rows, arguments.b + skipped / kGroup * kPanelStep,
                 blocks, bytes, rows, rows * bytes, arguments.totals + strip * rows * arguments.totals_step,
                 arguments.totals_step, is_first);
    }
    ANYDML_MEMORY_IS_USED;
    is_first = false;
  }
  _tile_release();
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

// Few rows leave most of a tile empty.
template <std::size_t kCount>
void add_tiles(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  if constexpr (kCount <= kVnniBlockRows) {
    multiply_vnni_blocks(kCount, arguments, strips);
  } else {
    add_strips(arguments, kCount, strips);
  }
}

template <std::size_t... kCounts>
constexpr std::array<IntegerBlock, sizeof...(kCounts)> all_tiles(std::index_sequence<kCounts...>) {
  return {add_tiles<kCounts + 1>...};
}
constexpr auto kTiles = all_tiles(std::make_index_sequence<kRows>());
constexpr IntegerKernels kKernels = {.name = "TDPBUSD",
                                     .strip = kRows,
                                     .row_unit = 1,
                                     .panel = kPanel,
                                     .group = kGroup,
                                     .row_block = kBlock,
                                     .unsigned_a = true,
                                     .blocks = kTiles.data(),
                                     .quads = &kVnniQuads,
                                     .dots = &kVnniDots,
                                     .row = multiply_vnni_row,
                                     .tile_rows = kTileRows,
                                     .tile_depth = kBlock};

bool has_permission() {
  constexpr unsigned kTile = 1U << 24;
  constexpr unsigned kInt8 = 1U << 25;
  constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kTile) != 0 && (edx & kInt8) != 0 &&
         syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

}  // namespace

const IntegerKernels* amx_kernels() {
  enum Answer : int { kUnknown, kNo, kYes };
  static constinit std::atomic<int> process = kUnknown;  // several threads may ask at once, and get the same answer
  int answer = process.load(std::memory_order_relaxed);
  if (answer == kUnknown) {
    answer = avx512_vnni_kernels() != nullptr && has_permission() ? kYes : kNo;
    process.store(answer, std::memory_order_relaxed);
  }
  return answer == kYes ? &kKernels : nullptr;
}

}  // namespace anydml

#else

namespace anydml {

const IntegerKernels* amx_kernels() { return nullptr; }

}  // namespace anydml

#endif
