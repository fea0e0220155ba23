// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace anydml {
namespace {

constexpr unsigned kMaxThreads = 1024;

Error not_understood(std::string_view name, std::string_view value, std::string_view expected) {
  return {
      ErrorKind::invalid_argument,
      std::string("environment: ").append(name).append(" is '").append(value).append("'; expected ").append(expected)};
}

}  // namespace

Result<Environment> read_environment(VariableReader reader) {
  Environment environment;
  if (const char* value = reader("ANYDML_ADAPTER"); value != nullptr) {
    environment.adapter = value;
  }
  if (const char* value = reader("ANYDML_THREADS"); value != nullptr && *value != '\0') {
    const std::string_view text = value;
    unsigned threads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
    if (error != std::errc{} || end != text.data() + text.size() || threads < 1 || threads > kMaxThreads) {
      return not_understood("ANYDML_THREADS", text, "a whole number from 1 to 1024");
    }
    environment.threads = threads;
  }
  if (const char* value = reader("ANYDML_LOG"); value != nullptr && *value != '\0') {
    const std::string_view text = value;
    if (text == "none" || text == "onnxruntime") {  // only the ONNX Runtime provider shows lines for the latter
      environment.log = LogLevel::none;
    } else if (text == "error") {
      environment.log = LogLevel::error;
    } else if (text == "info") {
      environment.log = LogLevel::info;
    } else if (text == "graph") {
      environment.log = LogLevel::graph;
    } else if (text == "dispatch") {
      environment.log = LogLevel::dispatch;
    } else {
      return not_understood("ANYDML_LOG", text, "none, error, info, graph, dispatch or onnxruntime");
    }
  }
  const std::pair<const char*, bool&> switches[] = {{"ANYDML_GRAPHICS", environment.graphics},
                                                    {"ANYDML_ALLOW_HALF_PRECISION", environment.allow_half}};
  for (const auto& [name, is_on] : switches) {
    if (const char* value = reader(name); value != nullptr && *value != '\0') {
      const std::string_view text = value;
      if (text != "0" && text != "1") {
        return not_understood(name, text, "0 or 1");
      }
      is_on = text == "1";
    }
  }
  if (const char* value = reader("ANYDML_DEBUG"); value != nullptr && *value != '\0') {
    const std::string_view text = value;
    if (text != "0" && text != "1" && text != "abort") {
      return not_understood("ANYDML_DEBUG", text, "0, 1 or abort");
    }
    environment.debug = text == "0" ? DebugSetting::off : text == "1" ? DebugSetting::on : DebugSetting::abort;
  }
  if (const char* value = reader("ANYDML_PLUGINS"); value != nullptr && *value != '\0') {
    const std::string_view text = value;
    if (text != "none" && !text.starts_with('/')) {
      return not_understood("ANYDML_PLUGINS", text, "the absolute path of a folder, or none");
    }
    environment.plugins = text;
  }
  // Higher layers define the valid targets and levels, and report invalid values.
  if (const char* value = reader("ANYDML_CPU_TARGET"); value != nullptr) {
    environment.cpu_target = value;
  }
  if (const char* value = reader("ANYDML_FEATURE_LEVEL"); value != nullptr) {
    environment.feature_level = value;
  }
  return environment;
}

const Result<Environment>& environment() {
  // Never destroyed, because threads may still log while the process exits. No lock is used, because a fork could leave
  // it locked. If several threads read the environment at the same time, the first result wins.
  static std::atomic<const Result<Environment>*> process = nullptr;
  const Result<Environment>* known = process.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto mine = std::make_unique<const Result<Environment>>(
        read_environment([](const char* name) -> const char* { return secure_getenv(name); }));
    if (process.compare_exchange_strong(known, mine.get(), std::memory_order_acq_rel)) {
      known = mine.release();
    }
  }
  return *known;
}

}  // namespace anydml
