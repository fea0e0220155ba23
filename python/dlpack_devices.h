// SPDX-License-Identifier: MIT
// Maps DLPack's devices to the library's devices, and back. The library's device table decides which devices exist;
// only this file depends on DLPack's device types.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "dlpack.h"

namespace anydml::python {

// A DLPack device type, which is a kind of memory.
struct DeviceType {
  std::int32_t number;  // DLPack's device type
  // The prefix of device names such as "cuda:0", which end in DLPack's device number. If it is empty, DLPack's number
  // is an index into the device table.
  std::string_view backend;
  bool is_pinned;    // CPU memory that these devices can access
  bool has_streams;  // libraries order their work with CUDA streams (cuda_streams.h)
};

// The first entry of each backend is the device's own memory, which new arrays use.
inline constexpr DeviceType kDeviceTypes[] = {
    {.number = dlpack::kCuda, .backend = "cuda", .is_pinned = false, .has_streams = true},
    {.number = dlpack::kCudaManaged, .backend = "cuda", .is_pinned = false, .has_streams = true},
    {.number = dlpack::kCudaHost, .backend = "cuda", .is_pinned = true, .has_streams = false},
    {.number = dlpack::kVulkan, .backend = "vulkan", .is_pinned = false, .has_streams = false},
    {.number = dlpack::kRocm, .backend = "rocm", .is_pinned = false, .has_streams = false},
    {.number = dlpack::kRocmHost, .backend = "rocm", .is_pinned = true, .has_streams = false},
    // The type of our own arrays on any other device (anydml.DeviceArray); other libraries never see it.
    {.number = dlpack::kExtension, .backend = "", .is_pinned = false, .has_streams = false},
};

// Returns null for CPU memory, and for memory that no backend can access.
[[nodiscard]] const DeviceType* find_device_type(std::int32_t number);

// Returns null if DLPack has no type for devices of this backend.
[[nodiscard]] const DeviceType* own_memory(std::string_view backend);

// Returns an empty name for any other device type.
[[nodiscard]] std::string_view backend_of(dlpack::Device where);

// The name of the device in the device table, whether or not the table contains it.
[[nodiscard]] std::string device_name(dlpack::Device where);

[[nodiscard]] bool has_streams(dlpack::Device where);

// The device that holds an array. Raises an error if the device table does not contain it.
const anydml_device* device_of(dlpack::Device where);

// The DLPack device of new memory on a device. Its type is kExtension if DLPack has no type for the device.
[[nodiscard]] dlpack::Device dlpack_device(const anydml_device* device);

}  // namespace anydml::python
