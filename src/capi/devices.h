// SPDX-License-Identifier: MIT
// The devices of this process, from all backends, in the order that users see. No other file keeps a list of devices.
#pragma once

#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "anydml/anydml.h"
#include "backend/backend.h"
#include "backend/core.h"
#include "base/result.h"
#include "capi/device_memory.h"

namespace anydml {

struct Device {
  const BackendTable* backend = nullptr;
  BackendDevice* handle = nullptr;
  BackendDeviceInfo info = {};
  anydml_device_info public_info = {};  // its strings belong to info
  CoreDevice core = {};                 // the form of the device that the other libraries use

  // Queues for calls that return after their work is done. Only one call at a time uses a queue, except on a
  // synchronous device.
  Result<BackendQueue*> take_queue() const;
  void give_queue_back(BackendQueue* queue) const noexcept;

  mutable NamedMemory named;  // for a device that does not share addresses

  BackendQueue* shared_queue = nullptr;  // for a device that is not asynchronous
  mutable std::mutex queues_mutex;
  mutable std::vector<BackendQueue*> queues;
  mutable std::size_t queue_count = 0;
};

// The devices are opened at the first call, with the default first, and do not change afterwards. An out-of-memory
// failure is not remembered, so a later call may succeed; an invalid environment is permanent.
Result<const std::vector<const Device*>*> devices();

// The same devices if they are open already, otherwise none. Opens no device.
std::span<const Device* const> opened_devices();

Result<const Device*> cpu_device();

// Sets the number of threads for the CPU device before it is opened. After that, a different number is an error.
Status set_threads(std::uint32_t count);

// Returns the default device. If the settings select the CPU, no plugin is loaded.
Result<const Device*> default_device();

Result<const Device*> find_device(std::string_view name);

}  // namespace anydml
