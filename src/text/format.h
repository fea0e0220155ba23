// SPDX-License-Identifier: MIT
// Sentences with values in them. fmt, but with its heavy part compiled once, in format.cpp: a file that uses it costs a
// second or two instead of a dozen.
#pragma once

#include <fmt/core.h>

#include <string>

namespace anydml {

[[nodiscard]] std::string format_erased(fmt::string_view pattern, fmt::format_args values);

// As fmt::format: the pattern is checked when it is compiled.
template <class... Values>
[[nodiscard]] std::string format_text(fmt::format_string<Values...> pattern, Values&&... values) {
  return format_erased(pattern, fmt::make_format_args(values...));
}

}  // namespace anydml
