// SPDX-License-Identifier: MIT
#include "schema/rule_values.h"

#include <algorithm>
#include <bit>

#include "base/checked.h"
#include "schema/infer.h"

namespace anydml::schema {
namespace {

using facts::RuleNode;
using facts::RuleOp;
using State = RuleValue::State;

// More than any array may contain, so that a wrong count cannot cause an endless loop.
constexpr std::int64_t kMaxOfRange = 1 << 20;

RuleValue integer(std::int64_t number) { return {State::integer, number, 0}; }
RuleValue nothing(State state) { return {state, 0, 0}; }
RuleValue checked(std::optional<std::int64_t> number) { return number ? integer(*number) : nothing(State::too_large); }

std::int64_t effective_rank(const GivenTensor& tensor) {
  std::int64_t leading = 0;
  while (leading < tensor.rank && tensor.sizes[leading] == 1) {
    ++leading;
  }
  return tensor.rank - leading;
}

// Whether an operation reads an unknown part of the tensor. A single size is checked separately, when it is read.
bool depends_on_unknown(RuleOp op, const GivenTensor& tensor) {
  switch (op) {
    case RuleOp::data_type:
      return tensor.type == 0;
    case RuleOp::flags:
      return false;
    case RuleOp::elements:
    case RuleOp::effective_rank:
      return !tensor.has_sizes ||
             std::find(tensor.sizes, tensor.sizes + tensor.rank, kUnknownSize) != tensor.sizes + tensor.rank;
    default:
      return !tensor.has_sizes;
  }
}

// Rounds down, so that a negative dividend yields a negative number, which is never a valid size.
RuleValue divide(std::int64_t a, std::int64_t b) {
  if (b == 0) {
    return nothing(State::divided_by_zero);
  }
  if (b == -1) {
    return checked(checked_subtract(0, a));
  }
  return integer(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

}  // namespace

RuleValue rule_value(const facts::Field& field, const Scalar& number) {
  switch (field.type) {
    case facts::FieldType::real:
    case facts::FieldType::reals:
    case facts::FieldType::scale_bias:
      return {State::real, 0, number.as<f64>()};
    default:
      return integer(number.as<i64>());
  }
}

const GivenTensor* RuleValues::tensor(const RuleNode& node) const {
  const auto& tensors = described_.arguments[node.field].tensors;
  const RuleValue which = node.b == RuleNode::kNone ? integer(0) : value(node.b);
  if (which.state != State::integer || which.integer < 0 ||
      static_cast<std::uint64_t>(which.integer) >= tensors.size()) {
    return nullptr;
  }
  const GivenTensor& found = tensors[static_cast<std::size_t>(which.integer)];
  const bool has_sizes = found.has_sizes || unknowns_ == Unknowns::allowed;
  return found.has_desc && has_sizes && found.rank <= kMaxRank ? &found : nullptr;
}

RuleValue RuleValues::tensor_value(const RuleNode& node) const {
  const GivenTensor* given = tensor(node);
  if (given == nullptr || (unknowns_ == Unknowns::allowed && depends_on_unknown(node.op, *given))) {
    return {};
  }
  switch (node.op) {
    case RuleOp::rank:
      return integer(given->rank);
    case RuleOp::data_type:
      return integer(given->type);
    case RuleOp::flags:
      return integer(given->flags);
    case RuleOp::effective_rank:
      return integer(effective_rank(*given));
    case RuleOp::elements: {
      std::optional<std::int64_t> count = 1;
      for (std::uint32_t i = 0; count && i < given->rank; ++i) {
        count = checked_multiply(*count, given->sizes[i]);
      }
      return checked(count);
    }
    default:
      break;
  }
  const RuleValue which = value(node.a);
  if (which.state != State::integer || which.integer >= given->rank) {
    return {};
  }
  const auto from_end = which.integer < 0 ? checked_add(which.integer, given->rank) : which.integer;
  const std::int64_t size = from_end && *from_end >= 0 ? given->sizes[*from_end] : 1;
  return unknowns_ == Unknowns::allowed && size == kUnknownSize ? RuleValue{} : integer(size);
}

RuleValue RuleValues::over_range(const RuleNode& node) const {
  const RuleValue low = node.a == RuleNode::kNone ? integer(0) : value(node.a);
  const RuleValue high = value(node.b);
  if (low.state != State::integer || high.state != State::integer) {
    return low.state != State::integer ? low : high;
  }
  RuleValue total = integer(node.op == RuleOp::sum ? 0 : 1);
  for (std::int64_t i = low.integer; i < high.integer && total.state == State::integer; ++i) {
    if (i - low.integer > kMaxOfRange) {
      total = nothing(State::absent);
      break;
    }
    set(node.value, i);
    const RuleValue next = value(node.c);
    total = next.state != State::integer ? next
            : node.op == RuleOp::sum     ? checked(checked_add(total.integer, next.integer))
                                         : checked(checked_multiply(total.integer, next.integer));
  }
  set(node.value, std::nullopt);
  return total;
}

RuleValue RuleValues::arithmetic(const RuleNode& node) const {
  const RuleValue a = value(node.a);
  const RuleValue b = node.b == RuleNode::kNone ? integer(0) : value(node.b);
  for (const RuleValue* side : {&a, &b}) {
    if (side->state == State::absent) {
      return *side;
    }
  }
  for (const RuleValue* side : {&a, &b}) {
    if (side->state != State::integer) {
      return *side;
    }
  }
  switch (node.op) {
    case RuleOp::add:
      return checked(checked_add(a.integer, b.integer));
    case RuleOp::subtract:
      return checked(checked_subtract(a.integer, b.integer));
    case RuleOp::multiply:
      return checked(checked_multiply(a.integer, b.integer));
    case RuleOp::divide:
      return divide(a.integer, b.integer);
    case RuleOp::minimum:
      return integer(std::min(a.integer, b.integer));
    case RuleOp::maximum:
      return integer(std::max(a.integer, b.integer));
    case RuleOp::absolute:
      return a.integer < 0 ? checked(checked_subtract(0, a.integer)) : a;
    default:
      return {};
  }
}

RuleValue RuleValues::value(std::uint16_t index) const {
  const RuleNode& node = nodes_[index];
  const auto number = [&](std::size_t position) -> RuleValue {
    const auto& numbers = described_.arguments[node.field].numbers;
    return position < numbers.size() ? rule_value(described_.op->fields[node.field], numbers[position]) : RuleValue{};
  };
  switch (node.op) {
    case RuleOp::constant:
      return integer(node.value);
    case RuleOp::real:
      return {State::real, 0, std::bit_cast<double>(node.value)};
    case RuleOp::level:
      return integer(static_cast<std::int64_t>(level_));
    case RuleOp::variable: {
      const auto known = variables_[static_cast<std::size_t>(node.value & 0xff) % variables_.size()];
      return known ? integer(*known) : RuleValue{};
    }
    case RuleOp::attribute:
      return number(0);
    case RuleOp::member:
      return number(static_cast<std::size_t>(node.value));
    case RuleOp::element: {
      const RuleValue which = value(node.a);
      return which.state == State::integer && which.integer >= 0 ? number(static_cast<std::size_t>(which.integer))
                                                                 : RuleValue{};
    }
    case RuleOp::length: {
      const Argument& argument = described_.arguments[node.field];
      return integer(
          static_cast<std::int64_t>(argument.tensors.size() + argument.numbers.size() + argument.operators.size()));
    }
    case RuleOp::given: {
      std::int64_t count = 0;
      for (std::uint16_t at = node.b; at != RuleNode::kNone; at = nodes_[at].b) {
        count += described_.arguments[nodes_[at].field].present ? 1 : 0;
      }
      return integer(count);
    }
    case RuleOp::size:
    case RuleOp::rank:
    case RuleOp::data_type:
    case RuleOp::flags:
    case RuleOp::elements:
    case RuleOp::effective_rank:
      return tensor_value(node);
    case RuleOp::choose: {
      const auto chosen = holds(node.a);
      return chosen ? value(*chosen ? node.b : node.c) : RuleValue{};
    }
    case RuleOp::sum:
    case RuleOp::product:
      return over_range(node);
    default:
      return arithmetic(node);
  }
}

bool RuleValues::compare(RuleOp op, const RuleValue& a, const RuleValue& b) {
  const auto order = [op](auto left, auto right) {
    switch (op) {
      case RuleOp::equal:
        return left == right;
      case RuleOp::not_equal:
        return left != right;
      case RuleOp::less:
        return left < right;
      case RuleOp::less_equal:
        return left <= right;
      case RuleOp::greater:
        return left > right;
      default:
        return left >= right;
    }
  };
  if (!a.is_number() || !b.is_number()) {
    return false;
  }
  const auto real = [](const RuleValue& value) {
    return value.state == State::real ? value.real : static_cast<double>(value.integer);
  };
  return a.state == State::real || b.state == State::real ? order(real(a), real(b)) : order(a.integer, b.integer);
}

std::optional<bool> RuleValues::holds(std::uint16_t index) const {
  const RuleNode& node = nodes_[index];
  switch (node.op) {
    case RuleOp::both:
    case RuleOp::either: {
      const auto a = holds(node.a);
      const bool decided = node.op == RuleOp::either;
      return a && *a == decided ? a : a ? holds(node.b) : std::nullopt;
    }
    case RuleOp::negation: {
      const auto a = holds(node.a);
      return a ? std::optional(!*a) : std::nullopt;
    }
    case RuleOp::holds: {
      const RuleValue wanted = value(node.a);
      const facts::Field& field = described_.op->fields[node.field];
      return std::ranges::any_of(described_.arguments[node.field].numbers, [&](const Scalar& number) {
        return compare(RuleOp::equal, rule_value(field, number), wanted);
      });
    }
    case RuleOp::one_of: {
      const RuleValue given = value(node.a);
      bool found = false;
      for (std::uint16_t at = node.b; at != RuleNode::kNone; at = nodes_[at].b) {
        const RuleValue item = value(nodes_[at].a);
        if (item.state == State::absent) {
          return std::nullopt;
        }
        found = found || compare(RuleOp::equal, given, item);
      }
      return given.state == State::absent ? std::nullopt : std::optional(found);
    }
    case RuleOp::equal:
    case RuleOp::not_equal:
    case RuleOp::less:
    case RuleOp::less_equal:
    case RuleOp::greater:
    case RuleOp::greater_equal: {
      const RuleValue a = value(node.a);
      const RuleValue b = value(node.b);
      if (a.state == State::absent || b.state == State::absent) {
        return std::nullopt;
      }
      return compare(node.op, a, b);
    }
    default: {  // a nonzero number is true
      const RuleValue number = value(index);
      return number.is_number() ? std::optional(number.integer != 0) : std::nullopt;
    }
  }
}

}  // namespace anydml::schema
