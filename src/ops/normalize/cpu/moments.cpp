// SPDX-License-Identifier: MIT
// Computes the mean and variance of rows on the CPU. A row is never split between threads.
#include "ops/normalize/cpu/moments.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/normalize/cpu/prepare.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 8 << 10;  // elements
constexpr std::int64_t kStages = 3;            // for results, scales and biases

std::size_t scratch_of(const MomentStep& step, const NormalizeCut& cut) {
  const std::int64_t held = cut.has_room ? std::max(kNormalizeStage, step.loops.count * cut.width) : kNormalizeStage;
  return static_cast<std::size_t>(kStages * (kNormalizeStage + kNormalizePadding) + held + kNormalizePadding) *
         sizeof(f32);
}

class Moments final : public cpu::PreparedStep {
 public:
  Moments(const MomentStep& step, const NormalizeCut& cut, MomentRun kernel, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(cut.units, cut.units_of_piece)), 1, scratch_of(step, cut)),
        step_(step),
        cut_(cut),
        kernel_(kernel),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * cut_.units_of_piece;
    const bool gives_moments = step_.gives_moments != 0;
    kernel_(step_, cut_, first, std::min(cut_.units, first + cut_.units_of_piece),
            {.input = operands[0],
             .scale = gives_moments ? nullptr : operands[1],
             .bias = gives_moments ? nullptr : operands[2],
             .output = gives_moments ? operands[0] : operands[3],  // not written if moments are the output
             .mean = gives_moments ? operands[1] : nullptr,
             .variance = gives_moments ? operands[2] : nullptr},
            reinterpret_cast<f32*>(piece.scratch));
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "mean and variance of rows %s, %s kernel", cut_.across ? "across" : "along",
                  cpu::target_name(target_));
  }

 private:
  MomentStep step_;
  NormalizeCut cut_;
  MomentRun kernel_;
  cpu::Target target_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_moments(const Step& flat, const cpu::StepContext& context) {
  MomentStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  const NormalizeCut cut = cut_rows(step.loops, step.type, context.threads, kMinOfPiece);
  MomentRun run = vector_moment_run(context.target, step, cut.across);
  if (run == nullptr) {
    run = generic_moment_run(step, cut.across);
  }
  return std::make_unique<Moments>(step, cut, run, context.target);
}

}  // namespace anydml
