// SPDX-License-Identifier: MIT
// Formats messages with fmt. The expensive part of fmt is compiled only once, in format.cpp, so a file that includes
// this header compiles in one or two seconds instead of a dozen.
#pragma once

#include <fmt/core.h>

#include <string>

namespace anydml {

[[nodiscard]] std::string format_erased(fmt::string_view pattern, fmt::format_args values);

// Like fmt::format. The pattern is checked at compile time.
template <class... Values>
[[nodiscard]] std::string format_text(fmt::format_string<Values...> pattern, Values&&... values) {
  return format_erased(pattern, fmt::make_format_args(values...));
}

}  // namespace anydml
