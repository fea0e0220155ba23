// SPDX-License-Identifier: MIT
// Launches the small tasks of a queue with CUDA. Dependent tasks run in a single block, which continues from one wave
// to the next.
#pragma once

#include "backend/cuda/family.h"

namespace anydml::cuda {

class SmallTasks {
 public:
  // Adds a task after the earlier tasks. Returns false if the earlier tasks must be launched first, for example because
  // they belong to a different family, or if there is no memory.
  [[nodiscard]] bool add(const FamilyKernels& family, const SmallTask& task) noexcept {
    return batch_.add(family, task);
  }
  // Launches the added tasks, if there are any.
  [[nodiscard]] cudaError_t launch(cudaStream_t stream) noexcept {
    cudaError_t error = cudaSuccess;
    batch_.launch([&](const FamilyKernels& family, std::span<const SmallTask> tasks, bool in_waves) {
      const auto start = in_waves ? family.launch_in_waves : family.launch_at_once;
      error = start(tasks.data(), static_cast<std::uint32_t>(tasks.size()), stream);
      return error == cudaSuccess;
    });
    return error;
  }

 private:
  SmallTaskBatch<FamilyKernels, {.tasks = kMaxSmallTasks, .elements = kMaxSmallElements, .narrow_elements = 8192}>
      batch_;
};

}  // namespace anydml::cuda
