// SPDX-License-Identifier: MIT
#include "schema/rules.h"

#include <algorithm>

#include "schema/rule_values.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

using facts::RuleNode;
using facts::RuleOp;
using State = RuleValue::State;

constexpr std::int64_t kMaxSteps = 1 << 20;
constexpr std::size_t kMaxReported = 64;  // violations reported per rule: an array may contain thousands of tensors

// Formats a count: "no tensor", "1 tensor", "2 tensors".
std::string number_of(std::int64_t count, std::string_view what) {
  return count == 0   ? format_text("no {}", what)
         : count == 1 ? format_text("1 {}", what)
                      : format_text("{} {}s", count, what);
}

class RuleChecker {
 public:
  RuleChecker(const Described& described, facts::FeatureLevel level, Findings& findings)
      : described_(described), level_(level), findings_(findings), values_(described, level) {}

  Verdict run(const facts::Rule& rule) {
    if (rule.function != facts::RuleFunction::none) {
      const std::size_t before = findings_.violations.size();
      check_by_function(rule.function, described_, findings_);
      return findings_.violations.size() == before ? Verdict::kept : Verdict::broken;
    }
    if ((rule.reads & findings_.wrong) != 0 || !are_given(rule.needs)) {
      return Verdict::asks_nothing;
    }
    verdict_ = Verdict::asks_nothing;
    reported_ = 0;
    (void)judge(rule.root);
    for (const std::size_t field : blamed_) {
      findings_.mark(field);  // only now, so that every element that breaks the rule is reported
    }
    blamed_.clear();
    return verdict_;
  }

 private:
  [[nodiscard]] bool are_given(std::uint32_t fields) const {
    for (std::size_t i = 0; i < described_.arguments.size(); ++i) {
      if ((fields >> i & 1) != 0 && !described_.arguments[i].present) {
        return false;
      }
    }
    return true;
  }

  // Returns false if the rest of the rule must be skipped, because the rule refers to an absent part, or because
  // enough violations were reported.
  bool judge(std::uint16_t index) {
    const RuleNode& node = values_.node(index);
    if (node.op == RuleOp::when) {
      const auto holds = values_.holds(node.a);
      if (!holds || !*holds) {
        return holds.has_value();
      }
      conditions_.push_back(node.a);
      const bool judged = judge(node.b);
      conditions_.pop_back();
      return judged;
    }
    if (node.op == RuleOp::each) {
      return judge_each(node);
    }
    const auto kept = values_.holds(index);
    if (kept && !*kept) {
      report(node);
    }
    if (kept && verdict_ != Verdict::broken) {
      verdict_ = *kept ? Verdict::kept : Verdict::broken;
    }
    return kept.has_value() && reported_ < kMaxReported;
  }

  bool judge_each(const RuleNode& node) {
    const RuleValue low = node.a == RuleNode::kNone ? RuleValue{State::integer, 0, 0} : values_.value(node.a);
    const RuleValue high = values_.value(node.b);
    if (low.state != State::integer || high.state != State::integer) {
      return false;
    }
    for (std::int64_t i = low.integer; i < high.integer && i - low.integer < kMaxSteps; ++i) {
      values_.set(node.value, i);
      if (!judge(node.c)) {
        return false;
      }
    }
    return true;
  }

  void report(const RuleNode& claim) {
    const Location location = values_.location(claim.a);
    if (std::ranges::find(findings_.violations, location, &Violation::location) != findings_.violations.end()) {
      return;  // one violation was already reported at this location
    }
    ++reported_;
    findings_.violations.push_back(
        {location, given_text(claim.a) + "; expected " + expected_text(claim) + reasons_text() + remedy_text(claim)});
    const bool is_tensor = described_.op->fields[location.field].type == facts::FieldType::tensors;
    if (!is_tensor || location.part == Part::dimension_count) {
      blamed_.push_back(location.field);  // a wrong size does not make the other sizes wrong
    }
  }

  // Explains how to satisfy the rule, if the field does not make that obvious.
  [[nodiscard]] std::string remedy_text(const RuleNode& claim) const {
    return values_.node(claim.a).op == RuleOp::flags
               ? format_text(
                     ", since {} accepts no tensor owned by DirectML; bind it at execution, or in a graph let "
                     "ACTIVATION_IDENTITY take the owned tensor and {} its output",
                     described_.op->name, described_.op->name)
               : std::string();
  }

  // Describes the actual value: "is 4", "holds 3 tensors", "Offsets[0] + Sizes[0] is 7".
  [[nodiscard]] std::string given_text(std::uint16_t index) const {
    const RuleNode& node = values_.node(index);
    const RuleValue value = values_.value(index);
    const std::string what = value.is_number()                 ? format_text("is {}", values_.value_text(index, value))
                             : value.state == State::too_large ? "does not fit into 64 bits"
                                                               : "divides by 0";
    if (values_.is_plain(index)) {
      return what;
    }
    switch (node.op) {
      case RuleOp::elements:
        return value.is_number() ? format_text("holds {}", number_of(value.integer, "element"))
                                 : "holds more elements than fit into 64 bits";
      case RuleOp::effective_rank:
        return format_text("{} without leading 1s", what);
      case RuleOp::length: {
        const facts::FieldType type = described_.op->fields[node.field].type;
        return format_text("holds {}", number_of(value.integer, type == facts::FieldType::tensors     ? "tensor"
                                                                : type == facts::FieldType::operators ? "operator"
                                                                                                      : "number"));
      }
      case RuleOp::given:
        return given_fields_text(node, value.integer);
      default:
        return format_text("{} {}", values_.text(index), what);
    }
  }

  [[nodiscard]] std::string given_fields_text(const RuleNode& node, std::int64_t count) const {
    std::string names;
    std::size_t fields = 0;
    for (std::uint16_t at = node.b; at != RuleNode::kNone; at = values_.node(at).b) {
      const bool is_last = values_.node(at).b == RuleNode::kNone;
      names += fields == 0 ? "" : is_last ? " and " : ", ";
      names += described_.op->fields[values_.node(at).field].name;
      ++fields;
    }
    return fields == 1  ? "the tensor is null"
           : count == 0 ? format_text("none of {} is given", names)
                        : format_text("{} of {} {} given", count, names, count == 1 ? "is" : "are");
  }

  // Formats a known value: "4", or "InputTensor.DimensionCount, which is 4".
  [[nodiscard]] std::string known_text(std::uint16_t index) const {
    const RuleOp op = values_.node(index).op;
    const std::string text = values_.text(index);
    if (op == RuleOp::constant || op == RuleOp::real) {
      return text;
    }
    const RuleValue value = values_.value(index);
    return value.is_number()
               ? format_text("{}, which is {}", text, values_.value_text(index, value))
               : format_text("{}, which {}", text,
                             value.state == State::too_large ? "does not fit into 64 bits" : "divides by 0");
  }

  [[nodiscard]] std::string expected_text(const RuleNode& claim) const {
    if (claim.op == RuleOp::one_of) {
      std::string all;
      for (std::uint16_t at = claim.b; at != RuleNode::kNone; at = values_.node(at).b) {
        const bool is_last = values_.node(at).b == RuleNode::kNone;
        all += all.empty() ? "" : is_last ? " or " : ", ";
        all += known_text(values_.node(at).a);
      }
      return all;
    }
    if (values_.node(claim.a).op == RuleOp::given && values_.node(values_.node(claim.a).b).b == RuleNode::kNone) {
      return "a DML_TENSOR_DESC";
    }
    const RuleOp wanted_op = values_.node(claim.b).op;
    const bool is_constant = wanted_op == RuleOp::constant || wanted_op == RuleOp::real;
    const std::string wanted = known_text(claim.b);
    switch (claim.op) {
      case RuleOp::not_equal:
        return format_text("anything but {}", wanted);
      case RuleOp::less:
        return format_text("less than {}", wanted);
      case RuleOp::less_equal:
        return is_constant ? format_text("{} at most", wanted) : format_text("at most {}", wanted);
      case RuleOp::greater:
        return format_text("more than {}", wanted);
      case RuleOp::greater_equal:
        return is_constant ? format_text("{} or more", wanted) : format_text("at least {}", wanted);
      default:
        return wanted;
    }
  }

  // Explains why the rule applies here: the level, and the attributes and types that the rule depends on.
  [[nodiscard]] std::string reasons_text() const {
    std::string text;
    for (const std::uint16_t condition : conditions_) {
      const RuleNode& node = values_.node(condition);
      if (node.op == RuleOp::holds) {
        text += format_text(", since {} holds {}", described_.op->fields[node.field].name, values_.value_text(node.a));
      } else if (node.a != RuleNode::kNone && values_.node(node.a).op == RuleOp::level) {
        text += format_text(" at feature level {}", facts::level_name(level_));
      } else if (node.op == RuleOp::given && values_.node(node.b).b == RuleNode::kNone) {
        text += format_text(", since {} is given", described_.op->fields[values_.node(node.b).field].name);
      } else if ((node.op == RuleOp::equal || node.op == RuleOp::not_equal) && values_.is_plain(node.a)) {
        text += format_text(", since {} is {}", values_.text(node.a), values_.value_text(node.a));
      }
    }
    return text;
  }

  const Described& described_;
  facts::FeatureLevel level_;
  Findings& findings_;
  RuleValues values_;
  std::vector<std::uint16_t> conditions_;
  std::vector<std::size_t> blamed_;
  Verdict verdict_ = Verdict::asks_nothing;
  std::size_t reported_ = 0;
};

}  // namespace

void check_rules(const Described& described, facts::FeatureLevel level, Findings& findings) {
  RuleChecker checker(described, level, findings);
  for (const facts::Rule& rule : facts::rules_of(*described.op).rules) {
    (void)checker.run(rule);
  }
}

Verdict judge(const Described& described, facts::FeatureLevel level, const facts::Rule& rule) {
  Findings findings;
  return RuleChecker(described, level, findings).run(rule);
}

}  // namespace anydml::schema
