// SPDX-License-Identifier: MIT
// Cases of invalid arguments to the methods that create and query objects.
#include "directml/bad_input.h"

namespace anydml::test {

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
      {"CreateOperatorInitializer: one operator twice", E_INVALIDARG, "operators[1] appears twice",
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

}  // namespace anydml::test
