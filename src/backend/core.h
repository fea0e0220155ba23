// SPDX-License-Identifier: MIT
// The state of the process as libanydml shows it to the libraries that are shipped with it: devices, and where messages
// go. Each of those libraries has code of the layers below; only libanydml has their state.
#pragma once

#include <cstdint>

#include "backend/backend.h"
#include "base/result.h"

namespace anydml {

inline constexpr std::uint32_t kCoreVersion = 1;

// What a backend's failure is to the rest.
[[nodiscard]] constexpr ErrorKind kind_of(BackendCode code) {
  return code == BackendCode::out_of_memory ? ErrorKind::out_of_memory : ErrorKind::device;
}

struct CoreDevice {
  const BackendTable* backend;
  BackendDevice* handle;
  const BackendDeviceInfo* info;
};

struct CoreTable {
  std::uint32_t version;
  std::uint32_t (*device_count)();                   // 0: there are none, and why has been reported
  const CoreDevice* (*device)(std::uint32_t index);  // in the order of anydml_device_at; lives as long as the process
  void (*report)(const char* message);               // to anydml_last_error of this thread, and to the log
};

}  // namespace anydml

extern "C" const anydml::CoreTable* anydml_private_core();
