// SPDX-License-Identifier: MIT
// Values as a command line describes them: zeros, ones, random:-1:1, normal, sequence:0:2, 1,2,3, x.npy.
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

// "A=x.npy" in two; nothing without a name or without text.
[[nodiscard]] std::optional<NamedText> split_name(std::string_view text);

// As the initialValues of a resource, in JSON: so many elements, or what a file holds. The error goes after
// the name of an option.
[[nodiscard]] Result<std::string> initial_values(std::string_view words, std::uint64_t count, std::uint64_t seed);

}  // namespace anydml::dmlrun
