// SPDX-License-Identifier: MIT
// Fills in the unknown parts of a described operator, as defined in infer.h, in any tensor and in attributes that are
// single numbers. infer_outputs uses it for outputs, and tests use it to create random operators.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/rules.h"
#include "schema/described.h"
#include "schema/infer.h"
#include "schema/rule_values.h"
#include "schema/violation.h"

namespace anydml::schema {

class Solver {
 public:
  // The description must outlive the solver, and each argument must keep its number of tensors.
  Solver(Described& described, facts::FeatureLevel level, SizeRule sizes);

  // Derives everything that can be derived now: either from the rules alone, or also from the usual choices for values
  // that the rules do not determine.
  enum class Stage : std::uint8_t { rules, everything };
  void run(Stage stage);

  // Values that rules produced but that are not valid sizes or ranks, so the parts stay unknown.
  [[nodiscard]] const std::vector<Violation>& faults() const { return faults_; }

  // A rule that allows a size to be one of several known numbers.
  struct Choice {
    Location location;
    std::vector<std::int64_t> numbers;
  };
  [[nodiscard]] std::vector<Choice> choices();

 private:
  struct Target {
    GivenTensor* tensor;
    std::size_t field;
    std::size_t index;  // index into the argument's tensors
  };

  bool apply_groups();
  bool apply_types();
  bool apply_usual_types();
  bool apply_ranks();
  bool apply_rules(std::span<const facts::Rule> rules);
  bool apply_function(const facts::Rule& rule);
  bool apply_broadcast();

  void walk(std::uint16_t index);
  void walk_each(const facts::RuleNode& node);
  void claim(const facts::RuleNode& node);
  void solve(std::uint16_t index, const RuleValue& wanted, std::uint16_t source);
  void solve_arithmetic(const facts::RuleNode& node, const RuleValue& wanted, std::uint16_t source);
  void solve_tensor(const facts::RuleNode& node, std::uint16_t index, const RuleValue& wanted, std::uint16_t source);
  void collect_choice(const facts::RuleNode& node);
  void fault(std::uint16_t index, const RuleValue& wanted, std::uint16_t source);
  [[nodiscard]] bool are_given(std::uint32_t fields) const;
  [[nodiscard]] Target target(const facts::RuleNode& node);

  bool set_type(GivenTensor& tensor, std::int64_t type);
  bool set_rank(GivenTensor& tensor, std::int64_t rank);
  bool set_size(GivenTensor& tensor, std::int64_t index, std::int64_t size);

  Described& described_;
  const facts::Operator& op_;
  facts::FeatureLevel level_;
  SizeRule size_rule_;
  RuleValues values_;
  std::vector<Violation> faults_;
  std::vector<Choice>* choices_ = nullptr;  // set while choices are collected, when nothing is solved
  std::vector<std::int64_t> min_ranks_;     // for each field, the number of sizes that rules refer to from the end
  std::int64_t max_steps_ = 0;              // the number of dimensions or elements; limits loops if a count is wrong
  bool changed_ = false;
};

}  // namespace anydml::schema
