// SPDX-License-Identifier: MIT
#include "facts/facts.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/edit_distance.h"
#include "facts/extensions.h"
#include "facts/facts_tables.h"
#include "facts/rules.h"

namespace anydml::facts {
namespace {

constexpr std::string_view kPrefix = "DML_OPERATOR_";

constexpr bool names_fit() {
  return std::ranges::all_of(tables::kOperators,
                             [](const Operator& op) { return op.name.size() <= kLongestComparedName; }) &&
         std::ranges::all_of(tables::kOperatorAliases,
                             [](const Alias& alias) { return alias.name.size() <= kLongestComparedName; });
}
static_assert(names_fit());

std::string_view without_prefix(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

// Whether the row applies to its tensor and functions at the level. The last row up to that level applies, or the first
// row if all rows are newer.
bool holds(const Operator& op, const Support& row, FeatureLevel level) {
  return std::ranges::none_of(op.support, [&](const Support& other) {
    return other.field == row.field && other.only_for == row.only_for &&
           (row.level <= level ? other.level > row.level && other.level <= level : other.level < row.level);
  });
}

constexpr Alias kWords[] = {
#define ANYDML_WORD(word, op) {#word, #op},
#include "facts/words.def"
};

// Whether two names are the same, ignoring case and underscores.
bool is_word(std::string_view written, std::string_view word) {
  std::size_t at = 0;
  for (const char letter : written) {
    if (letter != '_' && (at == word.size() || to_upper(letter) != word[at++])) {
      return false;
    }
  }
  return at == word.size();
}

}  // namespace

bool is_count(const Operator& op, std::size_t field) {
  return std::ranges::find(op.fields, static_cast<std::int8_t>(field), &Field::count_field) != op.fields.end();
}

std::span<const Operator> operators() { return tables::kOperators; }

std::span<const Alias> operator_aliases() { return tables::kOperatorAliases; }
std::span<const Alias> struct_aliases() { return tables::kStructAliases; }

const Operator* find_operator(std::string_view name) {
  const std::string_view written = without_prefix(name);
  const auto alias = std::ranges::find(tables::kOperatorAliases, written, &Alias::name);
  const auto found = std::ranges::find(
      tables::kOperators, alias == std::end(tables::kOperatorAliases) ? written : alias->target, &Operator::name);
  if (found != std::end(tables::kOperators)) {
    return &*found;
  }
  const auto* const extension = std::ranges::find(own::kOperators, written, &Operator::name);
  return extension == std::end(own::kOperators) ? nullptr : extension;
}

std::string_view nearest_operator_name(std::string_view name) {
  const std::string_view written = without_prefix(name);
  for (const Alias& known : kWords) {
    if (is_word(written, known.name)) {
      return known.target;
    }
  }
  std::string_view best;
  std::size_t minimum = max_suggestion_distance(written);
  const auto compare = [&](std::string_view known) {
    constexpr std::string_view kFamily = "ELEMENT_WISE_";
    std::size_t distance = edit_distance(written, known);
    if (known.starts_with(kFamily)) {
      distance = std::min(distance, edit_distance(written, known.substr(kFamily.size())));
    }
    if (distance < minimum) {
      minimum = distance;
      best = known;
    }
  };
  for (const Operator& op : tables::kOperators) {
    compare(op.name);
  }
  for (const Alias& alias : tables::kOperatorAliases) {
    compare(alias.name);
  }
  return best;
}

std::optional<Admitted> admitted(const Operator& op, std::size_t field, FeatureLevel level) {
  if (level < op.introduced) {
    return std::nullopt;
  }
  std::optional<Admitted> all;
  for (const Support& row : op.support) {
    if (row.field != field || !holds(op, row, level)) {
      continue;
    }
    if (!all) {
      all = {.types = row.types, .min_rank = row.min_rank, .max_rank = row.max_rank};
    }
    all->types |= row.types;
    all->min_rank = std::min(all->min_rank, row.min_rank);
    all->max_rank = std::max(all->max_rank, row.max_rank);
  }
  if (all && all->types != 0) {
    all->types |= extra_types(op, field);
  }
  return all;
}

const Enum* find_enum(std::string_view type) {
  const auto found = std::ranges::find(tables::kEnums, type, &Enum::name);
  return found == std::end(tables::kEnums) ? nullptr : &*found;
}

std::optional<std::uint32_t> find_enum_value(const Enum& known, std::string_view name) {
  for (const EnumValue& value : known.values) {
    if (value.name == name || value.name.substr(known.prefix.size()) == name) {
      return value.value;
    }
  }
  return std::nullopt;
}

std::span<const FeatureLevelName> feature_levels() { return tables::kFeatureLevels; }

std::string_view level_name(FeatureLevel level) {
  const auto found = std::ranges::find(tables::kFeatureLevels, level, &FeatureLevelName::level);
  return found == std::end(tables::kFeatureLevels) ? std::string_view{"unknown"} : found->name;
}

std::optional<FeatureLevel> find_level(std::uint32_t value) {
  for (const FeatureLevelName& known : tables::kFeatureLevels) {
    if (static_cast<std::uint32_t>(known.level) == value) {
      return known.level;
    }
  }
  return std::nullopt;
}

std::optional<FeatureLevel> parse_level(std::string_view name) {
  const auto found = std::ranges::find(tables::kFeatureLevels, name, &FeatureLevelName::name);
  if (found == std::end(tables::kFeatureLevels)) {
    return std::nullopt;
  }
  return found->level;
}

}  // namespace anydml::facts
