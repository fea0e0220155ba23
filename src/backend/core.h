// SPDX-License-Identifier: MIT
// The process-wide state that libanydml exposes to the libraries that are shipped with it: the devices, and the
// destination of messages. Each of these libraries contains a copy of the lower layers' code, but only libanydml
// contains their state.
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

// The kind of error that corresponds to a backend's failure.
[[nodiscard]] constexpr ErrorKind kind_of(BackendCode code) {
  return code == BackendCode::out_of_memory ? ErrorKind::out_of_memory
         : code == BackendCode::interrupted ? ErrorKind::interrupted
                                            : ErrorKind::device;
}

// Converts a backend's status to our Status. The message begins with `who`.
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
  std::uint32_t (*device_count)();                   // 0 if no devices are available and the reason has been reported
  const CoreDevice* (*device)(std::uint32_t index);  // in the order of anydml_device_at; valid until the process exits
  // Sets anydml_last_error for this thread, and calls log_failure. Returns whether the log showed the message.
  bool (*report)(const char* message);
  // Like report, but for a failure that a program provokes or already expects. Logged only if errors are requested.
  bool (*report_answer)(const char* message);
  LogState* log;  // the destination of log lines
};

}  // namespace anydml

extern "C" const anydml::CoreTable* anydml_private_core();

namespace anydml {

// Returns the core table for an accompanying library, or null if the loaded libanydml comes from a different build. In
// that case the table cannot be trusted, not even to report the problem, so the message goes to standard error
// regardless of ANYDML_LOG.
[[nodiscard]] inline const CoreTable* core_of_this_build(const char* library) noexcept {
  const CoreTable* core = anydml_private_core();
  if (core->build == kBuildHash) {
    share_log_state(*core->log);
    return core;
  }
  show_errors();
  log_line(LogLevel::error, library,
           ": the libanydml.so that was loaded comes from another build; expected the one that was installed with this "
           "library");
  return nullptr;
}

}  // namespace anydml
