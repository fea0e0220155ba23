// SPDX-License-Identifier: MIT
#include "schema/solver.h"

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "base/shape.h"
#include "schema/rules.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

using facts::RuleNode;
using facts::RuleOp;
using State = RuleValue::State;

RuleValue integer(std::int64_t number) { return {State::integer, number, 0}; }

bool in_group(const facts::SameGroup& group, std::size_t field) { return (group.fields >> field & 1) != 0; }

// Calls use(tensor) for each tensor in a group, in the order of the fields.
template <class Use>
void for_each_tensor(Described& described, const facts::SameGroup& group, const Use& use) {
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    if (in_group(group, field)) {
      for (GivenTensor& tensor : described.arguments[field].tensors) {
        use(tensor);
      }
    }
  }
}

// Extends `all` to the sizes to which both tensors broadcast under NumPy's rule. Returns false if they do not
// broadcast.
bool broadcast(const GivenTensor& tensor, GivenTensor& all) {
  GivenTensor wide = all;
  if (tensor.rank > all.rank) {
    const std::uint32_t more = tensor.rank - all.rank;
    std::fill_n(wide.sizes, more, 1);
    std::copy_n(all.sizes, all.rank, wide.sizes + more);
    wide.rank = tensor.rank;
  }
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    std::int64_t& size = wide.sizes[wide.rank - tensor.rank + i];
    if (size != tensor.sizes[i] && size != 1 && tensor.sizes[i] != 1) {
      return false;
    }
    size = size == 1 ? tensor.sizes[i] : size;
  }
  all = wide;
  return true;
}

}  // namespace

Solver::Solver(Described& described, facts::FeatureLevel level, SizeRule sizes)
    : described_(described),
      op_(*described.op),
      level_(level),
      size_rule_(sizes),
      values_(described, level, Unknowns::allowed),
      min_ranks_(op_.fields.size()) {}

void Solver::run(Stage stage) {
  const facts::Rules rules = facts::rules_of(op_);
  const bool all = stage == Stage::everything;
  do {
    faults_.clear();
  } while (apply_groups() || (size_rule_ == SizeRule::broadcast && apply_broadcast()) || apply_rules(rules.rules) ||
           (all && (apply_rules(rules.usual) || apply_ranks() || apply_usual_types())));
}

std::vector<Solver::Choice> Solver::choices() {
  std::vector<Choice> found;
  choices_ = &found;
  (void)apply_rules(facts::rules_of(op_).rules);
  choices_ = nullptr;
  return found;
}

// ---- Single parts ---------------------------------------------------------------------------------------------------

bool Solver::set_type(GivenTensor& tensor, std::int64_t type) {
  if (tensor.type != 0 || type <= 0 || type > 0xff) {
    return false;
  }
  tensor.type = static_cast<std::uint32_t>(type);
  return true;
}

bool Solver::set_rank(GivenTensor& tensor, std::int64_t rank) {
  if (tensor.has_sizes || rank < 0 || rank > kMaxRank) {
    return false;
  }
  tensor.has_sizes = true;
  tensor.rank = static_cast<std::uint32_t>(rank);
  std::ranges::fill(tensor.sizes, kUnknownSize);
  return true;
}

bool Solver::set_size(GivenTensor& tensor, std::int64_t index, std::int64_t size) {
  if (!tensor.has_sizes || index < 0 || index >= tensor.rank || tensor.sizes[index] != kUnknownSize || size < 0) {
    return false;
  }
  tensor.sizes[index] = size;
  return true;
}

// ---- Facts in columns -----------------------------------------------------------------------------------------------

bool Solver::apply_groups() {
  bool changed = apply_types();
  for (const facts::SameGroup& group : op_.same) {
    const GivenTensor* known = nullptr;
    if (group.what == facts::Same::datatype) {
      for_each_tensor(described_, group, [&](const GivenTensor& tensor) {
        known = known == nullptr && tensor.type != 0 ? &tensor : known;
      });
      for_each_tensor(described_, group, [&](GivenTensor& tensor) {
        changed = (known != nullptr && set_type(tensor, known->type)) || changed;
      });
      continue;
    }
    if (size_rule_ == SizeRule::broadcast) {
      continue;
    }
    for_each_tensor(described_, group,
                    [&](const GivenTensor& tensor) { known = known == nullptr && tensor.has_sizes ? &tensor : known; });
    if (known == nullptr) {
      continue;
    }
    for_each_tensor(described_, group,
                    [&](GivenTensor& tensor) { changed = set_rank(tensor, known->rank) || changed; });
    for (std::uint32_t i = 0; group.what == facts::Same::sizes && i < known->rank; ++i) {
      std::int64_t size = kUnknownSize;
      for_each_tensor(described_, group, [&](const GivenTensor& tensor) {
        size = size == kUnknownSize && tensor.rank == known->rank ? tensor.sizes[i] : size;
      });
      for_each_tensor(described_, group, [&](GivenTensor& tensor) {
        changed = (tensor.rank == known->rank && set_size(tensor, i, size)) || changed;
      });
    }
  }
  return changed;
}

// Sets the type of each tensor that accepts only one type.
bool Solver::apply_types() {
  bool changed = false;
  for (std::size_t field = 0; field < op_.fields.size(); ++field) {
    for (GivenTensor& tensor : described_.arguments[field].tensors) {
      if (tensor.type == 0) {
        const auto admitted = facts::admitted(op_, field, level_);
        changed = (admitted && std::has_single_bit(std::uint32_t{admitted->types}) &&
                   set_type(tensor, std::countr_zero(std::uint32_t{admitted->types}))) ||
                  changed;
      }
    }
  }
  return changed;
}

// Booleans, counts and indices are unsigned integers, so an output that accepts only unsigned types gets the smallest
// one.
bool Solver::apply_usual_types() {
  constexpr DataType kUnsigned[] = {DataType::UINT8, DataType::UINT16, DataType::UINT32, DataType::UINT64};
  TypeSet all = 0;
  for (const DataType type : kUnsigned) {
    all |= type_bit(type);
  }
  bool changed = false;
  for (std::size_t field = 0; field < op_.fields.size(); ++field) {
    for (GivenTensor& tensor : described_.arguments[field].tensors) {
      const auto admitted =
          facts::is_output(op_.fields[field].kind) ? facts::admitted(op_, field, level_) : std::nullopt;
      if (!admitted || admitted->types == 0 || (admitted->types & ~all) != 0) {
        continue;
      }
      for (const DataType type : kUnsigned) {
        const bool taken = (admitted->types & type_bit(type)) != 0;
        changed = (taken && set_type(tensor, static_cast<std::int64_t>(type))) || changed;  // the first type wins
      }
    }
  }
  return changed;
}

// Sets the rank of outputs whose rank no rule determines: the only accepted rank, or the number of dimensions that the
// rules refer to from the end. Sizes further left would be 1 and can be omitted.
bool Solver::apply_ranks() {
  bool changed = false;
  for (std::size_t field = 0; field < op_.fields.size(); ++field) {
    for (GivenTensor& tensor : described_.arguments[field].tensors) {
      const bool is_open = !tensor.has_sizes && facts::is_output(op_.fields[field].kind);
      const auto admitted = is_open ? facts::admitted(op_, field, level_) : std::nullopt;
      if (admitted && admitted->min_rank == admitted->max_rank) {
        changed = set_rank(tensor, admitted->min_rank) || changed;
      } else if (admitted && min_ranks_[field] > 0) {
        changed = set_rank(tensor, std::max<std::int64_t>(min_ranks_[field], admitted->min_rank)) || changed;
      }
    }
  }
  return changed;
}

// Broadcasts all inputs to every output whose rank is unknown.
bool Solver::apply_broadcast() {
  GivenTensor all;
  bool any = false;
  for (std::size_t field = 0; field < op_.fields.size(); ++field) {
    const facts::FieldKind kind = op_.fields[field].kind;
    const auto& tensors = described_.arguments[field].tensors;
    for (std::size_t i = 0; facts::is_input(kind) && i < tensors.size(); ++i) {
      if (is_unknown(tensors[i]) || tensors[i].rank > kMaxRank) {
        return false;
      }
      if (!broadcast(tensors[i], all)) {
        faults_.push_back(
            {{.field = field, .index = facts::is_array(kind) ? i : kNone},
             format_text("sizes are {}; expected sizes that broadcast with {}, the sizes of the inputs before it",
                         shape_text(tensors[i].sizes, tensors[i].rank), shape_text(all.sizes, all.rank))});
        return false;
      }
      any = true;
    }
  }
  bool changed = false;
  for (std::size_t field = 0; any && field < op_.fields.size(); ++field) {
    for (GivenTensor& tensor : described_.arguments[field].tensors) {
      if (facts::is_output(op_.fields[field].kind) && set_rank(tensor, all.rank)) {
        std::copy_n(all.sizes, all.rank, tensor.sizes);
        changed = true;
      }
    }
  }
  return changed;
}

// ---- Rules ----------------------------------------------------------------------------------------------------------

bool Solver::are_given(std::uint32_t fields) const {
  for (std::size_t i = 0; i < described_.arguments.size(); ++i) {
    if ((fields >> i & 1) != 0 && !described_.arguments[i].present) {
      return false;
    }
  }
  return true;
}

bool Solver::apply_rules(std::span<const facts::Rule> rules) {
  changed_ = false;
  max_steps_ = kMaxRank;
  for (const Argument& argument : described_.arguments) {
    const auto count = argument.tensors.size() + argument.numbers.size() + argument.operators.size();
    max_steps_ = std::max(max_steps_, static_cast<std::int64_t>(count));
  }
  for (const facts::Rule& rule : rules) {
    if (rule.function != facts::RuleFunction::none) {
      changed_ = (choices_ == nullptr && apply_function(rule)) || changed_;
    } else if (are_given(rule.needs)) {
      walk(rule.root);
    }
  }
  return changed_;
}

bool Solver::apply_function(const facts::Rule& rule) {
  const auto found = sizes_by_function(rule.function, described_, {});
  if (!found || found->fault || described_.arguments[found->field].tensors.empty()) {
    return false;
  }
  GivenTensor& tensor = described_.arguments[found->field].tensors.front();
  const auto wanted = static_cast<std::int64_t>(found->sizes.size());
  if (!tensor.has_sizes || !found->fit(tensor.rank)) {
    return false;
  }
  bool changed = false;
  for (std::int64_t i = 0; i < tensor.rank; ++i) {
    const std::int64_t from = i + wanted - tensor.rank;
    changed = set_size(tensor, i, from < 0 ? 1 : found->sizes[static_cast<std::size_t>(from)]) || changed;
  }
  return changed;
}

void Solver::walk(std::uint16_t index) {
  const RuleNode& node = values_.node(index);
  switch (node.op) {
    case RuleOp::when:
      if (values_.holds(node.a).value_or(false)) {
        walk(node.b);
      }
      return;
    case RuleOp::each:
      return walk_each(node);
    case RuleOp::equal:
      return claim(node);
    case RuleOp::one_of:
      return collect_choice(node);
    default:
      return;
  }
}

void Solver::walk_each(const RuleNode& node) {
  const RuleValue low = node.a == RuleNode::kNone ? integer(0) : values_.value(node.a);
  const RuleValue high = values_.value(node.b);
  if (low.state == State::integer && high.state == State::integer) {
    for (std::int64_t i = low.integer; i < high.integer && i - low.integer < max_steps_; ++i) {
      values_.set(node.value, i);
      walk(node.c);
    }
    values_.set(node.value, std::nullopt);
  }
}

// Treats an equality as an equation: a known side determines the other side.
void Solver::claim(const RuleNode& node) {
  if (choices_ != nullptr) {
    return;
  }
  for (const std::uint16_t side : {node.a, node.b}) {
    const RuleNode& part = values_.node(side);
    const RuleValue which = part.op == RuleOp::size ? values_.value(part.a) : RuleValue{};
    // A dimension further from the end than the maximum rank is meaningless, and its negation may overflow.
    if (which.state == State::integer && which.integer < 0 && which.integer >= -std::int64_t{kMaxRank}) {
      min_ranks_[part.field] = std::max(min_ranks_[part.field], -which.integer);
    }
  }
  const RuleValue a = values_.value(node.a);
  const RuleValue b = values_.value(node.b);
  if (a.state == State::absent && b.state != State::absent) {
    solve(node.a, b, node.b);
  } else if (b.state == State::absent && a.state != State::absent) {
    solve(node.b, a, node.a);
  }
}

// Sets the only unknown in an expression so that the expression equals `wanted`.
void Solver::solve(std::uint16_t index, const RuleValue& wanted, std::uint16_t source) {
  const RuleNode& node = values_.node(index);
  switch (node.op) {
    case RuleOp::size:
    case RuleOp::rank:
    case RuleOp::data_type:
    case RuleOp::elements:
      return solve_tensor(node, index, wanted, source);
    case RuleOp::attribute: {
      Argument& argument = described_.arguments[node.field];
      if (argument.present && argument.numbers.empty() && wanted.state == State::integer) {
        argument.numbers = {Scalar(i64{wanted.integer})};
        changed_ = true;
      }
      return;
    }
    case RuleOp::choose:
      if (const auto chosen = values_.holds(node.a)) {
        solve(*chosen ? node.b : node.c, wanted, source);
      }
      return;
    case RuleOp::add:
    case RuleOp::subtract:
    case RuleOp::multiply:
      return solve_arithmetic(node, wanted, source);
    default:
      return;  // a division has several solutions
  }
}

void Solver::solve_arithmetic(const RuleNode& node, const RuleValue& wanted, std::uint16_t source) {
  const RuleValue a = values_.value(node.a);
  const RuleValue b = values_.value(node.b);
  const bool first = a.state == State::absent;
  const RuleValue& known = first ? b : a;
  if (known.state != State::integer || wanted.state != State::integer) {
    return;
  }
  std::optional<std::int64_t> rest;
  if (node.op == RuleOp::add) {
    rest = checked_subtract(wanted.integer, known.integer);
  } else if (node.op == RuleOp::subtract) {
    rest = first ? checked_add(wanted.integer, known.integer) : checked_subtract(known.integer, wanted.integer);
  } else if (known.integer > 0 && wanted.integer % known.integer == 0) {
    rest = wanted.integer / known.integer;
  }
  if (rest) {
    solve(first ? node.a : node.b, integer(*rest), source);
  }
}

Solver::Target Solver::target(const RuleNode& node) {
  const RuleValue which = node.b == RuleNode::kNone ? integer(0) : values_.value(node.b);
  auto& tensors = described_.arguments[node.field].tensors;
  const bool is_there =
      which.state == State::integer && which.integer >= 0 && static_cast<std::uint64_t>(which.integer) < tensors.size();
  const auto index = is_there ? static_cast<std::size_t>(which.integer) : 0;
  return {is_there ? &tensors[index] : nullptr, node.field, index};
}

void Solver::solve_tensor(const RuleNode& node, std::uint16_t index, const RuleValue& wanted, std::uint16_t source) {
  const Target found = target(node);
  if (found.tensor == nullptr || !found.tensor->has_desc) {
    return;
  }
  GivenTensor& tensor = *found.tensor;
  if (wanted.state != State::integer || wanted.integer < 0) {
    return fault(index, wanted, source);
  }
  switch (node.op) {
    case RuleOp::data_type:
      changed_ = set_type(tensor, wanted.integer) || changed_;
      return;
    case RuleOp::rank:
      changed_ = set_rank(tensor, wanted.integer) || changed_;
      return;
    case RuleOp::elements:  // one element: every size is 1
      for (std::uint32_t i = 0; wanted.integer == 1 && tensor.has_sizes && i < tensor.rank; ++i) {
        changed_ = set_size(tensor, i, 1) || changed_;
      }
      return;
    default:
      break;
  }
  const RuleValue which = values_.value(node.a);
  if (which.state == State::integer && tensor.has_sizes) {
    const std::int64_t location = which.integer < 0 ? which.integer + tensor.rank : which.integer;
    changed_ = set_size(tensor, location, wanted.integer) || changed_;
  }
}

void Solver::fault(std::uint16_t index, const RuleValue& wanted, std::uint16_t source) {
  const Location location = values_.location(index);
  if (std::ranges::find(faults_, location, &Violation::location) != faults_.end()) {
    return;
  }
  const std::string worth = wanted.state == State::too_large         ? "does not fit into 64 bits"
                            : wanted.state == State::divided_by_zero ? "divides by 0"
                                                                     : format_text("is {}", wanted.integer);
  faults_.push_back({location, format_text("would be {}, which {}", values_.text(source), worth)});
}

void Solver::collect_choice(const RuleNode& node) {
  const RuleNode& left = values_.node(node.a);
  if (choices_ == nullptr || left.op != RuleOp::size || values_.value(node.a).state != State::absent) {
    return;
  }
  const Target found = target(left);
  const RuleValue which = values_.value(left.a);
  if (found.tensor == nullptr || !found.tensor->has_sizes || which.state != State::integer) {
    return;
  }
  Choice choice{
      .location = {found.field, found.index, Part::sizes,
                   static_cast<std::size_t>(which.integer < 0 ? which.integer + found.tensor->rank : which.integer)},
      .numbers = {}};
  for (std::uint16_t at = node.b; at != RuleNode::kNone; at = values_.node(at).b) {
    if (const RuleValue number = values_.value(values_.node(at).a); number.state == State::integer) {
      choice.numbers.push_back(number.integer);
    }
  }
  if (choice.location.part_index < found.tensor->rank && !choice.numbers.empty()) {
    choices_->push_back(std::move(choice));
  }
}

}  // namespace anydml::schema
