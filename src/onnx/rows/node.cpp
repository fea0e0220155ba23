// SPDX-License-Identifier: MIT
// Looks up the attributes of a node, and reports wrong ones.
#include "onnx/rows/node.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "onnx/model/message.h"

namespace anydml::onnx {

namespace {

std::string node_text_of(std::monostate) { return "None"; }
std::string node_text_of(std::int64_t integer) { return std::to_string(integer); }
std::string node_text_of(double number) { return number_text(number); }
std::string node_text_of(const std::string& text) { return onnx::quoted(text); }
std::string node_text_of(const std::vector<std::int64_t>& integers) { return listed(integers); }
std::string node_text_of(const std::vector<double>& numbers) { return listed(numbers); }
std::string node_text_of(const Array&) { return "a tensor"; }
std::string node_text_of(const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  std::transform(texts.begin(), texts.end(), std::back_inserter(words),
                 [](const std::string& text) { return quoted(text); });
  return "[" + joined(words) + "]";
}

// ONNX's default. Attributes whose values are tensors or graphs have none.
AttributeData node_default_of(const FormalAttribute& formal) {
  if (formal.has_default) {
    switch (static_cast<AttributeType>(formal.type)) {
      case AttributeType::kFloat:
        return formal.number;
      case AttributeType::kInt:
        return formal.integer;
      case AttributeType::kString:
        return std::string(formal.text);
      case AttributeType::kFloats:
        return std::vector<double>(formal.numbers.begin(), formal.numbers.end());
      case AttributeType::kInts:
        return std::vector<std::int64_t>(formal.integers.begin(), formal.integers.end());
      case AttributeType::kStrings:
        return std::vector<std::string>(formal.texts.begin(), formal.texts.end());
      default:
        break;
    }
  }
  return {};
}

// The node's own value, or ONNX's default, or nothing.
AttributeData node_value_of(const Node& node, std::string_view name) {
  if (const GivenAttribute* given = node.find_given(name); given != nullptr) {
    return given->value;
  }
  const FormalAttribute* formal = node.find_formal(name);
  return formal != nullptr ? node_default_of(*formal) : AttributeData();
}

// A value of one type, or a default-constructed one.
template <class Value>
Value node_list_of(const Node& node, std::string_view name) {
  AttributeData value = node_value_of(node, name);
  auto* found = std::get_if<Value>(&value);
  return found != nullptr ? std::move(*found) : Value();
}

template <class Choice>
void node_check_choice(const Node& node, std::string_view attribute, std::initializer_list<Choice> choices,
                       const Choice& value) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return;
  }
  std::vector<std::string> words;
  for (const Choice& choice : choices) {
    if constexpr (std::is_same_v<Choice, std::string_view>) {
      words.push_back(onnx::quoted(choice));
    } else {
      words.push_back(std::to_string(choice));
    }
  }
  wrong(node, attribute, "one of " + joined(words));
}

}  // namespace

const FormalAttribute* Node::find_formal(std::string_view name) const {
  const auto found = std::find_if(formal.begin(), formal.end(), [&](const auto& one) { return one.name == name; });
  return found != formal.end() ? &*found : nullptr;
}

const GivenAttribute* Node::find_given(std::string_view name) const {
  const auto found = std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == name; });
  return found != given.end() ? &*found : nullptr;
}

bool Node::has(std::string_view name) const {
  if (find_given(name) != nullptr) {
    return true;
  }
  const FormalAttribute* found = find_formal(name);
  return found != nullptr && found->has_default;
}

std::int64_t Node::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeData value = node_value_of(*this, name);
  const auto* found = std::get_if<std::int64_t>(&value);
  return found != nullptr ? *found : otherwise;
}

double Node::number(std::string_view name, double otherwise) const {
  const AttributeData value = node_value_of(*this, name);
  const auto* found = std::get_if<double>(&value);
  return found != nullptr ? *found : otherwise;
}

std::string Node::text(std::string_view name, std::string_view otherwise) const {
  AttributeData value = node_value_of(*this, name);
  auto* found = std::get_if<std::string>(&value);
  return found != nullptr ? std::move(*found) : std::string(otherwise);
}

std::vector<std::int64_t> Node::integers(std::string_view name) const {
  return node_list_of<std::vector<std::int64_t>>(*this, name);
}

std::vector<double> Node::numbers(std::string_view name) const {
  return node_list_of<std::vector<double>>(*this, name);
}

std::vector<std::string> Node::texts(std::string_view name) const {
  return node_list_of<std::vector<std::string>>(*this, name);
}

Array Node::tensor(std::string_view name) const { return node_list_of<Array>(*this, name); }

Kind Node::named_kind(std::string_view name) const {
  const GivenAttribute* found = find_given(name);
  return found != nullptr ? found->named_kind : Kind::kUndefined;
}

void Node::set(const FormalAttribute& attribute, AttributeData value, Kind named_kind) {
  const auto found =
      std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.name == attribute.name; });
  if (found != given.end()) {
    *found = {attribute.name, std::move(value), named_kind};
  } else {
    given.push_back({attribute.name, std::move(value), named_kind});
  }
}

void refuse(const Node& node, const std::string& what, const std::string& why) {
  throw Unsupported(format_text("{}: anydml does not support {} {}: {}", node.label, node.op, what, why),
                    {node.op + " " + what});
}

void wrong(const Node& node, std::string_view attribute, const std::string& expected) {
  const std::string value =
      std::visit([](const auto& one) { return node_text_of(one); }, node_value_of(node, attribute));
  fail("{}: {} is {}; expected {}", node.label, attribute, value, expected);
}

void check_minimum(const Node& node, std::string_view attribute, std::int64_t lowest) {
  const AttributeData value = node_value_of(node, attribute);
  const auto is_low = [lowest](auto one) { return one < static_cast<decltype(one)>(lowest); };
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value);
      integers != nullptr && std::any_of(integers->begin(), integers->end(), is_low)) {
    wrong(node, attribute, format_text("numbers of {} or more", lowest));
  }
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* number = std::get_if<double>(&value);
  if ((integer != nullptr && is_low(*integer)) || (number != nullptr && is_low(*number))) {
    wrong(node, attribute, format_text("a number of {} or more", lowest));
  }
}

void check_choice(const Node& node, std::string_view attribute, std::initializer_list<std::string_view> choices) {
  if (node.has(attribute)) {
    const std::string value = node.text(attribute);
    node_check_choice(node, attribute, choices, std::string_view(value));
  }
}

void check_choice(const Node& node, std::string_view attribute, std::initializer_list<std::int64_t> choices) {
  if (node.has(attribute)) {
    node_check_choice(node, attribute, choices, node.integer(attribute));
  }
}

}  // namespace anydml::onnx
