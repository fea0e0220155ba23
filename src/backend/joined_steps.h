// SPDX-License-Identifier: MIT
// Steps that form one unit of work: a main step, and the steps before and after it, which produce or consume the
// elements of an operand without a slot. Each backend represents these neighbors in its own form: a function over
// tiles, the source of a class, or compiled code. The neighbor's family creates this form from the step. The code here
// attaches it to the main step in the same way for all backends.
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

// A step that comes before or after a main step and forms one unit of work with it. The operands of both steps are
// passed together.
template <class JoinedStep>
struct Neighbor {
  std::unique_ptr<JoinedStep> step;  // the backend's form of the step; null if there is no neighbor
  std::size_t first_operand = 0;     // the index of the neighbor's first operand among all operands
  std::size_t joined_operand = 0;    // the main step's operand that the neighbor produces or consumes
};

// A backend's Neighbor is the class above or derives from it.
template <class Neighbor>
struct Neighbors {
  Neighbor before;
  Neighbor after;
};

// One unit of work in a plan.
template <class Neighbor>
struct JoinedWork {
  const Step* main = nullptr;
  std::vector<Operand> operands;  // the main step's operands, then those of each neighbor
  Neighbors<Neighbor> neighbors;
};

// join(step) creates the backend's form of a neighbor, or returns null if it cannot. Returns no value if the steps
// cannot form one unit of work here, because a neighbor has no such form, one side has two neighbors, a neighbor shares
// no operand with the main step, there is no main step, or there are more operands than a step may have. May throw
// std::bad_alloc.
template <class Neighbor, class Join>
[[nodiscard]] std::optional<JoinedWork<Neighbor>> join_steps(std::span<const Step> steps, const Join& join) {
  const auto main = std::ranges::find(steps, StepRole::main, &Step::role);
  std::size_t operands = 0;
  for (const Step& step : steps) {
    operands += step.operands.size();
  }
  if (main == steps.end() || operands > kMaxStepOperands) {
    return std::nullopt;
  }
  JoinedWork<Neighbor> work;
  work.main = &*main;
  work.operands.reserve(operands);
  work.operands.assign(main->operands.begin(), main->operands.end());
  for (const Step& step : steps) {
    if (step.role == StepRole::main) {
      continue;
    }
    Neighbor& neighbor = step.role == StepRole::prologue ? work.neighbors.before : work.neighbors.after;
    if (neighbor.step != nullptr) {
      return std::nullopt;
    }
    neighbor.step = join(step);
    neighbor.first_operand = work.operands.size();
    neighbor.joined_operand = joined_operand(*main, step);
    if (neighbor.step == nullptr || neighbor.joined_operand == main->operands.size()) {
      return std::nullopt;
    }
    work.operands.insert(work.operands.end(), step.operands.begin(), step.operands.end());
  }
  return work;
}

}  // namespace anydml
