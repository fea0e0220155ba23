// SPDX-License-Identifier: MIT
// Makes untrusted text safe for our messages: short, on one line, and without terminal escape codes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/quoted.h"
#include "base/result.h"

namespace anydml::dmlrun {

// Returns the first `limit` bytes of the text, followed by "..." if there are more.
[[nodiscard]] inline std::string echo(std::string_view text, std::size_t limit = 40) { return escaped(text, limit); }

// Describes an error in untrusted input.
[[nodiscard]] inline Error invalid(std::string text) { return {ErrorKind::invalid_argument, std::move(text)}; }

}  // namespace anydml::dmlrun
