// SPDX-License-Identifier: MIT
// Text from outside in a message of ours: short, on one line, and unable to command a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/quoted.h"
#include "base/result.h"

namespace anydml::dmlrun {

// The text's first `limit` bytes, and "..." where there are more.
[[nodiscard]] inline std::string echo(std::string_view text, std::size_t limit = 40) { return escaped(text, limit); }

// What is wrong with something from outside.
[[nodiscard]] inline Error invalid(std::string text) { return {ErrorKind::invalid_argument, std::move(text)}; }

}  // namespace anydml::dmlrun
