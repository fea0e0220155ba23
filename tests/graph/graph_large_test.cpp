// SPDX-License-Identifier: MIT
// Tests the passes over large graphs. Each pass visits every node and every source a bounded number of times, and its
// results do not depend on the number of nodes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "graph/compile.h"
#include "graph/passes.h"
#include "support/graph_text.h"

namespace anydml::test {
namespace {

constexpr DeviceTraits kJoins{.joins_from = 1};

std::string numbered(const char* name, int i) { return name + std::to_string(i); }

// n nodes read one value, and their results are added up one after another.
Graph fan(int n) {
  std::string text = "a = input 16\nh = EXP a:f32[4] -> f32[4]\n";
  for (int i = 0; i < n; ++i) {
    text += numbered("v", i) + " = NEGATE h:f32[4] -> f32[4]\n";
  }
  for (int i = 0; i < n; ++i) {
    text += numbered("s", i) + " = ADD " + (i == 0 ? "h" : numbered("s", i - 1)) + ":f32[4] " + numbered("v", i) +
            ":f32[4] -> f32[4]\n";
  }
  return parse_graph(text + "out " + numbered("s", n - 1) + "\n");
}

// n large values are computed from one input, and each is reduced to a small value. The small values are joined.
Graph joined(int n, int large, int small) {
  const std::string shape = "f32[" + std::to_string(large) + "]";
  const std::string column = "f32[" + std::to_string(large) + ",1]";
  std::string text = "a = input " + std::to_string(4 * large) + "\n";
  std::string join;
  for (int i = 0; i < n; ++i) {
    text += numbered("x", i) + " = REDUCE a:" + column + " -> " + column + " Function=MAX Axes=[1]\n";
  }
  for (int i = 0; i < n && small != large; ++i) {
    text += numbered("y", i) + " = REDUCE " + numbered("x", i) + ":" + shape + " -> f32[1] Function=MAX Axes=[0]\n";
  }
  for (int i = 0; i < n; ++i) {
    join += " " + numbered(small == large ? "x" : "y", i) + ":f32[" + std::to_string(small) + "]";
  }
  return parse_graph(text + "j = JOIN" + join + " -> f32[" + std::to_string(n * small) + "] Axis=0\nout j\n");
}

TEST(Large, AValueThatManyReadTakesNoMoreStepsForEach) {
  const auto few = compile_graph(fan(300), kJoins);
  const auto many = compile_graph(fan(3000), kJoins);
  ASSERT_TRUE(few.ok() && many.ok());
  std::printf("%u and %u steps\n", few.value().steps, many.value().steps);
  EXPECT_LE(many.value().steps, 10 * few.value().steps + 10);
}

TEST(Large, TheOrderIsFrugalForAnyNumberOfGroups) {
  for (const int n : {50, 5000}) {
    const auto plans = compile_graph(joined(n, 64, 1), kJoins);
    ASSERT_TRUE(plans.ok());
    // Memory holds one large value at a time, plus all the small ones.
    EXPECT_LE(plans.value().run.temporary_bytes(), static_cast<std::uint64_t>(n) * kTemporaryAlignment + 4096) << n;
    EXPECT_GE(plans.value().temporary_values, static_cast<std::uint64_t>(n) * 64 * 4) << n;
  }
}

TEST(Large, EachPartOfAJoinIsMadeInItsPlace) {
  constexpr int kParts = 3000;
  std::string text;
  const auto plans = compile_graph(joined(kParts, 64, 64), kJoins, &text);
  ASSERT_TRUE(plans.ok());
  EXPECT_EQ(plans.value().run.temporary_bytes(), 0U);
  EXPECT_NE(text.find("REDUCE | reads input0 | writes output0\n"), std::string::npos);
  EXPECT_NE(text.find("| writes output0+" + std::to_string((kParts - 1) * 64 * 4) + "\n"), std::string::npos);
}

// Measures compile times of graphs of 1,000 to 1,000,000 nodes. This is a benchmark, not a test: run it with
// --gtest_also_run_disabled_tests
TEST(Compile, DISABLED_Times) {
  struct Kind {
    const char* name;
    std::function<Graph(int)> make;
  };
  const auto repeated = [](const std::string& first, int nodes, auto line) {
    // A large graph has few distinct operators, which its nodes share.
    Graph graph = parse_graph(first);
    const Graph small = parse_graph(first + line);
    for (int i = 0; i < nodes; ++i) {
      graph.nodes.push_back(small.nodes[0]);
      GraphNode& node = graph.nodes.back();
      for (std::size_t input = 0; input < node.sources.size() && i > 0; ++input) {
        const auto back = input == 0 ? 1 : std::min(i, 7);
        node.sources[input] = {.kind = SourceKind::node, .index = static_cast<std::uint32_t>(i - back)};
      }
    }
    graph.outputs.push_back({.kind = SourceKind::node, .index = static_cast<std::uint32_t>(nodes - 1)});
    return graph;
  };
  const Kind kinds[] = {
      {"a chain of NEGATE",
       [&](int n) { return repeated("a = input 4096\n", n, "x = NEGATE a:f32[1024] -> f32[1024]\n"); }},
      {"ADD of the last and seventh-last values",
       [&](int n) { return repeated("a = input 4096\n", n, "x = ADD a:f32[1024] a:f32[1024] -> f32[1024]\n"); }},
      {"REDUCE of the last value",
       [&](int n) {
         return repeated("a = input 4096\n", n, "x = REDUCE a:f32[1024,1] -> f32[1024,1] Function=MAX Axes=[1]\n");
       }},
      {"ADD that cannot be fused",
       [&](int n) { return repeated("a = input 4096\n", n, "x = ADD a:f32[1024/0] a:f32[1024/0] -> f32[1024]\n"); }},
      {"NEGATE of one value, all outputs",
       [&](int n) {
         Graph graph = repeated("a = input 4096\n", n, "x = NEGATE a:f32[1024] -> f32[1024]\n");
         for (int i = 1; i < n; ++i) {
           graph.nodes[static_cast<std::size_t>(i)].sources[0].index = 0;
           graph.outputs.push_back({.kind = SourceKind::node, .index = static_cast<std::uint32_t>(i)});
         }
         return graph;
       }},
      {"NEGATE of one value, summed in turn", fan},
      {"REDUCE of one value, all joined", [](int n) { return joined(n, 1024, 1024); }},
      {"two REDUCE in sequence, all joined", [](int n) { return joined(n, 1024, 1); }}};
  for (const Kind& kind : kinds) {
    for (const int nodes : {1'000, 10'000, 100'000, 1'000'000}) {
      const Graph graph = kind.make(nodes);
      const auto begin = std::chrono::steady_clock::now();
      const auto plans = compile_graph(graph, kJoins);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      std::printf("%-40s %8d nodes %10.2f ms %8u steps\n", kind.name, nodes, took.count(),
                  plans.ok() ? plans.value().steps : 0);
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace anydml::test
