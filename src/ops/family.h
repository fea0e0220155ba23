// SPDX-License-Identifier: MIT
// What a family of operators is to those who describe and run operators.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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
struct OpPart;

// Operators of one family whose elements go through one program together. Values have numbers: those that are loaded,
// and the result of each member.
inline constexpr std::uint32_t kAbsentFromGroup = 0xffffffff;
struct GroupMember {
  const OpDesc* desc;
  std::span<const std::uint32_t> inputs;  // the value that each of its inputs is; kAbsentFromGroup: it has none
  std::uint32_t result;
};
// A value in memory, of the type and at the sizes at which the group sees it.
struct GroupOperand {
  std::uint32_t value;
  PlacedTensor placed;
};
struct OperatorGroup {
  std::span<const GroupMember> members;  // each after those whose results it takes
  std::span<const GroupOperand> loads;
  std::span<const GroupOperand> stores;  // loads and stores: at most kMaxOperands
};

// What an operator of one input and one output can do without memory, where a device joins steps. Both are packed then.
struct Joins {
  bool before = false;  // take the elements of its input as they are made, by a group before it
  bool after = false;   // hand the elements of its output on as they are made, to a group after it
};

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
  // Adds one step for several operators; null where the family has none for more than one. Only where by_element.
  void (*lower_together)(const OperatorGroup& group, Plan& plan);
  // Null: neither, for all of them. A tensor of `lower` that has no memory is placed at kNoSlot.
  Joins (*joins)(const OpDesc& desc);
  // The operators that stand in its place, if any do: then it is not lowered itself. Null: none for all of them.
  Result<std::vector<OpPart>> (*parts)(const OpDesc& desc);
};

// In the order of families.def.
[[nodiscard]] std::span<const Family* const> families();

// Null: the operator is not built here.
[[nodiscard]] const Family* find_family(const facts::Operator& op);

}  // namespace anydml
