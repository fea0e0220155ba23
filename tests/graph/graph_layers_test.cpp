// SPDX-License-Identifier: MIT
// Graphs of equal layers. Recorded networks share the operators of equal nodes, and the work of compiling them is
// shared too: decompositions, changed layouts and steps. The plans must be those of the same graphs whose nodes share
// nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "graph/compile.h"
#include "schema/described.h"
#include "support/graph_text.h"

namespace anydml::test {
namespace {

constexpr int kLayers = 6;
constexpr int kKinds = 8;

// Adds nodes of a kind to the text. Returns the name of their result, which has the sizes [8,16], like `x`.
std::string add_nodes(std::string& text, int kind, const std::string& x, const std::string& before,
                      const std::string& name) {
  const std::string whole = ":f32[8,16]";
  switch (kind) {
    case 0:
      text += name + "w = constant 1024\n" + name + " = GEMM " + x + whole + " " + name +
              "w:f32[16,16] - -> f32[8,16] TransA=NONE TransB=NONE Alpha=1 Beta=1\n";
      return name;
    case 1:
      text += name + "n = NEGATE " + x + whole + " -> f32[8,16]\n";
      text += name + " = MULTIPLY " + name + "n" + whole + " " + x + whole + " -> f32[8,16]\n";
      return name;
    case 2:
      text += name + "r = REDUCE " + x + whole + " -> f32[8,1] Function=SUM Axes=[1]\n";
      text += name + " = ADD " + x + whole + " " + name + "r:f32[8,16/1,0] -> f32[8,16]\n";
      return name;
    case 3:
      text += name + "s = SPLIT " + x + whole + " -> f32[8,8] -> f32[8,8] Axis=1\n";
      text += name + " = JOIN " + name + "s.1:f32[8,8] " + name + "s:f32[8,8] -> f32[8,16] Axis=1\n";
      return name;
    case 4:
      text +=
          name + "b = constant 64\n" + name + "a = ADD " + x + whole + " " + name + "b:f32[8,16/0,1] -> f32[8,16]\n";
      text += name + " = SQRT " + name + "a" + whole + " -> f32[8,16]\n";
      return name;
    case 5:
      text += name + " = ADD " + x + whole + " " + before + whole + " -> f32[8,16]\n";
      return name;
    case 6:
      text += name + "i = input 512\n" + name + " = SUBTRACT " + x + ":f32[128] " + name + "i:f32[128] -> f32[128]\n";
      return name;
    default:
      text += name + "s = SPLIT " + x + whole + " -> f32[8,4] -> f32[8,12] Axis=1\n";
      text += name + "n = ABS " + name + "s:f32[8,4] -> f32[8,4]\n";
      text += name + "t = SQRT " + name + "s.1:f32[8,12] -> f32[8,12]\n";
      text += name + " = JOIN " + name + "n:f32[8,4] " + name + "t:f32[8,12] -> f32[8,16] Axis=1\n";
      return name;
  }
}

std::string layers(std::mt19937_64& random) {
  std::vector<int> kinds(2 + random() % 5);
  std::ranges::generate(kinds, [&] { return static_cast<int>(random() % kKinds); });
  std::string text = "x = input 512\n";
  std::string x = "x";
  std::string before = "x";
  for (int layer = 0; layer < kLayers; ++layer) {
    const std::string first = x;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      x = add_nodes(text, kinds[i], x, before, "v" + std::to_string(layer) + "_" + std::to_string(i));
    }
    before = first;
    text += random() % 4 == 0 ? "out " + x + "\n" : "";
  }
  return text + "last = NEGATE " + x + ":f32[8,16] -> f32[8,16]\nout last\n";
}

std::string operator_text(const OpDesc& op) {
  std::string text(op.op->name);
  for (const OpTensor& tensor : op.tensors) {
    text += tensor.present ? " " + std::to_string(static_cast<int>(tensor.tensor.type)) : " -";
    for (std::uint32_t i = 0; i < tensor.tensor.rank; ++i) {
      text += " " + std::to_string(tensor.tensor.sizes[i]) + "/" + std::to_string(tensor.tensor.strides[i]);
    }
  }
  return text + schema::attributes_text(*op.op, op.arguments);
}

Graph with_shared_operators(Graph graph) {
  std::map<std::string, std::shared_ptr<const OpDesc>> operators;
  for (GraphNode& node : graph.nodes) {
    node.op = operators.try_emplace(operator_text(*node.op), node.op).first->second;
  }
  return graph;
}

TEST(Layers, SharedOperatorsChangeNoPlan) {
  constexpr DeviceTraits kDevices[] = {
      {}, {.joins_from = 1}, {.threads = 4, .joins_from = 1, .forwards_tiles = true, .vector_bytes = 32}};
  std::mt19937_64 random(47);
  for (int round = 0; round < 150; ++round) {
    const std::string text = layers(random);
    SCOPED_TRACE(text);
    const Graph graph = parse_graph(text);
    const Graph shared = with_shared_operators(graph);
    for (const DeviceTraits& device : kDevices) {
      std::string expected_text, actual_text;
      const auto expected = compile_graph(graph, device, &expected_text);
      const auto actual = compile_graph(shared, device, &actual_text);
      ASSERT_TRUE(expected.ok() && actual.ok());
      EXPECT_EQ(actual_text, expected_text);
      for (Plan GraphPlans::*const plan : {&GraphPlans::initialize, &GraphPlans::run}) {
        const Plan& one = actual.value().*plan;
        const Plan& other = expected.value().*plan;
        EXPECT_TRUE(std::ranges::equal(one.words(), other.words()));
        EXPECT_EQ(one.temporary_bytes(), other.temporary_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace anydml::test
