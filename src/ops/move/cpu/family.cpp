// SPDX-License-Identifier: MIT
// Copies on the CPU. Each is cut into tiles of its two innermost loops, and a piece is tiles that follow one another,
// of one copy or of many.
#include "backend/cpu/family.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ops/move/cpu/blocks.h"
#include "ops/move/step.h"

namespace anydml {
namespace {

// In bytes that are read and written. As in element-wise steps, the first pieces are large parts of what is left, since
// a copy that goes on is faster than one that begins anew; the last ones are small, so that threads end together.
constexpr std::int64_t kTileBytes = 64 << 10;  // of one side
constexpr std::int64_t kLeastOfPiece = 128 << 10;
constexpr std::int64_t kMostOfPiece = 16 << 20;  // callers share the threads piece by piece
constexpr std::int64_t kPartsOfRest = 2;         // for each thread
constexpr std::int64_t kPartsOfAll = 64;         // likewise, and no smaller
// The time that other things take, in bytes that are moved meanwhile.
constexpr std::int64_t kCostOfCopy = 256;
constexpr std::int64_t kCostOfUnit = 16;

std::int64_t parts_of(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

// A copy with its two innermost loops apart. Where runs are long, the innermost "loop" is the run, byte by byte.
struct ReadyCopy {
  MoveKernel kernel;
  MoveShape shape;
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t outer_rank;
  std::int64_t unit;
  std::int64_t from_offset;
  std::int64_t to_offset;
  MoveLoop column;
  MoveLoop row;
  std::int64_t tile_columns;
  std::int64_t tile_rows;
  std::int64_t tiles;
  std::int64_t tile_cost;
  std::array<std::byte, kPatternBytes> pattern;
  const MoveLoop* outer;

  [[nodiscard]] std::int64_t column_tiles() const { return parts_of(column.size, tile_columns); }
  [[nodiscard]] std::int64_t row_tiles() const { return parts_of(row.size, tile_rows); }
};

constexpr MoveLoop kOnce{.size = 1, .from = 0, .to = 0};

ReadyCopy make_ready(const MoveCopy& copy, std::span<const MoveLoop> loops, cpu::Target target) {
  ReadyCopy ready{};
  ready.from = copy.from;
  ready.to = copy.to;
  ready.from_offset = copy.from_offset;
  ready.to_offset = copy.to_offset;
  const bool is_constant = copy.from == kFromConstant;
  for (std::size_t at = 0; at < kPatternBytes; at += sizeof(copy.constant)) {
    std::memcpy(ready.pattern.data() + at, &copy.constant, sizeof(copy.constant));
  }
  const auto take = [&loops] {
    const MoveLoop taken = loops.empty() ? kOnce : loops.back();
    loops = loops.first(loops.empty() ? 0 : loops.size() - 1);
    return taken;
  };
  const bool has_rows = copy.run >= kLeastRow;
  ready.unit = has_rows ? 1 : copy.run;
  ready.column = has_rows ? MoveLoop{.size = copy.run, .from = is_constant ? 0 : 1, .to = 1} : take();
  ready.row = take();
  ready.outer = loops.data();
  ready.outer_rank = static_cast<std::uint32_t>(loops.size());
  const bool is_transposed = !has_rows && can_transpose(ready.unit) && ready.column.to == ready.unit &&
                             ready.column.from != 0 && ready.row.from == ready.unit;
  ready.shape = has_rows        ? (is_constant ? MoveShape::filled : MoveShape::rows)
                : is_transposed ? MoveShape::transposed
                                : MoveShape::strided;
  ready.kernel = find_move_kernel(ready.shape, ready.unit, target);

  // A pattern begins anew with each tile, so that a tile is whole patterns. Tiles across the source are narrow and
  // high, so that much is read of each of its pages at a time.
  constexpr std::int64_t kNarrow = 64;
  const std::int64_t units = std::max<std::int64_t>(kNarrow, kTileBytes / ready.unit / kNarrow * kNarrow);
  ready.tile_columns = std::min(ready.column.size, is_transposed ? kNarrow : units);
  std::int64_t rows = units / ready.tile_columns;
  rows = is_transposed && rows > kNarrow ? rows / kNarrow * kNarrow : rows;
  ready.tile_rows = std::clamp<std::int64_t>(rows, 1, ready.row.size);
  ready.tiles = ready.column_tiles() * ready.row_tiles();
  for (const MoveLoop& loop : loops) {
    ready.tiles *= loop.size;
  }
  const std::int64_t cost = has_rows ? 2 : std::max(kCostOfUnit, 2 * ready.unit);
  ready.tile_cost = ready.tile_columns * ready.tile_rows * cost + (has_rows ? ready.tile_rows * kCostOfUnit : 0);
  return ready;
}

// Calls the kernel for tiles [begin, end). Those that follow one another along a row, or as whole rows, go as one
// block; narrow ones go singly.
void run_tiles(const ReadyCopy& copy, std::int64_t begin, std::int64_t end, const std::byte* from, std::byte* to) {
  std::int64_t rest = begin;
  std::int64_t column = rest % copy.column_tiles() * copy.tile_columns;
  rest /= copy.column_tiles();
  std::int64_t row = rest % copy.row_tiles() * copy.tile_rows;
  rest /= copy.row_tiles();
  std::int64_t indices[kMaxMoveRank] = {};
  from += copy.from_offset;
  to += copy.to_offset;
  for (std::uint32_t i = copy.outer_rank; i-- > 0; rest /= copy.outer[i].size) {
    indices[i] = rest % copy.outer[i].size;
    from += indices[i] * copy.outer[i].from;
    to += indices[i] * copy.outer[i].to;
  }
  const bool whole_rows = copy.tile_columns >= copy.column.size;
  for (std::int64_t tile = begin; tile < end;) {
    const std::int64_t following = whole_rows ? parts_of(copy.row.size - row, copy.tile_rows)
                                              : parts_of(copy.column.size - column, copy.tile_columns);
    const std::int64_t taken = copy.shape == MoveShape::transposed ? 1 : std::min(end - tile, following);
    const std::int64_t high = whole_rows ? taken * copy.tile_rows : copy.tile_rows;
    const std::int64_t wide = whole_rows ? copy.tile_columns : taken * copy.tile_columns;
    tile += taken;
    copy.kernel({.from = from + column * copy.column.from + row * copy.row.from,
                 .to = to + column * copy.column.to + row * copy.row.to,
                 .unit = copy.unit,
                 .columns = std::min(wide, copy.column.size - column),
                 .from_column = copy.column.from,
                 .to_column = copy.column.to,
                 .rows = std::min(high, copy.row.size - row),
                 .from_row = copy.row.from,
                 .to_row = copy.row.to});
    if ((column += wide) < copy.column.size) {
      continue;
    }
    column = 0;
    if ((row += high) < copy.row.size) {
      continue;
    }
    row = 0;
    for (std::uint32_t i = copy.outer_rank; i-- > 0;) {  // one further, as an odometer
      const MoveLoop& loop = copy.outer[i];
      const bool carries = ++indices[i] == loop.size;
      indices[i] = carries ? 0 : indices[i];
      from += carries ? -(loop.size - 1) * loop.from : loop.from;
      to += carries ? -(loop.size - 1) * loop.to : loop.to;
      if (!carries) {
        break;
      }
    }
  }
}

// Where a piece begins: a tile of a copy.
struct Begin {
  std::size_t copy;
  std::int64_t tile;
};

struct ReadyTable {
  std::vector<MoveLoop> loops;
  std::vector<ReadyCopy> copies;
  std::vector<Begin> begins;  // of the pieces, and the end of the last
};

void cut(ReadyTable& table, unsigned threads) {
  std::int64_t rest = 0;
  for (const ReadyCopy& copy : table.copies) {
    rest += kCostOfCopy + copy.tiles * copy.tile_cost;
  }
  const std::int64_t least = std::clamp(rest / (threads * kPartsOfAll), kLeastOfPiece, kMostOfPiece);
  Begin at{.copy = 0, .tile = 0};
  while (at.copy < table.copies.size()) {
    table.begins.push_back(at);
    std::int64_t budget = std::clamp(rest / (threads * kPartsOfRest), least, kMostOfPiece);
    while (budget > 0 && at.copy < table.copies.size()) {
      const ReadyCopy& copy = table.copies[at.copy];
      const std::int64_t taken = std::min(copy.tiles - at.tile, parts_of(budget, copy.tile_cost));
      const std::int64_t cost = taken * copy.tile_cost + (at.tile == 0 ? kCostOfCopy : 0);
      budget -= cost;
      rest -= cost;
      at.tile += taken;
      if (at.tile == copy.tiles) {
        at = {.copy = at.copy + 1, .tile = 0};
      }
    }
  }
  table.begins.push_back(at);
}

ReadyTable make_table(const Step& flat, const cpu::Machine& machine) {
  const MoveTable given(flat.parameters);
  ReadyTable table;
  std::size_t loops = 0;
  for (const MoveCopy& copy : given.copies()) {
    loops += copy.rank;
  }
  table.loops.reserve(loops);
  table.copies.reserve(given.copies().size());
  for (const MoveCopy& copy : given.copies()) {
    const auto own = given.loops(copy);
    const MoveLoop* const first = table.loops.data() + table.loops.size();
    table.loops.insert(table.loops.end(), own.begin(), own.end());
    table.copies.push_back(make_ready(copy, {first, own.size()}, machine.target));
  }
  cut(table, machine.threads);
  return table;
}

class MoveRun final : public cpu::Prepared {
 public:
  explicit MoveRun(ReadyTable table) : Prepared(table.begins.size() - 1), table_(std::move(table)) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    Begin at = table_.begins[piece];
    const Begin& end = table_.begins[piece + 1];
    for (; at.copy <= end.copy && at.copy < table_.copies.size(); at = {.copy = at.copy + 1, .tile = 0}) {
      const ReadyCopy& copy = table_.copies[at.copy];
      const std::int64_t until = at.copy == end.copy ? end.tile : copy.tiles;
      if (at.tile < until) {
        const std::byte* const from = copy.from == kFromConstant ? copy.pattern.data() : operands[copy.from];
        run_tiles(copy, at.tile, until, from, operands[copy.to]);
      }
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    const ReadyCopy& first = table_.copies.front();
    const auto alike = [&](const ReadyCopy& copy) { return copy.shape == first.shape; };
    std::snprintf(text, capacity, "%zu cop%s, %s", table_.copies.size(), table_.copies.size() == 1 ? "y" : "ies",
                  std::ranges::all_of(table_.copies, alike) ? shape_name(first.shape) : "of several shapes");
  }

 private:
  ReadyTable table_;
};

std::unique_ptr<cpu::Prepared> prepare(const Step& flat, const cpu::Machine& machine, cpu::Neighbours) {
  return std::make_unique<MoveRun>(make_table(flat, machine));
}

}  // namespace

namespace cpu {
extern const Family move_family;
const Family move_family = {.open = nullptr, .prepare = prepare, .prepare_stream = nullptr};
}  // namespace cpu

}  // namespace anydml
