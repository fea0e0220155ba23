// SPDX-License-Identifier: MIT
#include "ops/facts/facts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/facts/facts_tables.h"

namespace anydml::facts {
namespace {

constexpr std::string_view kPrefix = "DML_OPERATOR_";
constexpr std::size_t kLongestName = 64;

constexpr bool names_fit() {
  return std::ranges::all_of(tables::kOperators, [](const Operator& op) { return op.name.size() <= kLongestName; });
}
static_assert(names_fit());

std::string_view without_prefix(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

// Levenshtein distance, one row at a time; `written` may be of any length and is cut where no name could match.
std::size_t edit_distance(std::string_view written, std::string_view name) {
  written = written.substr(0, 2 * kLongestName);
  std::array<std::size_t, kLongestName + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < name.size(); ++j) {
      const std::size_t replace = diagonal + (written[i] == name[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[name.size()];
}

}  // namespace

std::span<const Operator> operators() { return tables::kOperators; }

const Operator* find_operator(std::string_view name) {
  const auto found = std::ranges::find(tables::kOperators, without_prefix(name), &Operator::name);
  return found == std::end(tables::kOperators) ? nullptr : &*found;
}

std::string_view nearest_operator_name(std::string_view name) {
  return std::ranges::min(
             tables::kOperators, {},
             [written = without_prefix(name)](const Operator& op) { return edit_distance(written, op.name); })
      .name;
}

const Support* find_support(const Operator& op, std::size_t field, FeatureLevel level) {
  const Support* best = nullptr;
  for (const Support& row : op.support) {
    if (row.field == field && row.level <= level && (best == nullptr || row.level > best->level)) {
      best = &row;
    }
  }
  return best;
}

std::string_view level_name(FeatureLevel level) {
  const auto found = std::ranges::find(tables::kFeatureLevels, level, &FeatureLevelName::level);
  return found == std::end(tables::kFeatureLevels) ? std::string_view{"unknown"} : found->name;
}

std::optional<FeatureLevel> parse_level(std::string_view name) {
  const auto found = std::ranges::find(tables::kFeatureLevels, name, &FeatureLevelName::name);
  if (found == std::end(tables::kFeatureLevels)) {
    return std::nullopt;
  }
  return found->level;
}

}  // namespace anydml::facts
