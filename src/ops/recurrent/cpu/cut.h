// SPDX-License-Identifier: MIT
// How the time steps of a recurrent network are split into pieces.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/integers.h"
#include "ops/product/cpu/tiles.h"
#include "ops/recurrent/step.h"

namespace anydml {

inline constexpr std::int64_t kMaxRecurrentRows = 96;           // per tile; their products stay in the L1 and L2 caches
inline constexpr std::int64_t kMinRecurrentProducts = 1 << 16;  // per piece, which takes a few microseconds

// How a phase is split. Tiles are numbered by direction, then by rows, then by panels.
struct RecurrentCut {
  std::int64_t rows;   // per tile, a multiple of the strip
  std::int64_t down;   // tiles needed to cover all rows
  std::int64_t tiles;  // in all directions
  std::int64_t pieces;
  bool is_alone;  // one piece runs all time steps for some rows of one direction, then for the next rows
};

[[nodiscard]] inline RecurrentCut cut_of(const RecurrentStep& step, unsigned threads) {
  const std::int64_t wanted = std::int64_t{threads};  // one piece per thread; its factors stay in the thread's cache
  std::int64_t maximum = kMaxRecurrentRows;
  RecurrentCut cut{};
  while (true) {
    cut.rows = even_part(step.rows, maximum, step.strip);
    cut.down = ceil_div(step.rows, cut.rows);
    cut.tiles = step.directions * cut.down * step.panels();
    if (threads == 1 || cut.tiles >= wanted || cut.rows <= step.strip) {
      break;
    }
    maximum = cut.rows / 2;
  }
  const std::int64_t products = step.directions * step.rows * step.units * step.units * step.gates;
  cut.pieces =
      threads == 1 ? 1 : std::clamp<std::int64_t>(products / kMinRecurrentProducts, 1, std::min(wanted, cut.tiles));
  cut.is_alone = cut.pieces == 1 && products <= kMaxWork / std::max<std::int64_t>(step.steps, 1);
  return cut;
}

}  // namespace anydml
