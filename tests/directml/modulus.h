// SPDX-License-Identifier: MIT
// A modulus operator with everything needed to run it, shared by the files of directml_test.
#pragma once

#include <vector>

#include "directml/harness.h"

namespace anydml::test {

inline constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
inline constexpr auto kInt = DML_TENSOR_DATA_TYPE_INT32;

// One operator with two 1x1x1x4 INT32 inputs, and its buffers, heap and table.
struct Modulus {
  explicit Modulus(Dml& with, DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE,
                   DML_TENSOR_FLAGS b_flags = DML_TENSOR_FLAG_NONE,
                   DML_OPERATOR_TYPE type = DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR)
      : dml(with), a(kInt, {1, 1, 1, 4}), b(kInt, {1, 1, 1, 4}, {}, b_flags), out(kInt, {1, 1, 1, 4}) {
    op = dml.binary(a, b, out, type);
    compiled = dml.compile(op.Get(), flags);
    heap = create_heap(dml.d3d12.Get(), 16);
    a_buffer = create_buffer(dml.d3d12.Get(), 256);
    b_buffer = create_buffer(dml.d3d12.Get(), 256);
    out_buffer = create_buffer(dml.d3d12.Get(), 256);
    const int dividends[] = {7, -7, 7, -7};
    const int divisors[] = {3, 3, -3, -3};
    upload(dml.queue, a_buffer.Get(), dividends, sizeof(dividends));
    upload(dml.queue, b_buffer.Get(), divisors, sizeof(divisors));
    table = dml.table(compiled.Get(), heap.Get());
  }

  void bind_all() {
    bind_inputs(table.Get(), {{a_buffer.Get(), 0, 16}, {b_buffer.Get(), 0, 16}});
    bind_output(table.Get(), {out_buffer.Get(), 0, 16});
  }
  void set_heap() {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
  }
  void record() {
    set_heap();
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  std::vector<int> result() {
    auto values = download_as<int>(dml.queue, out_buffer.Get());
    values.resize(4);
    return values;
  }

  Dml& dml;
  Tensor a;
  Tensor b;
  Tensor out;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<ID3D12Resource> a_buffer;
  ComPtr<ID3D12Resource> b_buffer;
  ComPtr<ID3D12Resource> out_buffer;
  ComPtr<IDMLBindingTable> table;
};

inline const std::vector<int> kFloorResult = {1, 2, -2, -1};
inline const std::vector<int> kTruncateResult = {1, -1, 1, -1};

}  // namespace anydml::test
