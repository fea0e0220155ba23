// SPDX-License-Identifier: MIT
// Lines for people on standard error, only when ANYDML_LOG asks for them. Each line goes out in one write.
#pragma once

#include <string_view>

#include "base/environment.h"

namespace anydml {

[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
// The second part is for those who have no memory to join them.
void log_line(LogLevel level, std::string_view text, std::string_view more = {}) noexcept;

}  // namespace anydml
