// SPDX-License-Identifier: MIT
// FOLD on the CPU: threads share the rows of the output.
#include "backend/cpu/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/fold/cpu/rows.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 32 << 10;  // in additions
constexpr std::int64_t kMaxOfPiece = 1 << 20;
constexpr std::int64_t kCostOfUnit = 64;  // overhead of a unit, in additions that could be done in that time
constexpr std::int64_t kPartsOfThread = 16;

struct Cut {
  std::int64_t units;
  std::int64_t units_of_piece;
};

Cut make_cut(const FoldStep& step, std::int64_t threads) {
  Cut cut{.units = step.batches * step.channels, .units_of_piece = 1};
  double elements = static_cast<double>(cut.units);  // elements of the input
  for (std::uint32_t i = 0; i < step.rank; ++i) {
    const FoldDimension& dimension = step.dimensions[i];
    cut.units *= i + 1 < step.rank ? dimension.size : ceil_div(dimension.size, kFoldPositions);
    elements *= static_cast<double>(dimension.window) * static_cast<double>(dimension.blocks);
  }
  const auto units = static_cast<double>(cut.units);
  const double cost = kCostOfUnit + elements / units;
  const double wanted = std::clamp(units * cost / static_cast<double>(threads * kPartsOfThread),
                                   static_cast<double>(kMinOfPiece), static_cast<double>(kMaxOfPiece));
  cut.units_of_piece = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted / cost));
  return cut;
}

class Folding final : public cpu::PreparedStep {
 public:
  Folding(const FoldStep& step, const Cut& cut, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1, kFoldScratch),
        step_(step),
        cut_(cut),
        kernel_(find_fold_run(step.type, target)),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    kernel_(step_, first, std::min(cut_.units, first + cut_.units_of_piece), operands[0], operands[1], piece.scratch);
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "rows of sums, %s kernel", cpu::target_name(target_));
  }

 private:
  FoldStep step_;
  Cut cut_;
  FoldRun kernel_;
  cpu::Target target_;
};

std::unique_ptr<cpu::PreparedStep> prepare(const Step& flat, const cpu::StepContext& context, cpu::Neighbors) {
  FoldStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  return std::make_unique<Folding>(step, make_cut(step, context.threads), context.target);
}

}  // namespace

namespace cpu {
extern const FamilyKernels fold_family;
const FamilyKernels fold_family = {.open = nullptr, .prepare = prepare, .prepare_joined = nullptr};
}  // namespace cpu

}  // namespace anydml
