// SPDX-License-Identifier: MIT
// A plugin for the fuzz targets: the CPU with the generic kernels only, under the name "generic", so that one process
// can compare the vector kernels with them.
#include <cstdio>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"

namespace anydml {
namespace {

BackendTable generic_table() {
  BackendTable table = cpu_backend();
  table.name = "generic";
  table.open = [](std::uint32_t index, const BackendSettings* settings, BackendDevice** device) {
    BackendSettings changed = *settings;
    changed.cpu_target = "generic";
    changed.threads = 1;
    return cpu_backend().open(index, &changed, device);
  };
  table.describe = [](const BackendDevice* device, BackendDeviceInfo* info) {
    cpu_backend().describe(device, info);
    std::snprintf(info->name, sizeof(info->name), "generic");
    std::snprintf(info->description, sizeof(info->description), "the CPU without vector kernels");
    info->traits.joins_from = 0;  // the steps of a graph run one by one
  };
  return table;
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static const anydml::BackendTable table = anydml::generic_table();
  return &table;
}
