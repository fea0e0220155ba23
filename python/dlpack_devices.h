// SPDX-License-Identifier: MIT
// Which device of the library a device of DLPack is, and back. The table of devices decides which ones there are; this
// is the only place that knows how DLPack numbers their kinds.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "dlpack.h"

namespace anydml::python {

// A kind of memory that DLPack names.
struct DeviceType {
  std::int32_t number;  // DLPack's
  // Whose devices are named "cuda:0", with DLPack's number of the device. Empty: the number is that of the table.
  std::string_view backend;
  bool is_pinned;    // memory of the CPU that those devices can reach
  bool has_streams;  // libraries order their work there by streams as CUDA's (cuda_streams.h)
};

// Of each backend the device's own memory first, which is the kind of new arrays.
inline constexpr DeviceType kDeviceTypes[] = {
    {.number = dlpack::kCuda, .backend = "cuda", .is_pinned = false, .has_streams = true},
    {.number = dlpack::kCudaManaged, .backend = "cuda", .is_pinned = false, .has_streams = true},
    {.number = dlpack::kCudaHost, .backend = "cuda", .is_pinned = true, .has_streams = false},
    {.number = dlpack::kVulkan, .backend = "vulkan", .is_pinned = false, .has_streams = false},
    {.number = dlpack::kRocm, .backend = "rocm", .is_pinned = false, .has_streams = false},
    {.number = dlpack::kRocmHost, .backend = "rocm", .is_pinned = true, .has_streams = false},
    // For arrays of our own on any other device (anydml.DeviceArray). No other library sees it.
    {.number = dlpack::kExtension, .backend = "", .is_pinned = false, .has_streams = false},
};

// Null: the CPU's memory, or memory that no backend could reach.
[[nodiscard]] const DeviceType* find_device_type(std::int32_t number);

// Null: arrays of DLPack cannot be on devices of this backend.
[[nodiscard]] const DeviceType* own_memory(std::string_view backend);

// Empty: a device of none of these types.
[[nodiscard]] std::string_view backend_of(dlpack::Device where);

// The name that the table has for such a device, if it is there.
[[nodiscard]] std::string device_name(dlpack::Device where);

[[nodiscard]] bool has_streams(dlpack::Device where);

// The device that holds an array. Raises an error if the table does not have it.
const anydml_device* device_of(dlpack::Device where);

// How DLPack names new memory of a device. The type is kExtension if it has no name for it.
[[nodiscard]] dlpack::Device dlpack_device(const anydml_device* device);

}  // namespace anydml::python
