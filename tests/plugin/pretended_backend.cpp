// SPDX-License-Identifier: MIT
// A plugin for testing Python's device arrays. It presents the CPU under the name of a different backend, given by
// ANYDML_PRETENDED, and the tests create that backend's arrays from CPU memory (tests/python/pretend.py). This tests
// without a GPU which device Python chooses for a DLPack array.
#include <cstdio>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"

namespace anydml {
namespace {

BackendTable pretended_table() {
  BackendTable table = cpu_backend();
  table.name = ANYDML_PRETENDED;
  table.describe = [](const BackendDevice* device, BackendDeviceInfo* info) {
    cpu_backend().describe(device, info);
    std::snprintf(info->name, sizeof(info->name), ANYDML_PRETENDED ":0");
    std::snprintf(info->description, sizeof(info->description), "a device of the tests");
  };
  // Work on a stream is done immediately, like all work here.
  table.create_queue_on = [](BackendDevice* device, BackendStream*, BackendQueue** queue) {
    return cpu_backend().create_queue(device, queue);
  };
  return table;
}

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static const anydml::BackendTable table = anydml::pretended_table();
  return &table;
}
