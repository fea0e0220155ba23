// SPDX-License-Identifier: MIT
// Loads the libraries by their bare names, in the order of the arguments, as clients do (one lazily, one with RTLD_NOW
// and RTLD_LOCAL). Then closes them, and keeps using the functions that it found.
// usage: loading NAME... (dxcore, d3d12, directml)
#include <dlfcn.h>

// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <directx/dxcore.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

using Microsoft::WRL::ComPtr;

namespace {

void require(bool good, const char* what) {
  if (!good) {
    std::fprintf(stderr, "failed: %s\n", what);
    std::exit(1);
  }
}

template <class Function>
Function find(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  require(symbol != nullptr, name);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, void*> libraries;
  for (int i = 1; i < argc; ++i) {
    const std::string file = std::string("lib") + argv[i] + ".so";
    void* library = dlopen(file.c_str(), i % 2 == 0 ? RTLD_LAZY : RTLD_NOW | RTLD_LOCAL);
    require(library != nullptr, dlerror());
    libraries[argv[i]] = library;
  }
  ComPtr<IDXCoreAdapterFactory> factory;
  ComPtr<ID3D12Device9> device;
  ComPtr<IDMLDevice1> dml;
  HRESULT (*create_factory)(REFIID, void**) = nullptr;
  decltype(&D3D12CreateDevice) create_device = nullptr;
  decltype(&DMLCreateDevice1) create_dml = nullptr;
  if (libraries.count("dxcore") != 0) {
    create_factory = find<decltype(create_factory)>(libraries["dxcore"], "DXCoreCreateAdapterFactory");
  }
  if (libraries.count("d3d12") != 0) {
    create_device = find<decltype(create_device)>(libraries["d3d12"], "D3D12CreateDevice");
    find<void*>(libraries["d3d12"], "D3D12GetDebugInterface");
    find<void*>(libraries["d3d12"], "D3D12SerializeVersionedRootSignature");
  }
  if (libraries.count("directml") != 0) {
    create_dml = find<decltype(create_dml)>(libraries["directml"], "DMLCreateDevice1");
    find<void*>(libraries["directml"], "DMLCreateDevice");
  }
  for (int round = 0; round < 2; ++round) {  // with the libraries open, and after closing them
    if (create_factory != nullptr) {
      require(create_factory(IID_PPV_ARGS(&factory)) == S_OK, "DXCoreCreateAdapterFactory");
    }
    if (create_device != nullptr) {
      require(create_device(nullptr, D3D_FEATURE_LEVEL_1_0_CORE, IID_PPV_ARGS(&device)) == S_OK, "D3D12CreateDevice");
    }
    if (create_dml != nullptr) {
      const HRESULT result =
          create_dml(device.Get(), DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_5_0, IID_PPV_ARGS(&dml));
      require(result == (device.Get() != nullptr ? S_OK : E_INVALIDARG), "DMLCreateDevice1");
    }
    for (auto& [name, library] : libraries) {
      if (library != nullptr) {
        require(dlclose(library) == 0, "dlclose");
        library = nullptr;
      }
    }
  }
  if (device.Get() != nullptr) {  // a queue's thread also outlives dlclose
    D3D12_COMMAND_QUEUE_DESC desc{};
    ComPtr<ID3D12CommandQueue> queue;
    ComPtr<ID3D12Fence> fence;
    require(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)) == S_OK, "CreateCommandQueue");
    require(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)) == S_OK, "CreateFence");
    require(queue->Signal(fence.Get(), 1) == S_OK, "Signal");
    require(fence->SetEventOnCompletion(1, nullptr) == S_OK, "SetEventOnCompletion");
  }
  std::puts("good");
}
