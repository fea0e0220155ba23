// SPDX-License-Identifier: MIT
// Log lines for human readers, on standard error or to a function of the program. On standard error each line is a
// single write, without a lock and without allocating, so that a thread may log after a fork, in a signal handler, and
// when no memory is left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/environment.h"

namespace anydml {

// A program's function that receives lines in place of standard error, without a newline.
using LogFunction = void (*)(void* context, int level, const char* line);

// The destination of lines: one for the process, which libanydml owns and the other libraries share. All zeros:
// standard error. A thread reads it without a lock: the members are consistent if the version was even, and the same
// before and after reading them.
struct LogState {
  std::atomic<std::uint32_t> version;
  std::atomic<LogFunction> function;
  std::atomic<void*> context;
  std::atomic<int> level;
};

// This library's own state, and the state of another library to use instead.
extern LogState g_own_log_state;
void share_log_state(LogState& state) noexcept;
// From now on the function receives every line up to the level, and every line that ANYDML_LOG asks for. If it is null,
// lines go to standard error again.
void set_log_function(LogFunction function, void* context, LogLevel level) noexcept;

// From now on errors are shown whatever ANYDML_LOG says: a user who misspelt a setting must learn about it.
void show_errors() noexcept;
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// All of these return whether the line was shown. The extra parts are for callers that have no memory to join them.
bool log_line(LogLevel level, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// An error of a library whose programs mostly discard the reason of a failure, as DirectML's do: it is shown unless
// ANYDML_LOG is none. If ANYDML_LOG is not set, a repeated line is shown only the second, fourth, eighth ... time, with
// a count, so that a program that fails in a loop is not flooded.
bool log_failure(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// For a message that the log did not show: some programs ask for it by other means.
void show_line(LogLevel level, std::string_view text) noexcept;

}  // namespace anydml
