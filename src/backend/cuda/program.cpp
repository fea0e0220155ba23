// SPDX-License-Identifier: MIT
#include "backend/cuda/program.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"

namespace anydml::cuda {
namespace {

// The minimum and maximum number of launches in a program that is recorded. Recording more launches would need too much
// GPU memory.
constexpr std::uint64_t kMinRecorded = 4;
constexpr std::uint64_t kMaxRecorded = 4096;
constexpr const char* kUnknown = "the plan requires a kernel that the CUDA backend does not have";

// Prepares one unit of work: a main step with its prologue and epilogue. Returns null on success, otherwise the reason
// for the failure.
const char* prepare_unit(std::span<const Step> steps, const GpuProperties& gpu, BackendProgram::PlacedStep& placed) {
  for (const Step& step : steps) {
    if (const FamilyEntry entry = find_family(step.family); entry.family == nullptr) {
      return entry.missing;
    }
  }
  auto work = join_steps<Neighbor>(steps, [](const Step& step) -> std::unique_ptr<JoinedStep> {
    const FamilyKernels& family = *find_family(step.family).family;
    const char* const name = step.role == StepRole::prologue ? "Before" : "After";
    return family.prepare_joined != nullptr ? family.prepare_joined(step, name) : nullptr;
  });
  if (!work) {
    return kUnknown;
  }
  placed.family = find_family(work->main->family).family;
  placed.operands = std::move(work->operands);
  const char* why = nullptr;
  placed.prepared = placed.family->prepare(*work->main, gpu, std::move(work->neighbors), &why);
  return placed.prepared != nullptr ? nullptr : why;
}

// The steps run one after another, so one workspace is enough for all of them.
BackendStatus allocate_workspace(const BackendPlan& plan, BackendProgram& program) {
  std::uint64_t maximum = 0;
  for (const BackendProgram::PlacedStep& step : program.steps) {
    maximum = std::max(maximum, step.prepared->workspace_bytes());
  }
  program.temporary_slot = plan.temporary_slot;
  program.temporary_bytes = plan.temporary_bytes;
  if (maximum == 0) {
    return {BackendCode::ok, nullptr};
  }
  const auto offset = checked_align_bytes(plan.temporary_bytes, kTemporaryAlignment);
  const auto end = offset ? checked_add_bytes(*offset, maximum) : std::nullopt;
  if (!end) {
    return {BackendCode::out_of_memory, "the workspace of the kernels has more bytes than 64 bits can count"};
  }
  program.workspace_offset = *offset;
  program.temporary_bytes = *end;
  return {BackendCode::ok, nullptr};
}

// May throw std::bad_alloc.
void count_launches(BackendProgram& program) {
  std::uint64_t launches = 0;
  for (const BackendProgram::PlacedStep& step : program.steps) {
    launches += step.prepared->launches();
    for (const Operand& operand : step.operands) {
      program.slots =
          has_address(operand.slot) ? std::max<std::size_t>(program.slots, operand.slot + 1) : program.slots;
    }
  }
  program.slots = std::max<std::size_t>(program.slots, program.temporary_bytes != 0 ? program.temporary_slot + 1 : 0);
  if (launches >= kMinRecorded && launches <= kMaxRecorded) {
    program.recordings = std::make_unique<Recordings>();
  }
}

}  // namespace

BackendStatus prepare_steps(const BackendPlan& plan, const GpuProperties& gpu, BackendProgram& program) {
  const char* why = nullptr;
  bool joined = false;  // whether the unit being prepared has joined steps
  const bool all = for_each_work(std::span(plan.words, plan.word_count), [&](std::span<const Step> steps) {
    joined = steps.size() > 1;
    why = prepare_unit(steps, gpu, program.steps.emplace_back());
    return why == nullptr;
  });
  if (all) {
    const BackendStatus placed = allocate_workspace(plan, program);
    count_launches(program);
    return placed;
  }
  return {joined ? BackendCode::not_joined : BackendCode::failed, why != nullptr ? why : kUnknown};
}

}  // namespace anydml::cuda
