// SPDX-License-Identifier: MIT
// A plugin from a different build. Only the first member of its table, which identifies the build, may be used.
#include "anydml_build/hash.h"
#include "backend/backend.h"

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static anydml::BackendTable table{};
  table.build = anydml::kBuildHash ^ 1;
  return &table;
}
