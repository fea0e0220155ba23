// SPDX-License-Identifier: MIT
// Computes the sums for the gradient of batch normalization on the CPU. A row is never split between threads.
#include "ops/normalize/cpu/gradients.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ops/normalize/cpu/prepare.h"
#include "plan/tiling.h"

namespace anydml {
namespace {

constexpr std::int64_t kMinOfPiece = 8 << 10;  // elements
constexpr std::int64_t kStages = 3;            // for the input, the gradient and their products

AxisLoops swapped(AxisLoops loops) {
  std::swap(loops.input_offset, loops.output_offset);
  for (std::uint32_t i = 0; i < loops.kept_rank; ++i) {
    std::swap(loops.kept[i].input, loops.kept[i].output);
  }
  for (std::uint32_t i = 0; i < loops.reduced_rank; ++i) {
    std::swap(loops.reduced[i].input, loops.reduced[i].output);
  }
  return loops;
}

class Gradients final : public cpu::PreparedStep {
 public:
  Gradients(const GradientStep& step, std::int64_t rows_of_piece, GradientRun kernel, cpu::Target target)
      : PreparedStep(static_cast<std::uint64_t>(ceil_div(step.loops.outputs, rows_of_piece)), 1,
                     static_cast<std::size_t>(kStages * (kNormalizeStage + kNormalizePadding)) * sizeof(f32)),
        step_(step),
        of_gradient_(swapped(step.loops)),
        rows_of_piece_(rows_of_piece),
        kernel_(kernel),
        target_(target) {}

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::int64_t first = static_cast<std::int64_t>(piece.number) * rows_of_piece_;
    kernel_(step_, of_gradient_, first, std::min(step_.loops.outputs, first + rows_of_piece_),
            {.input = operands[0],
             .gradient = operands[1],
             .mean = operands[2],
             .gradients = operands[3],
             .products = operands[4]},
            reinterpret_cast<f32*>(piece.scratch));
  }

  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "sums of gradients along rows, %s kernel", cpu::target_name(target_));
  }

 private:
  GradientStep step_;
  AxisLoops of_gradient_;
  std::int64_t rows_of_piece_;
  GradientRun kernel_;
  cpu::Target target_;
};

}  // namespace

std::unique_ptr<cpu::PreparedStep> prepare_gradients(const Step& flat, const cpu::StepContext& context) {
  GradientStep step;
  std::memcpy(&step, flat.parameters.data(), sizeof(step));
  GradientRun run = vector_gradient_run(context.target, step);
  if (run == nullptr) {
    run = generic_gradient_run(step);
  }
  const std::int64_t wanted =
      std::max(kMinOfPiece, step.loops.outputs * step.loops.count / (8 * std::int64_t{context.threads}));
  return std::make_unique<Gradients>(step, std::max<std::int64_t>(1, wanted / step.loops.count), run, context.target);
}

}  // namespace anydml
