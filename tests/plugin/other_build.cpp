// SPDX-License-Identifier: MIT
// A plugin of another build: only the first member of its table may be used, which identifies the build.
#include "anydml_build/hash.h"
#include "backend/backend.h"

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static anydml::BackendTable table{};
  table.build = anydml::kBuildHash ^ 1;
  return &table;
}
