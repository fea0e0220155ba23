// SPDX-License-Identifier: MIT
// The BackendTable of this plugin.
#include "backend/backend.h"

#include <algorithm>

#include "anydml_build/hash.h"
#include "backend/vulkan/catalog.h"
#include "backend/vulkan/device.h"
#include "backend/vulkan/family.h"
#include "backend/vulkan/memory.h"
#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/program.h"
#include "backend/vulkan/queue.h"

namespace anydml::vulkan {
namespace {

std::uint32_t device_count() {
  try {
    return static_cast<std::uint32_t>(catalog().devices.size());
  } catch (...) {
    return 0;
  }
}

const char* lacks(const BackendDevice* device, const AskedOperator* op) {
  const FamilyEntry entry = find_family(op->family);
  return entry.family == nullptr ? entry.missing : entry.family->lacks(device->gpu, *op);
}

constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "vulkan",
    .device_count = device_count,
    .open = [](std::uint32_t index, const BackendSettings*,
               BackendDevice** device) { return open_device(index, device); },
    .close = close_device,
    .describe = [](const BackendDevice* device, BackendDeviceInfo* info) { *info = device->info; },
    .allocate = allocate,
    .release = release,
    .import_host = import_host,
    .forget_host = forget_host,
    .allocate_in_order = nullptr,
    .release_in_order = nullptr,
    .buffer_bytes = buffer_bytes,
    .access = nullptr,
    .compile = compile,
    .temporary_bytes = [](const BackendProgram* program) { return program->body->temporary_bytes; },
    .destroy = [](BackendProgram* program) { delete program; },
    .create_queue = create_queue,
    .create_queue_on = nullptr,
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

// Not all drivers can import memory of the CPU.
constexpr BackendTable without_imports() {
  BackendTable table = kTable;
  table.import_host = nullptr;
  table.forget_host = nullptr;
  return table;
}
constexpr BackendTable kTableWithoutImports = without_imports();

const BackendTable* find_table(const char** message) noexcept {
  try {
    const Catalog& all = catalog();
    if (all.devices.empty()) {
      *message = all.why.c_str();
      return nullptr;
    }
    const bool imports =
        std::ranges::all_of(all.devices, [](const Candidate& one) { return one.import_alignment != 0; });
    return imports ? &kTable : &kTableWithoutImports;
  } catch (...) {
    *message = "there is no memory to look for Vulkan devices";
    return nullptr;
  }
}

}  // namespace
}  // namespace anydml::vulkan

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char** message) {
  return anydml::vulkan::find_table(message);
}
