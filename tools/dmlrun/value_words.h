// SPDX-License-Identifier: MIT
// Reads values from a command line: zeros, ones, random:-1:1, normal, sequence:0:2, 1,2,3, x.npy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anydml::dmlrun {

struct NamedText {
  std::string name;
  std::string text;
};

// Splits "A=x.npy" in two; returns nothing if the name or the text is missing.
[[nodiscard]] std::optional<NamedText> split_name(std::string_view text);

// Returns a resource's initialValues as JSON: `count` elements, or the content of a file. The error message is meant to
// follow the name of an option.
[[nodiscard]] Result<std::string> initial_values(std::string_view words, std::uint64_t count, std::uint64_t seed);

}  // namespace anydml::dmlrun
