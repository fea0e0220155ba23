// SPDX-License-Identifier: MIT
// Checks a node against ONNX's schema.
#include "onnx/program/checked_node.h"

#include <algorithm>
#include <bit>

namespace anydml::onnx {

namespace {

// What the checks of one node need.
struct CheckedContext {
  const NodeMessage& node;
  const ModelMessage& model;
  int opset;
  const std::string& label;
  bool takes_strings = false;

  [[nodiscard]] bool is_present(std::size_t input) const {
    return input < node.inputs.size() && !node.inputs[input].empty();
  }
};

bool checked_takes_four_bits(std::string_view op) { return op == "DequantizeLinear" || op == "QuantizeLinear"; }

[[noreturn]] void checked_refuse_kind(const CheckedContext& context, std::string_view kind) {
  const std::string need = format_text("{} of {}", context.node.op_type, kind);
  throw Unsupported(format_text("{}: anydml does not support {}", context.label, need), {need});
}

[[noreturn]] void checked_deny_kind(const CheckedContext& context, std::string_view kind) {
  throw WrongType(
      format_text("{}: ONNX has no {} of {} in opset {}", context.label, context.node.op_type, kind, context.opset));
}

void checked_kind_of(const CheckedContext& context, Kind kind, KindSet allowed) {
  if (static_cast<std::int32_t>(kind) <= kMaxDataType && !allowed.contains(kind)) {
    checked_deny_kind(context, kind_name(kind));
  }
  const bool is_four_bits = kFourBitKinds.contains(kind) && checked_takes_four_bits(context.node.op_type);
  const bool is_string = kind == Kind::kString && context.takes_strings;
  if (!kArrayKinds.contains(kind) && !is_four_bits && !is_string) {
    checked_refuse_kind(context, kind_name(kind));
  }
}

// ---- Inputs and outputs ---------------------------------------------------------------------------------------------

void checked_counts(const CheckedContext& context, const Schema& schema) {
  const std::vector<std::string>& inputs = context.node.inputs;
  for (std::size_t i = 0; i < schema.inputs.size(); ++i) {
    const FormalTensor& formal = schema.inputs[i];
    const bool has_gap = formal.presence == Presence::kVariadic && i < inputs.size() &&
                         std::find(inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs.end(), "") != inputs.end();
    if (has_gap || (formal.presence == Presence::kSingle && !context.is_present(i))) {
      fail("{}: input {} is missing", context.label, formal.name);
    }
  }
  if (inputs.size() < static_cast<std::size_t>(schema.min_inputs) ||
      inputs.size() > static_cast<std::size_t>(schema.max_inputs)) {
    fail("{} has {} inputs; expected {} to {}", context.label, inputs.size(), schema.min_inputs, schema.max_inputs);
  }
  if (context.node.outputs.size() > static_cast<std::size_t>(schema.max_outputs)) {
    fail("{} has {} outputs; expected {} at most", context.label, context.node.outputs.size(), schema.max_outputs);
  }
}

const FormalTensor& checked_formal(std::span<const FormalTensor> formal, std::size_t position) {
  return formal[std::min(position, formal.size() - 1)];
}

// One of ONNX's type variables, such as T, and the types that a node gives it. A valid node gives it one type, so each
// distinct type is kept only once.
struct CheckedVariable {
  std::string_view name;
  std::vector<Kind> kinds;
};
using CheckedVariables = std::vector<CheckedVariable>;

const CheckedVariable* checked_find(const CheckedVariables& variables, std::string_view name) {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const auto& one) { return one.name == name; });
  return found != variables.end() ? &*found : nullptr;
}

void checked_bind(CheckedVariables& variables, std::string_view name, Kind kind) {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const auto& one) { return one.name == name; });
  if (found == variables.end()) {
    variables.push_back({name, {kind}});
  } else if (std::find(found->kinds.begin(), found->kinds.end(), kind) == found->kinds.end()) {
    found->kinds.push_back(kind);
  }
}

CheckedVariables checked_inputs(const CheckedContext& context, const Row& row, const std::vector<Kind>& kinds,
                                const Schema& schema) {
  CheckedVariables variables;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (context.is_present(i)) {
      const FormalTensor& formal = checked_formal(schema.inputs, i);
      if (formal.is_homogeneous) {
        checked_bind(variables, formal.type_variable, kinds[i]);
      }
      checked_kind_of(context, kinds[i], formal.kinds);
    }
  }
  if (!row.kinds.empty() && !kinds.empty() && !row.kinds.contains(kinds[0])) {
    checked_refuse_kind(context, context.is_present(0) ? kind_name(kinds[0]) : "");
  }
  for (const CheckedVariable& variable : variables) {
    if (variable.kinds.size() != 1) {
      std::vector<std::string> names;
      for (const Kind kind : variable.kinds) {
        names.emplace_back(kind_name(kind));
      }
      throw WrongType(format_text("{}: the inputs must have one type, but have {}", context.label, joined(names)));
    }
  }
  return variables;
}

// The only type that an output can have.
Kind checked_only(const CheckedContext& context, const FormalTensor& formal) {
  const std::uint32_t bits = formal.kinds.bits();
  if (!std::has_single_bit(bits)) {
    fail("{}: the type of output {} is unknown", context.label, formal.name);
  }
  return static_cast<Kind>(std::countr_zero(bits));
}

std::vector<Kind> checked_results(const CheckedContext& context, const Node& node, const Row& row, const Schema& schema,
                                  const CheckedVariables& variables) {
  std::vector<Kind> results;
  const std::size_t count = context.node.outputs.size();
  if (row.result != nullptr) {
    results = row.result(node);
    results.resize(std::min(results.size(), count));
  } else if (row.make != nullptr) {
    for (std::size_t i = 0; i < count; ++i) {
      const FormalTensor& formal = checked_formal(schema.outputs, i);
      const CheckedVariable* variable = checked_find(variables, formal.type_variable);
      results.push_back(variable != nullptr ? variable->kinds[0] : checked_only(context, formal));
    }
  }
  for (std::size_t i = 0; i < std::min(results.size(), schema.outputs.size()); ++i) {
    if (results[i] != Kind::kSequence) {  // which only a row of such an operator returns
      checked_kind_of(context, results[i], schema.outputs[i].kinds);
    }
  }
  return results;
}

// ---- Attributes -----------------------------------------------------------------------------------------------------

// The tensor of an attribute; one without a type if the attribute has none.
TensorMessage checked_tensor(const AttributeMessage& attribute) {
  return attribute.t != nullptr ? *attribute.t : TensorMessage();
}

AttributeData checked_value(const CheckedContext& context, const AttributeMessage& attribute) {
  switch (attribute.type) {
    case AttributeType::kFloat:
      return static_cast<double>(attribute.f);
    case AttributeType::kInt:
      return attribute.i;
    case AttributeType::kString:
      check_utf8(attribute.s);
      return attribute.s;
    case AttributeType::kTensor:
      return array_of(checked_tensor(attribute), context.model, format_text("{} of {}", attribute.name, context.label));
    case AttributeType::kFloats:
      return std::vector<double>(attribute.floats.begin(), attribute.floats.end());
    case AttributeType::kInts:
      return attribute.ints;
    case AttributeType::kStrings:
      std::for_each(attribute.strings.begin(), attribute.strings.end(), check_utf8);
      return attribute.strings;
    default:
      return {};
  }
}

// The type that the text of Cast's first version names.
Kind checked_named(const CheckedContext& context, std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char one) { return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one; });
  const Kind kind = kind_named(text);
  if (text == kind_name(Kind::kUndefined)) {
    checked_deny_kind(context, text);
  }
  if (kind == Kind::kUndefined && !text.empty()) {
    checked_refuse_kind(context, text);
  }
  return kind;
}

// The type that an attribute names, if it names one.
Kind checked_named_kind(const CheckedContext& context, const AttributeMessage& attribute) {
  if (attribute.type == AttributeType::kTensor) {
    return checked_kind(checked_tensor(attribute).data_type, "elem_type");
  }
  const bool is_output = attribute.name == "output_dtype";
  if (attribute.name != "to" && attribute.name != "dtype" && !is_output) {
    return Kind::kUndefined;
  }
  if (attribute.type == AttributeType::kString) {
    return checked_named(context, attribute.s);
  }
  const Kind kind = checked_kind(attribute.i, format_text("{}: {}", context.label, attribute.name));
  if (kind == Kind::kUndefined && !is_output) {  // 0 is the default of output_dtype: the type is not given
    checked_deny_kind(context, kind_name(kind));
  }
  return kind;
}

void checked_type(const CheckedContext& context, const AttributeMessage& attribute, std::int32_t expected) {
  const auto type = static_cast<std::int32_t>(attribute.type);
  if (type != expected) {
    fail("{}: {} is of type {}; expected {}", context.label, attribute.name, attribute_type_name(type),
         attribute_type_name(expected));
  }
}

void checked_attributes(const CheckedContext& context, Node& node) {
  for (const FormalAttribute& formal : node.formal) {
    if (formal.is_required && context.node.find(formal.name) == nullptr) {
      fail("{}: {} is missing", context.label, formal.name);
    }
  }
  node.given.reserve(context.node.attributes.size());
  for (const AttributeMessage& attribute : context.node.attributes) {
    const FormalAttribute* formal = node.find_formal(attribute.name);
    if (formal == nullptr) {
      fail("{}: {} is not an attribute of {} in this opset", context.label, printable(attribute.name),
           context.node.op_type);
    }
    checked_type(context, attribute, formal->type);
    AttributeData value = checked_value(context, attribute);
    node.set(*formal, std::move(value), checked_named_kind(context, attribute));
  }
}

}  // namespace

Node checked_node(const NodeMessage& node, const Row& row, const std::vector<Kind>& kinds, const Schema& schema,
                  int opset, Arrays fixed, const ModelMessage& model) {
  Node checked;
  checked.label = label_of(node);
  const CheckedContext context{node, model, opset, checked.label, row.takes_strings};
  checked_counts(context, schema);
  const CheckedVariables variables = checked_inputs(context, row, kinds, schema);
  checked.op = node.op_type;
  checked.kinds = kinds;
  checked.formal = schema.attributes;
  checked.since = schema.since;
  checked.fixed = std::move(fixed);
  checked_attributes(context, checked);
  checked.results = checked_results(context, checked, row, schema, variables);
  return checked;
}

Array constant_of(const NodeMessage& node, const ModelMessage& model, Kind& kind) {
  const std::string label = label_of(node);
  if (node.attributes.size() != 1) {
    fail("{} must have one attribute, its value, but has {}", label, node.attributes.size());
  }
  const AttributeMessage& attribute = node.attributes[0];
  const CheckedContext context{node, model, 0, label};
  const auto expect = [&](AttributeType type) { checked_type(context, attribute, static_cast<std::int32_t>(type)); };
  const auto count = [](const auto& list) { return Sizes{static_cast<std::int64_t>(list.size())}; };
  if (attribute.name == "value") {
    Array value = array_of(checked_tensor(attribute), model, "the value of " + label);
    kind = checked_kind(checked_tensor(attribute).data_type, "elem_type");
    return value;
  }
  kind = attribute.name == "value_float" || attribute.name == "value_floats" ? Kind::kFloat : Kind::kInt64;
  if (attribute.name == "value_float") {
    expect(AttributeType::kFloat);
    return Array::of(kind, {}, std::vector<float>{attribute.f});
  }
  if (attribute.name == "value_floats") {
    expect(AttributeType::kFloats);
    return Array::of(kind, count(attribute.floats), attribute.floats);
  }
  if (attribute.name == "value_int") {
    expect(AttributeType::kInt);
    return Array::of(kind, {}, std::vector<std::int64_t>{attribute.i});
  }
  if (attribute.name == "value_ints") {
    expect(AttributeType::kInts);
    return Array::of(kind, count(attribute.ints), attribute.ints);
  }
  if (attribute.name == "value_string" || attribute.name == "value_strings") {
    const bool is_list = attribute.name == "value_strings";
    expect(is_list ? AttributeType::kStrings : AttributeType::kString);
    kind = Kind::kString;
    std::vector<std::string_view> texts(attribute.strings.begin(), attribute.strings.end());
    if (!is_list) {
      texts.assign(1, attribute.s);
    }
    std::for_each(texts.begin(), texts.end(), check_utf8);
    return Array::strings(is_list ? count(texts) : Sizes(), texts);
  }
  const std::string name = printable(attribute.name);
  throw Unsupported(format_text("{} has a {}; anydml supports only dense tensors", label, name),
                    {"Constant of " + name});
}

}  // namespace anydml::onnx
