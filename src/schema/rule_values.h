// SPDX-License-Identifier: MIT
// Evaluates the nodes of a rule for a described operator, and formats them for messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "facts/rules.h"
#include "schema/described.h"
#include "schema/violation.h"

namespace anydml::schema {

struct RuleValue {
  enum class State : std::uint8_t {
    integer,
    real,
    absent,  // a field or an element that does not exist
    too_large,
    divided_by_zero,
  };
  State state = State::absent;
  std::int64_t integer = 0;
  double real = 0;

  [[nodiscard]] bool is_number() const { return state == State::integer || state == State::real; }
};

// The number that is stored for an attribute of the field's type.
[[nodiscard]] RuleValue rule_value(const facts::Field& field, const Scalar& number);

// Whether parts of tensors may be unknown, as in infer.h. Values that depend on unknown parts are absent.
enum class Unknowns : std::uint8_t { none, allowed };

class RuleValues {
 public:
  RuleValues(const Described& described, facts::FeatureLevel level, Unknowns unknowns = Unknowns::none)
      : described_(described), level_(level), unknowns_(unknowns), nodes_(facts::rules_of(*described.op).nodes) {}

  [[nodiscard]] const facts::RuleNode& node(std::uint16_t index) const { return nodes_[index]; }

  [[nodiscard]] RuleValue value(std::uint16_t index) const;
  // Whether a comparison or a condition is true; no value if the answer is unknown.
  [[nodiscard]] std::optional<bool> holds(std::uint16_t index) const;
  // Like holds, but for values that were already computed.
  [[nodiscard]] static bool compare(facts::RuleOp op, const RuleValue& a, const RuleValue& b);

  void set(std::int64_t variable, std::optional<std::int64_t> number) const {
    variables_[static_cast<std::size_t>(variable & 0xff) % variables_.size()] = number;
  }

  // The first field that the expression refers to, including element indices.
  [[nodiscard]] Location location(std::uint16_t index) const;
  // Whether `location` describes the expression completely.
  [[nodiscard]] bool is_plain(std::uint16_t index) const;

  // The text of an expression, such as "(InputTensor.Sizes[2] + StartPadding[0]) / Strides[0]". Known indices appear as
  // numbers.
  [[nodiscard]] std::string text(std::uint16_t index) const { return text(index, 0); }
  // The value of the node as text: "4", "FLOAT32".
  [[nodiscard]] std::string value_text(std::uint16_t index, const RuleValue& value) const;
  [[nodiscard]] std::string value_text(std::uint16_t index) const { return value_text(index, value(index)); }

 private:
  [[nodiscard]] RuleValue tensor_value(const facts::RuleNode& node) const;
  [[nodiscard]] RuleValue arithmetic(const facts::RuleNode& node) const;
  [[nodiscard]] RuleValue over_range(const facts::RuleNode& node) const;
  [[nodiscard]] const GivenTensor* tensor(const facts::RuleNode& node) const;
  [[nodiscard]] std::string text(std::uint16_t index, int tightness) const;
  [[nodiscard]] std::string index_text(std::uint16_t index) const;
  [[nodiscard]] std::string tensor_text(const facts::RuleNode& node) const;
  [[nodiscard]] std::string condition_text(std::uint16_t index) const;
  [[nodiscard]] const facts::Enum* enumeration_of(const facts::RuleNode& node) const;

  const Described& described_;
  facts::FeatureLevel level_;
  Unknowns unknowns_;
  std::span<const facts::RuleNode> nodes_;
  mutable std::array<std::optional<std::int64_t>, 4> variables_;  // a sum sets its variable while it is being computed
};

}  // namespace anydml::schema
