// SPDX-License-Identifier: MIT
// Rows normalised on the CPU. Where rows lie along memory, or anyhow, each is taken by itself; where their elements lie
// beside those of other rows, some rows together. Rows are what threads share: one row is one thread's.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/normalise/cpu/kernels.h"
#include "ops/scalar/fold_order.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kLeastOfPiece = 16 << 10;  // elements: some ten microseconds
constexpr std::int64_t kMostOfPiece = 256 << 10;
constexpr std::int64_t kTileElements = 64 << 10;  // across: they are read three times, in the second-level cache
constexpr std::int64_t kFewColumns = 8;           // which are better gathered

NormaliseCut cut(const NormaliseStep& step, std::int64_t threads) {
  const AxisLoops& loops = step.loops;
  const AxisLoop& column = loops.kept[loops.kept_rank - 1];
  const auto element = static_cast<std::int64_t>(element_size(step.type));
  NormaliseCut made{};
  made.across = loops.reduced[loops.reduced_rank - 1].input != element && column.input == element &&
                column.size >= kFewColumns && loops.count > 1;
  std::int64_t elements = loops.count;  // of a unit
  if (made.across) {
    const std::int64_t most = loops.count > kReduceBlock ? kMostTreeColumns
                              : loops.has_lanes != 0     ? kMostLaneColumns
                                                         : kMostColumns;
    const std::int64_t fitting = kTileElements / loops.count / kLeastColumns * kLeastColumns;
    made.width = std::min(column.size, std::clamp(fitting, kLeastColumns, most));
    const std::int64_t others = loops.outputs / column.size;
    while (made.width > kLeastColumns && others * parts(column.size, made.width) < 2 * threads) {
      made.width = std::max(kLeastColumns, made.width / 2);
    }
    made.tiles = parts(column.size, made.width);
    made.units = others * made.tiles;
    elements *= made.width;
  } else {
    made.width = 1;
    made.tiles = column.size;
    made.units = loops.outputs;
  }
  const std::int64_t wanted = std::clamp(loops.outputs * loops.count / (8 * threads), kLeastOfPiece, kMostOfPiece);
  made.units_of_piece = std::max<std::int64_t>(1, wanted / elements);
  return made;
}

class Normalisation final : public cpu::Prepared {
 public:
  Normalisation(const NormaliseStep& step, const NormaliseCut& cut, NormaliseRun kernel, cpu::Target target)
      : Prepared(static_cast<std::uint64_t>(parts(cut.units, cut.units_of_piece))),
        step_(step),
        cut_(cut),
        kernel_(kernel),
        target_(target) {}

  void run(std::uint64_t piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece) * cut_.units_of_piece;
    kernel_(step_, cut_, first, std::min(cut_.units, first + cut_.units_of_piece), operands[0], operands[1]);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows %s, %s kernel", cut_.across ? "across" : "along", cpu::target_name(target_));
  }

 private:
  NormaliseStep step_;
  NormaliseCut cut_;
  NormaliseRun kernel_;
  cpu::Target target_;
};

std::unique_ptr<cpu::Prepared> prepare(const Step& flat, const cpu::Machine& machine, cpu::Neighbours) {
  NormaliseStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const NormaliseCut made = cut(step, machine.threads);
  NormaliseRun run = vector_normalise_run(machine.target, step, made.across);
  if (run == nullptr) {
    run = generic_normalise_run(step, made.across);
  }
  return std::make_unique<Normalisation>(step, made, run, machine.target);
}

}  // namespace

namespace cpu {
extern const Family normalise_family;
const Family normalise_family = {.open = nullptr, .prepare = prepare, .prepare_stream = nullptr};
}  // namespace cpu

}  // namespace anydml
