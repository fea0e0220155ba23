// SPDX-License-Identifier: MIT
// What DirectML's documents ask of an operator at a feature level, held against it as it was described: every rule that
// is broken, for any of the 177 operators, built here or not. Strides of outputs that put two elements at one place are
// not judged here, nor is what only shows in the values of tensors.
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

// For each tensor, in the order of the fields, its position among the inputs or the outputs of the operator, where
// bindings and kernels look for it. An optional tensor that is absent keeps its position; an array takes as many as it
// has.
[[nodiscard]] std::vector<std::size_t> positions_of(const Described& described);

// An operator younger than the level.
[[nodiscard]] std::optional<Violation> check_level(const facts::Operator& op, facts::FeatureLevel level);

struct TensorType {
  Place place;
  std::uint32_t type = 0;
};

// Types that differ where the facts want them the same: each tensor once, against the first of its group.
[[nodiscard]] std::vector<Violation> check_same_types(const facts::Operator& op, std::span<const TensorType> tensors);

// Everything. First the level, then each tensor by itself in their order, then what concerns them together, then the
// attributes and the rules: CreateOperator answers with the first. What only follows from a violation already listed is
// left out.
[[nodiscard]] std::vector<Violation> check_operator(const Described& described, facts::FeatureLevel level);

// The part of check_operator that asks nothing of attributes.
[[nodiscard]] std::vector<Violation> check_tensors(const Described& described, facts::FeatureLevel level);

// For those whose tensors were validated otherwise, have types that the operator takes and may be empty: types that
// must be the same, attributes and rules; and where sizes do not broadcast, also sizes and ranks that must be the same.
[[nodiscard]] std::vector<Violation> check_relations(const Described& described, facts::FeatureLevel level,
                                                     bool sizes_broadcast);

}  // namespace anydml::schema
