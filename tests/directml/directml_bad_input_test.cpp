// SPDX-License-Identifier: MIT
// Wrong use of the DirectML API gets an HRESULT, or the removal of the DirectML device, and a sentence. One process
// survives all of it. The table that this prints is in docs/directml-errors.md.
#include <cstdio>
#include <functional>
#include <mutex>

#include "directml/harness.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;

// An enumerator that the enumeration may not have, as a C program or a newer header passes it.
template <class E>
E number_as(int number) {
  E value;
  static_assert(sizeof(value) == sizeof(number));
  std::memcpy(&value, &number, sizeof(value));
  return value;
}

// A program that is right until a case changes something.
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
    void* made = &made;  // must be null after a failure
    const HRESULT result = dml.device->CreateOperator(&described, __uuidof(IDMLOperator), &made);
    if (FAILED(result)) {
      EXPECT_EQ(made, nullptr);
    } else {
      op.Attach(static_cast<IDMLOperator*>(made));
    }
    return result;
  }
  // Everything up to the table.
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
  // Owned inputs: an initializer with a table, at descriptor 8.
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

constexpr DML_BINDING_DESC kNone{DML_BINDING_TYPE_NONE, nullptr};

// What a case expects: an HRESULT that it returns, or the removal of the DirectML device.
struct Case {
  const char* what;
  HRESULT expected;     // kRemoval: the case returns S_OK and the device is removed with E_INVALIDARG
  const char* message;  // a part of it
  std::function<HRESULT(Program&)> run;
};
constexpr HRESULT kRemoval = static_cast<HRESULT>(0x0BADBADB);

template <class Change>
std::function<HRESULT(Program&)> creating(Change change) {
  return [change](Program& p) {
    change(p);
    return p.create();
  };
}

// A void method: the outcome is whether the device is removed.
template <class Body>
std::function<HRESULT(Program&)> binding(Body body) {
  return [body](Program& p) -> HRESULT {
    p.prepare();
    body(p);
    return S_OK;
  };
}

void total(Tensor& tensor) { tensor.buffer.TotalTensorSizeInBytes = tensor.implied_bytes(); }

void resize(Tensor& tensor, std::vector<UINT> sizes, std::vector<UINT> strides = {}) {
  tensor.sizes = std::move(sizes);
  tensor.strides = std::move(strides);
  tensor.buffer.DimensionCount = static_cast<UINT>(tensor.sizes.size());
  tensor.point();
  total(tensor);
}
void resize_all(Program& p, const std::vector<UINT>& sizes, const std::vector<UINT>& strides = {}) {
  for (Tensor* tensor : {&p.a, &p.b, &p.out}) {
    resize(*tensor, sizes, strides);
  }
}
void retype(Tensor& tensor, int type) {
  tensor.buffer.DataType = number_as<DML_TENSOR_DATA_TYPE>(type);
  total(tensor);
}
void retype_all(Program& p, int type) {
  for (Tensor* tensor : {&p.a, &p.b, &p.out}) {
    retype(*tensor, type);
  }
}

std::vector<Case> description_cases() {
  return {
      {"CreateOperator: desc is null", E_INVALIDARG, "desc is null; expected a DML_OPERATOR_DESC",
       [](Program& p) {
         void* out = &out;
         const HRESULT result = p.dml.device->CreateOperator(nullptr, __uuidof(IDMLOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"CreateOperator: ppv is null", E_INVALIDARG, "ppv is null",
       [](Program& p) { return p.dml.device->CreateOperator(&p.described, __uuidof(IDMLOperator), nullptr); }},
      {"CreateOperator: riid of an interface that operators lack", E_NOINTERFACE, "riid",
       [](Program& p) {
         void* out = &out;
         const HRESULT result = p.dml.device->CreateOperator(&p.described, __uuidof(IDMLCompiledOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"the operator's Desc is null", E_INVALIDARG, "ELEMENT_WISE_MODULUS_FLOOR: Desc is null",
       creating([](Program& p) { p.described.Desc = nullptr; })},
      {"operator type INVALID", E_INVALIDARG, "Type is 0",
       creating([](Program& p) { p.described.Type = DML_OPERATOR_INVALID; })},
      {"unknown operator type", E_INVALIDARG, "Type is 255",
       creating([](Program& p) { p.described.Type = number_as<DML_OPERATOR_TYPE>(255); })},
      {"an operator that is not built", kUnsupported,
       "ELEMENT_WISE_SIN: an operator of DirectML that is not built here",
       creating([](Program& p) { p.described.Type = DML_OPERATOR_ELEMENT_WISE_SIN; })},
      {"a tensor is null", E_INVALIDARG, "BTensor: the tensor is null",
       creating([](Program& p) { p.desc.BTensor = nullptr; })},
      {"the output is null", E_INVALIDARG, "OutputTensor: the tensor is null",
       creating([](Program& p) { p.desc.OutputTensor = nullptr; })},
      {"tensor type INVALID", E_INVALIDARG, "ATensor: Type is 0; expected DML_TENSOR_TYPE_BUFFER",
       creating([](Program& p) { p.a.desc.Type = DML_TENSOR_TYPE_INVALID; })},
      {"unknown tensor type", E_INVALIDARG, "OutputTensor: Type is 3",
       creating([](Program& p) { p.out.desc.Type = number_as<DML_TENSOR_TYPE>(3); })},
      {"a tensor's Desc is null", E_INVALIDARG, "ATensor: Desc is null",
       creating([](Program& p) { p.a.desc.Desc = nullptr; })},
      {"data type UNKNOWN", E_INVALIDARG, "ATensor: DataType is UNKNOWN",
       creating([](Program& p) { retype(p.a, DML_TENSOR_DATA_TYPE_UNKNOWN); })},
      {"unknown data type", E_INVALIDARG, "BTensor: DataType is 15", creating([](Program& p) { retype(p.b, 15); })},
      {"a data type of 4 bits", E_INVALIDARG, "ATensor: DataType is INT4",
       creating([](Program& p) { retype_all(p, DML_TENSOR_DATA_TYPE_INT4); })},
      {"FLOAT64, which modulus never takes", E_INVALIDARG, "ATensor: DataType is FLOAT64; expected FLOAT32",
       creating([](Program& p) { retype_all(p, DML_TENSOR_DATA_TYPE_FLOAT64); })},
      {"types that differ between inputs", E_INVALIDARG, "BTensor: type is FLOAT16; expected FLOAT32",
       creating([](Program& p) { retype(p.b, DML_TENSOR_DATA_TYPE_FLOAT16); })},
      {"an output of another type", E_INVALIDARG, "OutputTensor: type is INT32; expected FLOAT32",
       creating([](Program& p) { retype(p.out, DML_TENSOR_DATA_TYPE_INT32); })},
      {"zero dimensions", E_INVALIDARG, "ATensor: DimensionCount is 0; expected 1 to 8",
       creating([](Program& p) { p.a.buffer.DimensionCount = 0; })},
      {"nine dimensions", E_INVALIDARG, "ATensor: DimensionCount is 9; expected 1 to 8",
       creating([](Program& p) { resize_all(p, std::vector<UINT>(9, 1)); })},
      {"2^32 - 1 dimensions", E_INVALIDARG, "ATensor: DimensionCount is 4294967295",
       creating([](Program& p) { p.a.buffer.DimensionCount = UINT32_MAX; })},
      {"dimension counts that differ", E_INVALIDARG, "BTensor: sizes are [2, 3, 4]; expected exactly [1, 2, 3, 4]",
       creating([](Program& p) {
         resize(p.b, {2, 3, 4});
       })},
      {"Sizes is null", E_INVALIDARG, "ATensor: Sizes is null; expected 4 sizes",
       creating([](Program& p) { p.a.buffer.Sizes = nullptr; })},
      {"a size of zero", E_INVALIDARG, "OutputTensor: Sizes[2] is 0; expected 1 or more",
       creating([](Program& p) { p.out.sizes[2] = 0; })},
      {"sizes that differ", E_INVALIDARG, "ATensor: sizes are [1, 2, 3, 5]; expected exactly [1, 2, 3, 4]",
       creating([](Program& p) {
         resize(p.a, {1, 2, 3, 5});
       })},
      {"a size of 1 where the output has more", E_INVALIDARG, "to repeat it, give those sizes and a stride of 0",
       creating([](Program& p) {
         resize(p.b, {1, 2, 3, 1});
       })},
      {"more than 2^32 - 1 elements", E_INVALIDARG, "hold too many elements; expected at most 4294967295",
       creating([](Program& p) {
         resize_all(p, {65536, 65536});
       })},
      {"sizes whose product passes 64 bits", E_INVALIDARG, "reach further than 72057594037927936 bytes",
       creating([](Program& p) {
         resize_all(p, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
       })},
      {"a total size too small", E_INVALIDARG, "ATensor: TotalTensorSizeInBytes is 92; expected 96 or more",
       creating([](Program& p) { p.a.buffer.TotalTensorSizeInBytes = 92; })},
      {"a total size of zero", E_INVALIDARG, "TotalTensorSizeInBytes is 0; expected 96 or more",
       creating([](Program& p) { p.b.buffer.TotalTensorSizeInBytes = 0; })},
      {"a total size of 2^63, twice of tensors that DirectML is to own", E_INVALIDARG,
       "ATensor: TotalTensorSizeInBytes is 9223372036854775808; expected 72057594037927936 at most",
       creating([](Program& p) {
         for (Tensor* owned : {&p.a, &p.b}) {
           owned->buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
           owned->buffer.TotalTensorSizeInBytes = std::uint64_t{1} << 63;
         }
       })},
      {"a total size that is no multiple of 4", E_INVALIDARG,
       "TotalTensorSizeInBytes is 98; expected 96 or more, which the elements reach, and a multiple of 4",
       creating([](Program& p) { p.a.buffer.TotalTensorSizeInBytes = 98; })},
      {"strides that pass the total size", E_INVALIDARG, "BTensor: TotalTensorSizeInBytes is 96; expected 188 or more",
       creating([](Program& p) {
         resize(p.b, {1, 2, 3, 4}, {24, 24, 8, 2});
         p.b.buffer.TotalTensorSizeInBytes = 96;
       })},
      {"strides whose reach passes 32 bits, with a size that does not", E_INVALIDARG,
       "ATensor: TotalTensorSizeInBytes is 96; expected 68719476700 or more", creating([](Program& p) {
         p.a.strides = {0, UINT32_MAX, UINT32_MAX, UINT32_MAX - 2};
         p.a.sizes = {1, 1, 2, 4};
         p.a.point();
         resize(p.b, {1, 1, 2, 4});
         resize(p.out, {1, 1, 2, 4});
         p.a.buffer.TotalTensorSizeInBytes = 96;
       })},
      {"strides whose reach passes 64 bits", E_INVALIDARG, "reach further than 72057594037927936 bytes",
       creating([](Program& p) {
         resize_all(p, {UINT32_MAX, 1}, {UINT32_MAX, 1});
       })},
      {"an output with stride 0", E_INVALIDARG, "OutputTensor: strides [12, 12, 4, 0]", creating([](Program& p) {
         resize(p.out, {1, 2, 3, 4}, {12, 12, 4, 0});
       })},
      {"an output whose elements collide", E_INVALIDARG, "put two elements at one place", creating([](Program& p) {
         resize(p.out, {1, 2, 3, 4}, {1, 3, 2, 1});
       })},
      {"an alignment that is no power of two", E_INVALIDARG, "GuaranteedBaseOffsetAlignment is 24",
       creating([](Program& p) { p.a.buffer.GuaranteedBaseOffsetAlignment = 24; })},
      {"an alignment below an element", E_INVALIDARG, "GuaranteedBaseOffsetAlignment is 2",
       creating([](Program& p) { p.a.buffer.GuaranteedBaseOffsetAlignment = 2; })},
      {"unknown tensor flags", E_INVALIDARG, "ATensor: Flags is 0x2",
       creating([](Program& p) { p.a.buffer.Flags = number_as<DML_TENSOR_FLAGS>(2); })},
      {"an output owned by DirectML", E_INVALIDARG, "OutputTensor: Flags is OWNED_BY_DML",
       creating([](Program& p) { p.out.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML; })},
  };
}

std::vector<Case> object_cases() {
  return {
      {"DMLCreateDevice: the D3D12 device is null", E_INVALIDARG, "d3d12Device is null",
       [](Program&) {
         void* out = &out;
         const HRESULT result = DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"DMLCreateDevice: ppv is null", E_INVALIDARG, "ppv is null",
       [](Program& p) {
         return DMLCreateDevice(p.dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), nullptr);
       }},
      {"DMLCreateDevice: unknown flags", E_INVALIDARG, "flags is 0x2",
       [](Program& p) {
         void* out = &out;
         return DMLCreateDevice(p.dml.d3d12.Get(), number_as<DML_CREATE_DEVICE_FLAGS>(2), __uuidof(IDMLDevice), &out);
       }},
      {"DMLCreateDevice: an interface that devices lack", E_NOINTERFACE, "riid",
       [](Program& p) {
         void* out = &out;
         const HRESULT result =
             DMLCreateDevice(p.dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"DMLCreateDevice1: an unknown feature level", E_INVALIDARG, "minimumFeatureLevel is 0x1234",
       [](Program& p) {
         void* out = &out;
         return DMLCreateDevice1(p.dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, number_as<DML_FEATURE_LEVEL>(0x1234),
                                 __uuidof(IDMLDevice), &out);
       }},
      {"DMLCreateDevice1: a feature level beyond the newest", kUnsupported, "minimumFeatureLevel is 0x7000",
       [](Program& p) {
         void* out = &out;
         return DMLCreateDevice1(p.dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, number_as<DML_FEATURE_LEVEL>(0x7000),
                                 __uuidof(IDMLDevice), &out);
       }},
      {"CheckFeatureSupport: an unknown feature", kUnsupported, "feature is 7",
       [](Program& p) {
         std::uint64_t data = 0;
         return p.dml.device->CheckFeatureSupport(number_as<DML_FEATURE>(7), 0, nullptr, 8, &data);
       }},
      {"CheckFeatureSupport: a wrong size", E_INVALIDARG, "the query has 8 bytes and the answer 4; expected 4 and 4",
       [](Program& p) {
         std::uint64_t data = 0;
         return p.dml.device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, 8, &data, 4, &data);
       }},
      {"CheckFeatureSupport: null pointers", E_INVALIDARG, "or a pointer is null",
       [](Program& p) {
         return p.dml.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, 16, nullptr, 4, nullptr);
       }},
      {"CheckFeatureSupport: an empty list of levels", E_INVALIDARG, "the list of feature levels is empty",
       [](Program& p) {
         const DML_FEATURE_QUERY_FEATURE_LEVELS query{};
         DML_FEATURE_DATA_FEATURE_LEVELS data{};
         return p.dml.device->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof(query), &query, sizeof(data),
                                                  &data);
       }},
      {"CompileOperator: op is null", E_INVALIDARG, "op is null",
       [](Program& p) {
         void* out = &out;
         const HRESULT result =
             p.dml.device->CompileOperator(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"CompileOperator: unknown flags", E_INVALIDARG, "flags is 0x8",
       [](Program& p) {
         p.create();
         void* out = &out;
         return p.dml.device->CompileOperator(p.op.Get(), number_as<DML_EXECUTION_FLAGS>(8),
                                              __uuidof(IDMLCompiledOperator), &out);
       }},
      {"CompileOperator: another device's operator", E_INVALIDARG, "op is another device's",
       [](Program& p) {
         p.create();
         Dml other;
         void* out = &out;
         return other.device->CompileOperator(p.op.Get(), DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator),
                                              &out);
       }},
      {"CompileGraph: desc is null", E_INVALIDARG, "desc is null",
       [](Program& p) {
         ComPtr<IDMLDevice1> device1;
         p.dml.device.As(&device1);
         void* out = &out;
         return device1->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &out);
       }},
      {"CompileGraph", kUnsupported, "graphs are not built here yet",
       [](Program& p) {
         ComPtr<IDMLDevice1> device1;
         p.dml.device.As(&device1);
         const DML_GRAPH_DESC graph{};
         void* out = &out;
         return device1->CompileGraph(&graph, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &out);
       }},
      {"CreateOperatorInitializer: operators is null", E_INVALIDARG, "operators is null; expected 2 compiled operators",
       [](Program& p) {
         void* out = &out;
         return p.dml.device->CreateOperatorInitializer(2, nullptr, __uuidof(IDMLOperatorInitializer), &out);
       }},
      {"CreateOperatorInitializer: an entry is null", E_INVALIDARG, "operators[0] is null",
       [](Program& p) {
         IDMLCompiledOperator* targets[] = {nullptr};
         void* out = &out;
         return p.dml.device->CreateOperatorInitializer(1, targets, __uuidof(IDMLOperatorInitializer), &out);
       }},
      {"CreateOperatorInitializer: one operator twice", E_INVALIDARG, "operators[1] is given twice",
       [](Program& p) {
         p.prepare();
         IDMLCompiledOperator* targets[] = {p.compiled.Get(), p.compiled.Get()};
         void* out = &out;
         return p.dml.device->CreateOperatorInitializer(2, targets, __uuidof(IDMLOperatorInitializer), &out);
       }},
      {"CreateBindingTable: no dispatchable", E_INVALIDARG, "Dispatchable is null",
       [](Program& p) {
         const DML_BINDING_TABLE_DESC desc{};
         void* out = &out;
         const HRESULT result = p.dml.device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), &out);
         EXPECT_EQ(out, nullptr);
         return result;
       }},
      {"CreateBindingTable: too few descriptors", E_INVALIDARG, "SizeInDescriptors is 2; expected 3 or more",
       [](Program& p) {
         p.prepare();
         const DML_BINDING_TABLE_DESC desc{p.compiled.Get(), p.heap->GetCPUDescriptorHandleForHeapStart(),
                                           p.heap->GetGPUDescriptorHandleForHeapStart(), 2};
         void* out = &out;
         return p.dml.device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), &out);
       }},
      {"CreateBindingTable: handles that point nowhere", E_INVALIDARG, "CPUDescriptorHandle",
       [](Program& p) {
         p.prepare();
         const DML_BINDING_TABLE_DESC desc{p.compiled.Get(), {0x123450}, {0x123450}, 3};
         void* out = &out;
         return p.dml.device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), &out);
       }},
      {"CreateBindingTable: past the end of the heap", E_INVALIDARG,
       "CPUDescriptorHandle: its heap ends before SizeInDescriptors, 17",
       [](Program& p) {
         p.prepare();
         const DML_BINDING_TABLE_DESC desc{p.compiled.Get(), p.heap->GetCPUDescriptorHandleForHeapStart(),
                                           p.heap->GetGPUDescriptorHandleForHeapStart(), 17};
         void* out = &out;
         return p.dml.device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), &out);
       }},
      {"CreateBindingTable: a heap that is not shader-visible", E_INVALIDARG, "GPUDescriptorHandle",
       [](Program& p) {
         p.prepare();
         const auto hidden = create_heap(p.dml.d3d12.Get(), 8, false);
         const DML_BINDING_TABLE_DESC desc{p.compiled.Get(), hidden->GetCPUDescriptorHandleForHeapStart(),
                                           hidden->GetGPUDescriptorHandleForHeapStart(), 3};
         void* out = &out;
         return p.dml.device->CreateBindingTable(&desc, __uuidof(IDMLBindingTable), &out);
       }},
      {"MakeResident: ppObjects is null", E_INVALIDARG, "ppObjects is null; expected 1 objects",
       [](Program& p) { return p.dml.device->MakeResident(1, nullptr); }},
      {"Evict: an entry is null", E_INVALIDARG, "ppObjects[0] is null",
       [](Program& p) {
         IDMLPageable* objects[] = {nullptr};
         return p.dml.device->Evict(1, objects);
       }},
      {"SetPrivateData: null data with a size", E_INVALIDARG, "",
       [](Program& p) { return p.dml.device->SetPrivateData({}, 4, nullptr); }},
  };
}

// Operators that are not built are judged as well.
template <DML_OPERATOR_TYPE Type, class Desc, class Fill>
std::function<HRESULT(Program&)> creating_other(Fill fill) {
  return [fill](Program& p) {
    Desc desc{};
    fill(p, desc);
    const DML_OPERATOR_DESC described{Type, &desc};
    void* out = &out;
    const HRESULT result = p.dml.device->CreateOperator(&described, __uuidof(IDMLOperator), &out);
    EXPECT_EQ(out, nullptr);
    return result;
  };
}

template <class Fill>
std::function<HRESULT(Program&)> creating_reduce(Fill fill) {
  return creating_other<DML_OPERATOR_REDUCE, DML_REDUCE_OPERATOR_DESC>([fill](Program& p, auto& desc) {
    static constexpr UINT kAxes[] = {0, 3};
    resize(p.out, {1, 2, 3, 1});
    desc = {DML_REDUCE_FUNCTION_SUM, &p.a.desc, &p.out.desc, 2, kAxes};
    fill(desc);
  });
}

template <class Fill>
std::function<HRESULT(Program&)> creating_gemm(Fill fill) {
  return creating_other<DML_OPERATOR_GEMM, DML_GEMM_OPERATOR_DESC>([fill](Program& p, auto& desc) {
    resize(p.a, {2, 3});
    resize(p.b, {3, 4});
    resize(p.out, {2, 4});
    desc.ATensor = &p.a.desc;
    desc.BTensor = &p.b.desc;
    desc.OutputTensor = &p.out.desc;
    fill(desc);
  });
}

std::vector<Case> rule_cases() {
  return {
      {"a right operator that is not built", kUnsupported, "REDUCE: an operator of DirectML that is not built here",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC&) {})},
      {"an axis that the tensor does not have", E_INVALIDARG, "REDUCE: Axes[1] is 4; expected less than",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) {
         static constexpr UINT kAxes[] = {0, 4};
         desc.Axes = kAxes;
       })},
      {"a size that does not follow from the others", E_INVALIDARG, "OutputTensor.Sizes[3] is 1; expected InputTensor",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.AxisCount = 1; })},
      {"an array that is null", E_INVALIDARG, "REDUCE: Axes is null; expected 2 numbers",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.Axes = nullptr; })},
      {"an array of 2^32 - 1 numbers", E_INVALIDARG, "REDUCE: AxisCount is 4294967295; expected 8 at most",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.AxisCount = UINT32_MAX; })},
      {"a value that an enumeration does not have", E_INVALIDARG, "REDUCE: Function is 99; expected a DML_REDUCE",
       creating_reduce([](DML_REDUCE_OPERATOR_DESC& desc) { desc.Function = number_as<DML_REDUCE_FUNCTION>(99); })},
      {"an array of 2^32 - 1 tensors", E_INVALIDARG, "JOIN: InputCount is 4294967295; expected 65536 at most",
       creating_other<DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC>([](Program& p, auto& desc) {
         desc = {UINT32_MAX, &p.a.desc, &p.out.desc, 0};
       })},
      {"an array of no tensor", E_INVALIDARG, "JOIN: InputTensors holds no tensor; expected 1 or more",
       creating_other<DML_OPERATOR_JOIN, DML_JOIN_OPERATOR_DESC>([](Program& p, auto& desc) {
         desc = {0, nullptr, &p.out.desc, 0};
       })},
      {"matrices that do not fit", E_INVALIDARG, "GEMM: ATensor.Sizes[1] is 3; expected OutputTensor.Sizes[0]",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) { desc.TransA = DML_MATRIX_TRANSFORM_TRANSPOSE; })},
      {"an operator that cannot be fused", E_INVALIDARG, "FusedActivation: ELEMENT_WISE_ABS cannot be fused into GEMM",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) {
         static constexpr DML_ELEMENT_WISE_ABS_OPERATOR_DESC kAbs{};
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ELEMENT_WISE_ABS, &kAbs};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator with a tensor", E_INVALIDARG, "ACTIVATION_RELU: InputTensor is given; expected null",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) {
         static DML_ACTIVATION_RELU_OPERATOR_DESC relu;
         relu = {desc.ATensor, nullptr};
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ACTIVATION_RELU, &relu};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator of no type", E_INVALIDARG, "GEMM: FusedActivation: Type is 0; expected the number of an",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) {
         static constexpr DML_OPERATOR_DESC kFused{};
         desc.FusedActivation = &kFused;
       })},
      {"a fused operator whose Desc is null", E_INVALIDARG, "GEMM: FusedActivation: Desc is null; expected a DML_ACTIV",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) {
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_ACTIVATION_RELU, nullptr};
         desc.FusedActivation = &kFused;
       })},
      {"operators fused into one another without end", E_INVALIDARG, "is within an operator that is within another",
       creating_gemm([](DML_GEMM_OPERATOR_DESC& desc) {
         static DML_GEMM_OPERATOR_DESC inner;
         static constexpr DML_OPERATOR_DESC kFused{DML_OPERATOR_GEMM, &inner};
         inner.FusedActivation = &kFused;
         desc.FusedActivation = &kFused;
       })},
      {"a value whose type is UNKNOWN", E_INVALIDARG, "ValueDataType is UNKNOWN; expected the type of a number",
       creating_other<DML_OPERATOR_FILL_VALUE_CONSTANT, DML_FILL_VALUE_CONSTANT_OPERATOR_DESC>(
           [](Program& p, auto& desc) { desc.OutputTensor = &p.out.desc; })},
  };
}

std::vector<Case> binding_cases() {
  return {
      {"BindInputs: too few", kRemoval, "bindingCount is 1; expected 2 bindings",
       binding([](Program& p) { bind_inputs(p.table.Get(), {p.whole(0)}); })},
      {"BindInputs: too many", kRemoval, "bindingCount is 3; expected 2 bindings", binding([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1), p.whole(2)});
       })},
      {"BindInputs: null with a count", kRemoval, "bindings is null; expected 2 bindings",
       binding([](Program& p) { p.table->BindInputs(2, nullptr); })},
      {"BindOutputs: too many", kRemoval, "bindingCount is 2; expected 1 binding", binding([](Program& p) {
         const auto first = p.whole(0);
         const DML_BINDING_DESC descs[] = {bind(first), bind(first)};
         p.table->BindOutputs(2, descs);
       })},
      {"NONE for a tensor that is not optional", kRemoval, "BTensor: the binding is NONE or its Buffer is null",
       binding([](Program& p) {
         const auto first = p.whole(0);
         const DML_BINDING_DESC descs[] = {bind(first), kNone};
         p.table->BindInputs(2, descs);
       })},
      {"a null Buffer for an output", kRemoval, "OutputTensor: the binding is NONE or its Buffer is null",
       binding([](Program& p) {
         bind_output(p.table.Get(), {nullptr, 0, 96});
       })},
      {"a binding of type BUFFER_ARRAY", kRemoval, "ATensor: the binding's Type is 2", binding([](Program& p) {
         const DML_BUFFER_ARRAY_BINDING array{0, nullptr};
         const DML_BINDING_DESC descs[] = {{DML_BINDING_TYPE_BUFFER_ARRAY, &array}, kNone};
         p.table->BindInputs(2, descs);
       })},
      {"a binding of unknown type", kRemoval, "ATensor: the binding's Type is 3", binding([](Program& p) {
         const DML_BINDING_DESC descs[] = {{number_as<DML_BINDING_TYPE>(3), nullptr}, kNone};
         p.table->BindInputs(2, descs);
       })},
      {"a binding whose Desc is null", kRemoval, "ATensor: the binding's Desc is null", binding([](Program& p) {
         const DML_BINDING_DESC descs[] = {{DML_BINDING_TYPE_BUFFER, nullptr}, kNone};
         p.table->BindInputs(2, descs);
       })},
      {"a range shorter than the tensor", kRemoval, "BTensor: SizeInBytes is 92; expected 96 or more",
       binding([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), {p.buffers[1].Get(), 0, 92}});
       })},
      {"an offset that is no multiple of 16", kRemoval, "ATensor: Offset is 8; expected a multiple of 16",
       binding([](Program& p) {
         bind_inputs(p.table.Get(), {{p.buffers[0].Get(), 8, 96}, p.whole(1)});
       })},
      {"an offset below the guaranteed alignment", kRemoval, "ATensor: Offset is 32; expected a multiple of 64",
       [](Program& p) -> HRESULT {
         p.a.buffer.GuaranteedBaseOffsetAlignment = 64;
         p.prepare();
         bind_inputs(p.table.Get(), {{p.buffers[0].Get(), 32, 96}, p.whole(1)});
         return S_OK;
       }},
      {"a range past the end of the buffer", kRemoval, "96 bytes from Offset 960 do not lie in a buffer of 1024 bytes",
       binding([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), 960, 96});
       })},
      {"an offset past the end of the buffer", kRemoval, "bytes from Offset 2048 do not lie", binding([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), 2048, 96});
       })},
      {"an offset and a size whose sum overflows", kRemoval, "do not lie in a buffer of 1024 bytes",
       binding([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), UINT64_MAX - 15, 96});
       })},
      {"an upload heap", kRemoval, "ATensor: the buffer is in an UPLOAD heap", binding([](Program& p) {
         const auto upload_heap = create_buffer(p.dml.d3d12.Get(), 96, D3D12_HEAP_TYPE_UPLOAD);
         bind_inputs(p.table.Get(), {{upload_heap.Get(), 0, 96}, p.whole(1)});
       })},
      {"a readback heap", kRemoval, "OutputTensor: the buffer is in a READBACK heap", binding([](Program& p) {
         const auto readback = create_buffer(p.dml.d3d12.Get(), 96, D3D12_HEAP_TYPE_READBACK);
         bind_output(p.table.Get(), {readback.Get(), 0, 96});
       })},
      {"a buffer without ALLOW_UNORDERED_ACCESS", kRemoval, "OutputTensor: the buffer was made without",
       binding([](Program& p) {
         const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
         const auto desc = buffer_desc(96);
         ComPtr<ID3D12Resource> plain;
         p.dml.d3d12->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                              nullptr, IID_PPV_ARGS(&plain));
         bind_output(p.table.Get(), {plain.Get(), 0, 96});
       })},
      {"BindInputs on an empty table", kRemoval, "the table is empty", binding([](Program& p) {
         EXPECT_EQ(p.table->Reset(nullptr), S_OK);
         p.table->BindInputs(0, nullptr);
       })},
      {"Bind after the table's heap is gone", kRemoval,
       "the descriptor heap of the table's CPUDescriptorHandle is gone", binding([](Program& p) {
         p.heap.Reset();
         bind_output(p.table.Get(), p.whole(2));
       })},
      {"RecordDispatch: nothing is bound", kRemoval, "ATensor: nothing is bound",
       binding([](Program& p) { p.record(); })},
      {"RecordDispatch: unbound again", kRemoval, "ATensor: nothing is bound", binding([](Program& p) {
         p.bind_good();
         p.table->BindInputs(0, nullptr);
         p.record();
       })},
      {"RecordDispatch: input and output overlap in part", kRemoval,
       "ATensor: bytes 0 to 96 overlap OutputTensor, which has 16 to 112", binding([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1)});
         bind_output(p.table.Get(), {p.buffers[0].Get(), 16, 96});
         p.record();
       })},
      {"RecordDispatch: in place with other strides", kRemoval, "expected the same layout to work in place",
       [](Program& p) -> HRESULT {
         resize(p.a, {1, 2, 3, 4}, {24, 12, 1, 3});
         p.prepare();
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1)});
         bind_output(p.table.Get(), p.whole(0));
         p.record();
         return S_OK;
       }},
      {"RecordDispatch: the list is null", kRemoval, "commandList is null", binding([](Program& p) {
         p.bind_good();
         p.dml.recorder->RecordDispatch(nullptr, p.compiled.Get(), p.table.Get());
       })},
      {"RecordDispatch: the dispatchable is null", kRemoval, "dispatchable is null", binding([](Program& p) {
         p.bind_good();
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), nullptr, p.table.Get());
       })},
      {"RecordDispatch: the table is null", kRemoval, "bindings is null", binding([](Program& p) {
         p.bind_good();
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), p.compiled.Get(), nullptr);
       })},
      {"RecordDispatch: a table of another operator", kRemoval, "a table made for another dispatchable",
       binding([](Program& p) {
         p.bind_good();
         const auto other = p.dml.compile(p.op.Get());
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), other.Get(), p.table.Get());
       })},
      {"RecordDispatch: a table of another device", kRemoval, "bindings is another device's", binding([](Program& p) {
         Program other;
         other.prepare();
         other.bind_good();
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), p.compiled.Get(), other.table.Get());
       })},
      {"RecordDispatch: an operator of another device", kRemoval, "dispatchable is another device's",
       binding([](Program& p) {
         Program other;
         other.prepare();
         p.bind_good();
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), other.compiled.Get(), p.table.Get());
       })},
      {"RecordDispatch: a closed list", kRemoval, "commandList is closed", binding([](Program& p) {
         p.bind_good();
         EXPECT_EQ(p.dml.queue.list->Close(), S_OK);
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), p.compiled.Get(), p.table.Get());
       })},
      {"RecordDispatch: a COPY list", kRemoval, "commandList is of type COPY", binding([](Program& p) {
         p.bind_good();
         Queue copy(p.dml.d3d12.Get(), D3D12_COMMAND_LIST_TYPE_COPY);
         p.dml.recorder->RecordDispatch(copy.list.Get(), p.compiled.Get(), p.table.Get());
       })},
      {"RecordDispatch: no descriptor heap is set", kRemoval, "has not set the descriptor heap",
       binding([](Program& p) {
         p.bind_good();
         p.dml.recorder->RecordDispatch(p.dml.queue.list.Get(), p.compiled.Get(), p.table.Get());
       })},
      {"ExecuteCommandLists: a bound buffer was released", kRemoval, "BTensor: the buffer bound to it was released",
       binding([](Program& p) {
         p.bind_good();
         p.record();
         p.buffers[1].Reset();
         p.dml.queue.submit();
         p.dml.queue.wait();
       })},
      {"ExecuteCommandLists: the descriptor heap was released", kRemoval, "the descriptor heap of its binding table",
       binding([](Program& p) {
         p.bind_good();
         p.record();
         EXPECT_EQ(p.dml.queue.list->Close(), S_OK);
         p.heap.Reset();
         p.dml.queue.execute();
         p.dml.queue.wait();
       })},
      {"ExecuteCommandLists: a descriptor was overwritten by a view", kRemoval, "was overwritten by a view",
       binding([](Program& p) {
         p.bind_good();
         p.record();
         D3D12_UNORDERED_ACCESS_VIEW_DESC view{};
         view.Format = DXGI_FORMAT_R32_TYPELESS;
         view.ViewDimension = D3D12_UAV_DIMENSION_BUFFER;
         view.Buffer.NumElements = 4;
         view.Buffer.Flags = D3D12_BUFFER_UAV_FLAG_RAW;
         p.dml.d3d12->CreateUnorderedAccessView(p.buffers[3].Get(), nullptr, &view,
                                                p.heap->GetCPUDescriptorHandleForHeapStart());
         p.dml.queue.submit();
         p.dml.queue.wait();
       })},
      {"ExecuteCommandLists: volatile descriptors that never came", kRemoval, "ATensor: nothing is bound",
       [](Program& p) -> HRESULT {
         p.prepare(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
         p.record();
         p.dml.queue.submit();
         p.dml.queue.wait();
         return S_OK;
       }},
      {"ExecuteCommandLists: volatile descriptors that overlap in part", kRemoval, "ATensor: bytes 0 to 96 overlap",
       [](Program& p) -> HRESULT {
         p.prepare(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
         p.record();
         EXPECT_EQ(p.dml.queue.list->Close(), S_OK);
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1)});
         bind_output(p.table.Get(), {p.buffers[0].Get(), 32, 96});
         p.dml.queue.execute();
         p.dml.queue.wait();
         return S_OK;
       }},
      {"an owned tensor bound at execution", kRemoval, "BTensor: a buffer is bound to a tensor that DirectML owns",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         bind_inputs(p.table.Get(), {p.whole(0), p.whole(1)});
         return S_OK;
       }},
      {"a persistent resource that is missing", kRemoval, "persistent resource: nothing is bound",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_owned_execution(kNone, -1);
         p.record();
         return S_OK;
       }},
      {"a persistent resource that is too small", kRemoval, "persistent resource: SizeInBytes is 64",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING small{p.buffers[3].Get(), 0, 64};
         const DML_BINDING_DESC desc = bind(small);
         p.table->BindPersistentResource(&desc);
         return S_OK;
       }},
      {"a persistent resource at an odd offset", kRemoval,
       "persistent resource: Offset is 16; expected a multiple of 256",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING odd{p.buffers[3].Get(), 16, 512};
         const DML_BINDING_DESC desc = bind(odd);
         p.table->BindPersistentResource(&desc);
         return S_OK;
       }},
      {"a temporary resource at an odd offset", kRemoval,
       "temporary resource: Offset is 16; expected a multiple of 256", binding([](Program& p) {
         const DML_BUFFER_BINDING odd{p.buffers[3].Get(), 16, 512};
         const DML_BINDING_DESC desc = bind(odd);
         p.table->BindTemporaryResource(&desc);
       })},
      {"a temporary resource over the output", kRemoval, "temporary resource: overlaps OutputTensor",
       binding([](Program& p) {
         p.bind_good();
         const DML_BUFFER_BINDING over{p.buffers[2].Get(), 0, 512};
         const DML_BINDING_DESC desc = bind(over);
         p.table->BindTemporaryResource(&desc);
         p.record();
       })},
      {"a temporary resource over an input", kRemoval, "temporary resource: overlaps BTensor", binding([](Program& p) {
         p.bind_good();
         const DML_BUFFER_BINDING over{p.buffers[1].Get(), 0, 512};
         const DML_BINDING_DESC desc = bind(over);
         p.table->BindTemporaryResource(&desc);
         p.record();
       })},
      {"a temporary resource of type BUFFER_ARRAY", kRemoval, "temporary resource: the binding's Type is 2",
       binding([](Program& p) {
         const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER_ARRAY, nullptr};
         p.table->BindTemporaryResource(&desc);
       })},
      {"a temporary resource in an upload heap", kRemoval, "temporary resource: the buffer is in an UPLOAD heap",
       binding([](Program& p) {
         const auto upload_heap = create_buffer(p.dml.d3d12.Get(), 512, D3D12_HEAP_TYPE_UPLOAD);
         const DML_BUFFER_BINDING wrong_heap{upload_heap.Get(), 0, 512};
         const DML_BINDING_DESC desc = bind(wrong_heap);
         p.table->BindTemporaryResource(&desc);
       })},
      {"a persistent resource past the end of its buffer", kRemoval, "persistent resource: 1024 bytes from Offset 512",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING past{p.buffers[3].Get(), 512, 1024};
         const DML_BINDING_DESC desc = bind(past);
         p.table->BindPersistentResource(&desc);
         return S_OK;
       }},
      {"a persistent resource over the output", kRemoval, "persistent resource: overlaps OutputTensor",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_owned_execution(kNone, 2);
         p.record();
         return S_OK;
       }},
      {"an operator that owns, executed before it was initialized", kRemoval, "was executed before it was initialized",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_owned_execution(kNone, 3);
         p.record();
         p.dml.queue.submit();
         p.dml.queue.wait();
         return S_OK;
       }},
      {"executed with another persistent resource", kRemoval, "is not the one that the operator was initialized with",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_initializer(p.whole(1), {p.buffers[3].Get(), 0, 512});
         p.record_initializer();
         p.dml.queue.finish();
         p.bind_owned_execution(kNone, -1);
         const DML_BUFFER_BINDING other{p.buffers[3].Get(), 512, 512};
         const DML_BINDING_DESC desc = bind(other);
         p.table->BindPersistentResource(&desc);
         p.record();
         p.dml.queue.submit();
         p.dml.queue.wait();
         return S_OK;
       }},
      {"initializer: an owned tensor left unbound", kRemoval,
       "initializer: ELEMENT_WISE_MODULUS_FLOOR: BTensor: Buffer is "
       "null",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_initializer({nullptr, 0, 0}, {p.buffers[3].Get(), 0, 1024});
         return S_OK;
       }},
      {"initializer: nothing bound at all", kRemoval, "BTensor: nothing is bound",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.record_initializer();
         return S_OK;
       }},
      {"initializer: a tensor bound that is not owned", kRemoval,
       "ATensor: a buffer is bound, but the tensor is not OWNED",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING inputs[] = {p.whole(0), p.whole(1)};
         const DML_BUFFER_ARRAY_BINDING array{2, inputs};
         const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
         p.initializer_table->BindInputs(1, &input);
         return S_OK;
       }},
      {"initializer: an array of the wrong length", kRemoval, "BindingCount is 1; expected 2",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING inputs[] = {p.whole(0)};
         const DML_BUFFER_ARRAY_BINDING array{1, inputs};
         const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
         p.initializer_table->BindInputs(1, &input);
         return S_OK;
       }},
      {"initializer: a binding of type BUFFER", kRemoval, "Type is 1; expected DML_BINDING_TYPE_BUFFER_ARRAY",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const auto weights = p.whole(1);
         const DML_BINDING_DESC input = bind(weights);
         p.initializer_table->BindInputs(1, &input);
         return S_OK;
       }},
      {"initializer: input and output in one resource", kRemoval, "is in the resource bound to BTensor",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_initializer(p.whole(1), {p.buffers[1].Get(), 512, 512});
         p.record_initializer();
         return S_OK;
       }},
      {"initializer: an output of unknown type, for an operator that needs none", kRemoval,
       "persistent resource: the binding's Type is 3",
       [](Program& p) -> HRESULT {
         p.prepare();
         IDMLCompiledOperator* targets[] = {p.compiled.Get()};
         p.dml.device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&p.initializer));
         const auto table = p.dml.table(p.initializer.Get(), nullptr);
         const DML_BINDING_DESC output{number_as<DML_BINDING_TYPE>(3), nullptr};
         table->BindOutputs(1, &output);
         return S_OK;
       }},
      {"initializer: a persistent resource of its own", kRemoval, "initializer: persistent resource: a buffer is bound",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_BINDING buffer{p.buffers[3].Get(), 0, 1024};
         const DML_BINDING_DESC desc = bind(buffer);
         p.initializer_table->BindPersistentResource(&desc);
         return S_OK;
       }},
      {"initializer: recorded with a table from before its Reset", kRemoval, "before an initializer's Reset",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         p.bind_initializer(p.whole(1), {p.buffers[3].Get(), 0, 1024});
         EXPECT_EQ(p.initializer->Reset(0, nullptr), S_OK);
         p.record_initializer();
         return S_OK;
       }},
  };
}

std::string code_name(HRESULT code) {
  switch (code) {
    case E_INVALIDARG:
      return "E_INVALIDARG";
    case E_NOINTERFACE:
      return "E_NOINTERFACE";
    case kUnsupported:
      return "DXGI_ERROR_UNSUPPORTED";
    case kDeviceRemoved:
      return "DXGI_ERROR_DEVICE_REMOVED";
    case kRemoval:
      return "removal";
    default: {
      char text[16];
      std::snprintf(text, sizeof(text), "0x%08x", static_cast<unsigned>(code));
      return text;
    }
  }
}

// The last message of a device, on whichever thread it came up.
class Listener {
 public:
  explicit Listener(ID3D12Device* device) {
    EXPECT_EQ(device->QueryInterface(IID_PPV_ARGS(&queue_)), S_OK);
    const auto hear = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID, LPCSTR text,
                         void* context) {
      auto& listener = *static_cast<Listener*>(context);
      const std::scoped_lock lock(listener.mutex_);
      if (severity == D3D12_MESSAGE_SEVERITY_ERROR) {
        listener.heard_ = text;
      }
    };
    EXPECT_EQ(queue_->RegisterMessageCallback(hear, D3D12_MESSAGE_CALLBACK_FLAG_NONE, this, &cookie_), S_OK);
  }
  ~Listener() { EXPECT_EQ(queue_->UnregisterMessageCallback(cookie_), S_OK); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string heard() {
    const std::scoped_lock lock(mutex_);
    return heard_;
  }

 private:
  ComPtr<ID3D12InfoQueue1> queue_;
  DWORD cookie_ = 0;
  std::mutex mutex_;
  std::string heard_;
};

void run_cases(const std::vector<Case>& cases) {
  ComPtr<ID3D12Debug> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  for (const Case& test : cases) {
    SCOPED_TRACE(test.what);
    Program program;
    Listener listener(program.dml.d3d12.Get());
    const HRESULT result = test.run(program);
    const HRESULT removed = program.dml.device->GetDeviceRemovedReason();
    // Where there is no device yet to speak of it, the thread's last error does.
    const std::string heard = listener.heard();
    const std::string message = heard.empty() ? anydml_last_error() : heard;
    EXPECT_EQ(result, test.expected == kRemoval ? S_OK : test.expected) << message;
    EXPECT_EQ(removed, test.expected == kRemoval ? E_INVALIDARG : S_OK) << message;
    if (test.message[0] != '\0') {
      EXPECT_NE(message.find(test.message), std::string::npos) << message;
    }
    // The D3D12 device lives, and a new DirectML device over it works.
    EXPECT_EQ(program.dml.d3d12->GetDeviceRemovedReason(), S_OK);
    std::printf("| %s | %s | %s |\n", test.what, code_name(test.expected).c_str(),
                test.message[0] != '\0' ? message.c_str() : "");
  }
  std::printf("%zu cases\n", cases.size());
}

TEST(BadInput, Descriptions) { run_cases(description_cases()); }
TEST(BadInput, Rules) { run_cases(rule_cases()); }
TEST(BadInput, Objects) { run_cases(object_cases()); }
TEST(BadInput, Bindings) { run_cases(binding_cases()); }

TEST(BadInput, ARemovedD3D12Device) {
  const auto removed = create_d3d12_device();
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(removed.As(&device5), S_OK);
  device5->RemoveDevice();
  void* out = &out;
  EXPECT_EQ(DMLCreateDevice(removed.Get(), DML_CREATE_DEVICE_FLAG_NONE, __uuidof(IDMLDevice), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  std::printf("| DMLCreateDevice: a removed D3D12 device | DXGI_ERROR_DEVICE_REMOVED | %s |\n", anydml_last_error());
}

TEST(BadInput, AndThenARightProgramRuns) {
  Program program;
  program.prepare();
  program.bind_good();
  program.dml.initialise(program.compiled.Get());
  program.record();
  program.dml.queue.finish();
  EXPECT_EQ(program.dml.device->GetDeviceRemovedReason(), S_OK);
}

}  // namespace
}  // namespace anydml::test
