// SPDX-License-Identifier: MIT
#include "capi/boundary.h"

#include <cstdio>

#include "base/log.h"

namespace anydml {
namespace {

// A fixed buffer, so that running out of memory can be reported too.
thread_local char t_last_error[1024] = "";

}  // namespace

void set_last_error(const char* message) noexcept {
  std::snprintf(t_last_error, sizeof(t_last_error), "%s", message);
  // Names that a caller gave are part of messages: what they hold must not start a line of its own in a log.
  for (char* letter = t_last_error; *letter != '\0'; ++letter) {
    if (static_cast<unsigned char>(*letter) < ' ') {
      *letter = '?';
    }
  }
  log_line(LogLevel::error, t_last_error);
}

const char* last_error() noexcept { return t_last_error; }

}  // namespace anydml
