// SPDX-License-Identifier: MIT
#include "ops/elementwise/cpu/tiled_step.h"

#include <algorithm>

namespace anydml {
namespace {

// A piece is the tiles that a thread takes at a time. The first ones are large parts of the remaining work, because a
// kernel that continues is faster than one that starts again; the last ones are small, so that threads finish together,
// but still worth handing over, about ten microseconds. In bytes of all operands; a kernel without vectors takes about
// ten times as long for them.
constexpr std::int64_t kTileBytes = 128 << 10;
constexpr std::int64_t kPlainTileBytes = 12 << 10;
constexpr std::int64_t kMostOfPiece = 16 << 20;  // callers share the threads piece by piece
constexpr std::int64_t kPartsOfRest = 2;         // for each thread
constexpr std::int64_t kPartsOfAll = 64;         // likewise, and no smaller

}  // namespace

Division divide(const Step& step, const LoopNest& nest, bool vectors, unsigned threads) {
  std::int64_t bytes = 0;  // of one element of every operand
  for (const Operand& operand : step.operands) {
    bytes += static_cast<std::int64_t>(element_size(operand.type));
  }
  constexpr std::int64_t kLine = 64;  // elements, so that a tile begins with a cache line where its row does
  const std::int64_t elements = std::max(kLine, (vectors ? kTileBytes : kPlainTileBytes) / bytes / kLine * kLine);
  Division division{.tiling = make_tiling(nest, elements), .begins = {}};
  const std::int64_t tiles = division.tiling.tiles;
  // Tiles may be much smaller than that, as those of short rows in many dimensions are.
  const std::int64_t tile = division.tiling.rows * division.tiling.columns;
  const std::int64_t most = std::max<std::int64_t>(1, kMostOfPiece / bytes / tile);
  const std::int64_t least =
      std::clamp(tiles / (threads * kPartsOfAll), std::max<std::int64_t>(1, elements / tile), most);
  for (std::int64_t begin = 0; begin < tiles;) {
    division.begins.push_back(begin);
    begin += std::clamp((tiles - begin) / (threads * kPartsOfRest), least, most);
  }
  division.begins.push_back(tiles);
  return division;
}

}  // namespace anydml
