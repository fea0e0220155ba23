// SPDX-License-Identifier: MIT
// The devices of this machine that the backend offers: which drivers and features it needs, which devices a user chose,
// and their order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/vulkan/family.h"
#include "backend/vulkan/loader.h"

namespace anydml::vulkan {

// Features of a device, as Vulkan reports them.
struct Features {
  VkPhysicalDeviceFeatures2 core{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceVulkan12Features v12{};

  Features();
  Features(const Features&) = delete;  // the structs point to each other
  Features& operator=(const Features&) = delete;
};

// A device with everything that is known before it is opened.
struct Candidate {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  GpuProperties gpu;  // without primitives
  std::string uuid;   // as tools print it: 8-4-4-4-12 digits
  std::string driver_uuid;
  std::uint32_t driver_version = 0;
  std::uint32_t vendor = 0;
  std::uint32_t product = 0;
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  bool is_layered = false;  // the driver is built on another API
  std::uint32_t queue_family = 0;
  std::uint32_t queue_count = 0;
  std::uint64_t timestamp_mask = 0;
  double timestamp_period = 1;  // nanoseconds
  std::uint32_t max_groups[2] = {};
  std::uint64_t import_alignment = 0;  // 0 if the device imports no host memory
  bool has_subgroup_extended_types = false;

  // Drivers on a CPU or on another API are offered only to users who name them.
  [[nodiscard]] bool is_software() const { return type == VK_PHYSICAL_DEVICE_TYPE_CPU || is_layered; }
  [[nodiscard]] std::string description() const;
};

// The features that the backend needs and this device lacks, separated by commas; empty if there are none.
[[nodiscard]] std::string missing_features(const Features& features);
// Sets all features that the backend needs, and nothing else.
void require_features(Features& features);

struct Catalog {
  std::vector<Candidate> devices;  // those that are offered, in the order of their indices
  std::string why;                 // if there are none
};

// Looks for devices at the first call. May throw std::bad_alloc.
[[nodiscard]] const Catalog& catalog();

// The devices that a user asked for, in the order of the user's list. adapter and wanted are the values of
// ANYDML_ADAPTER and ANYDML_VULKAN_DEVICES, or empty. Sets `why` if no device is left.
[[nodiscard]] std::vector<Candidate> choose(std::vector<Candidate> found, const std::string& adapter,
                                            const std::string& wanted, std::string& why);

}  // namespace anydml::vulkan
