// SPDX-License-Identifier: MIT
// The state of the process as libanydml shows it to the libraries that are shipped with it: devices, and where messages
// go. Each of those libraries has code of the layers below; only libanydml has their state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "base/log.h"
#include "base/result.h"

namespace anydml {

// What a backend's failure is to the rest.
[[nodiscard]] constexpr ErrorKind kind_of(BackendCode code) {
  return code == BackendCode::out_of_memory ? ErrorKind::out_of_memory : ErrorKind::device;
}

// A backend's answer as ours; `who` begins the message.
[[nodiscard]] inline Status from_backend(std::string_view who, const BackendTable& backend, BackendStatus status) {
  if (status.code == BackendCode::ok) {
    return {};
  }
  std::string message(who);
  message.append(": device ").append(backend.name).append(": ").append(status.message);
  return Error{kind_of(status.code), std::move(message)};
}

struct CoreDevice {
  const BackendTable* backend;
  BackendDevice* handle;
  const BackendDeviceInfo* info;
};

struct CoreTable {
  std::uint64_t build;                               // kBuildHash. Always the first member
  std::uint32_t (*device_count)();                   // 0: there are none, and why has been reported
  const CoreDevice* (*device)(std::uint32_t index);  // in the order of anydml_device_at; lives as long as the process
  // To anydml_last_error of this thread, and to log_failure. Says whether the log showed it.
  bool (*report)(const char* message);
  // For a refusal that a program asks for, or was told of before: to the log only where somebody asks for it.
  bool (*report_answer)(const char* message);
  LogState* log;  // where lines go
};

}  // namespace anydml

extern "C" const anydml::CoreTable* anydml_private_core();

namespace anydml {

// The core, for a library beside it; null when the libanydml that was loaded is of another build. Nothing in its table
// can be relied on then, not even how to report it, so it is said on standard error, whatever ANYDML_LOG says.
[[nodiscard]] inline const CoreTable* core_of_this_build(const char* library) noexcept {
  const CoreTable* core = anydml_private_core();
  if (core->build == kBuildHash) {
    share_log_state(*core->log);
    return core;
  }
  show_errors();
  log_line(LogLevel::error, library,
           ": the libanydml.so that was loaded is of another build; expected the one that was installed with this "
           "library");
  return nullptr;
}

}  // namespace anydml
