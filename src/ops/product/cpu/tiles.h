// SPDX-License-Identifier: MIT
// Cuts the output of a product into pieces for threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/integers.h"
#include "ops/product/step.h"

namespace anydml {

// Cuts `size` into nearly equal parts, and returns the size of a part, which is a multiple of `unit` and at most
// `maximum`.
[[nodiscard]] constexpr std::int64_t even_part(std::int64_t size, std::int64_t maximum, std::int64_t unit) {
  const std::int64_t parts = ceil_div(size, std::max(unit, maximum / unit * unit));
  return ceil_div(ceil_div(size, parts), unit) * unit;
}

struct Tiles {
  std::int64_t rows;  // of a tile
  std::int64_t columns;
  std::int64_t down;  // tiles per matrix
  std::int64_t across;

  [[nodiscard]] std::int64_t of_matrix() const { return down * across; }
};

struct TileLimits {
  std::int64_t rows;  // maximum number of rows in a tile
  std::int64_t columns;
  std::int64_t min_work;  // multiply-adds in a piece, which take about ten microseconds
};

// A tile of the output.
struct TileBounds {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};
[[nodiscard]] inline TileBounds bounds_of(const ProductStep& step, const Tiles& tiles, std::int64_t piece) {
  const std::int64_t tile = piece % tiles.of_matrix();
  TileBounds bounds{.batch = piece / tiles.of_matrix(),
                    .row = tile / tiles.across * tiles.rows,
                    .column = tile % tiles.across * tiles.columns,
                    .rows = 0,
                    .columns = 0};
  bounds.rows = std::min(tiles.rows, step.rows - bounds.row);
  bounds.columns = std::min(tiles.columns, step.columns - bounds.column);
  return bounds;
}

// The maximum number of multiply-adds in a tile, unless the tile cannot be made smaller. A call can be interrupted only
// between tiles, and this many multiply-adds take a fraction of a second.
inline constexpr std::int64_t kMaxWork = std::int64_t{1} << 32;

// Tiles are as large as the limits allow, or smaller if threads would otherwise be idle.
[[nodiscard]] inline Tiles cut(const ProductStep& step, std::int64_t strip, std::int64_t panel, TileLimits maximum,
                               unsigned threads) {
  while (true) {
    Tiles tiles{.rows = even_part(step.rows, maximum.rows, strip),
                .columns = even_part(step.columns, maximum.columns, panel),
                .down = 0,
                .across = 0};
    tiles.down = ceil_div(step.rows, tiles.rows);
    tiles.across = ceil_div(step.columns, tiles.columns);
    const std::int64_t work = tiles.rows * tiles.columns * std::max<std::int64_t>(step.depth, 1);
    const bool can_halve = tiles.columns > panel || tiles.rows > strip;
    const bool is_enough =
        threads == 1 || tiles.of_matrix() * step.batches >= 4 * std::int64_t{threads} || work < 2 * maximum.min_work;
    if ((is_enough && work <= kMaxWork) || !can_halve) {
      return tiles;
    }
    if (tiles.columns > panel && (tiles.columns >= tiles.rows || tiles.rows <= strip)) {
      maximum.columns = tiles.columns / 2;
    } else {
      maximum.rows = tiles.rows / 2;
    }
  }
}

}  // namespace anydml
