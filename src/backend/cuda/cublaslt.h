// SPDX-License-Identifier: MIT
// Loads cuBLASLt at run time. The plugin does not require it, and can be built without its headers. The names and
// numbers come from its documentation. This file is part of the interface between a family and the backend.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backend/cuda/gpu_properties.h"

namespace anydml::cuda {

inline constexpr int kBlasSuccess = 0;  // CUBLAS_STATUS_SUCCESS

inline constexpr int kBlasCompute32F = 68;  // CUBLAS_COMPUTE_32F
inline constexpr int kBlasReal32F = 0;      // CUDA_R_32F
inline constexpr int kBlasReal16F = 2;      // CUDA_R_16F

inline constexpr std::int32_t kBlasPlain = 0;       // CUBLAS_OP_N
inline constexpr std::int32_t kBlasTransposed = 1;  // CUBLAS_OP_T

inline constexpr int kBlasTransA = 3;  // CUBLASLT_MATMUL_DESC_TRANSA
inline constexpr int kBlasTransB = 4;

inline constexpr int kBlasBatchCount = 5;   // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, an int32_t
inline constexpr int kBlasBatchStride = 6;  // CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, an int64_t

inline constexpr int kBlasMaxWorkspace = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, a uint64_t
inline constexpr int kBlasReductions = 3;    // CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, a uint32_t
inline constexpr int kBlasAlignments = 5;    // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a uint32_t; B, C, D follow
inline constexpr std::uint32_t kBlasInFloat = 2;  // CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE

struct BlasAlgorithm {  // cublasLtMatmulAlgo_t
  std::uint64_t data[8];
};
struct BlasChoice {  // cublasLtMatmulHeuristicResult_t
  BlasAlgorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(BlasChoice) == 96);

// Every function returns a cublasStatus_t, unless noted otherwise. Descriptors are opaque.
struct CublasLt {
  std::size_t (*version)() = nullptr;  // 130200 for 13.2.0
  int (*create)(void** handle) = nullptr;
  int (*matmul_create)(void** matmul, int compute_type, int scale_type) = nullptr;
  int (*matmul_destroy)(void* matmul) = nullptr;
  int (*matmul_set)(void* matmul, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*layout_create)(void** layout, int type, std::uint64_t rows, std::uint64_t columns,
                       std::int64_t pitch) = nullptr;
  int (*layout_destroy)(void* layout) = nullptr;
  int (*layout_set)(void* layout, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*preference_create)(void** preference) = nullptr;
  int (*preference_destroy)(void* preference) = nullptr;
  int (*preference_set)(void* preference, int attribute, const void* value, std::size_t bytes) = nullptr;
  int (*choose)(void* handle, void* matmul, void* a, void* b, void* c, void* d, void* preference, int wanted,
                BlasChoice* choices, int* found) = nullptr;
  int (*multiply)(void* handle, void* matmul, const void* alpha, const void* a, void* a_layout, const void* b,
                  void* b_layout, const void* beta, const void* c, void* c_layout, void* d, void* d_layout,
                  const BlasAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                  cudaStream_t stream) = nullptr;
};

// The library with a handle for one device, valid until the process exits. Several threads may use it at the same time.
struct CublasLtDevice {
  const CublasLt* library = nullptr;
  void* handle = nullptr;
};

// On failure, returns null and sets `why` to a string that is never freed. The device must be current in the calling
// thread (on_device.h). The first call loads the library, and the first call for a device creates its context. May
// throw std::bad_alloc.
[[nodiscard]] const CublasLtDevice* find_cublaslt(const GpuProperties& gpu, const char** why);

// The CUDA error that corresponds to a cuBLAS status.
[[nodiscard]] cudaError_t error_of_blas(int status) noexcept;

}  // namespace anydml::cuda
