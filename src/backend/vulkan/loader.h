// SPDX-License-Identifier: MIT
// Vulkan's loader, opened at run time, and the functions that the backend calls.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <string>

namespace anydml::vulkan {

#define ANYDML_VULKAN_GLOBAL_FUNCTIONS(name) name(EnumerateInstanceVersion) name(CreateInstance)

#define ANYDML_VULKAN_INSTANCE_FUNCTIONS(name)                                                                     \
  name(EnumeratePhysicalDevices) name(GetPhysicalDeviceProperties) name(GetPhysicalDeviceProperties2)              \
      name(GetPhysicalDeviceFeatures2) name(GetPhysicalDeviceMemoryProperties)                                     \
          name(EnumerateDeviceExtensionProperties) name(GetPhysicalDeviceQueueFamilyProperties) name(CreateDevice) \
              name(GetDeviceProcAddr)

#define ANYDML_VULKAN_DEVICE_FUNCTIONS(name)                                                                           \
  name(DestroyDevice) name(DeviceWaitIdle) name(GetDeviceQueue) name(QueueSubmit) name(QueueWaitIdle)                  \
      name(AllocateMemory) name(FreeMemory) name(MapMemory) name(CreateBuffer) name(DestroyBuffer)                     \
          name(GetBufferMemoryRequirements2) name(BindBufferMemory) name(GetBufferDeviceAddress) name(CreateSemaphore) \
              name(DestroySemaphore) name(GetSemaphoreCounterValue) name(WaitSemaphores) name(CreateCommandPool)       \
                  name(DestroyCommandPool) name(AllocateCommandBuffers) name(BeginCommandBuffer)                       \
                      name(EndCommandBuffer) name(CreateQueryPool) name(DestroyQueryPool) name(CreateShaderModule)     \
                          name(DestroyShaderModule) name(CreatePipelineLayout) name(DestroyPipelineLayout)             \
                              name(CreateComputePipelines) name(DestroyPipeline) name(CreatePipelineCache)             \
                                  name(DestroyPipelineCache) name(GetPipelineCacheData) name(CmdPipelineBarrier)       \
                                      name(CmdCopyBuffer) name(CmdFillBuffer) name(CmdBindPipeline)                    \
                                          name(CmdPushConstants) name(CmdDispatch) name(CmdResetQueryPool)             \
                                              name(CmdWriteTimestamp) name(CmdCopyQueryPoolResults)

// The loader and its instance, which live as long as the process.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
#define ANYDML_MEMBER(name) PFN_vk##name name = nullptr;
  ANYDML_VULKAN_GLOBAL_FUNCTIONS(ANYDML_MEMBER)
  ANYDML_VULKAN_INSTANCE_FUNCTIONS(ANYDML_MEMBER)
};

// The functions of a device.
struct DeviceFunctions {
  ANYDML_VULKAN_DEVICE_FUNCTIONS(ANYDML_MEMBER)
  // Of VK_EXT_external_memory_host; null without it.
  PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT = nullptr;
#undef ANYDML_MEMBER
};

// Opens the loader at the first call. Returns null and the reason if Vulkan cannot be used on this machine. May throw
// std::bad_alloc.
[[nodiscard]] const Instance* instance(std::string& why);

// Returns false if a function is missing, which means that the driver is broken.
[[nodiscard]] bool load_functions(const Instance& instance, VkDevice device, DeviceFunctions& functions);

// The name of a result: "VK_ERROR_DEVICE_LOST".
[[nodiscard]] const char* name_of(VkResult result);

}  // namespace anydml::vulkan
