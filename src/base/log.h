// SPDX-License-Identifier: MIT
// Log lines for human readers, on standard error or passed to a function that the program provides. On standard error
// each line is a single write, without a lock and without an allocation, so that a thread may log after a fork, in a
// signal handler, and when memory has run out.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/environment.h"

namespace anydml {

// A function, provided by the program, that receives lines instead of standard error. Lines have no newline.
using LogFunction = void (*)(void* context, int level, const char* line);

// The destination of log lines: one for the process, owned by libanydml and shared by the other libraries. All zeros
// means standard error. Threads read it without a lock: the members are consistent if the version was even, and the
// same before and after reading them.
struct LogState {
  std::atomic<std::uint32_t> version;
  std::atomic<LogFunction> function;
  std::atomic<void*> context;
  std::atomic<int> level;
};

// This library's own state, and the state of another library to use instead.
extern LogState g_own_log_state;
void share_log_state(LogState& state) noexcept;
// From now on the function receives every line up to the level, and every line that ANYDML_LOG enables. If it is null,
// lines go to standard error again.
void set_log_function(LogFunction function, void* context, LogLevel level) noexcept;

// From now on errors are shown whatever ANYDML_LOG says: a user who misspelled a setting must learn about it.
void show_errors() noexcept;
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// These return whether the line was shown. The extra parts are for callers that have no memory to join them.
bool log_line(LogLevel level, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Logs an error from a library whose callers mostly discard the reason for a failure, as DirectML programs do. The line
// is shown unless ANYDML_LOG is none. If ANYDML_LOG is not set, repetitions of a line are shown only the second,
// fourth, eighth ... time, with a count, so that a program that fails in a loop does not flood the log.
bool log_failure(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Shows a message that the log did not show, for programs that request messages by other means.
void show_line(LogLevel level, std::string_view text) noexcept;

// Prints a line on standard error although a function receives the log, for a time when the function may be gone.
void print_to_standard_error(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Does nothing unless ANYDML_DEBUG is abort. Then it prints the error on standard error, unless the log has shown it
// there, says why the process ends, and ends it with SIGABRT: a program that ignores the results of its calls must not
// appear to succeed.
void end_if_strict(bool shown, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;

}  // namespace anydml
