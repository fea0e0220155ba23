// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/half_tables.h"

#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace anydml::cuda {
namespace {

// Each table occupies 128 KiB. After a process has created this many tables, further functions are computed directly.
constexpr std::size_t kMaxTables = 128;

struct Table {
  int device;
  FillHalves fill;
  std::string scalar;
  std::uint16_t* results;  // null if the table could not be built; there is no second attempt
};

std::uint16_t* make_table(const GpuProperties& gpu, FillHalves fill, const ScalarBytes& scalar) noexcept {
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  constexpr std::size_t kBytes = kHalves * sizeof(std::uint16_t);
  if (gpu.shared_bytes_of_block < kBytes) {  // older GPUs
    return nullptr;
  }
  if (cudaMalloc(&memory, kBytes) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  auto* const results = static_cast<std::uint16_t*>(memory);
  // The table is filled on a temporary stream and synchronized, so that any stream may use it afterwards.
  const bool succeeded = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                         fill(results, scalar, stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess;
  if (stream != nullptr) {
    cudaStreamDestroy(stream);
  }
  if (!succeeded) {
    static_cast<void>(cudaGetLastError());
    cudaFree(memory);
    return nullptr;
  }
  return results;
}

}  // namespace

const std::uint16_t* find_half_table(FillHalves fill, const ScalarBytes& scalar, std::size_t scalar_bytes,
                                     const GpuProperties& gpu) noexcept {
  // Never destroyed: when the process exits, the driver may be gone already and threads may still launch kernels.
  static std::mutex& mutex = *new std::mutex;
  static auto& tables = *new std::vector<Table>;
  try {
    const std::scoped_lock lock(mutex);
    for (const Table& table : tables) {
      if (table.device == gpu.device && table.fill == fill &&
          std::memcmp(table.scalar.data(), scalar.bytes, scalar_bytes) == 0) {
        return table.results;
      }
    }
    if (tables.size() >= kMaxTables) {
      return nullptr;
    }
    Table table{gpu.device, fill, {reinterpret_cast<const char*>(scalar.bytes), scalar_bytes}, nullptr};
    tables.reserve(tables.size() + 1);
    table.results = make_table(gpu, fill, scalar);
    tables.push_back(std::move(table));
    return tables.back().results;
  } catch (...) {  // out of memory
    return nullptr;
  }
}

}  // namespace anydml::cuda
