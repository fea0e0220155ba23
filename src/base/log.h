// SPDX-License-Identifier: MIT
// Lines for people on standard error. Each line goes out in one write, without a lock and without memory, so that a
// thread may log after a fork, in a signal handler, and when there is no memory left.
#pragma once

#include <string_view>

#include "base/environment.h"

namespace anydml {

// From now on errors are shown whatever ANYDML_LOG says: who misspelt a setting cannot be told to make another.
void show_errors() noexcept;
[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
// For a message that was logged, in case the log does not show it: some programs ask for it by other means.
void show_unless_logged(LogLevel level, std::string_view text) noexcept;
// The further parts are for those who have no memory to join them.
void log_line(LogLevel level, std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;
// An error of a library whose programs mostly drop the reason of a failure, as DirectML's do: it is shown unless
// ANYDML_LOG says none. Where ANYDML_LOG is not set, a line that comes again is shown the second, fourth, eighth ...
// time only, with a count: a program that fails in a loop must not drown in it.
void log_failure(std::string_view text, std::string_view more = "", std::string_view last = "") noexcept;

}  // namespace anydml
