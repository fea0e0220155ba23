// SPDX-License-Identifier: MIT
// The building blocks and the lists of cases for directml_bad_input_test.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "directml/harness.h"

namespace anydml::test {

inline constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;

// A value that may be outside the enumeration, such as one from a C program or a program built with newer headers.
template <class E>
E number_as(int number) {
  E value;
  static_assert(sizeof(value) == sizeof(number));
  std::memcpy(&value, &number, sizeof(value));
  return value;
}

// A program that is valid until a case changes something.
struct Program {
  Dml dml{DML_CREATE_DEVICE_FLAG_DEBUG};
  Tensor a{kFloat, {1, 2, 3, 4}};
  Tensor b{kFloat, {1, 2, 3, 4}};
  Tensor out{kFloat, {1, 2, 3, 4}};
  DML_ELEMENT_WISE_MODULUS_FLOOR_OPERATOR_DESC desc{&a.desc, &b.desc, &out.desc};
  DML_OPERATOR_DESC described{DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR, &desc};
  ComPtr<ID3D12DescriptorHeap> heap = create_heap(dml.d3d12.Get(), 16);
  ComPtr<ID3D12Resource> buffers[4] = {create_buffer(dml.d3d12.Get(), 1024), create_buffer(dml.d3d12.Get(), 1024),
                                       create_buffer(dml.d3d12.Get(), 1024), create_buffer(dml.d3d12.Get(), 1024)};
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLBindingTable> table;

  HRESULT create() {
    void* built = &built;  // must be null after a failure
    const HRESULT result = dml.device->CreateOperator(&described, __uuidof(IDMLOperator), &built);
    if (FAILED(result)) {
      EXPECT_EQ(built, nullptr);
    } else {
      op.Attach(static_cast<IDMLOperator*>(built));
    }
    return result;
  }
  // Creates everything up to the binding table.
  void prepare(DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) {
    ASSERT_EQ(create(), S_OK) << anydml_last_error();
    compiled = dml.compile(op.Get(), flags);
    table = dml.table(compiled.Get(), heap.Get());
  }
  [[nodiscard]] DML_BUFFER_BINDING whole(int i) const { return {buffers[i].Get(), 0, 96}; }
  void bind_good() {
    bind_inputs(table.Get(), {whole(0), whole(1)});
    bind_output(table.Get(), whole(2));
  }
  void record() {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), compiled.Get(), table.Get());
  }
  // For owned inputs, this is an initializer with a table that starts at descriptor 8.
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLBindingTable> initializer_table;
  void prepare_owned() {
    b.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    prepare();
    IDMLCompiledOperator* targets[] = {compiled.Get()};
    ASSERT_EQ(dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    initializer_table = dml.table(initializer.Get(), heap.Get(), 8);
  }
  void bind_initializer(const DML_BUFFER_BINDING& weights, const DML_BUFFER_BINDING& persistent) {
    const DML_BUFFER_BINDING inputs[] = {{nullptr, 0, 0}, weights};
    const DML_BUFFER_ARRAY_BINDING array{2, inputs};
    const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    initializer_table->BindInputs(1, &input);
    const DML_BINDING_DESC output = bind(persistent);
    initializer_table->BindOutputs(1, &output);
  }
  void record_initializer() {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    dml.queue.list->SetDescriptorHeaps(1, heaps);
    dml.recorder->RecordDispatch(dml.queue.list.Get(), initializer.Get(), initializer_table.Get());
  }
  void bind_owned_execution(const DML_BINDING_DESC& second, int persistent) {
    const auto first = whole(0);
    const DML_BINDING_DESC inputs[] = {bind(first), second};
    table->BindInputs(2, inputs);
    bind_output(table.Get(), whole(2));
    if (persistent >= 0) {
      const DML_BUFFER_BINDING buffer{buffers[persistent].Get(), 0, 1024};
      const DML_BINDING_DESC desc_of = bind(buffer);
      table->BindPersistentResource(&desc_of);
    }
  }
};

inline constexpr DML_BINDING_DESC kNone{DML_BINDING_TYPE_NONE, nullptr};

// A case expects either a returned HRESULT or the removal of the DirectML device.
struct Case {
  const char* what;
  HRESULT expected;     // with kRemoval, the case returns S_OK and the device is removed with E_INVALIDARG
  const char* message;  // a substring of the message
  std::function<HRESULT(Program&)> run;
};
inline constexpr HRESULT kRemoval = static_cast<HRESULT>(0x0BADBADB);

template <class Change>
std::function<HRESULT(Program&)> creating(Change change) {
  return [change](Program& p) {
    change(p);
    return p.create();
  };
}

// For methods that return void, the only outcome is whether the device was removed.
template <class Body>
std::function<HRESULT(Program&)> binding(Body body) {
  return [body](Program& p) -> HRESULT {
    p.prepare();
    body(p);
    return S_OK;
  };
}

inline void total(Tensor& tensor) { tensor.buffer.TotalTensorSizeInBytes = tensor.implied_bytes(); }

inline void resize(Tensor& tensor, std::vector<UINT> sizes, std::vector<UINT> strides = {}) {
  tensor.sizes = std::move(sizes);
  tensor.strides = std::move(strides);
  tensor.buffer.DimensionCount = static_cast<UINT>(tensor.sizes.size());
  tensor.point();
  total(tensor);
}
inline void resize_all(Program& p, const std::vector<UINT>& sizes, const std::vector<UINT>& strides = {}) {
  for (Tensor* tensor : {&p.a, &p.b, &p.out}) {
    resize(*tensor, sizes, strides);
  }
}
inline void retype(Tensor& tensor, int type) {
  tensor.buffer.DataType = number_as<DML_TENSOR_DATA_TYPE>(type);
  total(tensor);
}
inline void retype_all(Program& p, int type) {
  for (Tensor* tensor : {&p.a, &p.b, &p.out}) {
    retype(*tensor, type);
  }
}

std::vector<Case> description_cases();
std::vector<Case> rule_cases();
std::vector<Case> object_cases();
std::vector<Case> graph_cases();
std::vector<Case> binding_cases();

}  // namespace anydml::test
