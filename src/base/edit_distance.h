// SPDX-License-Identifier: MIT
// The edit distance between two names, for messages that suggest the intended name.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "base/ascii.h"

namespace anydml {

inline constexpr std::size_t kLongestComparedName = 64;

// The Levenshtein distance, ignoring case, computed one row at a time. Names that are too long to compare have infinite
// distance.
[[nodiscard]] inline std::size_t edit_distance(std::string_view written, std::string_view name) {
  if (name.size() > kLongestComparedName || written.size() > 2 * kLongestComparedName) {
    return static_cast<std::size_t>(-1);
  }
  std::array<std::size_t, kLongestComparedName + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < name.size(); ++j) {
      const std::size_t replace = diagonal + (to_upper(written[i]) == to_upper(name[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[name.size()];
}

// Names at this distance or more are not suggested.
[[nodiscard]] constexpr std::size_t max_suggestion_distance(std::string_view written) { return written.size() / 3 + 1; }

}  // namespace anydml
