// SPDX-License-Identifier: MIT
// A benchmark, not a test: chains of element-wise operators as one DirectML graph. On a GPU: ANYDML_ADAPTER=cuda.
//
//   chains_bench [ELEMENTS [DISPATCHES]]
//
// A chain of k steps over FLOAT32: multiply by a constant, add a constant, RELU, ABS, and repeat. Each list dispatches
// the graph DISPATCHES times, and the shortest time of several lists is divided by that count. k = 1 is one pass over
// the memory.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "directml/harness.h"

namespace anydml::test {
namespace {

struct Chain {
  Chain(const Dml& dml, UINT elements, UINT steps)
      : whole(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, elements}),
        number(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, elements}, {0, 0, 0, 0}) {
    std::vector<ComPtr<IDMLOperator>> operators(steps);
    std::vector<DML_OPERATOR_GRAPH_NODE_DESC> nodes(steps);
    std::vector<DML_GRAPH_NODE_DESC> node_descs(steps);
    std::vector<DML_INPUT_GRAPH_EDGE_DESC> inputs{{0, 0, 0, nullptr}};
    std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> between;
    for (UINT i = 0; i < steps; ++i) {
      operators[i] = step(dml, i % 4);
      nodes[i] = {operators[i].Get(), nullptr};
      node_descs[i] = {DML_GRAPH_NODE_TYPE_OPERATOR, &nodes[i]};
      if (i != 0) {
        between.push_back({i - 1, 0, i, 0, nullptr});
      }
      if (i % 4 < 2) {
        inputs.push_back({1, i, 1, nullptr});
      }
    }
    const DML_OUTPUT_GRAPH_EDGE_DESC output{steps - 1, 0, 0, nullptr};
    const DML_GRAPH_EDGE_DESC output_desc{DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
    std::vector<DML_GRAPH_EDGE_DESC> input_descs;
    for (const auto& edge : inputs) {
      input_descs.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
    }
    std::vector<DML_GRAPH_EDGE_DESC> between_descs;
    for (const auto& edge : between) {
      between_descs.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edge});
    }
    const DML_GRAPH_DESC desc{2,
                              1,
                              steps,
                              node_descs.data(),
                              static_cast<UINT>(input_descs.size()),
                              input_descs.data(),
                              1,
                              &output_desc,
                              static_cast<UINT>(between_descs.size()),
                              between_descs.data()};
    ComPtr<IDMLDevice1> device;
    EXPECT_EQ(dml.device.As(&device), S_OK);
    EXPECT_EQ(device->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)), S_OK)
        << anydml_last_error();
  }

  [[nodiscard]] ComPtr<IDMLOperator> step(const Dml& dml, UINT kind) const {
    ComPtr<IDMLOperator> op;
    const DML_ELEMENT_WISE_ADD_OPERATOR_DESC binary{&whole.desc, &number.desc, &whole.desc};
    const DML_ACTIVATION_RELU_OPERATOR_DESC relu{&whole.desc, &whole.desc};
    const DML_ELEMENT_WISE_ABS_OPERATOR_DESC abs{&whole.desc, &whole.desc, nullptr};
    const HRESULT result = kind == 0   ? dml.create_operator(DML_OPERATOR_ELEMENT_WISE_MULTIPLY, &binary, op)
                           : kind == 1 ? dml.create_operator(DML_OPERATOR_ELEMENT_WISE_ADD, &binary, op)
                           : kind == 2 ? dml.create_operator(DML_OPERATOR_ACTIVATION_RELU, &relu, op)
                                       : dml.create_operator(DML_OPERATOR_ELEMENT_WISE_ABS, &abs, op);
    EXPECT_EQ(result, S_OK) << anydml_last_error();
    return op;
  }

  const Tensor whole;
  const Tensor number;
  ComPtr<IDMLCompiledOperator> compiled;
};

// The time of one dispatch, in milliseconds.
double time_of(Dml& dml, const Chain& chain, ID3D12Resource* in, ID3D12Resource* number, ID3D12Resource* out,
               int dispatches) {
  dml.initialize(chain.compiled.Get());
  const auto heap = create_heap(dml.d3d12.Get(), 8);
  const auto table = dml.table(chain.compiled.Get(), heap.Get());
  const UINT64 bytes = in->GetDesc().Width;
  bind_inputs(table.Get(), {{in, 0, bytes}, {number, 0, 16}});
  bind_output(table.Get(), {out, 0, bytes});
  ID3D12DescriptorHeap* const heaps[] = {heap.Get()};
  double lowest = 1e9;
  for (int round = 0; round < 8; ++round) {
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    for (int i = 0; i < dispatches; ++i) {
      uav_barrier(dml.queue.list.Get());
      dml.recorder->RecordDispatch(dml.queue.list.Get(), chain.compiled.Get(), table.Get());
    }
    const auto begin = std::chrono::steady_clock::now();
    dml.queue.finish();
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    lowest = std::min(lowest, taken.count() / dispatches);
  }
  return lowest;
}

int run(UINT elements, int dispatches) {
  Dml dml;
  const UINT64 bytes = UINT64{elements} * sizeof(float);
  const auto in = create_buffer(dml.d3d12.Get(), bytes);
  const auto out = create_buffer(dml.d3d12.Get(), bytes);
  const auto number = create_buffer(dml.d3d12.Get(), 16);
  std::vector<float> values(elements);
  for (UINT i = 0; i < elements; ++i) {
    values[i] = static_cast<float>(i % 1000) - 500;
  }
  upload(dml.queue, in.Get(), values.data(), bytes);
  const float numbers[] = {1.5F, 0, 0, 0};
  upload(dml.queue, number.Get(), numbers, sizeof(numbers));
  double pass = 0;
  for (const UINT steps : {1U, 2U, 4U, 8U, 16U}) {
    const double taken = time_of(dml, Chain(dml, elements, steps), in.Get(), number.Get(), out.Get(), dispatches);
    pass = steps == 1 ? taken : pass;
    std::printf("%2u steps: %8.3f ms, %5.2f passes\n", steps, taken, taken / pass);
  }
  return testing::Test::HasFailure() ? 1 : 0;
}

}  // namespace
}  // namespace anydml::test

int main(int argc, char** argv) {
  const long elements = argc > 1 ? std::atol(argv[1]) : 1L << 24;
  const int dispatches = argc > 2 ? std::atoi(argv[2]) : 20;
  if (elements < 1 || elements > 1L << 30 || dispatches < 1) {
    std::fputs("usage: chains_bench [ELEMENTS [DISPATCHES]]\n", stderr);
    return 2;
  }
  return anydml::test::run(static_cast<UINT>(elements), dispatches);
}
