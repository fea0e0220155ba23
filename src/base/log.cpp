// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <cstdio>

namespace anydml {

bool log_enabled(LogLevel level) noexcept {
  try {
    const auto& settings = environment();
    return settings.ok() && settings.value().log >= level;
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

void log_line(LogLevel level, std::string_view text) noexcept {
  if (log_enabled(level)) {
    std::fprintf(stderr, "anydml: %.*s\n", static_cast<int>(text.size()), text.data());
  }
}

}  // namespace anydml
