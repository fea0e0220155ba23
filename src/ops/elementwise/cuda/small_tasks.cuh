// SPDX-License-Identifier: MIT
// Small tasks as kernels take them: they are the kernel's parameter.
#pragma once

#include "backend/cuda/family.h"

namespace anydml::cuda {

// Tasks of one modulus operator over whole vectors, without broadcast operands.
struct WaveTasks {
  std::uint32_t count;
  SmallTask tasks[kMaxSmallTasks];
};
template <bool kFloor, class T>
[[nodiscard]] cudaError_t launch_modulus_waves(const WaveTasks& tasks, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
