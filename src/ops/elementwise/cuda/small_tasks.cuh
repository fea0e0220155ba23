// SPDX-License-Identifier: MIT
// Small tasks as they are passed to kernels.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "backend/cuda/family.h"

namespace anydml::cuda {

// A SmallTask whose operands are pointers, for use in kernels.
struct KernelTask {
  std::uint16_t code;
  std::uint8_t type;
  std::uint8_t broadcast : 4;
  std::uint8_t begins_wave : 1;
  std::uint32_t count;
  std::byte* operands[kSmallInputs + 1];
};
static_assert(sizeof(KernelTask) == sizeof(SmallTask) &&
              offsetof(KernelTask, operands) == offsetof(SmallTask, operands));

inline void copy_tasks(const SmallTask* tasks, std::uint32_t count, KernelTask* to) {
  for (std::uint32_t i = 0; i < count; ++i) {
    to[i] = std::bit_cast<KernelTask>(tasks[i]);
  }
}

// Tasks of one modulus operator over whole vectors, without broadcast operands.
struct WaveTasks {
  std::uint32_t count;
  KernelTask tasks[kMaxSmallTasks];
};
template <bool kFloor, class T>
[[nodiscard]] cudaError_t launch_modulus_waves(const WaveTasks& tasks, cudaStream_t stream) noexcept;

}  // namespace anydml::cuda
