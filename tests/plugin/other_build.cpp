// SPDX-License-Identifier: MIT
// A plugin of another build: nothing of its table may be used but the first member, which says so.
#include "anydml_build/hash.h"
#include "backend/backend.h"

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char**) {
  static anydml::BackendTable table{};
  table.build = anydml::kBuildHash ^ 1;
  return &table;
}
