// SPDX-License-Identifier: MIT
// Writes the nodes that replace one node.
#include "onnx/rows/expansion.h"

#include <atomic>
#include <memory>

#include "onnx/schema/schema.h"

namespace anydml::onnx {

namespace {

// Makes the names of values unique: the nodes of one expansion share a number that no other expansion has.
std::atomic<std::uint64_t> expansion_count = 0;

struct ExpansionWriter {
  AttributeMessage& attribute;

  void operator()(std::int64_t value) const {
    attribute.type = AttributeType::kInt;
    attribute.i = value;
  }
  void operator()(double value) const {
    attribute.type = AttributeType::kFloat;
    attribute.f = static_cast<float>(value);
  }
  void operator()(std::string& value) const {
    attribute.type = AttributeType::kString;
    attribute.s = std::move(value);
  }
  void operator()(std::vector<std::int64_t>& value) const {
    attribute.type = AttributeType::kInts;
    attribute.ints = std::move(value);
  }
  void operator()(const std::vector<double>& value) const {
    attribute.type = AttributeType::kFloats;
    attribute.floats.reserve(value.size());
    for (const double one : value) {
      attribute.floats.push_back(static_cast<float>(one));
    }
  }
  void operator()(std::vector<std::string>& value) const {
    attribute.type = AttributeType::kStrings;
    attribute.strings = std::move(value);
  }
  void operator()(const Array& value) const {
    auto tensor = std::make_shared<TensorMessage>();
    tensor->data_type = static_cast<std::int32_t>(value.kind());
    tensor->dims = value.shape();
    tensor->array = value;
    attribute.type = AttributeType::kTensor;
    attribute.t = std::move(tensor);
  }
  void operator()(AttributeMessage& value) const {
    std::string name = std::move(attribute.name);
    attribute = std::move(value);
    attribute.name = std::move(name);
  }
};

// The node's own attribute; null if it has none. Other domains have no schema, so the type is checked here.
const AttributeMessage* expansion_attribute(const NodeMessage& node, std::string_view name, AttributeType type) {
  const AttributeMessage* found = node.find(name);
  if (found != nullptr && found->type != type) {
    fail("{}: {} is of type {}; expected {}", label_of(node), name,
         attribute_type_name(static_cast<std::int32_t>(found->type)),
         attribute_type_name(static_cast<std::int32_t>(type)));
  }
  return found;
}

}  // namespace

Expansion::Expansion(const NodeMessage& node, std::vector<Kind> kinds, int opset)
    : written_opset(newest_opset()),
      node_(node),
      kinds_(std::move(kinds)),
      opset_(opset),
      label_(label_of(node)),
      prefix_(format_text("{}.{}.", label_, expansion_count.fetch_add(1, std::memory_order_relaxed))) {}

std::string Expansion::fresh_name() { return prefix_ + std::to_string(names_++); }

std::string Expansion::add(const char* op, std::vector<std::string> inputs, AttributeList attributes) {
  std::string name = fresh_name();
  add_to(op, std::move(inputs), {name}, std::move(attributes));
  return name;
}

void Expansion::add_to(const char* op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                       AttributeList attributes) {
  while (!inputs.empty() && inputs.back().empty()) {
    inputs.pop_back();
  }
  NodeMessage added;
  added.name = label_;
  added.op_type = op;
  added.inputs = std::move(inputs);
  added.outputs = std::move(outputs);
  added.attributes.reserve(attributes.size());
  for (auto& given : attributes) {
    AttributeMessage& attribute = added.attributes.emplace_back();
    attribute.name = given.first;
    std::visit(ExpansionWriter{attribute}, given.second);
  }
  nodes.push_back(std::move(added));
}

std::string Expansion::constant(Array value) { return add("Constant", {}, {{"value", std::move(value)}}); }

std::string Expansion::constant(const std::vector<std::int64_t>& numbers) { return constant(Array::integers(numbers)); }

std::string Expansion::constant_float(double number) { return constant(Array::scalar(Kind::kFloat, number)); }

void Expansion::finish(const std::string& value, std::size_t position) {
  add_to("Identity", {value}, {output(position)});
}

std::string Expansion::input(std::size_t position) const {
  return position < node_.inputs.size() ? node_.inputs[position] : std::string();
}

std::string Expansion::output(std::size_t position) const {
  return position < node_.outputs.size() ? node_.outputs[position] : std::string();
}

Kind Expansion::kind(std::size_t position) const {
  return position < kinds_.size() ? kinds_[position] : Kind::kUndefined;
}

std::int64_t Expansion::integer(std::string_view name, std::int64_t otherwise) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kInt);
  return found != nullptr ? found->i : otherwise;
}

double Expansion::number(std::string_view name, double otherwise) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kFloat);
  return found != nullptr ? static_cast<double>(found->f) : otherwise;
}

std::string Expansion::text(std::string_view name, std::string_view otherwise) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kString);
  return found != nullptr ? found->s : std::string(otherwise);
}

std::vector<std::int64_t> Expansion::integers(std::string_view name) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kInts);
  return found != nullptr ? found->ints : std::vector<std::int64_t>();
}

std::vector<double> Expansion::numbers(std::string_view name) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kFloats);
  return found != nullptr ? std::vector<double>(found->floats.begin(), found->floats.end()) : std::vector<double>();
}

std::vector<std::string> Expansion::texts(std::string_view name) const {
  const AttributeMessage* found = expansion_attribute(node_, name, AttributeType::kStrings);
  return found != nullptr ? found->strings : std::vector<std::string>();
}

AttributeList Expansion::passed_on(std::initializer_list<const char*> names) const {
  AttributeList list;
  for (const char* name : names) {
    if (const AttributeMessage* found = node_.find(name); found != nullptr) {
      list.emplace_back(name, *found);
    }
  }
  return list;
}

void Expansion::require(std::initializer_list<std::pair<std::size_t, const char*>> inputs) const {
  for (const auto& [position, name] : inputs) {
    if (input(position).empty()) {
      fail("{}: the input {} is missing", label_, quoted(name));
    }
  }
}

void Expansion::refuse(const std::string& what) const {
  const std::string name = format_text("{}.{} {}", node_.domain, node_.op_type, what);
  throw Unsupported(format_text("{}: anydml does not support {}", label_, name), {name});
}

}  // namespace anydml::onnx
