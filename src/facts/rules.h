// SPDX-License-Identifier: MIT
// The rules from data/facts/rules.txt, as tables: trees of nodes over an operator's fields. schema/rules.h evaluates
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "facts/facts.h"

namespace anydml::facts {

// The kind of a node. `a`, `b` and `c` are other nodes of the operator's rules, or kNone.
enum class RuleOp : std::uint8_t {
  // Statements
  each,  // c for each number from a (kNone: 0) to b - 1; `value` names the variable
  when,  // b if a is true
  // Claims, and conditions
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  one_of,  // a is one of the items b
  holds,   // the array `field` contains a
  both,
  either,
  negation,
  // Values
  constant,  // `value`, in the enumeration `field` - 1, or a plain number if `field` is 0
  real,      // the bits of a FLOAT64 in `value`
  level,
  variable,   // the index is in the lowest 8 bits of `value`, and the letter in the next 8
  attribute,  // `field`
  member,     // member `value` of a pair: Width and Height, Scale and Bias
  element,    // element a of the array `field`
  length,     // the length of the array `field`; 0 if it is absent
  given,      // the number of fields in the items b that are present
  // Values of the tensor `field`, or of tensor b of an array
  size,  // size a; negative: from the end, and 1 if the tensor has fewer dimensions
  rank,
  data_type,
  flags,
  elements,
  effective_rank,
  // Arithmetic
  add,
  subtract,
  multiply,
  divide,  // rounds down
  minimum,
  maximum,
  absolute,
  choose,   // b if a is true, otherwise c
  sum,      // the sum of c over a variable, as in `each`
  product,  // the product of c over a variable
  item,     // a, or `field`, followed by the items b
};

struct RuleNode {
  static constexpr std::uint16_t kNone = 0xffff;

  RuleOp op;
  std::uint8_t field;
  std::uint16_t a;
  std::uint16_t b;
  std::uint16_t c;
  std::int64_t value;
};

// Rules that cannot be written as expressions. schema/rule_functions.cpp implements them.
enum class RuleFunction : std::uint8_t { none, fused_activation, gather_shape, gather_nd_shape, scatter_nd_shape };

// Bit i of the masks stands for field i.
struct Rule {
  std::int16_t constraint;  // index into the operator's `constraints`; -1 for a rule of our own
  RuleFunction function;    // if none, the expression is used
  std::uint16_t root;       // the root node of the expression
  std::uint32_t needs;      // the rule does not apply if one of these fields is absent
  std::uint32_t reads;      // the rule is not checked if one of these fields is already wrong
};

struct Rules {
  std::span<const Rule> rules;
  std::span<const Rule> usual;  // never checked: the values to use if the documentation does not specify one
  std::span<const RuleNode> nodes;
};

// Rules about sizes come last, so that mistakes in axes and counts are reported before their consequences.
[[nodiscard]] Rules rules_of(const Operator& op);

enum class CheckedBy : std::uint8_t { by_expression, by_function, prose };

// How a constraint is checked, for code that lists the constraints.
struct RuleCheck {
  CheckedBy how;
  std::string_view by;  // the function's name, or the reason why the constraint cannot be checked
};

// In the order of the operator's `constraints`.
[[nodiscard]] std::span<const RuleCheck> checks_of(const Operator& op);

// An operator that can be fused into other operators, starting at a level.
struct Fusable {
  std::uint32_t activation;  // DML_OPERATOR_TYPE
  std::uint32_t into;        // 0 for any operator that accepts a fused operator
  FeatureLevel since;
};
[[nodiscard]] std::span<const Fusable> fusable();

// Types that a tensor accepts in addition to the types in its table, where a documentation page contradicts itself.
struct Extra {
  std::uint32_t op;  // DML_OPERATOR_TYPE
  std::uint8_t field;
  std::uint16_t types;
};
[[nodiscard]] TypeSet extra_types(const Operator& op, std::size_t field);

[[nodiscard]] std::span<const Enum> enums();  // in the order that rule constants refer to

}  // namespace anydml::facts
