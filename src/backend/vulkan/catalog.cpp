// SPDX-License-Identifier: MIT
#include "backend/vulkan/catalog.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

namespace anydml::vulkan {
namespace {

// Every feature that the backend needs, in one table.
struct Requirement {
  const char* name;
  VkBool32& (*of)(Features& features);
};
#define ANYDML_CORE(name)                                                               \
  {                                                                                     \
#name, [](Features & features) -> VkBool32& { return features.core.features.name; } \
  }
#define ANYDML_11(name)                                                       \
  {                                                                           \
#name, [](Features & features) -> VkBool32& { return features.v11.name; } \
  }
#define ANYDML_12(name)                                                       \
  {                                                                           \
#name, [](Features & features) -> VkBool32& { return features.v12.name; } \
  }
constexpr Requirement kRequirements[] = {
    ANYDML_CORE(shaderInt64),           ANYDML_CORE(shaderInt16),     ANYDML_11(storageBuffer16BitAccess),
    ANYDML_12(storageBuffer8BitAccess), ANYDML_12(shaderInt8),        ANYDML_12(bufferDeviceAddress),
    ANYDML_12(timelineSemaphore),       ANYDML_12(scalarBlockLayout),
};
#undef ANYDML_CORE
#undef ANYDML_11
#undef ANYDML_12

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string text_of(const std::uint8_t (&uuid)[VK_UUID_SIZE]) {
  std::string text;
  for (std::size_t i = 0; i < VK_UUID_SIZE; ++i) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", static_cast<unsigned>(uuid[i]));
    text += (i == 4 || i == 6 || i == 8 || i == 10) ? std::string("-") + two : std::string(two);
  }
  return text;
}

// The properties of a device, as Vulkan reports them.
struct Properties {
  VkPhysicalDeviceProperties2 core{};
  VkPhysicalDeviceVulkan11Properties v11{};
  VkPhysicalDeviceVulkan12Properties v12{};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};

  Properties() {
    core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    core.pNext = &v11;
    v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
    v11.pNext = &v12;
    v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
    host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  }
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;
};

bool has_extension(const Instance& vk, VkPhysicalDevice device, const char* name) {
  std::uint32_t count = 0;
  if (vk.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) {
    return false;
  }
  std::vector<VkExtensionProperties> all(count);
  if (vk.EnumerateDeviceExtensionProperties(device, nullptr, &count, all.data()) < VK_SUCCESS) {
    return false;
  }
  return std::ranges::any_of(all, [&](const auto& one) { return std::strcmp(one.extensionName, name) == 0; });
}

FloatModes modes_of(VkBool32 special, VkBool32 even, VkBool32 subnormals) {
  return {.keeps_special_values = special != 0, .rounds_to_even = even != 0, .keeps_subnormals = subnormals != 0};
}

void set_properties(const Properties& from, const Features& features, Candidate& candidate) {
  const VkPhysicalDeviceProperties& core = from.core.properties;
  GpuProperties& gpu = candidate.gpu;
  gpu.name = core.deviceName;
  gpu.driver = from.v12.driverName;
  if (from.v12.driverInfo[0] != '\0') {
    gpu.driver += std::string(" ") + from.v12.driverInfo;
  }
  gpu.spirv_version = core.apiVersion >= VK_API_VERSION_1_3 ? 0x00010600 : 0x00010500;
  gpu.has_float16 = features.v12.shaderFloat16 != 0;
  gpu.has_float64 = features.core.features.shaderFloat64 != 0;
  gpu.is_cpu = core.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  if (gpu.is_cpu) {
    gpu.max_iterations = 60'000;  // Mesa's LP_MAX_TGSI_LOOP_ITERATIONS is 65,535
  }
  gpu.modes_16 = modes_of(from.v12.shaderSignedZeroInfNanPreserveFloat16, from.v12.shaderRoundingModeRTEFloat16,
                          from.v12.shaderDenormPreserveFloat16);
  gpu.modes_32 = modes_of(from.v12.shaderSignedZeroInfNanPreserveFloat32, from.v12.shaderRoundingModeRTEFloat32,
                          from.v12.shaderDenormPreserveFloat32);
  gpu.modes_64 = modes_of(from.v12.shaderSignedZeroInfNanPreserveFloat64, from.v12.shaderRoundingModeRTEFloat64,
                          from.v12.shaderDenormPreserveFloat64);
  gpu.modes_are_independent = from.v12.denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL &&
                              from.v12.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  gpu.subgroup_size = from.v11.subgroupSize;
  const bool computes = (from.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  gpu.has_subgroup_arithmetic =
      computes && (from.v11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
  gpu.has_subgroup_shuffle = computes && (from.v11.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
  gpu.max_group_threads = std::min(core.limits.maxComputeWorkGroupInvocations, core.limits.maxComputeWorkGroupSize[0]);
  gpu.shared_bytes = core.limits.maxComputeSharedMemorySize;
  candidate.uuid = text_of(from.v11.deviceUUID);
  candidate.driver_uuid = text_of(from.v11.driverUUID);
  candidate.driver_version = core.driverVersion;
  // Vendors without a PCI number have numbers of Khronos above 16 bits.
  candidate.vendor = core.vendorID <= 0xffff ? core.vendorID : 0;
  candidate.product = core.vendorID <= 0xffff ? core.deviceID : 0;
  candidate.type = core.deviceType;
  candidate.is_layered = from.v12.driverID == VK_DRIVER_ID_MESA_DOZEN || from.v12.driverID == VK_DRIVER_ID_MOLTENVK;
  candidate.timestamp_period = static_cast<double>(core.limits.timestampPeriod);
  candidate.max_groups[0] = core.limits.maxComputeWorkGroupCount[0];
  candidate.max_groups[1] = core.limits.maxComputeWorkGroupCount[1];
  candidate.import_alignment = from.host.minImportedHostPointerAlignment;
  candidate.has_subgroup_extended_types = features.v12.shaderSubgroupExtendedTypes != 0;
}

// Prefers a family without graphics, which on many GPUs runs beside the desktop's work.
bool choose_family(const Instance& vk, Candidate& candidate) {
  std::uint32_t count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.GetPhysicalDeviceQueueFamilyProperties(candidate.handle, &count, families.data());
  bool found = false;
  bool has_graphics = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const VkQueueFamilyProperties& family = families[i];
    const bool graphics = (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0;
    if ((family.queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 || family.timestampValidBits == 0 ||
        (found && (graphics || !has_graphics))) {
      continue;
    }
    found = true;
    has_graphics = graphics;
    candidate.queue_family = i;
    candidate.queue_count = family.queueCount;
    candidate.timestamp_mask =
        family.timestampValidBits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << family.timestampValidBits) - 1;
  }
  return found;
}

// Returns the reason why the backend cannot use a device, or an empty string.
std::string examine(const Instance& vk, Candidate& candidate) {
  VkPhysicalDeviceProperties plain{};
  vk.GetPhysicalDeviceProperties(candidate.handle, &plain);
  const std::string name = plain.deviceName;
  if (plain.apiVersion < VK_API_VERSION_1_2) {
    return name + " has Vulkan " + std::to_string(VK_API_VERSION_MAJOR(plain.apiVersion)) + "." +
           std::to_string(VK_API_VERSION_MINOR(plain.apiVersion)) + "; expected 1.2 or newer";
  }
  Features features;
  vk.GetPhysicalDeviceFeatures2(candidate.handle, &features.core);
  if (const std::string missing = missing_features(features); !missing.empty()) {
    return name + " lacks " + missing;
  }
  Properties properties;
  if (has_extension(vk, candidate.handle, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
    properties.v12.pNext = &properties.host;
  }
  vk.GetPhysicalDeviceProperties2(candidate.handle, &properties.core);
  set_properties(properties, features, candidate);
  return choose_family(vk, candidate) ? std::string() : name + " has no queue for compute with timestamps";
}

// Users expect the fastest kind first. Software comes last.
int rank_of(const Candidate& candidate) {
  if (candidate.is_software()) {
    return 4;
  }
  switch (candidate.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    default:
      return 3;
  }
}

std::string variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

Catalog search() {
  Catalog result;
  const Instance* const vk = instance(result.why);
  if (vk == nullptr) {
    return result;
  }
  std::uint32_t count = 0;
  std::vector<VkPhysicalDevice> handles;
  VkResult listed = vk->EnumeratePhysicalDevices(vk->handle, &count, nullptr);
  if (listed == VK_SUCCESS) {
    handles.resize(count);
    listed = vk->EnumeratePhysicalDevices(vk->handle, &count, handles.data());
    handles.resize(count);
  }
  if (listed < VK_SUCCESS) {
    result.why = std::string("Vulkan: ") + name_of(listed) + " from vkEnumeratePhysicalDevices";
    return result;
  }
  std::vector<Candidate> found;
  std::string refused;
  for (VkPhysicalDevice handle : handles) {
    Candidate candidate;
    candidate.handle = handle;
    const std::string why = examine(*vk, candidate);
    if (why.empty()) {
      found.push_back(std::move(candidate));
    } else {
      refused += (refused.empty() ? "" : "; ") + why;
    }
  }
  std::ranges::stable_sort(found, {}, rank_of);
  result.devices = choose(std::move(found), variable("ANYDML_ADAPTER"), variable("ANYDML_VULKAN_DEVICES"), result.why);
  if (result.devices.empty() && !refused.empty()) {
    result.why += (result.why.empty() ? "" : "; ") + refused;
  }
  return result;
}

}  // namespace

Features::Features() {
  core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  core.pNext = &v11;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
}

std::string missing_features(const Features& features) {
  std::string missing;
  for (const Requirement& one : kRequirements) {
    if (one.of(const_cast<Features&>(features)) == 0) {
      missing += std::string(missing.empty() ? "" : ", ") + one.name;
    }
  }
  return missing;
}

void require_features(Features& features) {
  for (const Requirement& one : kRequirements) {
    one.of(features) = VK_TRUE;
  }
}

// ANYDML_ADAPTER finds a device by any part of this text.
std::string Candidate::description() const { return gpu.name + ", " + gpu.driver + ", " + uuid; }

std::vector<Candidate> choose(std::vector<Candidate> found, const std::string& adapter, const std::string& wanted,
                              std::string& why) {
  if (found.empty()) {
    why = "no GPU with a Vulkan driver was found";
    return {};
  }
  const auto matches = [](const Candidate& one, std::size_t number, std::string_view part) {
    const bool is_number = part.find_first_not_of("0123456789") == std::string_view::npos;
    return part == "all" ||
           (is_number ? part == std::to_string(number) : lower(one.description()).find(part) != std::string::npos);
  };
  std::vector<Candidate> chosen;
  if (!wanted.empty()) {
    std::vector<bool> taken(found.size());
    std::string_view rest = wanted;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string part = lower(std::string(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      for (std::size_t i = 0; i < found.size() && !part.empty(); ++i) {
        if (!taken[i] && matches(found[i], i, part)) {
          taken[i] = true;
          chosen.push_back(found[i]);
        }
      }
    }
    if (chosen.empty()) {
      why = "ANYDML_VULKAN_DEVICES is '" + wanted + "'; expected 'all', or numbers or parts of the descriptions of";
      for (std::size_t i = 0; i < found.size(); ++i) {
        why += (i == 0 ? " " : ", ") + std::to_string(i) + " (" + found[i].description() + ")";
      }
    }
    return chosen;
  }
  const std::string name = lower(adapter);
  const bool names_us = name.starts_with("vulkan");
  std::string hidden;
  for (Candidate& one : found) {
    const bool is_named = names_us || (!name.empty() && lower(one.description()).find(name) != std::string::npos);
    if (!one.is_software() || is_named) {
      chosen.push_back(std::move(one));
    } else {
      hidden += (hidden.empty() ? "" : ", ") + one.gpu.name;
    }
  }
  if (chosen.empty()) {
    why = "only software drivers were found (" + hidden +
          "), which are used if ANYDML_ADAPTER is vulkan:0 or ANYDML_VULKAN_DEVICES names them";
  }
  return chosen;
}

const Catalog& catalog() {
  static const auto* const found = new Catalog(search());
  return *found;
}

}  // namespace anydml::vulkan
