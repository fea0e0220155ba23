// SPDX-License-Identifier: MIT
// Lines for people on standard error, only when ANYDML_LOG asks for them. Each line goes out in one write.
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

}  // namespace anydml
