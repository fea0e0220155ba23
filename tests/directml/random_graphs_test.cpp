// SPDX-License-Identifier: MIT
// Compares random graphs with the same operators run one by one. The bits must match, and no byte outside a tensor may
// be written. ANYDML_GRAPHS sets the number of graphs and ANYDML_GRAPH_SEED the first seed. A failure names the seed of
// its graph.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string_view>
#include <thread>

#include "directml/random_graph.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

// The values of all nodes, computed by running each operator separately.
std::vector<Bytes> run_one_by_one(Dml& dml, const RandomGraph& graph) {
  Ranges given;
  for (const Bytes& value : graph.inputs().values) {
    given.add(value);
  }
  for (const Bytes& constant : graph.constants()) {
    given.add(constant);
  }
  const std::size_t inputs = graph.inputs().values.size();
  Ranges result;
  Ranges scratch;
  std::vector<ComPtr<IDMLCompiledOperator>> compiled;
  std::vector<IDMLCompiledOperator*> targets;
  UINT descriptors = 0;
  for (const RandomNode& node : graph.nodes()) {
    result.add(node.bytes);
    compiled.push_back(dml.compile(node.alone.Get()));
    targets.push_back(compiled.back().Get());
    const auto needs = compiled.back()->GetBindingProperties();
    scratch.add(needs.TemporaryResourceSize);
    descriptors += needs.RequiredDescriptorCount;
  }
  for (Ranges* ranges : {&given, &result, &scratch}) {
    ranges->create(dml.queue);
  }
  const auto heap = create_heap(dml.d3d12.Get(), descriptors);
  ComPtr<IDMLOperatorInitializer> initializer;
  EXPECT_EQ(dml.device->CreateOperatorInitializer(static_cast<UINT>(targets.size()), targets.data(),
                                                  IID_PPV_ARGS(&initializer)),
            S_OK);
  dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), dml.table(initializer.Get(), nullptr).Get());
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml.queue.list->SetDescriptorHeaps(1, heaps);
  UINT first = 0;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const RandomNode& node = graph.nodes()[i];
    const auto table = dml.table(compiled[i].Get(), heap.Get(), first);
    first += compiled[i]->GetBindingProperties().RequiredDescriptorCount;
    std::vector<DML_BUFFER_BINDING> buffers(node.sources.size());
    std::vector<DML_BINDING_DESC> descs(node.sources.size(), {DML_BINDING_TYPE_NONE, nullptr});
    for (std::size_t input = 0; input < buffers.size(); ++input) {
      const RandomSource& source = node.sources[input];
      if (source.kind != RandomSource::none) {
        buffers[input] = source.kind == RandomSource::node    ? result[source.index]
                         : source.kind == RandomSource::input ? given[source.index]
                                                              : given[inputs + source.index];
        descs[input] = bind(buffers[input]);
      }
    }
    table->BindInputs(static_cast<UINT>(descs.size()), descs.data());
    bind_output(table.Get(), result[i]);
    if (compiled[i]->GetBindingProperties().TemporaryResourceSize != 0) {
      const auto range = scratch[i];
      const DML_BINDING_DESC temporary = bind(range);
      table->BindTemporaryResource(&temporary);
    }
    uav_barrier(dml.queue.list.Get());
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled[i].Get(), table.Get());
  }
  dml.queue.finish();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  result.read(dml.queue);
  EXPECT_TRUE(result.is_untouched_between());
  std::vector<Bytes> values;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    values.push_back(result.bytes(i));
  }
  return values;
}

bool is_nan(const std::uint8_t* element, DML_TENSOR_DATA_TYPE type) {
  std::uint64_t bits = 0;
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      std::memcpy(&bits, element, 2);
      return (bits & 0x7FFF) > 0x7C00;
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      std::memcpy(&bits, element, 4);
      return (bits & 0x7FFFFFFF) > 0x7F800000;
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      std::memcpy(&bits, element, 8);
      return (bits & ~(std::uint64_t{1} << 63)) > std::uint64_t{0x7FF} << 52;
    default:
      return false;
  }
}

std::size_t float_bytes(DML_TENSOR_DATA_TYPE type) {  // 0 if the type is not a float
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT16:
      return 2;
    case DML_TENSOR_DATA_TYPE_FLOAT32:
      return 4;
    case DML_TENSOR_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 0;
  }
}

// The index of the first differing byte, or the size if none differs. All NaNs count as equal.
std::size_t first_difference(const Bytes& found, const Bytes& expected, DML_TENSOR_DATA_TYPE type) {
  const std::size_t size = float_bytes(type);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t element = size == 0 ? i : i / size * size;
    if (found[i] != expected[i] && !(size != 0 && element + size <= found.size() && is_nan(&found[element], type) &&
                                     is_nan(&expected[element], type))) {
      return i;
    }
  }
  return found.size();
}

// A NaN's sign and payload are not specified. Nodes that read its bits, as a different type or individually, may give
// different results. So may all nodes that depend on them.
std::vector<bool> depending_on_bits_of_nan(const RandomGraph& graph, const std::vector<Bytes>& values) {
  std::vector<bool> depends(values.size());
  std::vector<bool> has_nan(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const RandomNode& node = graph.nodes()[i];
    const std::size_t size = float_bytes(node.type);
    for (std::size_t at = 0; size != 0 && at + size <= values[i].size(); at += size) {
      has_nan[i] = has_nan[i] || ((node.written.empty() || node.written[at]) && is_nan(&values[i][at], node.type));
    }
    for (const RandomSource& source : node.sources) {
      if (source.kind == RandomSource::node) {
        const bool reads_bits = source.type != graph.nodes()[source.index].type ||
                                std::string_view(node.op->name).starts_with("ELEMENT_WISE_BIT_");
        depends[i] = depends[i] || depends[source.index] || (reads_bits && has_nan[source.index]);
      }
    }
  }
  return depends;
}

// Returns the number of compared outputs.
std::uint64_t expect_values(const GraphRun& run, const RandomGraph& graph, const std::vector<Bytes>& values) {
  const std::vector<bool> depends = depending_on_bits_of_nan(graph, values);
  std::uint64_t compared = 0;
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const std::size_t node = graph.outputs()[i];
    const Bytes found = run.output(i);
    const std::size_t at = first_difference(found, values[node], graph.nodes()[node].type);
    if (depends[node]) {
      continue;
    }
    ++compared;
    if (at != found.size()) {
      ADD_FAILURE() << "output " << i << ", node " << node << " (" << graph.nodes()[node].op->name << "), byte " << at
                    << " of " << found.size() << ": " << int{found[at]} << " instead of " << int{values[node][at]}
                    << "\n"
                    << graph.text();
      return compared;
    }
  }
  return compared;
}

struct Counts {
  std::atomic<std::uint64_t> nodes{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> outputs{0};
  std::atomic<std::uint64_t> compared{0};
  std::atomic<std::uint64_t> temporary{0};
  std::atomic<std::uint64_t> intermediates{0};
};

void one_graph(Dml& dml, std::uint64_t seed, Counts& counts, std::set<std::string_view>* used = nullptr) {
  SCOPED_TRACE("ANYDML_GRAPHS=1 ANYDML_GRAPH_SEED=" + std::to_string(seed));
  const RandomGraph graph(dml, seed, 60);
  const auto values = run_one_by_one(dml, graph);
  GraphBuilder builder;
  graph.describe(builder);
  const auto compiled = builder.compile(dml);
  ASSERT_NE(compiled, nullptr) << graph.text();
  std::vector<std::uint64_t> outputs;
  for (const std::size_t node : graph.outputs()) {
    outputs.push_back(graph.nodes()[node].bytes);
  }
  GraphRun run(dml, compiled, graph.inputs(), outputs);
  ASSERT_NO_FATAL_FAILURE(run.run());
  counts.compared += expect_values(run, graph, values);
  counts.outputs += outputs.size();
  if (seed % 8 == 0) {  // the persistent memory is still intact
    run.spoil();
    run.record_execute();
    dml.queue.finish();
    ASSERT_NO_FATAL_FAILURE(run.read());
    expect_values(run, graph, values);
  }
  counts.nodes += graph.nodes().size();
  counts.refused += graph.refused();
  counts.temporary += compiled->GetBindingProperties().TemporaryResourceSize;
  for (const RandomNode& node : graph.nodes()) {
    counts.intermediates += node.bytes;
    if (used != nullptr) {
      used->insert(node.op->name);
    }
  }
}

TEST(RandomGraphs, AreTheSameAsTheirOperatorsOneByOne) {
  const std::uint64_t graphs = setting("ANYDML_GRAPHS", kSanitized ? 25 : 300);
  const std::uint64_t seed = setting("ANYDML_GRAPH_SEED", 18'000'000);
  auto dml = std::make_unique<Dml>();
  Counts counts;
  std::set<std::string_view> used;
  for (std::uint64_t i = 0; i < graphs && !HasFailure(); ++i) {
    one_graph(*dml, seed + i, counts, &used);
  }
  const auto number = [](const std::atomic<std::uint64_t>& count) {
    return static_cast<unsigned long long>(count.load());
  };
  std::printf("%llu graphs of %llu nodes of %zu operators: %llu of %llu outputs compared\n",
              static_cast<unsigned long long>(graphs), number(counts.nodes), used.size(), number(counts.compared),
              number(counts.outputs));
  std::printf("%llu descriptions rejected; %llu bytes of temporary for %llu bytes of values\n", number(counts.refused),
              number(counts.temporary), number(counts.intermediates));
  if (graphs >= 300 && !HasFailure()) {
    for (const facts::Operator* op : built_operators()) {
      EXPECT_TRUE(used.contains(op->name)) << op->name << " was never used";
    }
  }
}

// Each thread has its own queue, all on one device.
TEST(RandomGraphs, OfEightThreadsAtOnce) {
  constexpr std::uint64_t kThreads = 8;
  const std::uint64_t rounds = kSanitized ? 2 : 6;
  Counts counts;
  Dml first;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Dml own(first.d3d12.Get(), first.device.Get());
      for (std::uint64_t round = 0; round < rounds; ++round) {
        one_graph(own, 1'000 + t * 100 + round, counts);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(first.device->GetDeviceRemovedReason(), S_OK);
}

}  // namespace
}  // namespace anydml::test
