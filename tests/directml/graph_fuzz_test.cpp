// SPDX-License-Identifier: MIT
// Tests valid graph descriptions with some fields changed. Each is rejected with a message, or compiled and run.
// ANYDML_FUZZ_ROUNDS sets the number of descriptions and ANYDML_FUZZ_SEED the seed.
#include <cstdio>
#include <cstdlib>

#include "directml/random_graph.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

class Mutator {
 public:
  Mutator(GraphBuilder& graph, std::mt19937_64& random) : graph_(graph), random_(random) {}

  void mutate(DML_GRAPH_DESC& desc) {
    switch (random_() % 12) {
      case 0:
        desc.InputCount = number(desc.InputCount);
        break;
      case 1:
        desc.OutputCount = number(desc.OutputCount);
        break;
      case 2:
        shorten(desc.NodeCount, desc.Nodes);
        break;
      case 3:
        shorten(desc.InputEdgeCount, desc.InputEdges);
        break;
      case 4:
        shorten(desc.IntermediateEdgeCount, desc.IntermediateEdges);
        break;
      case 5:
        shorten(desc.OutputEdgeCount, desc.OutputEdges);
        break;
      case 6:
        change_node(graph_.nodes[random_() % graph_.nodes.size()]);
        break;
      case 7:
        change_edge(graph_.input_edges);
        break;
      case 8:
        change_edge(graph_.inner_edges);
        break;
      case 9:
        change_edge(graph_.output_edges);
        break;
      default:
        change_word();
    }
  }

 private:
  // Returns a number that is close to the old value, small, or arbitrary.
  UINT number(UINT was) {
    switch (random_() % 4) {
      case 0:
        return was + 1;
      case 1:
        return was - 1;
      case 2:
        return static_cast<UINT>(random_() % 70);
      default:
        return static_cast<UINT>(random_());
    }
  }
  // Counts never grow beyond their arrays, because reading past the end would be undefined.
  template <class T>
  void shorten(UINT& count, const T*& array) {
    if (random_() % 3 == 0) {
      array = nullptr;
    } else if (count != 0) {
      count -= 1 + static_cast<UINT>(random_() % count);
    }
  }
  void change_node(DML_GRAPH_NODE_DESC& node) {
    switch (random_() % 4) {
      case 0:
        // The type never becomes another valid type, because Desc would not match it.
        node.Type = static_cast<DML_GRAPH_NODE_TYPE>(3 * (random_() % 2));
        break;
      case 1:
        node.Desc = nullptr;
        break;
      case 2:
        node = graph_.nodes[random_() % graph_.nodes.size()];  // a duplicate of another node
        break;
      default:
        if (!graph_.operators.empty()) {
          graph_.operators[random_() % graph_.operators.size()].Operator = nullptr;
        }
    }
  }
  void change_edge(std::vector<DML_GRAPH_EDGE_DESC>& edges) {
    if (edges.empty()) {
      return;
    }
    DML_GRAPH_EDGE_DESC& edge = edges[random_() % edges.size()];
    switch (random_() % 3) {
      case 0:
        edge.Type = static_cast<DML_GRAPH_EDGE_TYPE>(random_() % 4);
        break;
      case 1:
        edge.Desc = nullptr;
        break;
      default:
        edge = edges[random_() % edges.size()];
    }
  }
  void change_word() {
    std::vector<UINT*> words;
    for (auto& edge : graph_.input_descs) {
      words.insert(words.end(), {&edge.GraphInputIndex, &edge.ToNodeIndex, &edge.ToNodeInputIndex});
    }
    for (auto& edge : graph_.inner_descs) {
      words.insert(words.end(),
                   {&edge.FromNodeIndex, &edge.FromNodeOutputIndex, &edge.ToNodeIndex, &edge.ToNodeInputIndex});
    }
    for (auto& edge : graph_.output_descs) {
      words.insert(words.end(), {&edge.FromNodeIndex, &edge.FromNodeOutputIndex, &edge.GraphOutputIndex});
    }
    UINT& word = *words[random_() % words.size()];
    word = number(word);
  }

  GraphBuilder& graph_;
  std::mt19937_64& random_;
};

struct Counts {
  std::uint64_t refused = 0;
  std::uint64_t not_run = 0;
  std::uint64_t run = 0;
};

// Runs the compiled graph with a buffer for every input and output, including those that nothing reads.
void take_as_far_as_it_goes(std::unique_ptr<Dml>& dml, const ComPtr<IDMLCompiledOperator>& compiled,
                            const DML_GRAPH_DESC& desc, const RandomGraph& graph, Counts& counts) {
  GraphInputs inputs = graph.inputs();
  constexpr std::size_t kEnough = 4096;  // enough for any tensor in a graph of small tensors
  for (Bytes& value : inputs.values) {
    value.resize(std::max(value.size(), kEnough));
  }
  inputs.values.resize(desc.InputCount, Bytes(kEnough));
  inputs.owned.resize(desc.InputCount);
  GraphRun run(*dml, compiled, inputs, std::vector<std::uint64_t>(desc.OutputCount, 4 * kEnough));
  run.record_initialize();
  uav_barrier(dml->queue.list.Get());
  run.record_execute();
  if (FAILED(dml->device->GetDeviceRemovedReason())) {  // the change added or removed an owned input
    ASSERT_EQ(dml->device->GetDeviceRemovedReason(), E_INVALIDARG);
    ++counts.not_run;
    dml = std::make_unique<Dml>();
    return;
  }
  dml->queue.finish();
  ASSERT_NO_FATAL_FAILURE(run.read());
  ++counts.run;
}

TEST(GraphFuzz, NothingCrashesAndWhatIsRefusedSaysWhy) {
  const std::uint64_t seed = setting("ANYDML_FUZZ_SEED", 18);
  const std::uint64_t rounds = setting("ANYDML_FUZZ_ROUNDS", kSanitized ? 500 : 5'000);
  auto dml = std::make_unique<Dml>();
  std::unique_ptr<RandomGraph> graph;
  Counts counts;
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("ANYDML_FUZZ_SEED=" + std::to_string(seed) + ", round " + std::to_string(round));
    std::mt19937_64 random(seed * 1'000'003 + round);
    graph = std::make_unique<RandomGraph>(*dml, random(), 12, RandomGraph::Sizes::small);
    GraphBuilder builder;
    graph->describe(builder);
    DML_GRAPH_DESC desc = builder.desc();
    Mutator mutator(builder, random);
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
      mutator.mutate(desc);
    }
    ComPtr<IDMLDevice1> device;
    ASSERT_EQ(dml->device.As(&device), S_OK);
    ComPtr<IDMLCompiledOperator> compiled;
    const HRESULT result = device->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));
    if (FAILED(result)) {
      ASSERT_EQ(result, E_INVALIDARG) << anydml_last_error();
      ASSERT_NE(std::string(anydml_last_error()).find("expected"), std::string::npos) << anydml_last_error();
      ++counts.refused;
      continue;
    }
    if (desc.InputCount > 1'000 || desc.OutputCount > 1'000) {
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(take_as_far_as_it_goes(dml, compiled, desc, *graph, counts));
  }
  std::printf("%llu descriptions: %llu rejected, %llu not run, %llu run\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(counts.refused), static_cast<unsigned long long>(counts.not_run),
              static_cast<unsigned long long>(counts.run));
  EXPECT_GT(counts.run, 0U);
}

}  // namespace
}  // namespace anydml::test
