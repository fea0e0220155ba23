// SPDX-License-Identifier: MIT
// Checks a described operator against the rules in the facts, and against the requirements for each kind of field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts/rules.h"
#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// The violations found so far. A rule is not checked if it depends on a field that is already wrong.
struct Findings {
  std::vector<Violation> violations;
  std::uint32_t wrong = 0;  // bit i stands for field i

  void add(Location location, std::string reason) {
    mark(location.field);
    violations.push_back({location, std::move(reason)});
  }
  void mark(std::size_t field) { wrong |= field == kNone ? 0 : std::uint32_t{1} << field; }
  [[nodiscard]] bool is_wrong(std::size_t field) const { return (wrong >> field & 1) != 0; }
};

// Checks attributes individually: values of enumerations, arrays and their lengths, types of scalar unions, and nested
// operators, which must be fusable.
void check_fields(const Described& described, facts::FeatureLevel level, Findings& findings);

// Checks the operator's rules from data/facts/rules.txt.
void check_rules(const Described& described, facts::FeatureLevel level, Findings& findings);

enum class Verdict : std::uint8_t { asks_nothing, kept, broken };

// Checks a single rule, independently of the other rules.
[[nodiscard]] Verdict judge(const Described& described, facts::FeatureLevel level, const facts::Rule& rule);

// The sizes that a rule function requires for a tensor, aligned on the right: leading 1s may be missing.
struct SizesByFunction {
  std::size_t field;
  std::vector<std::int64_t> sizes;
  std::string why;
  std::optional<Violation> fault;  // an error in a different field, which prevents the sizes from being determined

  // Whether a tensor of this rank has enough dimensions for the sizes.
  [[nodiscard]] bool fit(std::size_t rank) const {
    return rank >= sizes.size() || std::all_of(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(rank),
                                               [](std::int64_t size) { return size == 1; });
  }
};

// Returns no value if a field that the function reads is absent, unknown or wrong, or if the function does not
// determine sizes.
[[nodiscard]] std::optional<SizesByFunction> sizes_by_function(facts::RuleFunction function, const Described& described,
                                                               const Findings& findings);

// Compares the required sizes with the tensor's actual sizes.
void check_by_function(facts::RuleFunction function, const Described& described, Findings& findings);

}  // namespace anydml::schema
