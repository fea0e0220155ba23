// SPDX-License-Identifier: MIT
// Queues are implemented as streams, and marks as events. Small steps are collected and launched together.
#pragma once

#include "backend/cuda/device.h"
#include "backend/cuda/small_tasks.h"

namespace anydml {

struct BackendQueue {
  BackendDevice* device = nullptr;
  cudaStream_t stream = nullptr;
  bool owned = false;      // whether the backend owns the stream; work on a caller's stream is launched immediately
  cuda::SmallTasks small;  // only used on our own stream
};

struct BackendMark {
  BackendDevice* device = nullptr;
  cudaEvent_t event = nullptr;
};

namespace cuda {

BackendStatus allocate_in_order(BackendQueue* queue, std::uint64_t bytes, MemoryBlock* block);
void release_in_order(BackendQueue* queue, BackendMemory* handle);
BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) noexcept;
// A BackendStream is a cudaStream_t here; null means the process-wide default stream (cudaStreamLegacy).
BackendStatus create_queue_on(BackendDevice* device, BackendStream* stream, BackendQueue** queue) noexcept;
void destroy_queue(BackendQueue* queue) noexcept;
BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) noexcept;
BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) noexcept;
BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* interrupt) noexcept;
BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) noexcept;
BackendStatus mark(BackendQueue* queue, BackendMark** mark) noexcept;
void destroy_mark(BackendMark* mark) noexcept;
std::uint32_t is_passed(BackendMark* mark) noexcept;
BackendStatus wait(BackendMark* mark) noexcept;
BackendStatus follow(BackendQueue* queue, BackendMark* mark) noexcept;

}  // namespace cuda
}  // namespace anydml
