// SPDX-License-Identifier: MIT
// The table that this plugin is to the rest.
#include "backend/backend.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>

#include "anydml_build/hash.h"
#include "backend/cuda/device.h"
#include "backend/cuda/queue.h"

namespace anydml::cuda {
namespace {

// Every step is of the first family, until steps name theirs.
std::uint32_t family_of(const Step&) { return 0; }

// Null, or why not.
const char* place(const Step& step, BackendProgram::PlacedStep& placed) {
  const FamilyEntry entry = find_family(family_of(step));
  if (entry.family == nullptr) {
    return entry.missing;
  }
  const char* why = nullptr;
  placed.family = entry.family;
  placed.prepared = entry.family->prepare(step, &why);
  placed.operands = step.nest.operands;
  std::copy_n(step.slots, kMaxOperands, placed.slots);
  std::copy_n(step.slot_offsets, kMaxOperands, placed.slot_offsets);
  return placed.prepared != nullptr ? nullptr : why;
}

BackendStatus compile(BackendDevice*, const Step* steps, std::uint32_t step_count, BackendProgram** program) noexcept {
  try {
    auto compiled = std::make_unique<BackendProgram>();
    compiled->steps.resize(step_count);
    for (std::uint32_t i = 0; i < step_count; ++i) {
      if (const char* const why = place(steps[i], compiled->steps[i]); why != nullptr) {
        return {BackendCode::failed, why};
      }
    }
    *program = compiled.release();
    return kOk;
  } catch (...) {
    return kOutOfMemory;
  }
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) {
  if (program->steps.empty()) {
    std::snprintf(text, capacity, "nothing to do");
    return;
  }
  char kernel[128];
  program->steps.back().prepared->explain(kernel, sizeof(kernel));
  std::snprintf(text, capacity, "%s, CUDA kernel%s", kernel, program->steps.size() > 1 ? ", inputs staged" : "");
}

constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "cuda",
    .device_count = device_count,
    .open = [](std::uint32_t index, const BackendSettings*,
               BackendDevice** device) { return open_device(index, device); },
    .close = [](BackendDevice* device) { delete device; },
    .describe = [](const BackendDevice* device, BackendDeviceInfo* info) { *info = device->info; },
    .allocate = allocate,
    .release = release,
    .buffer_bytes = [](const BackendDevice* device) { return device->buffer_bytes.load(std::memory_order_relaxed); },
    .access = access,
    .compile = compile,
    .destroy = [](BackendProgram* program) { delete program; },
    .create_queue = create_queue,
    .destroy_queue = destroy_queue,
    .copy = copy,
    .fill = fill,
    .run = run,
    .timestamp = timestamp,
    .mark = mark,
    .destroy_mark = destroy_mark,
    .is_passed = is_passed,
    .wait = wait,
    .follow = follow,
    .explain = explain,
};

}  // namespace
}  // namespace anydml::cuda

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char** message) {
  *message = anydml::cuda::why_no_device();
  return *message == nullptr ? &anydml::cuda::kTable : nullptr;
}
