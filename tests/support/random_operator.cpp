// SPDX-License-Identifier: MIT
#include "support/random_operator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "facts/rules.h"
#include "schema/check.h"
#include "schema/solver.h"
#include "schema/tensor_rules.h"

namespace anydml::test {

using facts::FieldKind;
using facts::FieldType;
using schema::Argument;
using schema::Described;
using schema::GivenTensor;
using schema::kUnknownSize;
using Stage = schema::Solver::Stage;

namespace {

constexpr std::uint64_t kNaturals[] = {0, 0, 1, 1, 1, 2, 2, 3};
constexpr std::int64_t kIntegers[] = {-2, -1, 1, 1, 2, 0};
constexpr double kReals[] = {0, 0.25, 0.5, 1, 1};

// An array is a set if a rule searches it for numbers.
bool is_set(const facts::Operator& op, std::size_t field) {
  return std::ranges::any_of(facts::rules_of(op).nodes, [field](const facts::RuleNode& node) {
    return node.op == facts::RuleOp::holds && node.field == field;
  });
}

std::vector<std::uint32_t> types_of(const facts::Operator& op, std::size_t field, facts::FeatureLevel level) {
  std::vector<std::uint32_t> types;
  const auto admitted = facts::admitted(op, field, level);
  for (std::uint32_t type = 1; type < 16; ++type) {
    const bool taken = admitted && admitted->types != 0 ? (admitted->types >> type & 1) != 0 : type <= 11;
    if (taken) {
      types.push_back(type);
    }
  }
  return types;
}

}  // namespace

// One attempt to draw an operator.
class RandomOperator {
 public:
  RandomOperator(RandomOperators& random, const facts::Operator& op, facts::FeatureLevel level)
      : random_(random), op_(op), level_(level), described_(op) {}

  std::optional<Described> make() {
    for (std::size_t field = 0; field < op_.fields.size(); ++field) {
      choose_presence(field);
    }
    schema::Solver solver(described_, level_, schema::SizeRule::same);
    solver.run(Stage::rules);
    while (choose_input(solver)) {
      solver.run(Stage::rules);
      fill_arrays();
      solver.run(Stage::rules);
    }
    solver.run(Stage::everything);
    if (!solver.faults().empty()) {
      return std::nullopt;  // for example, a window that does not fit its input
    }
    while (choose_tensor(solver, facts::is_output)) {
      solver.run(Stage::everything);
    }
    for (Argument& argument : described_.arguments) {
      for (GivenTensor& tensor : argument.tensors) {
        tensor.total_bytes = implied_bytes(tensor.type, std::span(tensor.sizes, tensor.rank), nullptr).value_or(0);
      }
    }
    return check_operator(described_, level_).empty() ? std::optional(std::move(described_)) : std::nullopt;
  }

 private:
  // Chooses which arguments are present, and numbers that do not depend on other arguments.
  void choose_presence(std::size_t index) {
    const facts::Field& field = op_.fields[index];
    Argument& argument = described_.arguments[index];
    const bool is_optional = field.kind == FieldKind::optional_input || field.kind == FieldKind::optional_output ||
                             field.kind == FieldKind::optional_attribute;
    if (facts::is_count(op_, index)) {
      argument.present = true;  // without a number, since it is still unknown
      return;
    }
    if (is_optional && random_.chance(2)) {
      return;
    }
    if (field.type == FieldType::tensors) {
      argument.present = true;
      argument.tensors.assign(facts::is_array(field.kind) ? 1 + random_.below(3) : 1, schema::unknown_tensor());
      if (field.count_field >= 0) {
        Argument& count = described_.arguments[static_cast<std::size_t>(field.count_field)];
        count.present = true;
        count.numbers = {Scalar(u64{argument.tensors.size()})};
      }
      return;
    }
    if (field.count_field >= 0) {
      return;  // filled in when the count is known
    }
    argument.present = true;
    switch (field.type) {
      case FieldType::enumeration:
        if (index != schema::union_type_field(op_)) {  // otherwise it follows from a tensor
          const facts::Enum& known = *facts::find_enum(field.spelling);
          argument.numbers = {Scalar(u64{known.values[random_.below(known.values.size())].value})};
        }
        break;
      case FieldType::boolean:
        argument.numbers = {Scalar(random_.below(2))};
        break;
      case FieldType::natural:
        argument.numbers = {Scalar(u64{random_.one_of(kNaturals)})};
        break;
      case FieldType::integer:
        argument.numbers = {Scalar(i64{random_.one_of(kIntegers)})};
        break;
      case FieldType::size_2d:
        argument.numbers = {Scalar(1 + random_.below(3)), Scalar(1 + random_.below(3))};
        break;
      case FieldType::scale_bias:
        argument.numbers = {Scalar(f64{random_.one_of(kReals)}), Scalar(f64{random_.one_of(kReals)})};
        break;
      case FieldType::operators:
        argument.operators = {activation()};
        break;
      default:
        argument.numbers = {Scalar(f64{random_.one_of(kReals)})};
    }
  }

  // An activation that can be fused, with its attributes.
  Described activation() {
    std::vector<const facts::Operator*> all;
    for (const facts::Fusable& row : facts::fusable()) {
      if (row.since <= level_ && (row.into == 0 || row.into == op_.value)) {
        const auto found = std::ranges::find(facts::operators(), row.activation, &facts::Operator::value);
        if (found->introduced <= level_) {
          all.push_back(&*found);
        }
      }
    }
    RandomOperator inner(random_, *all[random_.below(all.size())], level_);
    for (std::size_t field = 0; field < inner.op_.fields.size(); ++field) {
      if (facts::is_attribute(inner.op_.fields[field].kind)) {
        inner.choose_presence(field);
      }
    }
    for (std::size_t field = 0; field < inner.op_.fields.size(); ++field) {
      if (facts::is_count(inner.op_, field)) {
        inner.described_.arguments[field].numbers = {Scalar(u64{1})};
      }
    }
    inner.fill_arrays();
    return std::move(inner.described_);
  }

  [[nodiscard]] std::optional<std::size_t> count_of(std::size_t array) const {
    const Argument& count = described_.arguments[static_cast<std::size_t>(op_.fields[array].count_field)];
    return count.numbers.empty() ? std::nullopt : std::optional<std::size_t>(count.numbers.front().as<u64>());
  }

  // Fills the arrays whose counts are already known.
  void fill_arrays() {
    for (std::size_t index = 0; index < op_.fields.size(); ++index) {
      const facts::Field& field = op_.fields[index];
      Argument& argument = described_.arguments[index];
      if (field.count_field < 0 || argument.present || field.type == FieldType::tensors || !count_of(index) ||
          *count_of(index) > 16) {
        continue;
      }
      argument.present = true;
      if (field.type == FieldType::operators) {
        for (std::size_t i = 0; i < *count_of(index); ++i) {
          argument.operators.push_back(activation());
        }
        continue;
      }
      for (std::size_t i = 0; i < *count_of(index); ++i) {
        argument.numbers.push_back(number_of(field));
      }
      if (is_set(op_, index)) {
        const std::uint64_t first = random_.below(3);
        for (std::size_t i = 0; i < argument.numbers.size(); ++i) {
          argument.numbers[i] = Scalar(u64{first + i});
        }
      }
    }
  }

  Scalar number_of(const facts::Field& field) {
    return field.type == FieldType::naturals   ? Scalar(u64{random_.one_of(kNaturals)})
           : field.type == FieldType::integers ? Scalar(i64{random_.one_of(kIntegers)})
                                               : Scalar(f64{random_.one_of(kReals)});
  }

  // Chooses one argument that is still unknown. Returns false if the inputs and attributes are complete.
  bool choose_input(schema::Solver& solver) {
    if (choose_tensor(solver, facts::is_input, true)) {
      return true;
    }
    for (std::size_t index = 0; index < op_.fields.size(); ++index) {
      Argument& argument = described_.arguments[index];
      if (facts::is_count(op_, index) && argument.numbers.empty()) {
        argument.numbers = {Scalar(1 + random_.below(3))};
        return true;
      }
    }
    return choose_tensor(solver, facts::is_input);
  }

  bool choose_tensor(schema::Solver& solver, bool (*wanted)(FieldKind), bool without_sizes = false) {
    for (std::size_t index = 0; index < op_.fields.size(); ++index) {
      for (GivenTensor& tensor : described_.arguments[index].tensors) {
        if (!wanted(op_.fields[index].kind)) {
          continue;
        }
        if (tensor.type == 0) {
          const auto types = types_of(op_, index, level_);
          tensor.type = types[random_.below(types.size())];
          return true;
        }
        if (!tensor.has_sizes) {
          const auto admitted = facts::admitted(op_, index, level_);
          const std::uint32_t minimum = admitted ? admitted->min_rank : 1;
          const std::uint32_t maximum = admitted ? admitted->max_rank : kMaxRank;
          tensor.has_sizes = true;
          tensor.rank = minimum + static_cast<std::uint32_t>(random_.below(std::min(maximum - minimum, 3U) + 1));
          std::ranges::fill(tensor.sizes, kUnknownSize);
          return true;
        }
      }
    }
    if (without_sizes) {
      return false;
    }
    for (const schema::Solver::Choice& choice : solver.choices()) {
      GivenTensor& tensor = described_.arguments[choice.location.field].tensors[choice.location.index];
      if (wanted(op_.fields[choice.location.field].kind) && tensor.sizes[choice.location.part_index] == kUnknownSize) {
        tensor.sizes[choice.location.part_index] = choice.numbers[random_.below(choice.numbers.size())];
        return true;
      }
    }
    return choose_size(wanted);
  }

  bool choose_size(bool (*wanted)(FieldKind)) {
    std::vector<std::int64_t*> unknown;
    for (std::size_t index = 0; index < op_.fields.size(); ++index) {
      for (GivenTensor& tensor : described_.arguments[index].tensors) {
        for (std::uint32_t i = 0; wanted(op_.fields[index].kind) && i < tensor.rank; ++i) {
          if (tensor.sizes[i] == kUnknownSize) {
            unknown.push_back(&tensor.sizes[i]);
          }
        }
      }
    }
    if (unknown.empty()) {
      return false;
    }
    *unknown[random_.below(unknown.size())] = random_.one_of(random_.sizes_);
    return true;
  }

  RandomOperators& random_;
  const facts::Operator& op_;
  facts::FeatureLevel level_;
  Described described_;
};

std::uint64_t RandomOperators::bits() {
  if (next_byte_ + 1 < bytes_.size()) {
    next_byte_ += 2;
    return std::uint64_t{bytes_[next_byte_ - 2]} << 8 | bytes_[next_byte_ - 1];
  }
  state_ += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  return mixed ^ (mixed >> 31);
}

std::optional<Described> RandomOperators::make(const facts::Operator& op, facts::FeatureLevel level, int attempts) {
  for (int i = 0; i < attempts; ++i) {
    if (auto result = RandomOperator(*this, op, level).make()) {
      return result;
    }
  }
  return std::nullopt;
}

Described without_outputs(Described described) {
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    if (facts::is_output(described.op->fields[field].kind)) {
      std::ranges::fill(described.arguments[field].tensors, schema::unknown_tensor());
    }
  }
  return described;
}

}  // namespace anydml::test
