// SPDX-License-Identifier: MIT
#include "ops/elementwise/cpu/tiled_step.h"

#include <algorithm>

namespace anydml {
namespace {

// A piece is the group of tiles that a thread claims at a time. The first pieces are large fractions of the remaining
// work, because a kernel that continues is faster than one that starts again. The last pieces are small, so that
// threads finish together. Even these take about ten microseconds, so the cost of claiming them is small. Sizes count
// the bytes of all operands; a kernel without vectors takes about ten times as long per byte.
constexpr std::int64_t kTileBytes = 128 << 10;
constexpr std::int64_t kPlainTileBytes = 12 << 10;
constexpr std::int64_t kMaxOfPiece = 16 << 20;  // concurrent callers share the threads piece by piece
constexpr std::int64_t kPartsOfRest = 2;        // parts of the remaining work per thread
constexpr std::int64_t kPartsOfAll = 64;        // parts of all work per thread; limits how small a piece can be

}  // namespace

Division divide(const Step& step, const LoopNest& nest, bool vectors, unsigned threads) {
  std::int64_t bytes = 0;  // the size of one element, summed over all operands
  for (const Operand& operand : step.operands) {
    bytes += static_cast<std::int64_t>(element_size(operand.type));
  }
  constexpr std::int64_t kLine = 64;  // elements; a tile starts on a cache line if its row does
  const std::int64_t elements = std::max(kLine, (vectors ? kTileBytes : kPlainTileBytes) / bytes / kLine * kLine);
  Division division{.tiling = make_tiling(nest, elements), .begins = {}};
  const std::int64_t tiles = division.tiling.tiles;
  // Tiles may have far fewer than `elements` elements, for instance if rows are short and there are many dimensions.
  const std::int64_t tile = division.tiling.rows * division.tiling.columns;
  const std::int64_t maximum = std::max<std::int64_t>(1, kMaxOfPiece / bytes / tile);
  const std::int64_t minimum =
      std::clamp(tiles / (threads * kPartsOfAll), std::max<std::int64_t>(1, elements / tile), maximum);
  for (std::int64_t begin = 0; begin < tiles;) {
    division.begins.push_back(begin);
    begin += std::clamp((tiles - begin) / (threads * kPartsOfRest), minimum, maximum);
  }
  division.begins.push_back(tiles);
  return division;
}

}  // namespace anydml
