// SPDX-License-Identifier: MIT
// Runs the libraries with a libanydml from a different build. This program stands in for the other build, because its
// own function takes precedence over the library's. Each entry point must fail with a message on standard error,
// without using the rest of the table.
// usage: other_build
#include <dlfcn.h>

// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/dxcore.h>
#include <anydml/DirectML.h>
// clang-format on

#include <cstdio>

#include "backend/core.h"

extern "C" __attribute__((visibility("default"))) const anydml::CoreTable* anydml_private_core() {
  static anydml::CoreTable table{};
  table.build = anydml::kBuildHash ^ 1;
  return &table;
}

namespace {

template <class Function>
Function* find(const char* library, const char* name) {
  void* loaded = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  void* found = loaded != nullptr ? dlsym(loaded, name) : nullptr;
  if (found == nullptr) {
    std::fprintf(stderr, "%s: %s\n", library, dlerror());
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace

int main() {
  const auto create_factory = find<HRESULT(REFIID, void**)>("libdxcore.so", "DXCoreCreateAdapterFactory");
  const auto create_d3d12 =
      find<HRESULT(IUnknown*, D3D_FEATURE_LEVEL, REFIID, void**)>("libd3d12.so", "D3D12CreateDevice");
  const auto create_dml =
      find<HRESULT(ID3D12Device*, DML_CREATE_DEVICE_FLAGS, REFIID, void**)>("libdirectml.so", "DMLCreateDevice");
  if (create_factory == nullptr || create_d3d12 == nullptr || create_dml == nullptr) {
    return 1;
  }
  void* built = nullptr;
  const GUID any{};
  const HRESULT results[] = {create_factory(any, &built), create_d3d12(nullptr, D3D_FEATURE_LEVEL_11_0, any, &built),
                             create_dml(nullptr, DML_CREATE_DEVICE_FLAG_NONE, any, &built)};
  for (const HRESULT result : results) {
    std::printf("%08x\n", static_cast<unsigned>(result));
    if (result != E_FAIL || built != nullptr) {
      return 1;
    }
  }
  return 0;
}
