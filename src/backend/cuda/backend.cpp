// SPDX-License-Identifier: MIT
// The BackendTable of this plugin.
#include "backend/backend.h"

#include <cstdio>
#include <memory>
#include <new>

#include "anydml_build/hash.h"
#include "backend/cuda/device.h"
#include "backend/cuda/family.h"
#include "backend/cuda/program.h"
#include "backend/cuda/queue.h"

namespace anydml::cuda {
namespace {

BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) noexcept {
  try {
    auto compiled = std::make_unique<BackendProgram>();
    const BackendStatus status = prepare_steps(*plan, device->gpu, *compiled);
    if (status.code == BackendCode::ok) {
      *program = compiled.release();
    }
    return status;
  } catch (...) {
    return kOutOfMemory;
  }
}

const char* lacks(const BackendDevice*, const AskedOperator* op) {
  const FamilyEntry entry = find_family(op->family);
  return entry.family == nullptr ? entry.missing : nullptr;
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) {
  if (program->steps.empty()) {
    std::snprintf(text, capacity, "nothing to do");
    return;
  }
  char kernel[128];
  program->steps.back().prepared->explain(kernel, sizeof(kernel));
  const std::size_t steps = program->steps.size();
  if (steps == 1) {
    std::snprintf(text, capacity, "%s, CUDA kernel", kernel);
  } else {
    std::snprintf(text, capacity, "%s, CUDA kernel, %zu steps", kernel, steps);
  }
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
    .import_host = nullptr,
    .forget_host = nullptr,
    .allocate_in_order = allocate_in_order,
    .release_in_order = release_in_order,
    .buffer_bytes = [](const BackendDevice* device) { return device->buffer_bytes.load(std::memory_order_relaxed); },
    .access = access,
    .compile = compile,
    .temporary_bytes = [](const BackendProgram* program) { return program->temporary_bytes; },
    .destroy = [](BackendProgram* program) { delete program; },
    .create_queue = create_queue,
    .create_queue_on = create_queue_on,
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
    .lacks = lacks,
    .explain = explain,
};

}  // namespace
}  // namespace anydml::cuda

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char** message) {
  *message = anydml::cuda::why_no_device();
  return *message == nullptr ? &anydml::cuda::kTable : nullptr;
}
