// SPDX-License-Identifier: MIT
// The rules of the facts, and what fields ask by being what they are, held against a described operator.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "facts/rules.h"
#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// What was found so far. A field that is wrong already is not judged by what depends on it.
struct Findings {
  std::vector<Violation> violations;
  std::uint32_t wrong = 0;  // bit i: field i

  void add(Place place, std::string reason) {
    mark(place.field);
    violations.push_back({place, std::move(reason)});
  }
  void mark(std::size_t field) { wrong |= field == kNone ? 0 : std::uint32_t{1} << field; }
  [[nodiscard]] bool is_wrong(std::size_t field) const { return (wrong >> field & 1) != 0; }
};

// Attributes by themselves: values of enumerations, arrays and their counts, types of scalar unions, and operators
// within the operator, which must be ones that can be fused.
void check_fields(const Described& described, facts::FeatureLevel level, Findings& findings);

// The rules that data/rules.txt has for the operator.
void check_rules(const Described& described, facts::FeatureLevel level, Findings& findings);

enum class Verdict : std::uint8_t { asks_nothing, kept, broken };

// One rule by itself, whatever the others say.
[[nodiscard]] Verdict judge(const Described& described, facts::FeatureLevel level, const facts::Rule& rule);

// Those of them that are functions.
void check_by_function(facts::RuleFunction function, const Described& described, Findings& findings);

}  // namespace anydml::schema
