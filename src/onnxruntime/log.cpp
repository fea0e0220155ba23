// SPDX-License-Identifier: MIT
#include "onnxruntime/log.h"

#include <atomic>
#include <cstdlib>

#include "backend/core.h"
#include "base/log.h"

namespace anydml::ort {
namespace {

// Whether libanydml, whose log this library uses, is of the same build.
bool has_core() noexcept {
  static constinit std::atomic<bool> is_known = false;
  if (!is_known.load(std::memory_order_acquire) && core_of_this_build("libonnxruntime-ep-anydml.so") != nullptr) {
    is_known.store(true, std::memory_order_release);
  }
  return is_known.load(std::memory_order_acquire);
}

}  // namespace

bool is_log_wanted() noexcept {
  const char* const setting = secure_getenv("ANYDML_LOG");
  const bool is_named = setting != nullptr && std::string_view(setting) == "onnxruntime";
  return has_core() && (is_named || log_enabled(LogLevel::graph));
}

void log_provider(std::string_view line) noexcept { show_line(LogLevel::info, line); }

}  // namespace anydml::ort
