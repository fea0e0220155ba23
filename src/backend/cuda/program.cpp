// SPDX-License-Identifier: MIT
#include "backend/cuda/program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"

namespace anydml::cuda {
namespace {

constexpr const char* kUnknown = "the plan asks for something that the CUDA backend has no kernel for";

// Steps that are one piece of work: one whose neighbours feed it or take what it makes, or one alone. Null, or why not.
const char* place(std::span<const Step> steps, const Machine& machine, BackendProgram::PlacedStep& placed) {
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
  placed.prepared = placed.family->prepare(*main, machine, std::move(neighbours), &why);
  return placed.prepared != nullptr ? nullptr : why;
}

// The steps run one after another, so that one workspace is enough for all of them.
BackendStatus place_workspace(const BackendPlan& plan, BackendProgram& program) {
  std::uint64_t most = 0;
  for (const BackendProgram::PlacedStep& step : program.steps) {
    most = std::max(most, step.prepared->workspace_bytes());
  }
  program.temporary_slot = plan.temporary_slot;
  program.temporary_bytes = plan.temporary_bytes;
  if (most == 0) {
    return {BackendCode::ok, nullptr};
  }
  const auto offset = checked_align_bytes(plan.temporary_bytes, kTemporaryAlignment);
  const auto end = offset ? checked_add_bytes(*offset, most) : std::nullopt;
  if (!end) {
    return {BackendCode::out_of_memory, "the workspace of the kernels has more bytes than 64 bits count"};
  }
  program.workspace_offset = *offset;
  program.temporary_bytes = *end;
  return {BackendCode::ok, nullptr};
}

}  // namespace

BackendStatus prepare_steps(const BackendPlan& plan, const Machine& machine, BackendProgram& program) {
  const char* why = nullptr;
  bool joined = false;  // the steps that are looked at
  std::vector<Step> together;
  std::ptrdiff_t ends = 0;  // of what goes from one of them to the next: each has two
  for_each_step(std::span(plan.words, plan.word_count), [&](const Step& step) {
    together.push_back(step);
    joined = together.size() > 1;
    ends += std::ranges::count(step.operands, kNoSlot, &Operand::slot);
    if (together.size() > kMostJoined) {
      why = kUnknown;
    } else if (ends % 2 == 0) {
      why = place(together, machine, program.steps.emplace_back());
      together.clear();
    }
    return why == nullptr;
  });
  if (why == nullptr && together.empty()) {
    return place_workspace(plan, program);
  }
  return {joined ? BackendCode::not_joined : BackendCode::failed, why != nullptr ? why : kUnknown};
}

}  // namespace anydml::cuda
