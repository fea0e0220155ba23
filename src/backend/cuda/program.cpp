// SPDX-License-Identifier: MIT
#include "backend/cuda/program.h"

#include <algorithm>
#include <utility>

namespace anydml::cuda {
namespace {

constexpr const char* kUnknown = "the plan asks for something that the CUDA backend has no kernel for";

// Steps that are one piece of work: a main step, and those that feed it or take what it makes. Null, or why not.
const char* place(std::span<const Step> steps, BackendProgram::PlacedStep& placed) {
  const auto main = std::ranges::find(steps, StepRole::main, &Step::role);
  std::size_t operands = 0;
  for (const Step& step : steps) {
    const FamilyEntry entry = find_family(step.family);
    if (entry.family == nullptr) {
      return entry.missing;
    }
    operands += step.operands.size();
  }
  if (main == steps.end() || operands > kMaxStepOperands) {
    return kUnknown;
  }
  placed.family = find_family(main->family).family;
  placed.operands.assign(main->operands.begin(), main->operands.end());
  Neighbours neighbours;
  for (const Step& step : steps) {
    if (step.role == StepRole::main) {
      continue;
    }
    const bool is_before = step.role == StepRole::prologue;
    Neighbour& neighbour = is_before ? neighbours.before : neighbours.after;
    const Family& family = *find_family(step.family).family;
    if (neighbour.step != nullptr || family.prepare_inlined == nullptr) {
      return kUnknown;
    }
    neighbour = {.step = family.prepare_inlined(step, is_before ? "Before" : "After"),
                 .first_operand = placed.operands.size(),
                 .joined_operand = joined_operand(*main, step)};
    if (neighbour.step == nullptr || neighbour.joined_operand == main->operands.size()) {
      return kUnknown;
    }
    placed.operands.insert(placed.operands.end(), step.operands.begin(), step.operands.end());
  }
  const char* why = nullptr;
  placed.prepared = placed.family->prepare(*main, std::move(neighbours), &why);
  return placed.prepared != nullptr ? nullptr : why;
}

}  // namespace

const char* prepare_steps(std::span<const std::uint64_t> plan, BackendProgram& program) {
  const char* why = nullptr;
  const bool all = for_each_work(plan, [&](std::span<const Step> steps) {
    why = place(steps, program.steps.emplace_back());
    return why == nullptr;
  });
  return why == nullptr && !all ? kUnknown : why;
}

}  // namespace anydml::cuda
