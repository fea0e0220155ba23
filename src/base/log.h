// SPDX-License-Identifier: MIT
// Lines for people, on standard error or to a function of the program. On standard error each line goes out in one
// write, without a lock and without memory, so that a thread may log after a fork, in a signal handler, and when there
// is no memory left.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/environment.h"

namespace anydml {

// A program's function that takes lines in place of standard error, without an end of line.
using LogFunction = void (*)(void* context, int level, const char* line);

// Where lines go: one for the process, which libanydml has and the libraries beside it share. All zero: to standard
// error. A thread reads it without a lock: the members belong together if the version was even, and the same before and
// after they were read.
struct LogState {
  std::atomic<std::uint32_t> version;
  std::atomic<LogFunction> function;
  std::atomic<void*> context;
  std::atomic<int> level;
};

// This library's own state, and the state of another library that it is to use instead.
extern LogState g_own_log_state;
void share_log_state(LogState& state) noexcept;
// From now on the function receives every line up to the level, and every line that ANYDML_LOG asks for. If it is null,
// lines go to standard error again.
void set_log_function(LogFunction function, void* context, LogLevel level) noexcept;

// From now on errors are shown whatever ANYDML_LOG says: who misspelt a setting cannot be told to make another.
void show_errors() noexcept;
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// All of these say whether the line was shown. The further parts are for those who have no memory to join them.
bool log_line(LogLevel level, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// An error of a library whose programs mostly drop the reason of a failure, as DirectML's do: it is shown unless
// ANYDML_LOG says none. Where ANYDML_LOG is not set, a line that comes again is shown the second, fourth, eighth ...
// time only, with a count: a program that fails in a loop must not drown in it.
bool log_failure(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// For a message that the log did not show: some programs ask for it by other means.
void show_line(LogLevel level, std::string_view text) noexcept;

}  // namespace anydml
