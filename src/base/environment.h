// SPDX-License-Identifier: MIT
// The environment variables a user can set, read once. A value that is not understood is an error, in one line,
// from the first call that needs it: a misspelt setting must not pass silently.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace anydml {

enum class LogLevel : int { none = 0, error = 1, info = 2, graph = 3, dispatch = 4 };

struct Environment {
  std::string adapter;          // ANYDML_ADAPTER; empty: the first
  unsigned threads = 0;         // ANYDML_THREADS; 0: as many as the machine gives us
  std::optional<LogLevel> log;  // ANYDML_LOG; nothing: it is not set, and each library has its own default
  bool graphics = false;        // ANYDML_GRAPHICS: adapters say that they can draw, for programs that ask for it
  bool allow_half = false;      // ANYDML_ALLOW_HALF_PRECISION: as if every program allowed it where it compiles
  std::string plugins;          // ANYDML_PLUGINS: the folder of plugins, or "none"; empty: our own
  std::string cpu_target;       // ANYDML_CPU_TARGET: the instructions that kernels may use; empty: the best there are
  std::string feature_level;    // ANYDML_FEATURE_LEVEL, which DirectML devices do not pass; empty: the newest
};

// Looks a variable up; null when it is not set.
using VariableReader = const char* (*)(const char* name);

Result<Environment> read_environment(VariableReader reader);

// The process's own, read by secure_getenv at the first call.
const Result<Environment>& environment();

}  // namespace anydml
