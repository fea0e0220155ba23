// SPDX-License-Identifier: MIT
// Runs copies on the CPU. Each copy is split into tiles of its two innermost loops, and a piece of work is a sequence
// of tiles from one or more copies.
#include "backend/cpu/family.h"
#include "base/integers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/small_sort.h"
#include "ops/move/cpu/blocks.h"
#include "ops/move/cpu/reversal.h"
#include "ops/move/step.h"

namespace anydml {
namespace {

// Sizes in bytes read and written. As in element-wise steps, the first pieces are large fractions of the remaining
// work, because continuing a copy is faster than starting a new one; the last pieces are small, so that threads finish
// together.
constexpr std::int64_t kTileBytes = 64 << 10;  // in the source or in the destination
constexpr std::int64_t kMinOfPiece = 128 << 10;
constexpr std::int64_t kMaxOfPiece = 16 << 20;     // callers share the threads piece by piece
constexpr std::int64_t kPartsOfRest = 2;           // parts of the remaining work per thread
constexpr std::int64_t kPartsOfAll = 64;           // parts of all work per thread; limits how small a piece can be
constexpr std::int64_t kMaxInterleaved = 4 << 10;  // bytes of a row; longer rows share few cache lines
constexpr std::size_t kMaxByRows = 16;             // maximum number of copies that run row by row
constexpr std::int64_t kMinSquare = 16;            // minimum bytes of a side for transposing
// Overheads, in bytes that could be moved in that time.
constexpr std::int64_t kCostOfTile = 256;
constexpr std::int64_t kCostOfUnit = 16;

// A copy with its two innermost loops separated. If runs are long, the innermost "loop" is over the bytes of a run.
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
  std::int64_t column_tiles;
  std::int64_t row_tiles;
  std::array<std::byte, kPatternBytes> pattern;
  const MoveLoop* outer;

  [[nodiscard]] bool has_rows() const { return shape == MoveShape::rows || shape == MoveShape::filled; }
  // The bytes moved by one iteration of the loop around the runs.
  [[nodiscard]] std::int64_t width() const { return has_rows() ? column.size : unit; }
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
  const bool has_rows = copy.run >= kMinRow;
  ready.unit = has_rows ? 1 : copy.run;
  ready.column = has_rows ? MoveLoop{.size = copy.run, .from = is_constant ? 0 : 1, .to = 1} : take();
  ready.row = take();
  ready.outer = loops.data();
  ready.outer_rank = static_cast<std::uint32_t>(loops.size());
  const bool is_transposed = !has_rows && can_transpose(ready.unit) && ready.column.to == ready.unit &&
                             ready.column.from != 0 && ready.row.from == ready.unit &&
                             std::min(ready.row.size, ready.column.size) * ready.unit >= kMinSquare;
  ready.shape = has_rows        ? (is_constant ? MoveShape::filled : MoveShape::rows)
                : is_transposed ? MoveShape::transposed
                                : MoveShape::strided;
  ready.kernel = find_move_kernel(ready.shape, ready.unit, target);
  return ready;
}

// If a loop continues in the destination where the innermost loop ends, moves it directly around the innermost loop.
// Cache lines that are written whole and in order need not be read first, which saves more than reading the source in
// order.
void bring_together(std::span<MoveLoop> loops, const MoveCopy& copy) {
  if (loops.size() < 3 || copy.run >= kMinRow || copy.from == kFromConstant || loops.back().to != copy.run) {
    return;
  }
  const std::int64_t whole = loops.back().size * copy.run;
  const bool is_transposed = loops[loops.size() - 2].from == copy.run &&
                             std::min(loops.back().size, loops[loops.size() - 2].size) * copy.run >= kMinSquare;
  const auto next = std::ranges::find(loops.first(loops.size() - 1), whole, &MoveLoop::to);
  if (!is_transposed && next != loops.end() - 1) {
    std::rotate(next, next + 1, loops.end() - 1);
  }
}

// Copies whose corresponding tiles run one after another. They are parts of a JOIN or a SPLIT that interleave in
// memory, so a cache line that they share is fetched only once.
struct Band {
  std::size_t first;
  std::size_t count;
  bool by_rows;  // one row of every copy at a time, so that destination lines are written whole and in order
  std::int64_t tiles;
  std::int64_t tile_cost;
};

bool shares_memory(const ReadyCopy& a, const ReadyCopy& b) {
  return a.to == b.to || (a.from == b.from && a.from != kFromConstant);
}

// Whether the loops of `a` and `b` have the same sizes.
bool same_sizes(std::span<const MoveLoop> a, std::span<const MoveLoop> b) {
  return std::ranges::equal(a, b, [](const MoveLoop& one, const MoveLoop& other) { return one.size == other.size; });
}

// Prepares units next to rows, such as the elements that padding adds at the edges of each row, to run together with
// the rows: the loop over the units becomes a loop over the rows.
void stand_beside(const ReadyCopy& rows, ReadyCopy& units) {
  if (!rows.has_rows() || units.shape != MoveShape::strided || !shares_memory(rows, units) || units.column.size == 1) {
    return;
  }
  const std::uint32_t outer_rank = units.outer_rank + (units.row.size > 1 ? 1 : 0);
  if (units.column.size != rows.row.size || !same_sizes({units.outer, outer_rank}, {rows.outer, rows.outer_rank})) {
    return;
  }
  units.row = units.column;
  units.column = kOnce;
  units.outer_rank = outer_rank;
}

bool interleaves(const ReadyCopy& a, const ReadyCopy& b) {
  const bool has_rows = a.has_rows();
  const auto fits = [&](const ReadyCopy& copy) {
    return (copy.has_rows() || copy.column.size == 1) == has_rows && copy.shape != MoveShape::transposed &&
           copy.width() <= kMaxInterleaved && (has_rows ? copy.row.size : copy.column.size) > 1;
  };
  return shares_memory(a, b) && fits(a) && fits(b) && a.row.size == b.row.size &&
         (has_rows || a.column.size == b.column.size) && same_sizes({a.outer, a.outer_rank}, {b.outer, b.outer_rank});
}

// A pattern restarts with each tile, so tiles consist of whole patterns. Tiles for transposing are narrow and tall, so
// that a large part of each source page is read at a time.
Band make_band(std::span<ReadyCopy> copies, std::size_t first) {
  constexpr std::int64_t kNarrow = 64;
  std::int64_t width = 0;
  for (const ReadyCopy& copy : copies) {
    width += copy.width();
  }
  Band band{.first = first, .count = copies.size(), .by_rows = false, .tiles = 1, .tile_cost = 0};
  band.by_rows = copies.size() > 1 && copies.size() <= kMaxByRows && copies.front().has_rows() &&
                 std::ranges::all_of(copies, [](const ReadyCopy& copy) {
                   return copy.from != kFromConstant || copy.width() <= std::int64_t{kPatternBytes};
                 });
  for (ReadyCopy& copy : copies) {
    const bool is_transposed = copy.shape == MoveShape::transposed;
    if (copies.front().has_rows()) {
      copy.tile_columns = copies.size() > 1 ? copy.column.size : std::min(copy.column.size, kTileBytes);
      copy.tile_rows = std::clamp<std::int64_t>(kTileBytes / width, 1, copy.row.size);
    } else {
      const std::int64_t units = std::max(kNarrow, kTileBytes / width / kNarrow * kNarrow);
      copy.tile_columns = std::min(copy.column.size, is_transposed ? kNarrow : units);
      const std::int64_t rows = units / copy.tile_columns;
      copy.tile_rows =
          std::clamp<std::int64_t>(is_transposed && rows > kNarrow ? rows / kNarrow * kNarrow : rows, 1, copy.row.size);
    }
    copy.column_tiles = ceil_div(copy.column.size, copy.tile_columns);
    copy.row_tiles = ceil_div(copy.row.size, copy.tile_rows);
    const std::int64_t units = copy.tile_columns * copy.tile_rows;
    band.tile_cost += kCostOfTile + (copy.has_rows() ? 2 * units + copy.tile_rows * kCostOfUnit
                                                     : units * std::max(kCostOfUnit, 2 * copy.unit));
  }
  const ReadyCopy& one = copies.front();
  band.tiles = one.column_tiles * one.row_tiles;
  for (const MoveLoop& loop : std::span(one.outer, one.outer_rank)) {
    band.tiles *= loop.size;
  }
  return band;
}

// The offsets at which tile n of a copy starts in its two operands.
struct Offsets {
  std::int64_t from;
  std::int64_t to;
};
Offsets offsets_of(const ReadyCopy& copy, std::int64_t tile) {
  Offsets offsets{.from = copy.from_offset, .to = copy.to_offset};
  const auto add = [&offsets](std::int64_t index, const MoveLoop& loop) {
    offsets.from += index * loop.from;
    offsets.to += index * loop.to;
  };
  add(tile % copy.row_tiles * copy.tile_rows, copy.row);
  std::int64_t rest = tile / copy.row_tiles;
  for (std::uint32_t i = copy.outer_rank; i-- > 0; rest /= copy.outer[i].size) {
    add(rest % copy.outer[i].size, copy.outer[i]);
  }
  return offsets;
}

// Copies bytes in ascending order, which memcpy does not guarantee.
void move_upwards(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kPart = 16;
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else if (bytes < kPart) {
    std::memcpy(to, from, bytes);
  } else {
    std::size_t n = 0;
    for (; n + kLine <= bytes; n += kLine) {
      std::memcpy(to + n, from + n, kLine);
    }
    for (; n + kPart <= bytes; n += kPart) {
      std::memcpy(to + n, from + n, kPart);
    }
    if (n < bytes) {
      std::memcpy(to + bytes - kPart, from + bytes - kPart, kPart);
    }
  }
}

// Runs a tile of a band whose copies have whole rows, or a unit next to each row.
void run_rows(std::span<const ReadyCopy> copies, std::int64_t tile, std::byte* const* operands) {
  struct Part {
    const std::byte* from;
    std::byte* to;
    std::int64_t from_row;
    std::int64_t to_row;
    std::size_t bytes;
  };
  Part parts[kMaxByRows];
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const ReadyCopy& copy = copies[i];
    const Offsets offsets = offsets_of(copy, tile);
    const std::byte* const from = copy.from == kFromConstant ? copy.pattern.data() : operands[copy.from];
    parts[i] = {.from = from + offsets.from,
                .to = operands[copy.to] + offsets.to,
                .from_row = copy.row.from,
                .to_row = copy.row.to,
                .bytes = static_cast<std::size_t>(copy.width())};
  }
  // Write each destination row in ascending order: after a jump backwards, the CPU would read cache lines before
  // writing them.
  small_sort(parts, copies.size(), [](const Part& a, const Part& b) { return a.to < b.to; });
  const ReadyCopy& one = copies.front();
  const std::int64_t rows = std::min(one.tile_rows, one.row.size - tile % one.row_tiles * one.tile_rows);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (Part& part : std::span(parts, copies.size())) {
      move_upwards(part.to, part.from, part.bytes);
      part.from += part.from_row;
      part.to += part.to_row;
    }
  }
}

// Calls the kernel for tiles [begin, end). Consecutive tiles along a row, or whole rows of tiles, form one block.
// Narrow tiles run one at a time.
void run_tiles(const ReadyCopy& copy, std::int64_t begin, std::int64_t end, const std::byte* from, std::byte* to) {
  std::int64_t column = 0;
  std::int64_t row = 0;
  std::int64_t indices[kMaxMoveRank] = {};
  from += copy.from_offset;
  to += copy.to_offset;
  if (begin != 0) {
    std::int64_t rest = begin / copy.column_tiles;
    column = begin % copy.column_tiles * copy.tile_columns;
    row = rest % copy.row_tiles * copy.tile_rows;
    rest /= copy.row_tiles;
    for (std::uint32_t i = copy.outer_rank; i-- > 0; rest /= copy.outer[i].size) {
      indices[i] = rest % copy.outer[i].size;
      from += indices[i] * copy.outer[i].from;
      to += indices[i] * copy.outer[i].to;
    }
  }
  const bool whole_rows = copy.tile_columns >= copy.column.size;
  for (std::int64_t tile = begin; tile < end;) {
    const std::int64_t following = whole_rows ? ceil_div(copy.row.size - row, copy.tile_rows)
                                              : ceil_div(copy.column.size - column, copy.tile_columns);
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
    for (std::uint32_t i = copy.outer_rank; i-- > 0;) {  // advance the indices like an odometer
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

// The start of a piece: a tile of a band.
struct Begin {
  std::size_t band;
  std::int64_t tile;
};

struct ReadyTable {
  std::vector<MoveLoop> loops;
  std::vector<ReadyCopy> copies;
  std::vector<Band> bands;
  std::vector<Begin> begins;  // the start of each piece, and the end of the last
};

void make_bands(ReadyTable& table) {
  for (std::size_t first = 0; first < table.copies.size();) {
    std::int64_t width = table.copies[first].width();
    std::size_t end = first + 1;
    for (; end < table.copies.size(); ++end) {
      stand_beside(table.copies[first], table.copies[end]);
      if (!interleaves(table.copies[first], table.copies[end]) || width + table.copies[end].width() > kTileBytes) {
        break;
      }
      width += table.copies[end].width();
    }
    table.bands.push_back(make_band(std::span(table.copies).subspan(first, end - first), first));
    first = end;
  }
}

void cut(ReadyTable& table, unsigned threads) {
  std::int64_t rest = 0;
  for (const Band& band : table.bands) {
    rest += band.tiles * band.tile_cost;
  }
  const std::int64_t minimum = std::clamp(rest / (threads * kPartsOfAll), kMinOfPiece, kMaxOfPiece);
  Begin at{.band = 0, .tile = 0};
  while (at.band < table.bands.size()) {
    table.begins.push_back(at);
    std::int64_t budget = std::clamp(rest / (threads * kPartsOfRest), minimum, kMaxOfPiece);
    while (budget > 0 && at.band < table.bands.size()) {
      const Band& band = table.bands[at.band];
      const std::int64_t taken = std::min(band.tiles - at.tile, ceil_div(budget, band.tile_cost));
      budget -= taken * band.tile_cost;
      rest -= taken * band.tile_cost;
      at.tile += taken;
      if (at.tile == band.tiles) {
        at = {.band = at.band + 1, .tile = 0};
      }
    }
  }
  table.begins.push_back(at);
}

ReadyTable make_table(const Step& flat, const cpu::StepContext& context) {
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
    MoveLoop* const first = table.loops.data() + table.loops.size();
    table.loops.insert(table.loops.end(), own.begin(), own.end());
    bring_together({first, own.size()}, copy);
    table.copies.push_back(make_ready(copy, {first, own.size()}, context.target));
  }
  make_bands(table);
  cut(table, context.threads);
  return table;
}

class MoveRun final : public cpu::PreparedStep {
 public:
  explicit MoveRun(ReadyTable table) : PreparedStep(table.begins.size() - 1), table_(std::move(table)) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    Begin at = table_.begins[piece.number];
    const Begin& end = table_.begins[piece.number + 1];
    for (; at.band <= end.band && at.band < table_.bands.size(); at = {.band = at.band + 1, .tile = 0}) {
      const Band& band = table_.bands[at.band];
      const std::int64_t until = at.band == end.band ? end.tile : band.tiles;
      if (band.by_rows) {
        for (std::int64_t tile = at.tile; tile < until; ++tile) {
          run_rows(std::span(table_.copies).subspan(band.first, band.count), tile, operands);
        }
        continue;
      }
      const std::int64_t together = band.count == 1 ? until - at.tile : 1;
      for (std::int64_t tile = at.tile; tile < until; tile += together) {
        for (const ReadyCopy& copy : std::span(table_.copies).subspan(band.first, band.count)) {
          const std::byte* const from = copy.from == kFromConstant ? copy.pattern.data() : operands[copy.from];
          run_tiles(copy, tile, tile + together, from, operands[copy.to]);
        }
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

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  if (kind_of(flat.parameters) == MoveKind::reversal) {
    return prepare_reversal(*reinterpret_cast<const ReversalStep*>(flat.parameters.data()), context);
  }
  return std::make_unique<MoveRun>(make_table(flat, context));
}

}  // namespace

namespace cpu {
extern const FamilyKernels move_family;
const FamilyKernels move_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
