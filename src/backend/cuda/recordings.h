// SPDX-License-Identifier: MIT
// Records the launches of a program as a CUDA graph. A network needs a hundred launches or more, and each of them takes
// a few microseconds of CPU time. A program that runs again with the same addresses is recorded, and then needs only
// one launch. Programs with few launches gain nothing and are never recorded.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace anydml::cuda {

class Recordings {
 public:
  enum class Advice { run, record, replay };

  Recordings() = default;
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  // Must be locked from the call to advise until the run ends, so that several threads can run one program
  // concurrently.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

  // Advises a caller how to run the program with these addresses. The caller should record the second run. Allocates
  // memory only for new addresses.
  [[nodiscard]] Advice advise(const std::uint64_t* addresses, std::size_t count) noexcept;
  // Stores the recording for the addresses of the last advice. If `graph` is null, the program cannot be recorded, and
  // all recordings are discarded.
  void keep(cudaGraphExec_t graph) noexcept;
  // The recording for the addresses of the last advice.
  [[nodiscard]] cudaGraphExec_t graph() const noexcept {
    return found_ < entries_.size() ? entries_[found_].graph : nullptr;
  }

 private:
  struct Entry {
    std::vector<std::uint64_t> addresses;
    cudaGraphExec_t graph = nullptr;
    std::uint64_t used = 0;  // when the entry was last used
  };
  static constexpr std::size_t kMaxEntries = 4;  // programs often alternate between two or three sets of buffers

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::size_t found_ = 0;
  std::uint64_t clock_ = 0;
  bool is_hopeless_ = false;
};

// Records the launches of `launch(stream)` on a separate stream, without running them. Returns null if a launch cannot
// be recorded.
template <class Launch>
[[nodiscard]] cudaGraphExec_t record(const Launch& launch) noexcept {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t recording = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
      cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
    const cudaError_t launched = launch(stream);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (launched == cudaSuccess && ended == cudaSuccess &&
        cudaGraphInstantiateWithFlags(&recording, graph, 0) != cudaSuccess) {
      recording = nullptr;
    }
  }
  if (graph != nullptr) {
    static_cast<void>(cudaGraphDestroy(graph));
  }
  if (stream != nullptr) {
    static_cast<void>(cudaStreamDestroy(stream));
  }
  static_cast<void>(cudaGetLastError());
  return recording;
}

}  // namespace anydml::cuda
