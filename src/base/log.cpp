// SPDX-License-Identifier: MIT
#include "base/log.h"

#include <atomic>
#include <cstdio>

#include "base/cancellation.h"

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

namespace {

void print_line(std::string_view text, std::string_view more, std::string_view last) noexcept {
  const CancellationDeferred deferred;  // to write is a cancellation point, and some of our callers let nothing out
  std::fprintf(stderr, "anydml: %.*s%.*s%.*s\n", static_cast<int>(text.size()), text.data(),
               static_cast<int>(more.size()), more.data(), static_cast<int>(last.size()), last.data());
}

}  // namespace

void log_line(LogLevel level, std::string_view text, std::string_view more, std::string_view last) noexcept {
  if (log_enabled(level)) {
    print_line(text, more, last);
  }
}

void show_unless_logged(LogLevel level, std::string_view text) noexcept {
  if (!log_enabled(level)) {
    print_line(text, "", "");
  }
}

}  // namespace anydml
