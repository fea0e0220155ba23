// SPDX-License-Identifier: MIT
// Steps that form one piece of work: a main step, and the steps before and after it, which produce or consume the
// elements of an operand without a slot. Each backend has its own form of such a neighbour, which the neighbour's
// family makes from its step: a function over tiles, the source of a class, compiled code. How it finds its place
// beside the main step is the same for all of them and is here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace anydml {

// A step before or after another that forms one piece of work with it. The operands of both are passed together.
template <class JoinedStep>
struct Neighbour {
  std::unique_ptr<JoinedStep> step;  // the backend's form of it; null: none
  std::size_t first_operand = 0;     // the first of its own operands, among all
  std::size_t joined_operand = 0;    // of the main step: the operand that it produces or consumes
};

// A backend's Neighbour is the one above, or derives from it.
template <class Neighbour>
struct Neighbours {
  Neighbour before;
  Neighbour after;
};

// One piece of work of a plan.
template <class Neighbour>
struct JoinedWork {
  const Step* main = nullptr;
  std::vector<Operand> operands;  // the main step's, then those of each neighbour
  Neighbours<Neighbour> neighbours;
};

// join(step) makes the backend's form of a neighbour; null: it cannot. Nothing: the steps are not one piece of work
// here, because a neighbour has no such form, a side has two of them, one shares no operand with the main step, there
// is no main step, or there are more operands than a step may have. May throw std::bad_alloc.
template <class Neighbour, class Join>
[[nodiscard]] std::optional<JoinedWork<Neighbour>> join_steps(std::span<const Step> steps, const Join& join) {
  const auto main = std::ranges::find(steps, StepRole::main, &Step::role);
  std::size_t operands = 0;
  for (const Step& step : steps) {
    operands += step.operands.size();
  }
  if (main == steps.end() || operands > kMaxStepOperands) {
    return std::nullopt;
  }
  JoinedWork<Neighbour> work;
  work.main = &*main;
  work.operands.reserve(operands);
  work.operands.assign(main->operands.begin(), main->operands.end());
  for (const Step& step : steps) {
    if (step.role == StepRole::main) {
      continue;
    }
    Neighbour& neighbour = step.role == StepRole::prologue ? work.neighbours.before : work.neighbours.after;
    if (neighbour.step != nullptr) {
      return std::nullopt;
    }
    neighbour.step = join(step);
    neighbour.first_operand = work.operands.size();
    neighbour.joined_operand = joined_operand(*main, step);
    if (neighbour.step == nullptr || neighbour.joined_operand == main->operands.size()) {
      return std::nullopt;
    }
    work.operands.insert(work.operands.end(), step.operands.begin(), step.operands.end());
  }
  return work;
}

}  // namespace anydml
