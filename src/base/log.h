// SPDX-License-Identifier: MIT
// Lines for people on standard error, only when ANYDML_LOG asks for them. Each line goes out in one write.
#pragma once

#include <string_view>

#include "base/environment.h"

namespace anydml {

[[nodiscard]] bool log_enabled(LogLevel level) noexcept;
void log_line(LogLevel level, std::string_view text) noexcept;

}  // namespace anydml
