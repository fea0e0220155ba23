// SPDX-License-Identifier: MIT
// Case-insensitive ASCII comparison, independent of the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace anydml {

[[nodiscard]] constexpr char to_upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

[[nodiscard]] inline std::string to_upper(std::string_view text) {
  std::string upper(text);
  std::ranges::transform(upper, upper.begin(), [](char letter) { return to_upper(letter); });
  return upper;
}

[[nodiscard]] inline bool same_in_any_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return to_upper(x) == to_upper(y); });
}

[[nodiscard]] inline bool ends_in_any_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && same_in_any_case(text.substr(text.size() - end.size()), end);
}

}  // namespace anydml
