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

BackendStatus compile(BackendDevice*, const Step* steps, std::uint32_t step_count, BackendProgram** program) noexcept {
  try {
    auto compiled = std::make_unique<BackendProgram>();
    compiled->steps.resize(step_count);
    for (std::uint32_t i = 0; i < step_count; ++i) {
      BackendProgram::PlacedStep& placed = compiled->steps[i];
      if (!prepare(steps[i], placed.prepared)) {
        return {BackendCode::failed, "the plan asks for a type that its operator is not defined for"};
      }
      std::copy_n(steps[i].slots, kMaxOperands, placed.slots);
      std::copy_n(steps[i].slot_offsets, kMaxOperands, placed.slot_offsets);
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
  const PreparedStep& last = program->steps.back().prepared;
  std::snprintf(text, capacity, "%s, %u loop%s, CUDA kernel%s", kernel_name(last), last.rank, last.rank == 1 ? "" : "s",
                program->steps.size() > 1 ? ", inputs staged" : "");
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
