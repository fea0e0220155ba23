// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <atomic>
#include <cstdio>

namespace anydml {
namespace {

constinit std::atomic<bool> g_show_errors = false;

}  // namespace

void show_errors() noexcept { g_show_errors.store(true, std::memory_order_relaxed); }

bool log_enabled(LogLevel level) noexcept {
  try {
    const auto& settings = environment();
    const bool shown = !settings.ok() || g_show_errors.load(std::memory_order_relaxed);
    return (settings.ok() && settings.value().log >= level) || (shown && level <= LogLevel::error);
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
