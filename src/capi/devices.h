// SPDX-License-Identifier: MIT
// The devices of this process: every backend's, in the order users see them. The one place where such state lives.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "anydml/anydml.h"
#include "backend/backend.h"
#include "backend/core.h"
#include "base/result.h"

namespace anydml {

struct Device {
  const BackendTable* backend;
  std::unique_ptr<BackendDevice, void (*)(BackendDevice*)> handle;
  BackendDeviceInfo info;
  anydml_device_info public_info;  // its strings are those of info
  CoreDevice core;                 // how the shells see it
};

// Opened at the first call, the default first; the same vector from then on. A failure for want of memory is forgotten,
// so that a later call may succeed; one in the environment stays.
Result<const std::vector<Device>*> devices();

Result<const Device*> find_device(std::string_view name);

// A backend's answer as ours; `who` begins the message.
Status from_backend(std::string_view who, const BackendTable& backend, BackendStatus status);

}  // namespace anydml
