// SPDX-License-Identifier: MIT
// What a family of operators is to those who describe and run operators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"
#include "base/result.h"
#include "facts/facts.h"
#include "plan/plan.h"

namespace anydml {

enum class FamilyId : std::uint32_t {
#define ANYDML_FAMILY(name) name,
#include "ops/families.def"
};

struct OpDesc;

struct Family {
  std::string_view name;
  bool (*has)(const facts::Operator& op);
  // The types that a tensor of one of its operators takes here, by its place among the inputs, then the outputs.
  TypeSet (*types)(const facts::Operator& op, std::size_t position);
  // Whether each element of an output comes from the elements of the inputs at its own place and no others. Then an
  // input may be repeated to the output's sizes by NumPy's rule, and an output may lie over an input.
  bool by_element;
  // What the rules of the documents do not say: types that do not go together here, numbers that have no meaning.
  Status (*check)(const OpDesc& desc);
  // Adds the operator's steps. tensors: the inputs, then the outputs, and where they are; those that are absent too.
  void (*lower)(const OpDesc& desc, std::span<const PlacedTensor> tensors, Plan& plan);
};

// In the order of families.def.
[[nodiscard]] std::span<const Family* const> families();

// Null: the operator is not built here.
[[nodiscard]] const Family* find_family(const facts::Operator& op);

}  // namespace anydml
