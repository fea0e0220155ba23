// SPDX-License-Identifier: MIT
// The devices of this process: every backend's, in the order users see them. The one place where such state lives.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "anydml/anydml.h"
#include "backend/backend.h"
#include "backend/core.h"
#include "base/result.h"

namespace anydml {

struct Device {
  const BackendTable* backend = nullptr;
  BackendDevice* handle = nullptr;
  BackendDeviceInfo info = {};
  anydml_device_info public_info = {};  // its strings are those of info
  CoreDevice core = {};                 // how the shells see it

  // Queues for calls that return when their work is done. One at a time uses each, but for the queue of a device that
  // does its work at once.
  Result<BackendQueue*> take_queue() const;
  void give_queue_back(BackendQueue* queue) const noexcept;

  BackendQueue* shared_queue = nullptr;  // of a device that is not asynchronous
  mutable std::mutex queues_mutex;
  mutable std::vector<BackendQueue*> queues;
  mutable std::size_t queue_count = 0;
};

// Opened at the first call, the default first; the same from then on. A failure for want of memory is forgotten, so
// that a later call may succeed; one in the environment stays.
Result<const std::vector<const Device*>*> devices();

Result<const Device*> cpu_device();

// For the CPU device, before it is opened; afterwards an error, unless it has as many.
Status set_threads(std::uint32_t count);

// The first of them. When that is the CPU by the settings, no plugin is loaded for it.
Result<const Device*> default_device();

Result<const Device*> find_device(std::string_view name);

}  // namespace anydml
