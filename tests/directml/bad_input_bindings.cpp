// SPDX-License-Identifier: MIT
// Cases of invalid bindings, recordings and submissions. The methods return void, so errors remove the DirectML device.
#include "directml/bad_input.h"

namespace anydml::test {

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
      {"a size of 0 where less than the tensor is left", kRemoval,
       "BTensor: SizeInBytes is 0, which means the rest of the buffer, and that is 64 bytes from Offset 960; expected "
       "96 "
       "or more",
       binding([](Program& p) {
         bind_inputs(p.table.Get(), {p.whole(0), {p.buffers[1].Get(), 960, 0}});
       })},
      {"a size of 0 at the end of the buffer", kRemoval, "and that is 0 bytes from Offset 1024; expected 96 or more",
       binding([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), 1024, 0});
       })},
      {"a size of 0 past the end of the buffer", kRemoval, "0 bytes from Offset 2048 do not lie",
       binding([](Program& p) {
         bind_output(p.table.Get(), {p.buffers[2].Get(), 2048, 0});
       })},
      {"a size of 0 at an odd offset", kRemoval, "ATensor: Offset is 8; expected a multiple of 16",
       binding([](Program& p) {
         bind_inputs(p.table.Get(), {{p.buffers[0].Get(), 8, 0}, p.whole(1)});
       })},
      {"an offset that is not a multiple of 16", kRemoval, "ATensor: Offset is 8; expected a multiple of 16",
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
      {"a buffer without ALLOW_UNORDERED_ACCESS", kRemoval, "OutputTensor: the buffer was created without",
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
       "the descriptor heap of the table's CPUDescriptorHandle was released", binding([](Program& p) {
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
      {"RecordDispatch: a table of another operator", kRemoval, "a table created for another dispatchable",
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
      {"ExecuteCommandLists: volatile descriptors that were never written", kRemoval, "ATensor: nothing is bound",
       [](Program& p) -> HRESULT {
         p.prepare(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
         p.record();
         p.dml.queue.submit();
         p.dml.queue.wait();
         return S_OK;
       }},
      {"ExecuteCommandLists: volatile descriptors overwritten by another operator's table", kRemoval,
       "ATensor: another binding table overwrote its descriptor after the dispatch was recorded",
       [](Program& p) -> HRESULT {
         p.prepare(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
         p.bind_good();
         p.record();
         const auto other = p.dml.compile(p.op.Get());
         p.table = p.dml.table(other.Get(), p.heap.Get());
         p.bind_good();
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
      {"an operator with owned tensors, executed before it was initialized", kRemoval,
       "was executed before it was initialized",
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
      {"initializer: nothing bound", kRemoval, "BTensor: nothing is bound",
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
      {"initializer: an array that is null, with a count", kRemoval, "Bindings is null; expected 2",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_ARRAY_BINDING array{2, nullptr};
         const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
         p.initializer_table->BindInputs(1, &input);
         return S_OK;
       }},
      {"initializer: an array that is null, of an operator that has inputs", kRemoval, "Bindings is null; expected 2",
       [](Program& p) -> HRESULT {
         p.prepare_owned();
         const DML_BUFFER_ARRAY_BINDING array{0, nullptr};
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

}  // namespace anydml::test
