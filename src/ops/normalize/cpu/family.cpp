// SPDX-License-Identifier: MIT
// Normalizes rows on the CPU. If the elements of adjacent rows are next to each other in memory, several rows are
// processed at a time. Rows with any other layout are processed one by one. A row is never split between threads.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/normalize/cpu/prepare.h"
#include "ops/scalar/fold_order.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 16 << 10;  // elements, about ten microseconds of work
constexpr std::int64_t kMaxOfPiece = 256 << 10;
constexpr std::int64_t kTileElements = 128 << 10;  // across: maximum elements per unit; fits in the L2 cache
constexpr std::int64_t kMaxRoom = 256 << 10;       // maximum elements per unit in scratch memory
constexpr std::int64_t kFewColumns = 8;            // with fewer columns, gathering each row is faster
constexpr std::int64_t kManyRows = 32;             // with at least this many short rows, vectorize across rows

// Whether to process several rows at a time, either because the elements of adjacent rows are next to each other or
// because rows are so short that vectors along a row would be mostly empty.
bool goes_across(const AxisLoops& loops, DataType type) {
  const AxisLoop& column = loops.kept[loops.kept_rank - 1];
  const auto element = static_cast<std::int64_t>(element_size(type));
  const bool along_is_contiguous = loops.reduced[loops.reduced_rank - 1].input == element;
  return (!along_is_contiguous && column.input == element && column.size >= kFewColumns && loops.count > 1) ||
         (loops.count <= kFewElements && column.size >= kManyRows);
}

std::int64_t width_of(const AxisLoops& loops, std::int64_t threads) {
  const std::int64_t columns = std::max<std::int64_t>(1, loops.kept[loops.kept_rank - 1].size);
  const std::int64_t limit = loops.count > kReduceBlock                           ? kMaxTreeColumns
                             : loops.has_lanes != 0 && loops.count > kFewElements ? kMaxLaneColumns
                                                                                  : kMaxColumns;
  // If a tile does not fit in scratch memory, make it even wider, so that it is read in longer runs.
  const std::int64_t fitting =
      loops.count * kMinColumns > kMaxRoom ? limit : kTileElements / std::max<std::int64_t>(1, loops.count);
  std::int64_t width = std::clamp(fitting / kMinColumns * kMinColumns, kMinColumns, limit);
  while (width > kMinColumns && loops.outputs / columns * ceil_div(columns, width) < 2 * threads) {
    width = std::max(kMinColumns, width / 2);
  }
  return std::min(columns, width);
}

std::size_t scratch_of(const NormalizeStep& step, const NormalizeCut& cut) {
  const std::int64_t held = cut.has_room ? std::max(kNormalizeStage, step.loops.count * cut.width) : kNormalizeStage;
  return static_cast<std::size_t>(kNormalizeStage + held + 2 * kNormalizePadding) * sizeof(f32);
}

class Normalization final : public cpu::PreparedStep {
 public:
  Normalization(const NormalizeStep& step, const NormalizeCut& cut, NormalizeRun kernel, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1, scratch_of(step, cut)),
        step_(step),
        cut_(cut),
        kernel_(kernel),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    kernel_(step_, cut_, first, std::min(cut_.units, first + cut_.units_of_piece), operands[0], operands[1],
            reinterpret_cast<f32*>(piece.scratch));
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows %s, %s kernel", cut_.across ? "across" : "along", cpu::target_name(target_));
  }

 private:
  NormalizeStep step_;
  NormalizeCut cut_;
  NormalizeRun kernel_;
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  const NormalizeFunction function = function_of(flat.parameters);
  if (function == NormalizeFunction::moments) {
    return prepare_moments(flat, context);
  }
  if (function == NormalizeFunction::row_gradients) {
    return prepare_gradients(flat, context);
  }
  if (has_windows(function)) {
    return prepare_windows(flat, context);
  }
  NormalizeStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const NormalizeCut cut = cut_rows(step.loops, step.type, context.threads, kMinOfPiece);
  NormalizeRun run = vector_normalize_run(context.target, step, cut.across);
  if (run == nullptr) {
    run = generic_normalize_run(step, cut.across);
  }
  return std::make_unique<Normalization>(step, cut, run, context.target);
}

}  // namespace

NormalizeCut cut_rows(const AxisLoops& loops, DataType type, std::int64_t threads, std::int64_t minimum) {
  NormalizeCut cut{};
  const std::int64_t columns = std::max<std::int64_t>(1, loops.kept[loops.kept_rank - 1].size);  // at least 1
  cut.across = goes_across(loops, type);
  cut.width = cut.across ? width_of(loops, threads) : 1;
  cut.tiles = ceil_div(columns, cut.width);
  cut.units = loops.outputs / columns * cut.tiles;
  const std::int64_t elements = std::max<std::int64_t>(1, loops.count * cut.width);
  cut.has_room = elements <= kMaxRoom;
  const std::int64_t wanted = std::clamp(loops.outputs * loops.count / (8 * threads), minimum, kMaxOfPiece);
  cut.units_of_piece = std::max<std::int64_t>(1, wanted / elements);
  return cut;
}

namespace cpu {
extern const FamilyKernels normalize_family;
const FamilyKernels normalize_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
