// SPDX-License-Identifier: MIT
// The environment variables that a user can set. They are read only once. A misspelled setting must not go unnoticed,
// so the first call that needs an invalid value fails with a one-line error.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace anydml {

enum class LogLevel : int { none = 0, error = 1, info = 2, graph = 3, dispatch = 4 };

// off: only programs can turn the debug layer on. abort: it is on for every device, and the first error ends the
// process.
enum class DebugSetting { off, on, abort };

struct Environment {
  std::string adapter;          // ANYDML_ADAPTER; empty for the first adapter
  unsigned threads = 0;         // ANYDML_THREADS; 0 means the machine's maximum
  std::optional<LogLevel> log;  // ANYDML_LOG; if it is not set, each library has its own default
  bool graphics = false;        // ANYDML_GRAPHICS: adapters claim that they can draw, for programs that require it
  bool allow_half = false;  // ANYDML_ALLOW_HALF_PRECISION: as if every program allowed half precision when compiling
  DebugSetting debug = DebugSetting::off;  // ANYDML_DEBUG: 0, 1 or abort
  std::string plugins;        // ANYDML_PLUGINS: the folder of plugins, or "none"; empty for the default folder
  std::string cpu_target;     // ANYDML_CPU_TARGET: the instructions that kernels may use; empty for the best available
  std::string feature_level;  // ANYDML_FEATURE_LEVEL, the highest level of DirectML devices; empty for the newest
};

// Looks up a variable and returns null if it is not set.
using VariableReader = const char* (*)(const char* name);

Result<Environment> read_environment(VariableReader reader);

// The process's own settings, read with secure_getenv at the first call.
const Result<Environment>& environment();

}  // namespace anydml
