// SPDX-License-Identifier: MIT
// Log lines for human readers, written to standard error or passed to a function that the program provides. On standard
// error, each line is a single write, without a lock or an allocation, so that a thread may log after a fork, in a
// signal handler, and after memory has run out.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/environment.h"

namespace anydml {

// The program's own function for receiving log lines instead of standard error. Lines do not end with a newline.
using LogFunction = void (*)(void* context, int level, const char* line);

// The destination of log lines. The process has one LogState, which libanydml owns and the other libraries share. All
// zeros means standard error. Threads read it without a lock: the members are consistent if the version was even and
// did not change while they were read.
struct LogState {
  std::atomic<std::uint32_t> version;
  std::atomic<LogFunction> function;
  std::atomic<void*> context;
  std::atomic<int> level;
};

// This library's own state. share_log_state replaces it with the state of another library.
extern LogState g_own_log_state;
void share_log_state(LogState& state) noexcept;
// Sends every line up to the level, and every line that ANYDML_LOG enables, to the function. If the function is null,
// lines go to standard error again.
void set_log_function(LogFunction function, void* context, LogLevel level) noexcept;

// Enables errors regardless of ANYDML_LOG, so that users learn about misspelled settings.
void show_errors() noexcept;
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;

// These functions return whether the line was shown. With `more` and `last`, a caller can log several strings without
// allocating memory to join them.
bool log_line(LogLevel level, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Logs an error from a library whose callers usually discard the reason for a failure, as DirectML programs do. The
// line is shown unless ANYDML_LOG is none. If ANYDML_LOG is not set, a repeated line is shown only the second, fourth,
// eighth ... time, with a count, so that a program that fails in a loop does not flood the log.
bool log_failure(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Shows a message that the log did not show, for programs that request messages in a different way.
void show_line(LogLevel level, std::string_view text) noexcept;

// Prints a line to standard error even if a function receives the log. Used when that function may no longer exist.
void print_to_standard_error(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// Does nothing unless ANYDML_DEBUG is abort. Otherwise prints the error to standard error, unless the log has already
// shown it there, explains why the process ends, and ends it with SIGABRT. A program that ignores the results of its
// calls must not appear to succeed.
void end_if_strict(bool shown, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;

}  // namespace anydml
