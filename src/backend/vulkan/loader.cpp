// SPDX-License-Identifier: MIT
#include "backend/vulkan/loader.h"

#include <dlfcn.h>

#include <mutex>

namespace anydml::vulkan {
namespace {

constexpr const char* kLibrary = "libvulkan.so.1";

// Returns the reason for a failure, or an empty string.
std::string open(Instance& opened) {
  // Never closed, like the instance: drivers do not expect to be unloaded while threads of theirs end.
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::string("Vulkan's loader was not found (") + kLibrary + ")";
  }
  const auto get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (get == nullptr) {
    return std::string(kLibrary) + " has no function vkGetInstanceProcAddr";
  }
  const char* missing = nullptr;
#define ANYDML_LOAD(name)                                                       \
  opened.name = reinterpret_cast<PFN_vk##name>(get(opened.handle, "vk" #name)); \
  missing = opened.name == nullptr ? "vk" #name : missing;
  ANYDML_VULKAN_GLOBAL_FUNCTIONS(ANYDML_LOAD)
  std::uint32_t version = 0;
  if (missing != nullptr || opened.EnumerateInstanceVersion(&version) != VK_SUCCESS || version < VK_API_VERSION_1_2) {
    return std::string(kLibrary) + " is older than Vulkan 1.2";
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "anydml";
  application.pEngineName = "anydml";
  application.apiVersion = VK_API_VERSION_1_3;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const VkResult result = opened.CreateInstance(&info, nullptr, &opened.handle);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return "no Vulkan driver is installed";
  }
  if (result != VK_SUCCESS) {
    return std::string("Vulkan: ") + name_of(result) + " from vkCreateInstance";
  }
  ANYDML_VULKAN_INSTANCE_FUNCTIONS(ANYDML_LOAD)
#undef ANYDML_LOAD
  return missing == nullptr ? std::string() : std::string(kLibrary) + " has no function " + missing;
}

}  // namespace

const Instance* instance(std::string& why) {
  static std::mutex mutex;
  static bool tried = false;
  static auto* const opened = new Instance;
  static auto* const reason = new std::string;
  const std::scoped_lock lock(mutex);
  if (!tried) {
    *reason = open(*opened);
    tried = true;
  }
  why = *reason;
  return reason->empty() ? opened : nullptr;
}

bool load_functions(const Instance& instance, VkDevice device, DeviceFunctions& functions) {
  bool all = true;
#define ANYDML_LOAD(name)                                                                          \
  functions.name = reinterpret_cast<PFN_vk##name>(instance.GetDeviceProcAddr(device, "vk" #name)); \
  all = all && functions.name != nullptr;
  ANYDML_VULKAN_DEVICE_FUNCTIONS(ANYDML_LOAD)
  const bool required = all;
  ANYDML_LOAD(GetMemoryHostPointerPropertiesEXT)
#undef ANYDML_LOAD
  return required;
}

const char* name_of(VkResult result) {
  switch (result) {
#define ANYDML_NAME(name) \
  case name:              \
    return #name;
    ANYDML_NAME(VK_SUCCESS)
    ANYDML_NAME(VK_NOT_READY)
    ANYDML_NAME(VK_TIMEOUT)
    ANYDML_NAME(VK_INCOMPLETE)
    ANYDML_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    ANYDML_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    ANYDML_NAME(VK_ERROR_INITIALIZATION_FAILED)
    ANYDML_NAME(VK_ERROR_DEVICE_LOST)
    ANYDML_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    ANYDML_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    ANYDML_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    ANYDML_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    ANYDML_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    ANYDML_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    ANYDML_NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    ANYDML_NAME(VK_ERROR_FRAGMENTATION)
    ANYDML_NAME(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
#undef ANYDML_NAME
    default:
      return "an unknown error";
  }
}

}  // namespace anydml::vulkan
