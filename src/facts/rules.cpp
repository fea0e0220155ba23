// SPDX-License-Identifier: MIT
#include "facts/rules.h"

#include <algorithm>
#include <iterator>

#include "facts/extensions.h"
#include "facts/facts_tables.h"
#include "facts/rules_tables.h"

namespace anydml::facts {
namespace {

static_assert(std::size(tables::kRules) == std::size(tables::kOperators));

// Whether every field fits into a 32-bit mask, and every constraint specifies how it is checked.
constexpr bool tables_fit() {
  for (std::size_t i = 0; i < std::size(tables::kOperators); ++i) {
    const Operator& op = tables::kOperators[i];
    if (op.fields.size() > 32 || op.constraints.size() != tables::kRules[i].checks.size()) {
      return false;
    }
  }
  return true;
}
static_assert(tables_fit());

// The operator of DirectML whose rules apply.
const Operator& ruled(const Operator& op) {
  const auto* const extension = std::ranges::find(own::kOperators, op.value, &Operator::value);
  return extension == std::end(own::kOperators) ? op : *find_operator(own::kRulesOf[extension - own::kOperators]);
}

const tables::RulesOfOperator& row_of(const Operator& op) {
  const auto found = std::ranges::lower_bound(tables::kOperators, ruled(op).value, {}, &Operator::value);
  return tables::kRules[static_cast<std::size_t>(found - std::begin(tables::kOperators))];
}

}  // namespace

Rules rules_of(const Operator& op) { return row_of(op).rules; }

std::span<const RuleCheck> checks_of(const Operator& op) { return row_of(op).checks; }

std::span<const Fusable> fusable() { return tables::kFusable; }

TypeSet extra_types(const Operator& op, std::size_t field) {
  TypeSet types = 0;
  for (const Extra& extra : tables::kExtra) {
    types |= extra.op == op.value && extra.field == field ? extra.types : 0U;
  }
  return types;
}

std::span<const Enum> enums() { return tables::kEnums; }

}  // namespace anydml::facts
