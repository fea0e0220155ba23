// SPDX-License-Identifier: MIT
// Checks a described operator against DirectML's documentation at a feature level, and lists every broken rule. This
// works for all 177 operators, including those that are not implemented. It does not check whether the strides of an
// output map two elements to the same address, or anything that depends on the values in tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facts/facts.h"
#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

// For each tensor, in the order of the fields, its position among the operator's inputs or outputs. Bindings and
// kernels use these positions. An absent optional tensor keeps its position; an array occupies one position for each of
// its tensors.
[[nodiscard]] std::vector<std::size_t> positions_of(const Described& described);

// Returns a violation if the operator is newer than the level.
[[nodiscard]] std::optional<Violation> check_level(const facts::Operator& op, facts::FeatureLevel level);

struct TensorType {
  Location location;
  std::uint32_t type = 0;
};

// Lists the types that differ although the facts require equal types. Each tensor is listed once, compared with the
// first tensor in its group.
[[nodiscard]] std::vector<Violation> check_same_types(const facts::Operator& op, std::span<const TensorType> tensors);

// Checks everything: first the level, then each tensor on its own in order, then the relations between tensors, then
// the attributes and the rules. CreateOperator reports the first violation. Violations that merely follow from an
// earlier violation are omitted.
[[nodiscard]] std::vector<Violation> check_operator(const Described& described, facts::FeatureLevel level);

// The part of check_operator that does not need attributes.
[[nodiscard]] std::vector<Violation> check_tensors(const Described& described, facts::FeatureLevel level);

// For callers that have already validated the tensors. The operator must accept their types, and tensors may be empty.
// Checks attributes, rules, and types that must be equal. If sizes do not broadcast, also checks sizes and ranks that
// must be equal.
[[nodiscard]] std::vector<Violation> check_relations(const Described& described, facts::FeatureLevel level,
                                                     bool sizes_broadcast);

}  // namespace anydml::schema
