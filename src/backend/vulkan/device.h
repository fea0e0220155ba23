// SPDX-License-Identifier: MIT
// An open device, and how its failures are reported.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/catalog.h"
#include "backend/vulkan/loader.h"

namespace anydml {

namespace vulkan {

class Memory;
class Pipelines;
class Staging;

// A queue of the device. Several of the backend's queues share it, because some drivers have only one.
struct DeviceQueue {
  std::mutex mutex;  // held while work is submitted
  VkQueue handle = VK_NULL_HANDLE;
};

}  // namespace vulkan

struct BackendDevice {
  explicit BackendDevice(const vulkan::Candidate& chosen);
  ~BackendDevice();
  BackendDevice(const BackendDevice&) = delete;
  BackendDevice& operator=(const BackendDevice&) = delete;

  const vulkan::Candidate& candidate;
  vulkan::GpuProperties gpu;
  VkDevice handle = VK_NULL_HANDLE;
  vulkan::DeviceFunctions vk;
  BackendDeviceInfo info = {};
  std::vector<std::unique_ptr<vulkan::DeviceQueue>> queues;
  std::atomic<std::uint32_t> next_queue = 0;
  std::uint64_t max_operations = 0;  // in a submission, roughly (watchdog.h)
  std::unique_ptr<vulkan::Memory> memory;
  std::unique_ptr<vulkan::Pipelines> pipelines;
  std::unique_ptr<vulkan::Staging> staging;
  // For work of the backend itself, such as clearing memory.
  std::mutex service_mutex;
  BackendQueue* service = nullptr;

  // A word that kernels set if the driver ended a loop too early (spirv/loop_guard.h). Null if the driver never does.
  BackendMemory* cut_loops = nullptr;

  std::atomic<std::uint64_t> buffer_bytes = 0;
  std::atomic<const char*> failure = nullptr;  // a string that is never freed; a failed device stays failed
  std::atomic<std::int64_t> runs_left = 0;     // for tests: the device fails at this run, if it is not 0
};

namespace vulkan {

inline constexpr BackendStatus kOk{BackendCode::ok, nullptr};
inline constexpr BackendStatus kOutOfMemory{BackendCode::out_of_memory,
                                            "Vulkan: the device does not have enough free memory"};

// Whether this process was forked from one that had opened Vulkan. Drivers do not work in such a child.
[[nodiscard]] bool was_forked() noexcept;

// The reason why the device does not work anymore, or null.
[[nodiscard]] const char* failure_of(const BackendDevice& device) noexcept;
[[nodiscard]] inline BackendStatus state_of(const BackendDevice& device) noexcept {
  const char* const why = failure_of(device);
  return why == nullptr ? kOk : BackendStatus{BackendCode::failed, why};
}
// Marks the device as failed if work that is done has wrong results because the driver ended a loop too early.
void fail_if_loops_were_cut(BackendDevice& device) noexcept;
// Marks the device as failed, unless it already is.
void fail(BackendDevice& device, const char* why) noexcept;
// The status for a result of Vulkan. All errors except a lack of memory mark the device as failed.
[[nodiscard]] BackendStatus status_of(BackendDevice& device, VkResult result) noexcept;

[[nodiscard]] BackendStatus open_device(std::uint32_t index, BackendDevice** device) noexcept;
void close_device(BackendDevice* device) noexcept;

}  // namespace vulkan
}  // namespace anydml
