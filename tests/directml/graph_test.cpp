// SPDX-License-Identifier: MIT
// Tests that IDMLDevice1::CompileGraph follows DirectML's contract for edges, values, owned inputs, constants and views
// of the same bytes. All memory given to a graph is filled with 0xFF, starts at an odd multiple of 256 bytes, and is
// surrounded by guard bytes.
#include <chrono>
#include <cstdio>
#include <thread>

#include "directml/graph_program.h"

namespace anydml::test {
namespace {

constexpr auto kInt = DML_TENSOR_DATA_TYPE_INT32;
constexpr auto kReal = DML_TENSOR_DATA_TYPE_FLOAT32;
constexpr UINT kCount = 100;
constexpr std::uint64_t kSize = kCount * 4;
using Ints = std::vector<std::int32_t>;

Ints numbers(int first, int step = 1, std::size_t count = kCount) {
  Ints values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = first + static_cast<int>(i) * step;
  }
  return values;
}

template <class Function>
Ints each(Function function, const Ints& a, const Ints& b = {}) {
  Ints result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    result[i] = function(a[i], b.empty() ? 0 : b[i]);
  }
  return result;
}
Ints sum(const Ints& a, const Ints& b) {
  return each([](int x, int y) { return x + y; }, a, b);
}
Ints product(const Ints& a, const Ints& b) {
  return each([](int x, int y) { return x * y; }, a, b);
}

struct GraphTest : testing::Test {
  Dml dml;
  Tensor ints{kInt, {1, 1, 1, kCount}};
  Tensor owned{kInt, {1, 1, 1, kCount}, {}, DML_TENSOR_FLAG_OWNED_BY_DML};
  Ints a = numbers(1);
  Ints b = numbers(-50, 3);

  ComPtr<IDMLOperator> add(const Tensor& x, const Tensor& y, const Tensor& out) const {
    return dml.binary(x, y, out, DML_OPERATOR_ELEMENT_WISE_ADD);
  }
  ComPtr<IDMLOperator> add() const { return add(ints, ints, ints); }
  ComPtr<IDMLOperator> multiply() const { return dml.binary(ints, ints, ints, DML_OPERATOR_ELEMENT_WISE_MULTIPLY); }
  ComPtr<IDMLOperator> identity(const Tensor& in, const Tensor& out) const {
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{&in.desc, &out.desc, nullptr};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), S_OK) << anydml_last_error();
    return op;
  }
  ComPtr<IDMLOperator> reduce(const Tensor& in, const Tensor& out, UINT axis) const {
    const DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_SUM, &in.desc, &out.desc, 1, &axis};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_REDUCE, &desc, op), S_OK) << anydml_last_error();
    return op;
  }
  GraphRun prepare(const GraphBuilder& graph, const GraphInputs& inputs, const std::vector<std::uint64_t>& outputs) {
    return {dml, graph.compile(dml), inputs, outputs};
  }
};

TEST_F(GraphTest, OneNodeIsTheOperator) {
  GraphBuilder graph;
  graph.output(graph.add(add(), {-1, -2}), 0);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), sum(a, b));
}

TEST_F(GraphTest, AValueIsAnOutputAndFeedsOthers) {
  GraphBuilder graph;
  const auto first = static_cast<int>(graph.add(add(), {-1, -2}, "first"));
  const auto second = static_cast<int>(graph.add(multiply(), {first, first}, "second"));
  const auto third = static_cast<int>(graph.add(add(), {second, first}, "third"));
  graph.output(static_cast<UINT>(first), 2);
  graph.output(static_cast<UINT>(third), 0);
  graph.output(static_cast<UINT>(first), 1);  // the same value twice
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {}}, {kSize, kSize, kSize});
  run.run();
  const Ints x = sum(a, b);
  EXPECT_EQ(run.output_as<std::int32_t>(0), sum(product(x, x), x));
  EXPECT_EQ(run.output_as<std::int32_t>(1), x);
  EXPECT_EQ(run.output_as<std::int32_t>(2), x);
}

TEST_F(GraphTest, InputsThatNothingReadsAreBoundOrNot) {
  GraphBuilder graph;
  graph.output(graph.add(add(), {-2, -4}), 0);
  graph.input_count = 6;
  auto run = prepare(graph, {{{}, bytes_of(a), bytes_of(b), bytes_of(b), {}, Bytes(12)}, {}}, {kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), sum(a, b));
}

TEST_F(GraphTest, NodesComeInAnyOrder) {
  GraphBuilder graph;
  const UINT last = graph.add(add(), {});
  const UINT first = graph.add(multiply(), {});
  graph.input(0, first, 0);
  graph.input(1, first, 1);
  graph.connect(first, last, 1);
  graph.input(0, last, 0);
  graph.output(last, 0);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), sum(a, product(a, b)));
}

TEST_F(GraphTest, NodesThatLeadNowhereDoNoHarm) {
  GraphBuilder graph;
  const auto used = graph.add(add(), {-1, -2});
  graph.add(multiply(), {static_cast<int>(used), -1});
  graph.output(used, 0);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), sum(a, b));
}

TEST_F(GraphTest, OperatorsServeSeveralGraphsAndMayGo) {
  ComPtr<IDMLCompiledOperator> first;
  ComPtr<IDMLCompiledOperator> second;
  {
    const auto shared = add();
    GraphBuilder one;
    one.output(one.add(shared, {static_cast<int>(one.add(shared, {-1, -2})), -1}), 0);
    GraphBuilder two;
    two.output(two.add(shared, {-1, -1}), 0);
    first = one.compile(dml);
    second = two.compile(dml);
  }
  GraphRun of_first(dml, first, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
  GraphRun of_second(dml, second, {{bytes_of(a)}, {}}, {kSize});
  of_first.run();
  of_second.run();
  EXPECT_EQ(of_first.output_as<std::int32_t>(0), sum(sum(a, b), a));
  EXPECT_EQ(of_second.output_as<std::int32_t>(0), sum(a, a));
}

TEST_F(GraphTest, OwnedInputsAreKeptRawFoldedAndBoth) {
  for (const bool raw : {true, false}) {
    for (const bool through_identity : {true, false}) {
      if (!raw && !through_identity) {
        continue;
      }
      SCOPED_TRACE(::testing::Message() << "raw " << raw << ", through IDENTITY " << through_identity);
      GraphBuilder graph;
      int value = -1;
      if (raw) {
        value = static_cast<int>(graph.add(add(ints, owned, ints), {value, -2}));
      }
      if (through_identity) {
        const auto packed = static_cast<int>(graph.add(identity(owned, ints), {-2}));
        value = static_cast<int>(graph.add(multiply(), {value, packed}));
      }
      graph.output(static_cast<UINT>(value), 0);
      const auto compiled = graph.compile(dml);
      const auto kept = compiled->GetBindingProperties().PersistentResourceSize;
      EXPECT_GE(kept, kSize);
      EXPECT_LT(kept, 2 * kSize + 512);
      GraphRun run(dml, compiled, {{bytes_of(a), bytes_of(b)}, {false, true}}, {kSize});
      run.run();
      Ints expected = raw ? sum(a, b) : a;
      expected = through_identity ? product(expected, b) : expected;
      EXPECT_EQ(run.output_as<std::int32_t>(0), expected);
      // Execute again without a second initialization.
      run.spoil();
      run.record_execute();
      dml.queue.finish();
      run.read();
      EXPECT_EQ(run.output_as<std::int32_t>(0), expected);
    }
  }
}

TEST_F(GraphTest, AFoldedValueIsAnOutput) {
  GraphBuilder graph;
  const UINT packed = graph.add(identity(owned, ints), {-1});
  graph.output(packed, 0);
  graph.output(packed, 1);
  auto run = prepare(graph, {{bytes_of(a)}, {true}}, {kSize, kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), a);
  EXPECT_EQ(run.output_as<std::int32_t>(1), a);
}

TEST_F(GraphTest, ASecondInitializationCounts) {
  GraphBuilder graph;
  const auto packed = static_cast<int>(graph.add(add(owned, owned, ints), {-2, -2}));
  graph.output(graph.add(add(), {-1, packed}), 0);
  const auto compiled = graph.compile(dml);
  GraphRun first(dml, compiled, {{bytes_of(a), bytes_of(b)}, {false, true}}, {kSize});
  first.run();
  EXPECT_EQ(first.output_as<std::int32_t>(0), sum(a, sum(b, b)));
  GraphRun second(dml, compiled, {{bytes_of(b), bytes_of(a)}, {false, true}}, {kSize});
  second.run();
  EXPECT_EQ(second.output_as<std::int32_t>(0), sum(b, sum(a, a)));
}

TEST_F(GraphTest, ConstantsAreReadBeforeTheCallReturns) {
  auto data = std::make_unique<Ints>(b);
  GraphBuilder graph;
  const UINT constant = graph.add_constant(data->data(), kSize);
  const UINT packed = graph.add(identity(ints, ints), {});  // this node is folded
  graph.connect(constant, packed, 0);
  const UINT first = graph.add(add(), {});
  graph.input(0, first, 0);
  graph.connect(constant, first, 1);
  const UINT second = graph.add(multiply(), {static_cast<int>(first), static_cast<int>(packed)});
  graph.output(second, 0);
  graph.output(packed, 1);
  const auto compiled = graph.compile(dml);
  std::ranges::fill(*data, -1);
  data.reset();
  GraphRun run(dml, compiled, {{bytes_of(a)}, {}}, {kSize, kSize});
  run.run();
  EXPECT_EQ(run.output_as<std::int32_t>(0), product(sum(a, b), b));
  EXPECT_EQ(run.output_as<std::int32_t>(1), b);
}

TEST_F(GraphTest, AnEdgeShowsTheSameBytesOtherwise) {
  // The graph reads a sum of 100 elements as a transposed 4x25 matrix, as FLOAT32 bits, and as bytes.
  const Tensor table(kInt, {1, 1, 4, 25});
  const Tensor turned(kInt, {1, 1, 25, 4}, {100, 100, 1, 25});
  const Tensor straight(kInt, {1, 1, 25, 4});
  const Tensor reals(kReal, {1, 1, 10, 10});
  const Tensor bytes(DML_TENSOR_DATA_TYPE_UINT8, {1, 1, 1, 4 * kCount});
  GraphBuilder graph;
  const auto first = static_cast<int>(graph.add(add(), {-1, -2}));
  const auto moved = static_cast<int>(graph.add(identity(turned, straight), {first}));
  const auto as_reals = graph.add(identity(reals, reals), {first});
  const auto as_bytes = graph.add(dml.binary(bytes, bytes, bytes, DML_OPERATOR_ELEMENT_WISE_ADD), {first, moved});
  graph.output(static_cast<UINT>(moved), 0);
  graph.output(as_reals, 1);
  graph.output(as_bytes, 2);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {}}, {kSize, kSize, kSize});
  run.run();
  const Ints x = sum(a, b);
  Ints expected(kCount);
  for (std::size_t i = 0; i < 25; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      expected[i * 4 + j] = x[j * 25 + i];
    }
  }
  EXPECT_EQ(run.output_as<std::int32_t>(0), expected);
  EXPECT_EQ(run.output(1), bytes_of(x));
  Bytes added = bytes_of(x);
  const Bytes other = bytes_of(expected);
  for (std::size_t i = 0; i < added.size(); ++i) {
    added[i] = static_cast<std::uint8_t>(added[i] + other[i]);
  }
  EXPECT_EQ(run.output(2), added);
}

TEST_F(GraphTest, EdgesHaveStridesAndPadding) {
  const Tensor packed(kInt, {1, 1, 10, 10});
  const Tensor padded(kInt, {1, 1, 10, 10}, {160, 160, 16, 1});
  const Tensor row(kInt, {1, 1, 10, 10}, {10, 10, 0, 1});
  const std::uint64_t padded_bytes = padded.buffer.TotalTensorSizeInBytes;
  GraphBuilder graph;
  const auto first = static_cast<int>(graph.add(add(packed, row, padded), {-1, -2}));
  const auto second = graph.add(add(padded, packed, packed), {first, -1});
  graph.output(second, 0);
  graph.output(static_cast<UINT>(first), 1);
  const Ints short_row = numbers(7, 11, 10);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(short_row)}, {}}, {kSize, padded_bytes});
  run.run();
  const auto wide = run.output_as<std::int32_t>(1);
  for (std::size_t i = 0; i < 10; ++i) {
    for (std::size_t j = 0; j < 16 && i * 16 + j < wide.size(); ++j) {
      EXPECT_EQ(wide[i * 16 + j], j < 10 ? a[i * 10 + j] + short_row[j] : -1) << i << ", " << j;
    }
    for (std::size_t j = 0; j < 10; ++j) {
      EXPECT_EQ(run.output_as<std::int32_t>(0)[i * 10 + j], 2 * a[i * 10 + j] + short_row[j]);
    }
  }
}

TEST_F(GraphTest, OptionalInputsMayBeAbsent) {
  const Tensor reals(kReal, {1, 1, 1, kCount});
  const Tensor small(DML_TENSOR_DATA_TYPE_INT8, {1, 1, 1, kCount});
  const DML_ELEMENT_WISE_QUANTIZE_LINEAR_OPERATOR_DESC desc{&reals.desc, &reals.desc, nullptr, &small.desc};
  ComPtr<IDMLOperator> quantize;
  ASSERT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_QUANTIZE_LINEAR, &desc, quantize), S_OK);
  GraphBuilder graph;
  const auto sums = static_cast<int>(graph.add(add(reals, reals, reals), {-1, -1}));
  graph.output(graph.add(quantize, {sums, -2}), 0);
  const std::vector<float> values(kCount, 3.0F);
  const std::vector<float> scales(kCount, 0.5F);
  auto run = prepare(graph, {{bytes_of(values), bytes_of(scales)}, {}}, {kCount});
  run.run();
  EXPECT_EQ(run.output(0), Bytes(kCount, 12));
}

TEST_F(GraphTest, ReductionsBetweenElementWiseNodesTakeTemporaryMemory) {
  constexpr UINT kRows = 3;
  constexpr UINT kColumns = 20'000;
  const Tensor wide(kReal, {1, 1, kRows, kColumns});
  const Tensor sums(kReal, {1, 1, kRows, 1});
  const Tensor spread(kReal, {1, 1, kRows, kColumns}, {kRows, kRows, 1, 0});
  GraphBuilder graph;
  const auto twice = static_cast<int>(graph.add(add(wide, wide, wide), {-1, -1}));
  const auto reduced = static_cast<int>(graph.add(reduce(wide, sums, 3), {twice}));
  graph.output(graph.add(add(wide, spread, wide), {twice, reduced}), 0);
  const auto compiled = graph.compile(dml);
  const auto needs = compiled->GetBindingProperties();
  EXPECT_GT(needs.TemporaryResourceSize, wide.buffer.TotalTensorSizeInBytes);
  EXPECT_EQ(needs.TemporaryResourceSize % 256, 0U);
  EXPECT_EQ(needs.PersistentResourceSize, 0U);
  const std::vector<float> values(std::size_t{kRows} * kColumns, 0.25F);
  GraphRun run(dml, compiled, {{bytes_of(values)}, {}}, {wide.buffer.TotalTensorSizeInBytes});
  run.run();
  EXPECT_EQ(run.output_as<float>(0), std::vector<float>(values.size(), 0.5F + 0.5F * kColumns));
}

TEST_F(GraphTest, RunsOftenWithListsThatAreResetMeanwhile) {
  GraphBuilder graph;
  const Tensor sums(kInt, {1, 1, 1, 1});
  const Tensor spread(kInt, {1, 1, 1, kCount}, {1, 1, 1, 0});
  const auto first = static_cast<int>(graph.add(add(ints, owned, ints), {-1, -2}));
  const auto reduced = static_cast<int>(graph.add(reduce(ints, sums, 3), {first}));
  graph.output(graph.add(add(ints, spread, ints), {first, reduced}), 0);
  auto run = prepare(graph, {{bytes_of(a), bytes_of(b)}, {false, true}}, {kSize});
  run.run();
  const Bytes expected = run.output(0);
  run.spoil();
  std::vector<ComPtr<ID3D12CommandAllocator>> allocators;
  for (int round = 0; round < 50; ++round) {
    run.record_execute();
    uav_barrier(dml.queue.list.Get());
    run.record_execute();
    dml.queue.submit();
    // The list is reset with a different allocator while its earlier commands run.
    allocators.push_back(dml.queue.allocator);
    ASSERT_EQ(dml.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                IID_PPV_ARGS(dml.queue.allocator.ReleaseAndGetAddressOf())),
              S_OK);
    ASSERT_EQ(dml.queue.list->Reset(dml.queue.allocator.Get(), nullptr), S_OK);
  }
  dml.queue.finish();
  run.read();
  EXPECT_EQ(run.output(0), expected);
}

TEST_F(GraphTest, TwiceInOneListWithOtherBindings) {
  GraphBuilder graph;
  graph.output(graph.add(multiply(), {static_cast<int>(graph.add(add(), {-1, -2})), -1}), 0);
  const auto compiled = graph.compile(dml);
  GraphRun one(dml, compiled, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
  GraphRun two(dml, compiled, {{bytes_of(b), bytes_of(a)}, {}}, {kSize});
  one.record_initialize();
  one.record_execute();
  two.record_execute();
  dml.queue.finish();
  one.read();
  two.read();
  EXPECT_EQ(one.output_as<std::int32_t>(0), product(sum(a, b), a));
  EXPECT_EQ(two.output_as<std::int32_t>(0), product(sum(a, b), b));
}

TEST_F(GraphTest, OnSeveralQueuesAtOnce) {
  constexpr int kQueues = 4;
  GraphBuilder graph;
  const auto first = static_cast<int>(graph.add(add(ints, owned, ints), {-1, -2}));
  graph.output(graph.add(multiply(), {first, first}), 0);
  const auto compiled = graph.compile(dml);
  // There is one initialization, and all executions bind its persistent memory.
  GraphRun shared(dml, compiled, {{bytes_of(a), bytes_of(b)}, {false, true}}, {kSize});
  shared.run();
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<ComPtr<ID3D12Resource>> outputs;
  const auto heap = create_heap(dml.d3d12.Get(), kQueues * 4);
  const auto temporary_bytes = compiled->GetBindingProperties().TemporaryResourceSize;
  ASSERT_EQ(temporary_bytes, 0U);  // the whole graph is one step
  for (int i = 0; i < kQueues; ++i) {
    queues.push_back(std::make_unique<Queue>(
        dml.d3d12.Get(), i % 2 == 0 ? D3D12_COMMAND_LIST_TYPE_DIRECT : D3D12_COMMAND_LIST_TYPE_COMPUTE));
    outputs.push_back(create_buffer(dml.d3d12.Get(), kSize));
    const auto table = dml.table(compiled.Get(), heap.Get(), static_cast<UINT>(i) * 4);
    const auto value = shared.given()[0];
    const DML_BINDING_DESC inputs[] = {bind(value), {DML_BINDING_TYPE_NONE, nullptr}};
    table->BindInputs(2, inputs);
    bind_output(table.Get(), {outputs.back().Get(), 0, kSize});
    const auto kept = shared.kept();
    const DML_BINDING_DESC persistent = bind(kept);
    table->BindPersistentResource(&persistent);
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    queues.back()->list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(queues.back()->list.Get(), compiled.Get(), table.Get());
  }
  for (auto& queue : queues) {
    queue->submit();
  }
  for (int i = 0; i < kQueues; ++i) {
    queues[static_cast<std::size_t>(i)]->wait();
    queues[static_cast<std::size_t>(i)]->reopen();
    const Ints x = sum(a, b);
    EXPECT_EQ(download_as<std::int32_t>(dml.queue, outputs[static_cast<std::size_t>(i)].Get()), product(x, x));
  }
  ASSERT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
}

// A graph with so many tensors that recording and executing would take minutes if every pair were compared.
struct ManyTensors : GraphTest {
  static constexpr UINT kTensors = 60'000;  // the number of inputs, and of outputs

  ManyTensors() {
    const Tensor one{kInt, {1, 1, 1, 1}};
    const auto op = identity(one, one);
    GraphBuilder graph;
    for (UINT i = 0; i < kTensors; ++i) {
      const UINT node = graph.add(op.Get());
      graph.input(i, node, 0);
      graph.output(node, i);
    }
    compiled = graph.compile(dml);
    heap = create_heap(dml.d3d12.Get(), compiled->GetBindingProperties().RequiredDescriptorCount);
    table = dml.table(compiled.Get(), heap.Get());
    buffer = create_buffer(dml.d3d12.Get(), std::uint64_t{2} * kTensors * kStep);
    for (UINT i = 0; i < 2 * kTensors; ++i) {
      bindings.push_back({buffer.Get(), std::uint64_t{i} * kStep, 4});
    }
  }
  // The removal message, or an empty string.
  std::string record() {
    std::vector<DML_BINDING_DESC> descs;
    for (const DML_BUFFER_BINDING& binding : bindings) {
      descs.push_back({DML_BINDING_TYPE_BUFFER, &binding});
    }
    table->BindInputs(kTensors, descs.data());
    table->BindOutputs(kTensors, descs.data() + kTensors);
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
    return dml.device->GetDeviceRemovedReason() == S_OK ? "" : anydml_last_error();
  }

  static constexpr std::uint64_t kStep = 16;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<IDMLBindingTable> table;
  ComPtr<ID3D12Resource> buffer;
  std::vector<DML_BUFFER_BINDING> bindings;  // inputs, then outputs
};

TEST_F(ManyTensors, AreRecordedAndExecuted) {
  Ints values(std::size_t{2} * kTensors * kStep / 4);
  for (UINT i = 0; i < kTensors; ++i) {
    values[i * kStep / 4] = static_cast<int>(i) + 1;
  }
  upload(dml.queue, buffer.Get(), values.data(), values.size() * 4);
  ASSERT_EQ(record(), "");
  dml.queue.finish();
  const auto result = download_as<std::int32_t>(dml.queue, buffer.Get());
  std::size_t wrong = 0;
  for (UINT i = 0; i < kTensors; ++i) {
    wrong += result[(kTensors + i) * kStep / 4] == static_cast<int>(i) + 1 ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
}

// The reported error concerns the first output that overlaps another tensor, and overlapping inputs are reported before
// overlapping outputs.
TEST_F(ManyTensors, TheFirstInputOverAnOutputIsTold) {
  bindings[kTensors + 50'000] = bindings[kTensors + 40'000];
  bindings[900] = bindings[700] = bindings[kTensors + 40'000];
  bindings[3] = bindings[kTensors + 40'001];
  EXPECT_NE(record().find("graph input 700: overlaps graph output 40000; expected separate ranges"), std::string::npos)
      << anydml_last_error();
}

TEST_F(ManyTensors, TheFirstOutputOverAnotherIsTold) {
  bindings[kTensors + 50'000] = bindings[kTensors + 40'000];
  bindings[kTensors + 59'999] = bindings[kTensors + 40'000];
  bindings[3] = bindings[kTensors + 40'001];
  EXPECT_NE(record().find("graph output 50000: overlaps graph output 40000; expected a range of its own"),
            std::string::npos)
      << anydml_last_error();
}

TEST_F(GraphTest, TakesEveryFlagAndAName) {
  GraphBuilder graph;
  graph.output(graph.add(add(), {-1, -2}, "sum of two"), 0);
  for (const auto flags : {DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION,
                           DML_EXECUTION_FLAG_DISABLE_META_COMMANDS, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE}) {
    ComPtr<IDMLCompiledOperator> compiled;
    ASSERT_EQ(graph.compile(dml, compiled, flags), S_OK) << anydml_last_error();
    GraphRun run(dml, compiled, {{bytes_of(a), bytes_of(b)}, {}}, {kSize});
    run.run();
    EXPECT_EQ(run.output_as<std::int32_t>(0), sum(a, b));
  }
}

// Measures CompileGraph. This is not a test and needs --gtest_also_run_disabled_tests.
TEST_F(GraphTest, DISABLED_Times) {
  for (const UINT nodes : {1U, 100U, 1'000U, 1'000U, 10'000U, 100'000U, 1'000'000U}) {
    GraphBuilder graph;
    const auto sums = add();
    const auto products = multiply();
    for (UINT i = 0; i < nodes; ++i) {
      const UINT node = graph.add(i % 2 == 0 ? sums.Get() : products.Get());
      for (const UINT input : {0U, 1U}) {
        const UINT back = input == 0 ? 1 : 1 + i % 7;
        if (back > i) {
          graph.input(input, node, input);
        } else {
          graph.connect(i - back, node, input);
        }
      }
    }
    graph.output(nodes - 1, 0);
    const auto begin = std::chrono::steady_clock::now();
    const auto compiled = graph.compile(dml);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("%8u nodes: %10.3f ms, %llu bytes of temporary\n", nodes, took.count(),
                static_cast<unsigned long long>(compiled->GetBindingProperties().TemporaryResourceSize));
  }
}

}  // namespace
}  // namespace anydml::test
