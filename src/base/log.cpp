// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <cstdio>

namespace anydml {

bool log_enabled(LogLevel level) noexcept {
  try {
    const auto& settings = environment();
    // Who misspelt a setting cannot be told to make another: then errors are shown.
    return (settings.ok() ? settings.value().log : LogLevel::error) >= level;
  } catch (...) {  // reading the settings ran out of memory
    return false;
  }
}

void log_line(LogLevel level, std::string_view text, std::string_view more) noexcept {
  if (log_enabled(level)) {
    std::fprintf(stderr, "anydml: %.*s%.*s\n", static_cast<int>(text.size()), text.data(),
                 static_cast<int>(more.size()), more.data());
  }
}

}  // namespace anydml
