// SPDX-License-Identifier: MIT
#include "backend/vulkan/device.h"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "backend/vulkan/family.h"
#include "backend/vulkan/memory.h"
#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/primitives.h"
#include "backend/vulkan/queue.h"
#include "backend/vulkan/spirv/primitives.h"
#include "backend/vulkan/watchdog.h"

namespace anydml::vulkan {
namespace {

constexpr std::uint32_t kMaxQueues = 4;
constexpr std::uint32_t kPiecesAtOnce = 64;  // Vulkan does not say how many multiprocessors a GPU has

std::atomic<bool> g_forked = false;
std::atomic<bool> g_opened = false;  // whether this process has opened a device
[[maybe_unused]] const int g_registered =
    pthread_atfork(nullptr, nullptr, [] { g_forked = g_forked.load() || g_opened.load(); });

constexpr const char* kForked =
    "this process was forked after its parent had opened a Vulkan device, and cannot use it";

// Returns a string that is never freed, for each kind of error.
const char* text_of(VkResult result) noexcept {
  try {
    static std::mutex mutex;
    static auto* const texts = new std::map<VkResult, std::string>;
    const std::scoped_lock lock(mutex);
    std::string& text = (*texts)[result];
    if (text.empty()) {
      text =
          result == VK_ERROR_DEVICE_LOST
              ? "the Vulkan device was lost (VK_ERROR_DEVICE_LOST): a kernel crashed or took too long, or the driver "
                "was reset"
              : std::string("Vulkan: ") + name_of(result) + " (" + std::to_string(result) + ")";
    }
    return text.c_str();
  } catch (...) {
    return name_of(result);
  }
}

// Enables what the backend needs, and what kernels may use if the device has it.
VkResult create_device(const Instance& vk, BackendDevice& device) {
  const Candidate& candidate = device.candidate;
  Features features;
  require_features(features);
  features.core.features.shaderFloat64 = candidate.gpu.has_float64 ? VK_TRUE : VK_FALSE;
  features.v12.shaderFloat16 = candidate.gpu.has_float16 ? VK_TRUE : VK_FALSE;
  features.v12.shaderSubgroupExtendedTypes = candidate.has_subgroup_extended_types ? VK_TRUE : VK_FALSE;
  const std::uint32_t queues = std::min(candidate.queue_count, kMaxQueues);
  const float priorities[kMaxQueues] = {1, 1, 1, 1};
  VkDeviceQueueCreateInfo family{};
  family.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  family.queueFamilyIndex = candidate.queue_family;
  family.queueCount = queues;
  family.pQueuePriorities = priorities;
  const char* const extension = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features.core;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &family;
  info.enabledExtensionCount = candidate.import_alignment != 0 ? 1 : 0;
  info.ppEnabledExtensionNames = &extension;
  if (const VkResult result = vk.CreateDevice(candidate.handle, &info, nullptr, &device.handle); result != VK_SUCCESS) {
    return result;
  }
  if (!load_functions(vk, device.handle, device.vk)) {
    return VK_ERROR_INCOMPATIBLE_DRIVER;
  }
  for (std::uint32_t i = 0; i < queues; ++i) {
    device.queues.push_back(std::make_unique<DeviceQueue>());
    device.vk.GetDeviceQueue(device.handle, candidate.queue_family, i, &device.queues.back()->handle);
  }
  return VK_SUCCESS;
}

void describe(BackendDevice& device, std::uint32_t index) {
  BackendDeviceInfo& info = device.info;
  std::snprintf(info.name, sizeof(info.name), "vulkan:%u", index);
  std::snprintf(info.description, sizeof(info.description), "%s", device.candidate.description().c_str());
  info.memory_bytes = device.memory->total();
  info.asynchronous = 1;
  info.vendor = device.candidate.vendor;
  info.product = device.candidate.product;
  info.traits.threads = kPiecesAtOnce;
}

BackendStatus open(BackendDevice& device, std::uint32_t index) {
  std::string why;
  const Instance* const vk = instance(why);
  VkResult result = create_device(*vk, device);
  if (result == VK_SUCCESS) {
    device.memory = std::make_unique<Memory>(device);
    device.staging = std::make_unique<Staging>(*device.memory);
    device.pipelines = std::make_unique<Pipelines>(device);
    result = device.pipelines->open();
  }
  if (result != VK_SUCCESS) {
    return {BackendCode::failed, text_of(result)};
  }
  describe(device, index);
  if (const BackendStatus status = create_queue(&device, &device.service); status.code != BackendCode::ok) {
    return status;
  }
  if (const BackendStatus status = find_primitives(device); status.code != BackendCode::ok) {
    return status;
  }
  constexpr std::uint64_t kSums =
      spirv::primitive_bit(spirv::Primitive::f32_add) | spirv::primitive_bit(spirv::Primitive::f32_multiply);
  if (device.gpu.max_iterations != UINT64_MAX && (device.gpu.primitives & kSums) != kSums) {
    device.gpu.max_iterations /= 16;  // primitives in integers contain loops
  }
  if (device.gpu.max_iterations != UINT64_MAX) {
    BackendStatus status = device.memory->allocate(Placement::table, sizeof(std::uint32_t), &device.cut_loops);
    if (status.code != BackendCode::ok) {
      return status;
    }
    std::memset(device.cut_loops->host, 0, sizeof(std::uint32_t));
  }
  const char* const fails = ::secure_getenv("ANYDML_VULKAN_FAILS");
  device.runs_left = fails != nullptr ? std::atol(fails) : 0;
  const char* const operations = ::secure_getenv("ANYDML_VULKAN_OPERATIONS");
  device.max_operations =
      operations != nullptr ? std::strtoull(operations, nullptr, 10) : max_operations(device.candidate);
  return kOk;
}

}  // namespace

bool was_forked() noexcept { return g_forked.load(std::memory_order_relaxed); }

const char* failure_of(const BackendDevice& device) noexcept {
  return was_forked() ? kForked : device.failure.load(std::memory_order_acquire);
}

void fail_if_loops_were_cut(BackendDevice& device) noexcept {
  if (device.cut_loops == nullptr) {
    return;
  }
  std::uint32_t word = 0;
  std::memcpy(&word, device.cut_loops->host, sizeof(word));
  if (word != 0) {
    fail(device, "this software driver of Vulkan ended a loop of a kernel too early, so results are wrong");
  }
}

// The device may still be working, if it is not the device itself that failed. Nobody waits for this work anymore, so
// it ends here, before memory is released. No queue submits work after the failure is known.
void fail(BackendDevice& device, const char* why) noexcept {
  const char* before = nullptr;
  if (!device.failure.compare_exchange_strong(before, why) || device.handle == VK_NULL_HANDLE) {
    return;
  }
  for (const auto& queue : device.queues) {
    const std::scoped_lock lock(queue->mutex);
    static_cast<void>(device.vk.QueueWaitIdle(queue->handle));
  }
}

BackendStatus status_of(BackendDevice& device, VkResult result) noexcept {
  switch (result) {
    case VK_SUCCESS:
      return kOk;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED:
      return kOutOfMemory;
    default:
      break;
  }
  const char* before = nullptr;
  // Without waiting: the caller may hold a queue's lock, and a lost device has no work left.
  device.failure.compare_exchange_strong(before, text_of(result));
  return {BackendCode::failed, text_of(result)};
}

BackendStatus open_device(std::uint32_t index, BackendDevice** device) noexcept {
  try {
    const Catalog& all = catalog();
    if (was_forked()) {
      return {BackendCode::failed, kForked};
    }
    if (index >= all.devices.size()) {
      return {BackendCode::failed, "there is no Vulkan device with this number"};
    }
    g_opened = true;
    auto opened = std::make_unique<BackendDevice>(all.devices[index]);
    const BackendStatus status = open(*opened, index);
    if (status.code == BackendCode::ok) {
      *device = opened.release();
    }
    return status;
  } catch (...) {
    return kOutOfMemory;
  }
}

void close_device(BackendDevice* device) noexcept { delete device; }

}  // namespace anydml::vulkan

namespace anydml {

BackendDevice::BackendDevice(const vulkan::Candidate& chosen) : candidate(chosen), gpu(chosen.gpu) {}

BackendDevice::~BackendDevice() {
  if (handle == VK_NULL_HANDLE) {
    return;
  }
  const bool forked = vulkan::was_forked();
  if (!forked && vk.DeviceWaitIdle != nullptr) {
    static_cast<void>(vk.DeviceWaitIdle(handle));
  }
  if (service != nullptr) {
    vulkan::destroy_queue(service);
  }
  if (cut_loops != nullptr) {
    memory->release(cut_loops);
  }
  staging.reset();
  pipelines.reset();
  memory.reset();
  if (!forked && vk.DestroyDevice != nullptr) {
    vk.DestroyDevice(handle, nullptr);
  }
}

}  // namespace anydml
