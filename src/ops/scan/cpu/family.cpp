// SPDX-License-Identifier: MIT
// Scans rows on the CPU. A row is a sequence of chains, one per block of elements, and each chain is serial. Therefore
// kernels process several chains at a time: several rows, along or across them, or several blocks of a row if rows are
// few and long. In the latter case, the totals of the blocks are computed first, and threads may share a row.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/scan/cpu/kernels.h"
#include "ops/scan/scalar/scan.h"
#include "plan/loop_walk.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 16 << 10;  // elements, about ten microseconds of work
constexpr std::int64_t kMaxOfPiece = 256 << 10;
constexpr std::int64_t kFewColumns = 8;  // with fewer columns, gathering is faster
constexpr std::int64_t kMinWidth = 64;   // across: minimum columns per tile, so that lines are worthwhile
constexpr std::int64_t kMaxWidth = 2048;
constexpr std::int64_t kMaxRows = 64;            // along: rows per tile
constexpr std::int64_t kShortRows = 4096;        // along: elements per tile
constexpr std::int64_t kFewRows = 4;             // chains that keep a thread busy
constexpr std::int64_t kStageColumns = 512;      // columns of rows loaded at a time
constexpr std::int64_t kGroupBytes = 512 << 10;  // per group; fits in the L2 cache

static_assert(kStageColumns <= kMaxScanLoad && kScanLines * kMaxScanLoad <= kScanRows * kStageColumns);

// The division of a step. A tile consists of some rows. Across: the rows are in the innermost kept loop. Shared:
// threads share the rows of a tile, and a unit is a group of a tile's blocks; along, a tile is then a single row.
// Several groups are first added up together and then written, while they are still in the cache.
struct ScanCut {
  bool across;
  bool shared;
  std::int64_t width;          // rows per tile
  std::int64_t tiles_of_loop;  // across: tiles per innermost kept loop
  std::int64_t tiles;
  std::int64_t tiles_of_piece;  // if rows are not shared
  std::int64_t block;           // elements per block
  std::int64_t group;           // blocks per group
  std::int64_t groups;          // per tile
  std::int64_t together;        // groups of a tile that are processed at a time
};

bool goes_across(const ScanStep& step) {
  const AxisLoop& column = step.loops.kept[step.loops.kept_rank - 1];
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  const std::int64_t along = std::abs(step.along().input);
  return column.size >= kFewColumns && column.input == element && along != element && step.loops.count > 1;
}

ScanCut cut(const ScanStep& step, std::int64_t threads) {
  const AxisLoops& loops = step.loops;
  const std::int64_t blocks = ceil_div(loops.count, kScanBlock);
  const std::int64_t columns = loops.kept[loops.kept_rank - 1].size;
  ScanCut result{};
  result.across = goes_across(step);
  const std::int64_t outer = result.across ? loops.outputs / columns : 1;
  const std::int64_t all = result.across ? columns : loops.outputs;
  const bool is_staged = element_size(step.type) < sizeof(f32) ||
                         loops.kept[loops.kept_rank - 1].output != static_cast<std::int64_t>(element_size(step.type));
  const std::int64_t rows = std::clamp(kShortRows / loops.count / kScanRows * kScanRows, kScanRows, kMaxRows);
  const std::int64_t maximum = !result.across ? rows : is_staged ? kMaxScanLoad : kMaxWidth;
  const std::int64_t minimum = result.across ? kMinWidth : kFewRows;
  std::int64_t width = std::min(all, maximum);
  while (width > minimum && outer * ceil_div(all, width) < 2 * threads) {
    width = std::max(minimum, width / 2);
  }
  const std::int64_t tiles = outer * ceil_div(all, width);
  // Sharing reads everything twice. Integers can be combined in any order, so their blocks may have any length, and one
  // thread is as fast as two threads that share a chain of integers. For floats, sharing is faster even with two
  // threads.
  const bool is_float = is_float_type(step.type);
  const bool is_slow = is_float && !result.across && all < kFewRows;
  result.shared = blocks > 1 && (is_slow || (is_float ? tiles : 2 * tiles) < threads);
  const std::int64_t max_blocks = kGroupBytes / kScanBlock / static_cast<std::int64_t>(element_size(step.type));
  result.block = is_float_type(step.type) || (result.shared && result.across) ? kScanBlock
                 : result.shared                                              ? kScanBlock * max_blocks
                                                                              : std::max(kScanBlock, loops.count);
  result.width = result.shared && !result.across ? 1 : width;
  result.tiles_of_loop = ceil_div(all, result.width);
  result.tiles = outer * result.tiles_of_loop;
  const std::int64_t elements = loops.count * width;
  const std::int64_t wanted = std::clamp(loops.outputs * loops.count / (8 * threads), kMinOfPiece, kMaxOfPiece);
  result.tiles_of_piece = std::max<std::int64_t>(1, wanted / elements);
  if (!result.across && is_float_type(step.type)) {
    const std::int64_t wanted_blocks = ceil_div(ceil_div(blocks, threads), kScanRows) * kScanRows;
    result.group = std::clamp(wanted_blocks, kScanRows, max_blocks);
  } else {
    result.group = 1;
  }
  result.groups = ceil_div(ceil_div(loops.count, result.block), result.group);
  result.together = std::min(result.groups, ceil_div(threads, result.tiles));
  return result;
}

std::uint64_t pieces_of(const ScanCut& cut) {
  return static_cast<std::uint64_t>(cut.shared ? cut.tiles * cut.together : ceil_div(cut.tiles, cut.tiles_of_piece));
}

// Steps through the first elements of rows. rank: the number of kept loops that enumerate the rows.
LoopWalk walk_rows(const AxisLoops& loops, std::uint32_t rank, std::int64_t first) {
  return {loops.kept, rank, first, loops.input_offset, loops.output_offset};
}

// Numbers of up to eight bytes for each row of a tile.
struct Numbers {
  alignas(64) std::byte bytes[kMaxWidth * sizeof(u64)];
};

class Scan final : public cpu::PreparedStep {
 public:
  Scan(const ScanStep& step, const ScanCut& cut, cpu::Target target)
      : PreparedStep(pieces_of(cut),
                     cut.shared ? static_cast<std::uint32_t>(2 * ceil_div(cut.groups, cut.together)) : 1,
                     static_cast<std::size_t>(kScanRows * kStageColumns) * sizeof(u64)),
        step_(step),
        loops_(step_.loops),
        cut_(cut),
        kernels_(find_scan_kernels(step, target)),
        target_(target),
        wide_(static_cast<std::int64_t>(kernels_.wide_bytes)),
        block_(cut.block),
        blocks_(ceil_div(step.loops.count, block_)) {
    const AxisLoop& inner = cut.across ? loops_.kept[loops_.kept_rank - 1] : step_.along();
    const auto element = static_cast<std::int64_t>(element_size(step.type));
    direct_ = kernels_.elements_along != nullptr && inner.input == element && inner.output == element;
    loads_ = kernels_.loads || inner.input != wide_;
    stores_ = kernels_.loads || inner.output != wide_;
  }

  [[nodiscard]] std::uint64_t pieces_in(std::uint32_t phase) const noexcept override {
    const std::int64_t first = phase / 2 * cut_.together;
    return cut_.shared ? static_cast<std::uint64_t>(cut_.tiles * std::min(cut_.together, cut_.groups - first))
                       : pieces();
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const Addresses at{.input = operands[0], .output = operands[1], .totals = operands[2], .scratch = piece.scratch};
    const auto number = static_cast<std::int64_t>(piece.number);
    if (!cut_.shared) {
      const std::int64_t first = number * cut_.tiles_of_piece;
      LoopWalk row = walk_rows(loops_, loops_.kept_rank, cut_.across ? 0 : first * cut_.width);
      for (std::int64_t tile = first; tile < std::min(cut_.tiles, first + cut_.tiles_of_piece); ++tile) {
        if (cut_.across) {
          scan_tile_across(at, tile);
        } else {
          scan_tile_along(at, row, std::min(cut_.width, loops_.outputs - tile * cut_.width));
        }
      }
      return;
    }
    const std::int64_t turn = piece.phase / 2;
    const std::int64_t begin = turn * cut_.together;
    const std::int64_t end = std::min(cut_.groups, begin + cut_.together);
    const Unit unit{.tile = number / (end - begin),
                    .turn = turn,
                    .first_block = begin * cut_.group,
                    .block = (begin + number % (end - begin)) * cut_.group,
                    .is_last = number % (end - begin) == end - begin - 1};
    const bool writes = piece.phase % 2 != 0;
    cut_.across ? scan_unit_across(at, unit, writes) : scan_unit_along(at, unit, writes);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows %s%s, %s kernel", cut_.across ? "across" : "along",
                  cut_.shared ? " in blocks" : "", cpu::target_name(target_));
  }

 private:
  struct Addresses {
    const std::byte* input;
    std::byte* output;
    std::byte* totals;
    std::byte* scratch;
  };
  // Some blocks of a tile, and the first block that is written in this turn.
  struct Unit {
    std::int64_t tile;
    std::int64_t turn;
    std::int64_t first_block;
    std::int64_t block;
    bool is_last;  // whether it is the last unit of this turn
  };
  struct Tile {
    std::int64_t row;  // the first row
    std::int64_t width;
    const std::byte* input;
    std::byte* output;
  };

  [[nodiscard]] std::int64_t columns_of(std::int64_t block) const {
    return std::min(block_, loops_.count - block * block_);
  }

  // Scans chains along memory, in place or through scratch memory. `outputs` is null if no output is needed.
  void along(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t chains, std::int64_t columns,
             std::byte* sums, const std::byte* carries, std::byte* scratch) const {
    if (!loads_ && (!stores_ || outputs == nullptr)) {
      kernels_.along(inputs, outputs, chains, columns, sums, carries);
      return;
    }
    std::int64_t first = 0;
    if (direct_) {  // except for the last rows, if they are too few for a vector
      first = chains - chains % kScanRows;
      kernels_.elements_along(inputs, outputs, first, columns, sums, carries);
    }
    for (; first < chains; first += kScanRows) {
      staged(inputs + first, outputs == nullptr ? nullptr : outputs + first, std::min(kScanRows, chains - first),
             columns, sums + first * wide_, carries == nullptr ? nullptr : carries + first * wide_, scratch);
    }
  }

  // Scans up to kScanRows chains through scratch memory.
  void staged(const std::byte* const* inputs, std::byte* const* outputs, std::int64_t chains, std::int64_t columns,
              std::byte* sums, const std::byte* carries, std::byte* scratch) const {
    const std::byte* from[kScanRows];
    std::byte* to[kScanRows];
    for (std::int64_t first = 0; first < columns; first += kStageColumns) {
      const std::int64_t count = std::min(kStageColumns, columns - first);
      for (std::int64_t i = 0; i < chains; ++i) {
        std::byte* const own = scratch + i * kStageColumns * wide_;
        from[i] = loads_ ? own : inputs[i] + first * step_.along().input;
        if (loads_) {
          kernels_.load(inputs[i] + first * step_.along().input, step_.along().input, count, own);
        }
        if (outputs != nullptr) {
          to[i] = stores_ ? own : outputs[i] + first * step_.along().output;
        }
      }
      kernels_.along(from, outputs == nullptr ? nullptr : to, chains, count, sums, carries);
      for (std::int64_t i = 0; stores_ && outputs != nullptr && i < chains; ++i) {
        kernels_.store(to[i], count, outputs[i] + first * step_.along().output, step_.along().output);
      }
    }
  }

  // Scans chains whose numbers are in lines.
  void across(const std::byte* input, std::byte* output, std::int64_t lines, std::int64_t width, std::byte* sums,
              const std::byte* carries, std::byte* scratch) const {
    const std::int64_t from = step_.along().input;
    const std::int64_t to = step_.along().output;
    if (!loads_ && (!stores_ || output == nullptr)) {
      kernels_.across(input, from, output, to, lines, width, sums, carries);
      return;
    }
    if (direct_) {
      kernels_.elements_across(input, from, output, to, lines, width, sums, carries);
      return;
    }
    const AxisLoop& column = loops_.kept[loops_.kept_rank - 1];
    const std::int64_t step = width * wide_;
    for (std::int64_t first = 0; first < lines; first += kScanLines) {
      const std::int64_t count = std::min(kScanLines, lines - first);
      for (std::int64_t line = 0; loads_ && line < count; ++line) {
        kernels_.load(input + (first + line) * from, column.input, width, scratch + line * step);
      }
      const bool through = stores_ && output != nullptr;
      kernels_.across(loads_ ? scratch : input + first * from, loads_ ? step : from,
                      through             ? scratch
                      : output == nullptr ? nullptr
                                          : output + first * to,
                      through ? step : to, count, width, sums, carries);
      for (std::int64_t line = 0; through && line < count; ++line) {
        kernels_.store(scratch + line * step, width, output + (first + line) * to, column.output);
      }
    }
  }

  // Sets the first result of an exclusive scan, which has no element before it.
  void set_first(std::byte* output) const { std::memset(output, 0, element_size(step_.type)); }
  void set_first_of(const Tile& tile) const {
    for (std::int64_t i = 0; first_is_zero(step_) && i < tile.width; ++i) {
      set_first(tile.output + i * loops_.kept[loops_.kept_rank - 1].output);
    }
  }

  // Scans the number of rows that a kernel processes together, and advances `row` past these rows.
  void scan_tile_along(const Addresses& at, LoopWalk& row, std::int64_t rows) const {
    alignas(8) std::byte sums[kMaxRows * sizeof(u64)];
    alignas(8) std::byte carries[kMaxRows * sizeof(u64)];
    const std::byte* inputs[kMaxRows];
    std::byte* outputs[kMaxRows];
    for (std::int64_t i = 0; i < rows; ++i, row.next()) {
      inputs[i] = at.input + row.input();
      outputs[i] = at.output + row.output();
    }
    kernels_.clear(carries, rows);
    for (std::int64_t block = 0; block < blocks_; ++block) {
      kernels_.clear(sums, rows);
      along(inputs, outputs, rows, columns_of(block), sums, block == 0 ? nullptr : carries, at.scratch);
      if (blocks_ == 1 && !first_is_zero(step_)) {
        return;
      }
      kernels_.carry_on(carries, sums, rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        if (block == 0 && first_is_zero(step_)) {
          set_first(outputs[i]);
        }
        inputs[i] += block_ * step_.along().input;
        outputs[i] += block_ * step_.along().output;
      }
    }
  }

  [[nodiscard]] Tile tile_across(const Addresses& at, std::int64_t number) const {
    const AxisLoop& column = loops_.kept[loops_.kept_rank - 1];
    const LoopWalk offset_of = walk_rows(loops_, loops_.kept_rank - 1, number / cut_.tiles_of_loop);
    const std::int64_t first = number % cut_.tiles_of_loop * cut_.width;
    return {.row = number / cut_.tiles_of_loop * column.size + first,
            .width = std::min(cut_.width, column.size - first),
            .input = at.input + offset_of.input() + first * column.input,
            .output = at.output + offset_of.output() + first * column.output};
  }

  void scan_tile_across(const Addresses& at, std::int64_t number) const {
    Numbers sums;
    Numbers carries;
    const Tile tile = tile_across(at, number);
    kernels_.clear(carries.bytes, tile.width);
    for (std::int64_t block = 0; block < blocks_; ++block) {
      kernels_.clear(sums.bytes, tile.width);
      across(tile.input + block * block_ * step_.along().input, tile.output + block * block_ * step_.along().output,
             columns_of(block), tile.width, sums.bytes, block == 0 ? nullptr : carries.bytes, at.scratch);
      kernels_.carry_on(carries.bytes, sums.bytes, tile.width);
    }
    set_first_of(tile);
  }

  // Scans some blocks of a row to compute their totals or, if `writes`, the outputs. After the row's totals, `totals`
  // has space for two carries: one for the beginning of this turn and one for the beginning of the next.
  void scan_unit_along(const Addresses& at, const Unit& unit, bool writes) const {
    Numbers sums;
    Numbers carries;
    const LoopWalk row = walk_rows(loops_, loops_.kept_rank, unit.tile);
    std::byte* const totals = at.totals + unit.tile * (blocks_ + 2) * wide_;
    std::byte* const turns = totals + blocks_ * wide_;
    const std::int64_t chains = std::min(cut_.group, blocks_ - unit.block);
    if (writes) {
      alignas(8) std::byte carry[sizeof(u64)];
      unit.turn == 0 ? kernels_.clear(carry, 1)
                     : static_cast<void>(std::memcpy(carry, turns + unit.turn % 2 * wide_, kernels_.wide_bytes));
      kernels_.carry_along(carry, totals + unit.first_block * wide_, unit.block - unit.first_block, nullptr);
      kernels_.carry_along(carry, totals + unit.block * wide_, chains, carries.bytes);
      if (unit.is_last) {
        std::memcpy(turns + (unit.turn + 1) % 2 * wide_, carry, kernels_.wide_bytes);
      }
    }
    const std::byte* const input = at.input + row.input();
    std::byte* const output = at.output + row.output();
    // A chain of integers continues from its carry.
    const bool goes_on = writes && !is_float_type(step_.type);
    if (goes_on) {
      std::memcpy(sums.bytes, carries.bytes, static_cast<std::size_t>(chains * wide_));
    } else {
      kernels_.clear(sums.bytes, chains);
    }
    for (std::int64_t i = 0; i < chains;) {
      // The last block of a row may be shorter than the other blocks, so it is processed separately.
      const std::int64_t block = unit.block + i;
      const std::int64_t some = block + 1 == blocks_ ? 1 : std::min({kScanRows, chains - i, blocks_ - 1 - block});
      const std::byte* inputs[kScanRows];
      std::byte* outputs[kScanRows];
      for (std::int64_t k = 0; k < some; ++k) {
        inputs[k] = input + (block + k) * block_ * step_.along().input;
        outputs[k] = output + (block + k) * block_ * step_.along().output;
      }
      along(inputs, writes ? outputs : nullptr, some, columns_of(block), sums.bytes + i * wide_,
            goes_on ? nullptr : carries.bytes + i * wide_, at.scratch);
      i += some;
    }
    if (!writes) {
      std::memcpy(totals + unit.block * wide_, sums.bytes, static_cast<std::size_t>(chains * wide_));
    } else if (unit.block == 0 && first_is_zero(step_)) {
      set_first(output);
    }
  }

  // Like scan_unit_along, but for one block of all rows of a tile; the totals of a block are adjacent.
  void scan_unit_across(const Addresses& at, const Unit& unit, bool writes) const {
    Numbers sums;
    Numbers carries;
    const Tile tile = tile_across(at, unit.tile);
    const auto offset_of = [&](std::int64_t block) { return at.totals + (block * loops_.outputs + tile.row) * wide_; };
    const auto bytes = static_cast<std::size_t>(tile.width * wide_);
    const std::int64_t first = unit.block * block_;
    kernels_.clear(sums.bytes, tile.width);
    if (writes) {
      unit.turn == 0 ? kernels_.clear(carries.bytes, tile.width)
                     : static_cast<void>(std::memcpy(carries.bytes, offset_of(blocks_ + unit.turn % 2), bytes));
      for (std::int64_t block = unit.first_block; block < unit.block; ++block) {
        kernels_.carry_on(carries.bytes, offset_of(block), tile.width);
      }
    }
    across(tile.input + first * step_.along().input, writes ? tile.output + first * step_.along().output : nullptr,
           columns_of(unit.block), tile.width, sums.bytes, carries.bytes, at.scratch);
    if (!writes) {
      std::memcpy(offset_of(unit.block), sums.bytes, bytes);
      return;
    }
    if (unit.block == 0) {
      set_first_of(tile);
    }
    if (unit.is_last) {
      kernels_.carry_on(carries.bytes, sums.bytes, tile.width);
      std::memcpy(offset_of(blocks_ + (unit.turn + 1) % 2), carries.bytes, bytes);
    }
  }

  ScanStep step_;
  const AxisLoops& loops_;
  ScanCut cut_;
  ScanKernels kernels_;
  cpu::Target target_;
  std::int64_t wide_;    // bytes per number
  std::int64_t block_;   // elements per block
  std::int64_t blocks_;  // per row
  bool loads_ = false;   // kernels cannot read the numbers in place
  bool stores_ = false;  // kernels cannot write the results in place
  bool direct_ = false;  // some kernels read unconverted elements
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  ScanStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<Scan>(step, cut(step, context.threads), context.target);
}

}  // namespace

namespace cpu {
extern const FamilyKernels scan_family;
const FamilyKernels scan_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
