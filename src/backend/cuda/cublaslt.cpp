// SPDX-License-Identifier: MIT
#include "backend/cuda/cublaslt.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <type_traits>

namespace anydml::cuda {
namespace {

// Returns null if the library was not found or lacks a function.
const CublasLt* find_library() {
  static const CublasLt* const library = []() -> const CublasLt* {
    void* opened = nullptr;
    for (const char* name :
         {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"}) {
      if (opened == nullptr) {
        opened = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      }
    }
    if (opened == nullptr) {
      return nullptr;
    }
    static CublasLt found;
    bool complete = true;
    const auto look_up = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
      complete = complete && function != nullptr;
    };
    look_up("cublasLtGetVersion", found.version);
    look_up("cublasLtCreate", found.create);
    look_up("cublasLtMatmulDescCreate", found.matmul_create);
    look_up("cublasLtMatmulDescDestroy", found.matmul_destroy);
    look_up("cublasLtMatmulDescSetAttribute", found.matmul_set);
    look_up("cublasLtMatrixLayoutCreate", found.layout_create);
    look_up("cublasLtMatrixLayoutDestroy", found.layout_destroy);
    look_up("cublasLtMatrixLayoutSetAttribute", found.layout_set);
    look_up("cublasLtMatmulPreferenceCreate", found.preference_create);
    look_up("cublasLtMatmulPreferenceDestroy", found.preference_destroy);
    look_up("cublasLtMatmulPreferenceSetAttribute", found.preference_set);
    look_up("cublasLtMatmulAlgoGetHeuristic", found.choose);
    look_up("cublasLtMatmul", found.multiply);
    return complete ? &found : nullptr;
  }();
  return library;
}

}  // namespace

const CublasLtDevice* find_cublaslt(const GpuProperties& gpu, const char** why) {
  const CublasLt* const library = find_library();
  if (library == nullptr) {
    *why = "cuBLASLt was not found (libcublasLt.so.13 or libcublasLt.so.12)";
    return nullptr;
  }
  static std::mutex mutex;
  static auto* const devices = new std::map<int, CublasLtDevice>;  // callers keep the addresses
  const std::scoped_lock lock(mutex);
  CublasLtDevice& device = (*devices)[gpu.device];
  if (device.handle == nullptr) {
    device.library = library;
    if (library->create(&device.handle) != kBlasSuccess) {
      device.handle = nullptr;
      *why = "cuBLASLt was found, but cublasLtCreate fails on this device";
      return nullptr;
    }
  }
  return &device;
}

cudaError_t error_of_blas(int status) noexcept {
  switch (status) {
    case kBlasSuccess:
      return cudaSuccess;
    case 1:  // CUBLAS_STATUS_NOT_INITIALIZED
      return cudaErrorInitializationError;
    case 3:  // CUBLAS_STATUS_ALLOC_FAILED
      return cudaErrorMemoryAllocation;
    case 7:  // CUBLAS_STATUS_INVALID_VALUE
      return cudaErrorInvalidValue;
    case 8:  // CUBLAS_STATUS_ARCH_MISMATCH
      return cudaErrorNoKernelImageForDevice;
    case 13:  // CUBLAS_STATUS_EXECUTION_FAILED
      return cudaErrorLaunchFailure;
    case 15:  // CUBLAS_STATUS_NOT_SUPPORTED
      return cudaErrorNotSupported;
    default:
      return cudaErrorUnknown;
  }
}

}  // namespace anydml::cuda
