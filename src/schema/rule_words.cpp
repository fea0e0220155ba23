// SPDX-License-Identifier: MIT
// Formats rule nodes for messages.
#include <algorithm>

#include "schema/rule_values.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

using facts::RuleNode;
using facts::RuleOp;
using State = RuleValue::State;

// The precedence of binary operations. A higher number binds more tightly.
constexpr int kSum = 1;
constexpr int kProduct = 2;
constexpr int kTightest = 3;

struct Sign {
  std::string_view text;
  int tightness;
};

Sign sign_of(RuleOp op) {
  switch (op) {
    case RuleOp::add:
      return {" + ", kSum};
    case RuleOp::subtract:
      return {" - ", kSum};
    case RuleOp::multiply:
      return {" * ", kProduct};
    default:
      return {" / ", kProduct};
  }
}

std::string in_brackets(bool needed, std::string text) { return needed ? format_text("({})", text) : text; }

}  // namespace

const facts::Enum* RuleValues::enumeration_of(const RuleNode& node) const {
  switch (node.op) {
    case RuleOp::constant:
      return node.field == 0 ? nullptr : &facts::enums()[node.field - 1U];
    case RuleOp::attribute:
      return facts::find_enum(described_.op->fields[node.field].spelling);
    case RuleOp::data_type:
      return facts::find_enum("DML_TENSOR_DATA_TYPE");
    case RuleOp::flags:
      return facts::find_enum("DML_TENSOR_FLAGS");
    default:
      return nullptr;
  }
}

std::string RuleValues::value_text(std::uint16_t index, const RuleValue& value) const {
  switch (value.state) {
    case State::integer:
      if (const facts::Enum* known = enumeration_of(nodes_[index])) {
        const auto found = std::ranges::find(known->values, value.integer, &facts::EnumValue::value);
        if (found != known->values.end()) {
          return std::string(found->name.substr(known->prefix.size()));
        }
      }
      return format_text("{}", value.integer);
    case State::real:
      return format_text("{}", value.real);
    default:
      return {};
  }
}

Location RuleValues::location(std::uint16_t index) const {
  const RuleNode& node = nodes_[index];
  const auto number = [&](std::uint16_t at) {
    const RuleValue found = at == RuleNode::kNone ? RuleValue{} : value(at);
    return found.state == State::integer && found.integer >= 0 ? static_cast<std::size_t>(found.integer) : kNone;
  };
  switch (node.op) {
    case RuleOp::attribute:
    case RuleOp::length:
      return {.field = node.field};
    case RuleOp::member:
      return {.field = node.field, .part = node.value == 0 ? Part::first : Part::second};
    case RuleOp::element:
      return {.field = node.field, .index = number(node.a)};
    case RuleOp::given:
      return {.field = nodes_[node.b].field};
    case RuleOp::size: {
      const GivenTensor* given = tensor(node);
      const RuleValue which = value(node.a);
      const std::int64_t rank = given == nullptr ? 0 : given->rank;
      const bool from_end = which.state == State::integer && which.integer < 0 && which.integer >= -rank;
      const std::size_t size = from_end ? static_cast<std::size_t>(which.integer + rank) : number(node.a);
      return {.field = node.field,
              .index = number(node.b),
              .part = size == kNone ? Part::whole : Part::sizes,
              .part_index = size};
    }
    case RuleOp::rank:
    case RuleOp::effective_rank:
      return {.field = node.field, .index = number(node.b), .part = Part::dimension_count};
    case RuleOp::data_type:
      return {.field = node.field, .index = number(node.b), .part = Part::data_type};
    case RuleOp::flags:
      return {.field = node.field, .index = number(node.b), .part = Part::flags};
    case RuleOp::elements:
      return {.field = node.field, .index = number(node.b)};
    case RuleOp::constant:
    case RuleOp::real:
    case RuleOp::level:
    case RuleOp::variable:
      return {};
    case RuleOp::sum:
    case RuleOp::product:
      return location(node.c);
    default: {
      const Location first = node.a == RuleNode::kNone ? Location{} : location(node.a);
      return first.field != kNone || node.b == RuleNode::kNone ? first : location(node.b);
    }
  }
}

bool RuleValues::is_plain(std::uint16_t index) const {
  switch (nodes_[index].op) {
    case RuleOp::attribute:
    case RuleOp::member:
    case RuleOp::element:
    case RuleOp::rank:
    case RuleOp::data_type:
    case RuleOp::flags:
      return true;
    case RuleOp::size:
      return location(index).part == Part::sizes;
    default:
      return false;
  }
}

std::string RuleValues::index_text(std::uint16_t index) const {
  const RuleValue known = value(index);
  return known.state == State::integer ? format_text("{}", known.integer) : text(index, 0);
}

std::string RuleValues::tensor_text(const RuleNode& node) const {
  const std::string_view name = described_.op->fields[node.field].name;
  return node.b == RuleNode::kNone ? std::string(name) : format_text("{}[{}]", name, index_text(node.b));
}

std::string RuleValues::condition_text(std::uint16_t index) const {
  const RuleNode& node = nodes_[index];
  if (node.op == RuleOp::equal) {
    return format_text("{} is {}", text(node.a, 0), text(node.b, 0));
  }
  if (node.op == RuleOp::not_equal) {
    return format_text("{} is not {}", text(node.a, 0), text(node.b, 0));
  }
  return "that is so";  // unreachable: no rule has another condition within an expression
}

std::string RuleValues::text(std::uint16_t index, int tightness) const {
  const RuleNode& node = nodes_[index];
  const std::string_view name = node.field < described_.op->fields.size() ? described_.op->fields[node.field].name : "";
  switch (node.op) {
    case RuleOp::constant:
    case RuleOp::real:
      return value_text(index);
    case RuleOp::level:
      return "the feature level";
    case RuleOp::variable:
      return std::string(1, static_cast<char>(node.value >> 8));
    case RuleOp::attribute:
      return std::string(name);
    case RuleOp::member:
      return location_name(*described_.op, location(index));
    case RuleOp::element:
      return format_text("{}[{}]", name, index_text(node.a));
    case RuleOp::length:
      return format_text("the number of {}", name);
    case RuleOp::given:
      return format_text("whether {} is given", described_.op->fields[nodes_[node.b].field].name);
    case RuleOp::size: {
      const Location where = location(index);
      return where.part == Part::sizes && (where.index != kNone || node.b == RuleNode::kNone)
                 ? location_name(*described_.op, where)
                 : format_text("{}.Sizes[{}]", tensor_text(node), index_text(node.a));
    }
    case RuleOp::rank:
      return format_text("{}.DimensionCount", tensor_text(node));
    case RuleOp::data_type:
      return format_text("{}.DataType", tensor_text(node));
    case RuleOp::flags:
      return format_text("{}.Flags", tensor_text(node));
    case RuleOp::elements:
      return format_text("the number of elements of {}", tensor_text(node));
    case RuleOp::effective_rank:
      return format_text("{}.DimensionCount without leading 1s", tensor_text(node));
    case RuleOp::minimum:
      return format_text("min({}, {})", text(node.a, 0), text(node.b, 0));
    case RuleOp::maximum:
      return format_text("max({}, {})", text(node.a, 0), text(node.b, 0));
    case RuleOp::absolute:
      return format_text("abs({})", text(node.a, 0));
    case RuleOp::choose:
      return in_brackets(tightness > 0, format_text("{} if {}, otherwise {}", text(node.b, 0), condition_text(node.a),
                                                    text(node.c, 0)));
    case RuleOp::sum:
    case RuleOp::product: {
      set(node.value, std::nullopt);
      return in_brackets(tightness > 0,
                         format_text("the {} of {}", node.op == RuleOp::sum ? "sum" : "product", text(node.c, kSum)));
    }
    default: {
      const Sign sign = sign_of(node.op);
      // The right operand also needs brackets at equal precedence: a - (b + c), a / (b * c).
      return in_brackets(sign.tightness < tightness,
                         format_text("{}{}{}", text(node.a, sign.tightness), sign.text,
                                     text(node.b, std::min(sign.tightness + 1, kTightest))));
    }
  }
}

}  // namespace anydml::schema
