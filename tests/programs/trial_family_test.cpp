// SPDX-License-Identifier: MIT
// Tests the family interfaces in graphs that mix an operator that uses all of them (support/trial_family.h) with the
// library's operators. ANYDML_GRAPHS sets the number of random graphs; a failure reports its seed.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "graph/passes.h"
#include "plan/reshape.h"
#include "support/sanitizers.h"
#include "support/trial_graph.h"

namespace anydml::test {
namespace {

// Adds random nodes to a graph.
class Grower {
 public:
  explicit Grower(u64 seed) : random_(seed) {
    for (u64 i = 0; i < 2 + random_() % 3; ++i) {
      const u64 kind = random_() % 6;
      graph.add_input(any_sizes(), kind == 0 ? SourceKind::constant : SourceKind::input, kind == 1, random_);
    }
    for (u64 i = 0; i < 4 + random_() % 24; ++i) {
      add_node();
    }
    // The outputs are mostly values that no node reads, so that the placement of the other values stays unconstrained.
    for (std::size_t i = 0; i < graph.values().size(); ++i) {
      const GraphSource& source = graph.values()[i].source;
      const bool is_last = i + 1 == graph.values().size();
      if (source.kind == SourceKind::node && (is_last || random_() % (is_read(source) ? 15 : 2) == 0)) {
        graph.set_output(i);
        if (random_() % 8 == 0) {
          graph.set_output(i);
        }
      }
    }
  }

  TwinGraph graph;

 private:
  [[nodiscard]] bool is_read(const GraphSource& value) const {
    return std::ranges::any_of(graph.graph().nodes, [&](const GraphNode& node) {
      return std::ranges::any_of(node.sources, [&](const GraphSource& source) {
        return source.kind == value.kind && source.index == value.index && source.output == value.output;
      });
    });
  }

  [[nodiscard]] Sizes any_sizes() {
    static const std::vector<Sizes> kSome = {{4, 32}, {2, 64}, {128}, {4, 16}, {2, 16}, {8, 16}, {3, 5, 8}, {7}, {1}};
    return random_() % 40 == 0 ? Sizes{11, 300} : kSome[random_() % kSome.size()];
  }

  // Packed, or permuted and with gaps.
  TensorDesc any_output(const Sizes& sizes, DataType type = DataType::FLOAT32) {
    if (random_() % 4 != 0) {
      return packed(sizes, type);
    }
    Layout layout = random_layout(sizes, random_, false);
    for (i64& stride : layout.strides) {
      stride = std::abs(stride);
    }
    return tensor_of(layout, type);
  }

  // Later values are more likely, so that graphs become deep.
  std::size_t any_value() {
    const std::size_t count = graph.values().size();
    return std::max(random_() % count, random_() % count);
  }

  // Views some value: all of its elements in their layout, or a subset, permuted or repeated. Views only elements that
  // were written.
  TwinGraph::View any_view(const Sizes& sizes) {
    for (int tries = 0; tries < 20; ++tries) {
      const std::size_t of = any_value();
      TensorDesc result = graph.values()[of].result;
      const DataType type = result.type;
      result.type = DataType::FLOAT32;  // UINT32 values are small
      if (sizes_of(result) == sizes && (!is_packed(result) || random_() % 2 == 0)) {
        return {.of = of, .tensor = result};
      }
      if (!is_packed(result) || type != DataType::FLOAT32) {
        continue;
      }
      const i64 room = element_count(result);
      const Layout layout = random_() % 2 == 0 ? random_layout(sizes, random_, true) : layout_of(packed(sizes));
      const i64 spare = room - (layout.highest() - layout.lowest() + 1);
      if (spare >= 0) {
        const i64 place = random_() % 2 == 0 ? 0 : static_cast<i64>(random_() % static_cast<u64>(spare + 1));
        return {.of = of, .tensor = tensor_of(layout), .offset = (place - layout.lowest()) * 4};
      }
    }
    return {.of = 0, .tensor = tensor_of({sizes, Sizes(sizes.size())})};  // one element, broadcast
  }

  std::vector<TwinGraph::View> any_views(const Sizes& sizes, u64 count) {
    std::vector<TwinGraph::View> views;
    for (u64 i = 0; i < count; ++i) {
      views.push_back(any_view(sizes));
    }
    return views;
  }

  void add_node() {
    // Reusing the sizes of existing values lets nodes connect.
    const Sizes sizes = random_() % 3 == 0 ? any_sizes() : sizes_of(graph.values()[any_value()].result);
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2: {
        const u64 inputs = random_() % 12 == 0 ? 60 + random_() % 12 : 1 + random_() % 5;
        graph.add_sum(any_views(sizes, inputs), any_output(sizes),
                      random_() % 2 == 0 ? std::nullopt : std::optional(any_output(sizes, DataType::UINT32)));
        break;
      }
      case 3:
        return add_join(sizes);
      case 4:
        return add_split(sizes);
      case 5:
        return add_reduce(sizes);
      case 6:
        graph.add(random_() % 2 == 0 ? "ABS" : "NEGATE", any_views(sizes, 1), {any_output(sizes)});
        break;
      default: {
        static const std::vector<std::string> kNames = {"ADD", "SUBTRACT", "MAX", "MIN"};
        graph.add(kNames[random_() % kNames.size()], any_views(sizes, 2), {any_output(sizes)});
        break;
      }
    }
  }

  void add_join(Sizes sizes) {
    const std::size_t axis = random_() % sizes.size();
    std::vector<TwinGraph::View> views;
    for (int tries = 0; tries < 10; ++tries) {  // whole values, which may be computed directly in JOIN's output
      const std::size_t of = any_value();
      Sizes other = sizes_of(graph.values()[of].result);
      other.resize(sizes.size());
      other[axis] = sizes[axis];
      if (graph.values()[of].result.rank == sizes.size() && graph.values()[of].result.type == DataType::FLOAT32 &&
          other == sizes) {
        views.push_back(graph.whole(of));
      }
    }
    if (views.empty() || random_() % 4 == 0) {
      views.push_back(any_view(sizes));
    }
    sizes[axis] = 0;
    for (const TwinGraph::View& view : views) {
      sizes[axis] += view.tensor.sizes[axis];
    }
    if (count_of(sizes) <= 20'000) {
      graph.add("JOIN", views, {any_output(sizes)}, " Axis=" + std::to_string(axis));
    }
  }

  void add_split(const Sizes& sizes) {
    const std::size_t axis = random_() % sizes.size();
    std::vector<TensorDesc> outputs;
    for (i64 left = sizes[axis]; left > 0;) {
      Sizes part = sizes;
      part[axis] = random_() % 4 == 0 ? left : 1 + static_cast<i64>(random_() % static_cast<u64>(left));
      outputs.push_back(any_output(part));
      left -= part[axis];
    }
    graph.add("SPLIT", any_views(sizes, 1), outputs, " Axis=" + std::to_string(axis));
  }

  void add_reduce(Sizes sizes) {
    const std::vector<TwinGraph::View> views = any_views(sizes, 1);
    const std::size_t axis = random_() % sizes.size();
    sizes[axis] = 1;
    graph.add(
        "REDUCE", views, {any_output(sizes)},
        std::string(random_() % 2 == 0 ? " Function=SUM" : " Function=MAX") + " Axes=[" + std::to_string(axis) + "]");
  }

  Random random_;
};

// The operator's formulas, element by element.
TEST(TrialFamily, ComputesItsFormulas) {
  Random random(kSeed);
  for (const u64 inputs : {1U, 2U, 63U, 64U, 65U, 1000U}) {
    for (const Sizes& sizes : {Sizes{1}, Sizes{3, 5}, Sizes{2, 9, 31}, Sizes{255}, Sizes{257}, Sizes{4, 500}}) {
      TwinGraph graph;
      std::vector<TwinGraph::View> views;
      for (u64 i = 0; i < inputs; ++i) {
        const Layout layout = random_layout(sizes, random, true);
        const i64 room = layout.highest() - layout.lowest() + 1;
        views.push_back({.of = graph.add_input({room}, SourceKind::input, false, random),
                         .tensor = tensor_of(layout),
                         .offset = -layout.lowest() * 4});
      }
      const bool has_numbers = random() % 2 == 0;
      const std::size_t result = graph.add_sum(
          views, packed(sizes), has_numbers ? std::optional(packed(sizes, DataType::UINT32)) : std::nullopt);
      const auto count = static_cast<std::size_t>(count_of(sizes));
      std::vector<float> sums(count);
      std::vector<u32> numbers(count);
      std::vector<float> maximum(count);
      for (u32 input = 0; input < inputs; ++input) {
        const Layout layout = layout_of(views[input].tensor);
        for (std::size_t i = 0; i < count; ++i) {
          float value = 0;
          std::memcpy(&value,
                      graph.values()[input].bytes.data() + views[input].offset + 4 * layout.offset(static_cast<i64>(i)),
                      sizeof(value));
          numbers[i] = input == 0 || value > maximum[i] ? input : numbers[i];
          maximum[i] = numbers[i] == input ? value : maximum[i];
          sums[i] = input == 0 ? value : sums[i] + value;
        }
      }
      std::vector<float> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        expected[i] = sums[i] + sums[count - 1 - i];
      }
      ASSERT_EQ(std::memcmp(expected.data(), graph.values()[result].bytes.data(), count * 4), 0) << inputs << " inputs";
      if (has_numbers) {
        ASSERT_EQ(std::memcmp(numbers.data(), graph.values()[result + 1].bytes.data(), count * 4), 0) << inputs;
      }
      graph.set_output(result);
      graph.check_everywhere();
    }
  }
}

// No two values that are alive at the same time share a byte, except for in-place results of element-wise steps, and a
// step's own memory follows all values.
void check_memory(const Graph& given, const DeviceTraits& traits, std::size_t& parts) {
  const auto sorted = sorted_nodes(given);
  ASSERT_TRUE(sorted.ok());
  std::vector<std::uint32_t> nodes = prune(given, sorted.value());
  const Graph graph = alias(given, nodes);
  nodes = prune(graph, nodes);
  const ValueNumbers values(graph);
  for (u32 value = 0; value < values.count(); ++value) {
    parts += values.root(value) != value ? 1U : 0U;
  }
  ValueSet kept(values.count());
  for (const GraphSource& output : graph.outputs) {
    kept[values.of(output)] = true;
  }
  const std::vector<GraphGroup> groups = fuse(graph, values, nodes, kept, traits);
  ValueSet temporary(values.count());
  for (const GraphGroup& group : groups) {
    for (const std::uint32_t value : group.writes) {
      temporary[value] = values.root(value) == value && !kept[value];
    }
  }
  std::vector<GraphGroup> ordered;
  std::vector<std::size_t> computed_at(values.count(), groups.size());
  for (const std::uint32_t i : order(graph, values, groups, temporary)) {
    for (const std::uint32_t value : groups[i].reads) {
      const bool is_given = value < graph.inputs.size() + graph.constants.size();
      EXPECT_TRUE(is_given || computed_at[value] < ordered.size()) << "a step precedes one whose result it reads";
    }
    for (const std::uint32_t value : groups[i].writes) {
      computed_at[value] = ordered.size();
    }
    ordered.push_back(groups[i]);
  }
  ASSERT_EQ(ordered.size(), groups.size());
  const std::vector<Lifetime> alive = lifetimes(graph, values, ordered, temporary);
  // A value lives from the first step that writes part of it to the last step that reads part of it.
  for (u32 at = 0; at < ordered.size(); ++at) {
    for (const std::span<const std::uint32_t> used :
         {std::span<const std::uint32_t>(ordered[at].reads), std::span<const std::uint32_t>(ordered[at].writes)}) {
      for (const std::uint32_t value : used) {
        const auto lifetime = std::ranges::find(alive, values.root(value), &Lifetime::value);
        EXPECT_EQ(lifetime != alive.end(), bool{temporary[values.root(value)]});
        EXPECT_TRUE(lifetime == alive.end() || (lifetime->first <= at && at <= lifetime->last))
            << "value " << value << " is dead in step " << at << "\n"
            << graph_text(graph);
      }
    }
  }
  const Placement placement = place(graph, values, ordered, alive);
  const auto works_by_element = [&](std::uint32_t value, const GraphGroup& group) {
    return std::ranges::any_of(group.nodes, [&](std::uint32_t node) {
      return graph.nodes[node].op->family->by_element && values.of_node(node, 0) == value;
    });
  };
  for (std::size_t a = 0; a < alive.size(); ++a) {
    EXPECT_LE(placement.offsets[a] + alive[a].extent.bytes, placement.bytes);
    for (std::size_t b = 0; b < alive.size(); ++b) {
      const bool together = alive[a].first <= alive[b].first && alive[b].first <= alive[a].last;
      const bool apart = placement.offsets[a] + alive[a].extent.bytes <= placement.offsets[b] ||
                         placement.offsets[b] + alive[b].extent.bytes <= placement.offsets[a];
      EXPECT_TRUE(a == b || !together || apart ||
                  (alive[a].last == alive[b].first && placement.offsets[a] == placement.offsets[b] &&
                   works_by_element(alive[b].value, ordered[alive[b].first])))
          << "values " << alive[a].value << " and " << alive[b].value << " share memory\n"
          << graph_text(graph);
    }
  }
  if (fold(graph, nodes) == NodeSet(graph.nodes.size())) {  // otherwise a different plan contains some of the nodes
    const auto plans = compile_graph(given, traits);
    ASSERT_TRUE(plans.ok());
    for_each_step(plans.value().run.words(), [&](const Step& step) {
      EXPECT_TRUE(step.family != kTrialFamily || step.operands.back().offset >= placement.bytes);
      return true;
    });
  }
}

// Counts only nodes that an output depends on.
void count_second_outputs(const Graph& graph, std::size_t (&counts)[3]) {
  const auto sorted = sorted_nodes(graph);
  ASSERT_TRUE(sorted.ok());
  const std::vector<std::uint32_t> nodes = prune(graph, sorted.value());
  for (const std::uint32_t node : nodes) {
    const OpDesc& op = *graph.nodes[node].op;
    const auto is_second = [&](const GraphSource& source) {
      return source.kind == SourceKind::node && source.index == node && source.output == 1;
    };
    const bool is_read =
        std::ranges::any_of(graph.outputs, is_second) || std::ranges::any_of(nodes, [&](std::uint32_t reader) {
          return std::ranges::any_of(graph.nodes[reader].sources, is_second);
        });
    if (op.op->name == "MIRRORED_SUM") {
      ++counts[!op.outputs()[1].present ? 0 : is_read ? 2 : 1];
    }
  }
}

TEST(TrialFamily, RandomGraphsAreTheirNodesOneByOne) {
  const u32 graphs = number_from("ANYDML_GRAPHS", kSanitized ? 100 : 1500);
  std::size_t prologues = 0;
  std::size_t epilogues = 0;
  std::size_t views = 0;
  std::size_t parts = 0;        // values that are computed in the memory of other values
  std::size_t seconds[3] = {};  // second outputs that are absent, unread and read
  for (u32 seed = 0; seed < graphs && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Grower grower(kSeed + seed);
    count_second_outputs(grower.graph.graph(), seconds);
    for (const bool joined : {false, true}) {
      DeviceTraits traits = cpu().info.traits;
      traits.joins_from = joined ? 1U : 0U;
      check_memory(grower.graph.graph(), traits, parts);
      const std::string text = grower.graph.check(cpu(), joined);
      grower.graph.check(later(), joined);
      for (const std::string_view line : split_text(text, '\n')) {
        const bool is_step = line.starts_with("run: ") || line.starts_with("initialize: ");
        const bool has_main = is_step && line.find("MIRRORED_SUM") != std::string_view::npos;
        prologues += has_main && line.find("prologue") != std::string_view::npos ? 1U : 0U;
        epilogues += has_main && line.find("MIRRORED_SUM; epilogue") != std::string_view::npos ? 1U : 0U;
        views += line == "with views" ? 1U : 0U;
      }
    }
  }
  for (const std::size_t count : seconds) {
    EXPECT_GT(count, graphs / 6);  // about a third; with sanitizers, 100 graphs vary by some nodes
  }
  EXPECT_GT(prologues, graphs / 20);
  EXPECT_GT(epilogues, graphs / 20);
  EXPECT_GT(views, graphs / 20);
  EXPECT_GT(parts, graphs / 20);
}

// The number of steps of this family in a plan.
std::size_t steps_of(const Graph& graph, FamilyId family, const DeviceTraits& traits) {
  const auto plans = compile_graph(graph, traits);
  EXPECT_TRUE(plans.ok());
  std::size_t count = 0;
  for_each_step(plans.value().run.words(), [&](const Step& step) {
    count += step.family == static_cast<u32>(family) ? 1U : 0U;
    return true;
  });
  return count;
}

TEST(TrialFamily, AThousandValuesAreMadeWhereTheyAreJoined) {
  Random random(kSeed);
  TwinGraph graph;
  const std::size_t given = graph.add_input({1000, 16}, SourceKind::input, false, random);
  std::vector<TwinGraph::View> result;
  for (i64 i = 0; i < 1000; ++i) {
    const TwinGraph::View row{.of = given, .tensor = packed({1, 16}), .offset = i * 64};
    result.push_back(graph.whole(i % 2 == 0 ? graph.add("ABS", {row}, {packed({1, 16})})
                                            : graph.add_sum({row, row}, packed({1, 16}), std::nullopt)));
  }
  graph.set_output(graph.add("JOIN", result, {packed({1000, 16})}, " Axis=0"));
  for (const bool joined : {false, true}) {
    const std::string text = graph.check(cpu(), joined);
    EXPECT_NE(text.find("run: 1000 steps"), std::string::npos) << text.substr(text.size() - 200);
    EXPECT_EQ(text.find("copy"), std::string::npos);
    graph.check(later(), joined);
  }
  EXPECT_EQ(steps_of(graph.graph(), FamilyId::move, cpu().info.traits), 0U);
}

TEST(TrialFamily, AThousandPartsAreReadAsViews) {
  Random random(kSeed);
  TwinGraph graph;
  const std::size_t given = graph.add_input({1000, 16}, SourceKind::input, false, random);
  const std::size_t whole = graph.add("ABS", {graph.whole(given)}, {packed({1000, 16})});
  const std::size_t parts =
      graph.add("SPLIT", {graph.whole(whole)}, std::vector<TensorDesc>(1000, packed({1, 16})), " Axis=0");
  std::vector<TwinGraph::View> views;
  for (std::size_t i = 0; i < 1000; ++i) {
    views.push_back(graph.whole(parts + i));
  }
  const std::size_t sums = graph.add_sum(views, packed({1, 16}), packed({1, 16}, DataType::UINT32));
  graph.set_output(sums);
  graph.set_output(sums + 1);
  for (const bool joined : {false, true}) {
    const std::string text = graph.check(cpu(), joined);
    EXPECT_NE(text.find("run: 2 steps"), std::string::npos) << text.substr(text.size() - 200);
    EXPECT_EQ(text.find("copy"), std::string::npos);
    graph.check(later(), joined);
  }
  EXPECT_EQ(steps_of(graph.graph(), FamilyId::move, cpu().info.traits), 0U);
}

// Joins has bits for 64 inputs. A prologue never computes later inputs, although it may compute the first 64.
TEST(TrialFamily, InputsWithoutABitAreNotJoined) {
  Random random(kSeed);
  for (const std::size_t result : {63U, 64U, 71U}) {
    TwinGraph graph;
    std::vector<TwinGraph::View> views(72, graph.whole(graph.add_input({16}, SourceKind::input, false, random)));
    views[result] = graph.whole(graph.add("ABS", {views[0]}, {packed({16})}));
    graph.set_output(graph.add_sum(views, packed({16}), std::nullopt));
    EXPECT_EQ(graph.check(cpu(), true).find("prologue") != std::string::npos, result < 64) << result;
  }
}

// The chains before and after an operator with many tensors can have more operands in total than joined steps allow.
// The graph then runs with separate steps.
TEST(TrialFamily, ManyInputsAndLongChainsRunApart) {
  Random random(kSeed);
  TwinGraph graph;
  const TensorDesc tensor = packed({16});
  const auto add_chain = [&](std::size_t from, int length) {
    for (int i = 0; i < length; ++i) {
      const std::size_t other = graph.add_input({16}, SourceKind::input, false, random);
      from = graph.add("ADD", {graph.whole(from), graph.whole(other)}, {tensor});
    }
    return from;
  };
  std::vector<TwinGraph::View> views;
  views.push_back(graph.whole(add_chain(graph.add_input({16}, SourceKind::input, false, random), 13)));
  const std::size_t more = graph.add_input({999, 16}, SourceKind::input, false, random);
  for (i64 i = 0; i < 999; ++i) {
    views.push_back({.of = more, .tensor = tensor, .offset = i * 64});
  }
  graph.set_output(add_chain(graph.add_sum(views, tensor, packed({16}, DataType::UINT32)), 12));
  graph.check_everywhere();
}

}  // namespace
}  // namespace anydml::test
