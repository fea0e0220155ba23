// SPDX-License-Identifier: MIT
// The rules of data/facts/rules.txt as tables: trees of nodes over an operator's fields. schema/rules.h evaluates them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "facts/facts.h"

namespace anydml::facts {

// The kind of a node. `a`, `b`, `c` are other nodes of the operator, or kNone.
enum class RuleOp : std::uint8_t {
  // Statements
  each,  // c for each number from a (kNone: 0) up to b; `value` names the variable
  when,  // b where a holds
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
  constant,  // `value`; of the enumeration `field` - 1, or a number where that is 0
  real,      // the bits of a FLOAT64 in `value`
  level,
  variable,   // its place in the lowest 8 bits of `value`, its letter in the next
  attribute,  // `field`
  member,     // number `value` of a pair: Width and Height, Scale and Bias
  element,    // number a of the array `field`
  length,     // of the array `field`; 0 where it is absent
  given,      // how many of the fields of the items b are present
  // Values of the tensor `field`, or of tensor number b of an array
  size,  // number a; negative: from the end, and 1 if the tensor has fewer
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
  least,
  most,
  absolute,
  choose,   // b where a holds, otherwise c
  sum,      // of c, over a variable as `each` has it
  product,  // likewise
  item,     // a, or `field`, and the items b after it
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

// Rules that no expression can state; schema/rule_functions.cpp implements them.
enum class RuleFunction : std::uint8_t { none, fused_activation, gather_shape, gather_nd_shape, scatter_nd_shape };

// Bit i of the masks stands for field i.
struct Rule {
  std::int16_t constraint;  // in the operator's `constraints`; -1: our own rule
  RuleFunction function;    // none: the expression
  std::uint16_t root;       // its first node
  std::uint32_t needs;      // it does not apply if one of these is absent
  std::uint32_t reads;      // and is not checked if one of these is already wrong
};

struct Rules {
  std::span<const Rule> rules;
  std::span<const Rule> usual;  // never checked: the value to use where the documentation leaves it open
  std::span<const RuleNode> nodes;
};

// Rules about sizes come last: mistakes in axes and counts are reported before their consequences.
[[nodiscard]] Rules rules_of(const Operator& op);

enum class Judged : std::uint8_t { by_expression, by_function, prose };

// How a constraint is checked, for code that lists them.
struct Judgement {
  Judged how;
  std::string_view by;  // the function's name, or why it cannot be checked
};

// In the order of the operator's `constraints`.
[[nodiscard]] std::span<const Judgement> judgements_of(const Operator& op);

// An operator that can be fused into others from a level on.
struct Fusable {
  std::uint32_t activation;  // DML_OPERATOR_TYPE
  std::uint32_t into;        // 0: into any operator that accepts a fused operator
  FeatureLevel since;
};
[[nodiscard]] std::span<const Fusable> fusable();

// Types that a tensor may have in addition to its table, where a page contradicts itself.
struct Extra {
  std::uint32_t op;  // DML_OPERATOR_TYPE
  std::uint8_t field;
  std::uint16_t types;
};
[[nodiscard]] TypeSet extra_types(const Operator& op, std::size_t field);

[[nodiscard]] std::span<const Enum> enums();  // as constants of rules number them

}  // namespace anydml::facts
