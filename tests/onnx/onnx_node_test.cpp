// SPDX-License-Identifier: MIT
// Nodes that are checked against ONNX's schemas, and nodes that replace others.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "onnx/program/checked_node.h"
#include "onnx/rows/expansion.h"

namespace anydml::onnx {

namespace {

AttributeMessage integer_attribute(const std::string& name, std::int64_t value) {
  AttributeMessage attribute;
  attribute.name = name;
  attribute.type = AttributeType::kInt;
  attribute.i = value;
  return attribute;
}

AttributeMessage list_attribute(const std::string& name, std::vector<std::int64_t> values) {
  AttributeMessage attribute;
  attribute.name = name;
  attribute.type = AttributeType::kInts;
  attribute.ints = std::move(values);
  return attribute;
}

AttributeMessage text_attribute(const std::string& name, const std::string& value) {
  AttributeMessage attribute;
  attribute.name = name;
  attribute.type = AttributeType::kString;
  attribute.s = value;
  return attribute;
}

AttributeMessage float_attribute(const std::string& name, float value) {
  AttributeMessage attribute;
  attribute.name = name;
  attribute.type = AttributeType::kFloat;
  attribute.f = value;
  return attribute;
}

NodeMessage node_message(const std::string& op, std::vector<std::string> inputs,
                         std::vector<AttributeMessage> attributes = {}) {
  NodeMessage node;
  node.name = "n";
  node.op_type = op;
  node.inputs = std::move(inputs);
  node.outputs = {"y"};
  node.attributes = std::move(attributes);
  return node;
}

Compute make_nothing(const Node&) {
  return [](std::span<const Array>) { return Arrays(); };
}

Row simple_row(std::string_view op) {
  Row row;
  row.op = op;
  row.make = make_nothing;
  return row;
}

Node check(const NodeMessage& message, const std::vector<Kind>& kinds, int opset, const Row& row) {
  return checked_node(message, row, kinds, *find_schema(message.op_type, opset), opset, Arrays(kinds.size()),
                      ModelMessage());
}

Node check(const NodeMessage& message, const std::vector<Kind>& kinds, int opset = 13) {
  return check(message, kinds, opset, simple_row(message.op_type));
}

template <class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const Invalid& error) {
    return std::string("Invalid: ") + error.what();
  } catch (const WrongType& error) {
    return std::string("WrongType: ") + error.what();
  } catch (const Unsupported& error) {
    return std::string("Unsupported: ") + error.what() + " [" + joined(error.needs()) + "]";
  }
  return "";
}

std::string failure(const NodeMessage& message, const std::vector<Kind>& kinds, int opset = 13) {
  return message_of([&] { static_cast<void>(check(message, kinds, opset)); });
}

std::string failure(const NodeMessage& message, const std::vector<Kind>& kinds, int opset, const Row& row) {
  return message_of([&] { static_cast<void>(check(message, kinds, opset, row)); });
}

TEST(OnnxNode, HasItsOwnAttributesAndDefaults) {
  const Node node =
      check(node_message("Conv", {"x", "w"}, {list_attribute("pads", {1, 2}), integer_attribute("group", 3)}),
            {Kind::kFloat, Kind::kFloat});
  EXPECT_EQ(node.op, "Conv");
  EXPECT_EQ(node.label, "Conv 'n'");
  EXPECT_EQ(node.since, 11);
  EXPECT_EQ(node.results, (std::vector<Kind>{Kind::kFloat}));
  EXPECT_EQ(node.integers("pads"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(node.integer("group"), 3);
  EXPECT_EQ(node.text("auto_pad"), "NOTSET");
  EXPECT_TRUE(node.declares("strides"));
  EXPECT_FALSE(node.has("strides"));
  EXPECT_TRUE(node.integers("strides").empty());
  EXPECT_FALSE(node.declares("alpha"));
  EXPECT_EQ(node.number("alpha", 2.5), 2.5);
  EXPECT_TRUE(node.takes(1));
  EXPECT_FALSE(node.takes(2));
}

TEST(OnnxNode, UsesTheLastOfSeveralValues) {
  const Node node =
      check(node_message("Concat", {"a", "b"}, {integer_attribute("axis", 1), integer_attribute("axis", 2)}),
            {Kind::kFloat, Kind::kFloat});
  EXPECT_EQ(node.integer("axis"), 2);
  EXPECT_EQ(node.given.size(), 1U);
}

TEST(OnnxNode, KeepsFloatsAsTheirExactDoubles) {
  const Node node = check(node_message("LeakyRelu", {"x"}, {float_attribute("alpha", 0.1F)}), {Kind::kFloat});
  EXPECT_EQ(node.number("alpha"), static_cast<double>(0.1F));
  EXPECT_EQ(check(node_message("LeakyRelu", {"x"}), {Kind::kFloat}).number("alpha"), static_cast<double>(0.01F));
}

TEST(OnnxNode, KnowsTheTypeThatAnAttributeNames) {
  Row row = simple_row("Cast");
  row.result = [](const Node& node) { return std::vector<Kind>{node.named_kind("to")}; };
  const NodeMessage cast = node_message("Cast", {"x"}, {integer_attribute("to", 10)});
  EXPECT_EQ(check(cast, {Kind::kFloat}, 13, row).results, (std::vector<Kind>{Kind::kFloat16}));
  const NodeMessage first = node_message("Cast", {"x"}, {text_attribute("to", "INT32")});
  EXPECT_EQ(check(first, {Kind::kFloat}, 1, row).results, (std::vector<Kind>{Kind::kInt32}));
  EXPECT_EQ(failure(node_message("Cast", {"x"}, {text_attribute("to", "INT3")}), {Kind::kFloat}, 1, row),
            "Unsupported: Cast 'n': anydml does not support Cast of int3 [Cast of int3]");
  EXPECT_EQ(failure(node_message("Cast", {"x"}, {integer_attribute("to", 0)}), {Kind::kFloat}, 13, row),
            "WrongType: Cast 'n': ONNX has no Cast of undefined in opset 13");
  EXPECT_EQ(failure(node_message("Cast", {"x"}, {integer_attribute("to", 77)}), {Kind::kFloat}, 13, row),
            "Invalid: Cast 'n': to is 77; expected the number of one of ONNX's data types, 1 to 28");
  EXPECT_EQ(failure(node_message("Cast", {"x"}, {integer_attribute("to", 8)}), {Kind::kFloat}, 13, row),
            "Unsupported: Cast 'n': anydml does not support Cast of string [Cast of string]");
}

TEST(OnnxNode, ReportsWrongInputsAndOutputs) {
  EXPECT_EQ(failure(node_message("Conv", {"x"}), {Kind::kFloat}), "Invalid: Conv 'n': input W is missing");
  EXPECT_EQ(failure(node_message("Conv", {"x", ""}), {Kind::kFloat, Kind::kUndefined}),
            "Invalid: Conv 'n': input W is missing");
  EXPECT_EQ(failure(node_message("Relu", {"x", "z"}), {Kind::kFloat, Kind::kFloat}),
            "Invalid: Relu 'n' has 2 inputs; expected 1 to 1");
  EXPECT_EQ(failure(node_message("Sum", {"x", "", "z"}), {Kind::kFloat, Kind::kUndefined, Kind::kFloat}),
            "Invalid: Sum 'n': input data_0 is missing");
  NodeMessage relu = node_message("Relu", {"x"});
  relu.outputs = {"y", "z"};
  EXPECT_EQ(failure(relu, {Kind::kFloat}), "Invalid: Relu 'n' has 2 outputs; expected 1 at most");
}

TEST(OnnxNode, ReportsWrongTypes) {
  EXPECT_EQ(failure(node_message("Conv", {"x", "w"}), {Kind::kInt8, Kind::kInt8}),
            "WrongType: Conv 'n': ONNX has no Conv of int8 in opset 13");
  EXPECT_EQ(failure(node_message("Conv", {"x", "w"}), {Kind::kFloat, Kind::kFloat16}),
            "WrongType: Conv 'n': the inputs must have one type, but have float, float16");
  EXPECT_EQ(failure(node_message("Relu", {"x"}), {Kind::kBfloat16}),
            "Unsupported: Relu 'n': anydml does not support Relu of bfloat16 [Relu of bfloat16]");
  EXPECT_EQ(failure(node_message("Relu", {"x"}), {Kind::kSequence}),
            "Unsupported: Relu 'n': anydml does not support Relu of sequence [Relu of sequence]");
  EXPECT_EQ(failure(node_message("Relu", {"x"}), {Kind::kUndefined}),  // the input is present
            "WrongType: Relu 'n': ONNX has no Relu of undefined in opset 13");
  Row row = simple_row("Conv");
  row.kinds = kRoundedKinds;
  EXPECT_EQ(failure(node_message("Conv", {"x", "w"}), {Kind::kDouble, Kind::kDouble}, 13, row),
            "Unsupported: Conv 'n': anydml does not support Conv of double [Conv of double]");
}

TEST(OnnxNode, AcceptsFourBitIntegersOnlyForQuantization) {
  const NodeMessage dequantize = node_message("DequantizeLinear", {"x", "s"});
  Row row = simple_row("DequantizeLinear");
  row.result = [](const Node& node) { return std::vector<Kind>{node.kinds[1]}; };
  EXPECT_EQ(check(dequantize, {Kind::kInt4, Kind::kFloat}, 21, row).results, (std::vector<Kind>{Kind::kFloat}));
  EXPECT_EQ(failure(node_message("Identity", {"x"}), {Kind::kInt4}, 21),
            "Unsupported: Identity 'n': anydml does not support Identity of int4 [Identity of int4]");
}

TEST(OnnxNode, ReportsWrongAttributes) {
  EXPECT_EQ(failure(node_message("Concat", {"x"}), {Kind::kFloat}), "Invalid: Concat 'n': axis is missing");
  EXPECT_EQ(failure(node_message("Relu", {"x"}, {integer_attribute("a\nb", 1)}), {Kind::kFloat}),
            "Invalid: Relu 'n': " + printable("a\nb") + " is not an attribute of Relu in this opset");
  EXPECT_EQ(failure(node_message("Concat", {"x"}, {float_attribute("axis", 1)}), {Kind::kFloat}),
            "Invalid: Concat 'n': axis is of type FLOAT; expected INT");
  AttributeMessage untyped = integer_attribute("axis", 1);
  untyped.type = AttributeType::kUndefined;
  EXPECT_EQ(failure(node_message("Concat", {"x"}, {untyped}), {Kind::kFloat}),
            "Invalid: Concat 'n': axis is of type UNDEFINED; expected INT");
}

TEST(OnnxNode, ChecksNumbersAndChoices) {
  const Node node = check(node_message("Conv", {"x", "w"},
                                       {list_attribute("pads", {1, -2}), integer_attribute("group", 0),
                                        text_attribute("auto_pad", "SAME")}),
                          {Kind::kFloat, Kind::kFloat});
  EXPECT_EQ(message_of([&] { check_minimum(node, "pads", 0); }),
            "Invalid: Conv 'n': pads is [1, -2]; expected numbers of 0 or more");
  EXPECT_EQ(message_of([&] { check_minimum(node, "group", 1); }),
            "Invalid: Conv 'n': group is 0; expected a number of 1 or more");
  EXPECT_EQ(message_of([&] { check_minimum(node, "strides", 1); }), "");
  EXPECT_EQ(message_of([&] {
              check_choice(node, "auto_pad", {"NOTSET", "VALID"});
            }),
            "Invalid: Conv 'n': auto_pad is 'SAME'; expected one of 'NOTSET', 'VALID'");
  EXPECT_EQ(message_of([&] {
              check_choice(node, "group", {1, 2});
            }),
            "Invalid: Conv 'n': group is 0; expected one of 1, 2");
  EXPECT_EQ(message_of([&] { check_choice(node, "group", {0, 2}); }), "");
  EXPECT_EQ(message_of([&] { check_choice(node, "mode", {"a"}); }), "");
  EXPECT_EQ(message_of([&] { wrong(node, "kernel_shape", "the window's sizes"); }),
            "Invalid: Conv 'n': kernel_shape is None; expected the window's sizes");
  EXPECT_EQ(message_of([&] { refuse(node, "with a", "b"); }),
            "Unsupported: Conv 'n': anydml does not support Conv with a: b [Conv with a]");
}

TEST(OnnxNode, ReadsConstants) {
  const ModelMessage model;
  Kind kind = Kind::kUndefined;
  const Array integer = constant_of(node_message("Constant", {}, {integer_attribute("value_int", 5)}), model, kind);
  EXPECT_EQ(kind, Kind::kInt64);
  EXPECT_EQ(integer.integer(), 5);
  EXPECT_EQ(integer.rank(), 0);
  const Array list = constant_of(node_message("Constant", {}, {list_attribute("value_ints", {})}), model, kind);
  EXPECT_EQ(list.shape(), (Sizes{0}));
  const Array number = constant_of(node_message("Constant", {}, {float_attribute("value_float", 0.5F)}), model, kind);
  EXPECT_EQ(kind, Kind::kFloat);
  EXPECT_EQ(number.number(), 0.5);
  const auto fails = [&](std::vector<AttributeMessage> attributes) {
    const NodeMessage node = node_message("Constant", {}, std::move(attributes));
    return message_of([&] { static_cast<void>(constant_of(node, model, kind)); });
  };
  EXPECT_EQ(fails({}), "Invalid: Constant 'n' must have one attribute, its value, but has 0");
  const Array text = constant_of(node_message("Constant", {}, {text_attribute("value_string", "a")}), model, kind);
  EXPECT_EQ(kind, Kind::kString);
  EXPECT_EQ(text.elements<std::string_view>()[0], "a");
  EXPECT_EQ(fails({text_attribute("sparse_value", "a")}),
            "Unsupported: Constant 'n' has a sparse_value; anydml supports only dense tensors [Constant of "
            "sparse_value]");
  EXPECT_EQ(fails({float_attribute("value_int", 1)}),
            "Invalid: Constant 'n': value_int is of type FLOAT; expected INT");
  EXPECT_NE(fails({integer_attribute("value", 1)}), "");  // without a tensor
}

TEST(OnnxExpansion, WritesNodes) {
  NodeMessage node =
      node_message("FusedConv", {"x", "", "b"}, {text_attribute("mode", "m"), integer_attribute("n", 4)});
  node.domain = "com.microsoft";
  Expansion expansion(node, {Kind::kFloat, Kind::kUndefined, Kind::kFloat}, 12);
  EXPECT_EQ(expansion.written_opset, newest_opset());
  EXPECT_EQ(expansion.opset(), 12);
  EXPECT_EQ(expansion.input(1), "");
  EXPECT_EQ(expansion.input(3), "");
  EXPECT_EQ(expansion.kind(2), Kind::kFloat);
  EXPECT_EQ(expansion.kind(3), Kind::kUndefined);
  const std::string first = expansion.add("Conv", {expansion.input(0), expansion.input(2), "", ""},
                                          {{"group", 2}, {"alpha", 0.5}, {"perm", Sizes{1, 0}}, {"auto_pad", "VALID"}});
  const std::string second = expansion.add("Mul", {first, expansion.constant({1})}, expansion.passed_on({"n", "o"}));
  expansion.finish(second);
  ASSERT_EQ(expansion.nodes.size(), 4U);
  const NodeMessage& conv = expansion.nodes[0];
  EXPECT_EQ(conv.name, "FusedConv 'n'");
  EXPECT_EQ(conv.inputs, (std::vector<std::string>{"x", "b"}));
  EXPECT_EQ(conv.find("group")->i, 2);
  EXPECT_EQ(conv.find("alpha")->type, AttributeType::kFloat);
  EXPECT_EQ(conv.find("perm")->ints, (Sizes{1, 0}));
  EXPECT_EQ(conv.find("auto_pad")->s, "VALID");
  Kind kind = Kind::kUndefined;
  EXPECT_EQ(constant_of(expansion.nodes[1], ModelMessage(), kind).shape(), (Sizes{1}));
  EXPECT_EQ(kind, Kind::kInt64);
  EXPECT_EQ(expansion.nodes[2].find("n")->i, 4);
  EXPECT_EQ(expansion.nodes[2].attributes.size(), 1U);
  EXPECT_EQ(expansion.nodes[3].op_type, "Identity");
  EXPECT_EQ(expansion.nodes[3].outputs, (std::vector<std::string>{"y"}));
  EXPECT_NE(first, second);
  Expansion other(node, {}, 12);
  EXPECT_NE(other.fresh_name(), first);
}

TEST(OnnxExpansion, ReadsAttributesAndRefuses) {
  NodeMessage node = node_message("Attention", {"x"}, {text_attribute("mode", "m"), integer_attribute("n", 4)});
  node.domain = "com.microsoft";
  const Expansion expansion(node, {Kind::kFloat}, 12);
  EXPECT_EQ(expansion.text("mode"), "m");
  EXPECT_EQ(expansion.integer("n"), 4);
  EXPECT_EQ(expansion.integer("absent", 7), 7);
  EXPECT_EQ(message_of([&] { static_cast<void>(expansion.integer("mode")); }),
            "Invalid: Attention 'n': mode is of type STRING; expected INT");
  EXPECT_EQ(message_of([&] { expansion.refuse("with a mask"); }),
            "Unsupported: Attention 'n': anydml does not support com.microsoft.Attention with a mask "
            "[com.microsoft.Attention with a mask]");
}

}  // namespace

}  // namespace anydml::onnx
