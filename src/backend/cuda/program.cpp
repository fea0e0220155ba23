// SPDX-License-Identifier: MIT
#include "backend/cuda/program.h"

#include <algorithm>
#include <utility>

namespace anydml::cuda {
namespace {

constexpr const char* kUnknown = "the plan asks for something that the CUDA backend has no kernel for";

// Steps that are one piece of work: one whose neighbours feed it or take what it makes, or one alone. Null, or why not.
const char* place(std::span<const Step> steps, BackendProgram::PlacedStep& placed) {
  const Step* main = nullptr;
  for (const Step& step : steps) {
    const FamilyEntry entry = find_family(step.family);
    if (entry.family == nullptr) {
      return entry.missing;
    }
    if (step.operands.size() > kMaxOperands) {
      return "the CUDA backend runs steps of up to 16 operands";
    }
    // The neighbours are inlined; what is between them is not.
    if (main == nullptr && (steps.size() == 1 || entry.family->prepare_inlined == nullptr)) {
      main = &step;
      placed.family = entry.family;
    }
  }
  if (main == nullptr) {
    return kUnknown;
  }
  placed.operands.assign(main->operands.begin(), main->operands.end());
  Neighbours neighbours;
  for (const Step& step : steps) {
    if (&step == main) {
      continue;
    }
    const bool is_before = &step < main;
    Neighbour& neighbour = is_before ? neighbours.before : neighbours.after;
    const Family& family = *find_family(step.family).family;
    if (neighbour.step != nullptr || family.prepare_inlined == nullptr) {
      return kUnknown;
    }
    neighbour = {family.prepare_inlined(step, is_before ? "Before" : "After"), placed.operands.size()};
    if (neighbour.step == nullptr) {
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
  std::vector<Step> together;
  std::ptrdiff_t ends = 0;  // of what goes from one of them to the next: each has two
  for_each_step(plan, [&](const Step& step) {
    together.push_back(step);
    ends += std::ranges::count(step.operands, kNoSlot, &Operand::slot);
    if (together.size() > kMostJoined) {
      why = kUnknown;
    } else if (ends % 2 == 0) {
      why = place(together, program.steps.emplace_back());
      together.clear();
    }
    return why == nullptr;
  });
  return why == nullptr && !together.empty() ? kUnknown : why;
}

}  // namespace anydml::cuda
