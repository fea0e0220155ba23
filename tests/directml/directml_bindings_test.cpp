// SPDX-License-Identifier: MIT
// Tests bindings that samples use although DirectML's rules forbid them: a size of 0, and descriptors that another
// table overwrites between recording and execution. The debug layer warns about them.
#include <memory>

#include "directml/modulus.h"

namespace anydml::test {
namespace {

// A device with the debug layer, which collects its warnings.
struct Debugged : testing::Test {
  Debugged() {
    EXPECT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
    debug->EnableDebugLayer();
    dml = std::make_unique<Dml>(DML_CREATE_DEVICE_FLAG_DEBUG);
    EXPECT_EQ(dml->d3d12.As(&messages), S_OK);
    const auto listen = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID, LPCSTR text,
                           void* context) {
      EXPECT_EQ(severity, D3D12_MESSAGE_SEVERITY_WARNING) << text;
      static_cast<std::vector<std::string>*>(context)->emplace_back(text);
    };
    EXPECT_EQ(messages->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
  }
  ~Debugged() override {
    EXPECT_EQ(messages->UnregisterMessageCallback(cookie), S_OK);
    debug->DisableDebugLayer();
  }

  // The initializer of one operator, with its table at the first descriptors of the heap.
  void make_initializer(const Modulus& modulus) {
    IDMLCompiledOperator* targets[] = {modulus.compiled.Get()};
    ASSERT_EQ(dml->device->CreateOperatorInitializer(1, targets, IID_PPV_ARGS(&initializer)), S_OK);
    initializer_table = dml->table(initializer.Get(), modulus.heap.Get());
  }
  void bind_initializer(const DML_BUFFER_BINDING& weights, const DML_BUFFER_BINDING& persistent) {
    const DML_BUFFER_BINDING inputs[] = {{nullptr, 0, 0}, weights};
    const DML_BUFFER_ARRAY_BINDING array{2, inputs};
    const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    initializer_table->BindInputs(1, &input);
    const DML_BINDING_DESC output = bind(persistent);
    initializer_table->BindOutputs(1, &output);
  }
  void record_initializer(Modulus& modulus) {
    modulus.set_heap();
    dml->recorder->RecordDispatch(dml->queue.list.Get(), initializer.Get(), initializer_table.Get());
  }
  // Binds the execution of an operator whose second input DirectML owns.
  static void bind_execution(Modulus& modulus, const DML_BUFFER_BINDING& a, const DML_BUFFER_BINDING& out,
                             const DML_BUFFER_BINDING& persistent) {
    const DML_BINDING_DESC inputs[] = {bind(a), {DML_BINDING_TYPE_NONE, nullptr}};
    modulus.table->BindInputs(2, inputs);
    bind_output(modulus.table.Get(), out);
    const DML_BINDING_DESC kept = bind(persistent);
    modulus.table->BindPersistentResource(&kept);
  }
  [[nodiscard]] HRESULT removed() const { return dml->device->GetDeviceRemovedReason(); }
  void expect_heard(std::size_t i, const std::vector<const char*>& parts) const {
    ASSERT_LT(i, heard.size());
    for (const char* part : parts) {
      EXPECT_NE(heard[i].find(part), std::string::npos) << heard[i];
    }
  }

  ComPtr<ID3D12Debug4> debug;
  std::unique_ptr<Dml> dml;
  ComPtr<ID3D12InfoQueue1> messages;
  DWORD cookie = 0;
  std::vector<std::string> heard;
  ComPtr<IDMLOperatorInitializer> initializer;
  ComPtr<IDMLBindingTable> initializer_table;
};

using SizeOfZero = Debugged;
using WrittenOver = Debugged;

TEST_F(SizeOfZero, MeansTheRestOfTheBuffer) {
  Modulus modulus(*dml);
  dml->initialize(modulus.compiled.Get());
  ASSERT_EQ(modulus.a_buffer->SetName(L"dividends"), S_OK);
  const int dividends[] = {7, -7, 7, -7};
  upload(dml->queue, modulus.a_buffer.Get(), dividends, sizeof(dividends), 240);  // exactly enough bytes remain
  bind_inputs(modulus.table.Get(), {{modulus.a_buffer.Get(), 240, 0}, {modulus.b_buffer.Get(), 0, 0}});
  bind_output(modulus.table.Get(), {modulus.out_buffer.Get(), 0, 0});
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  ASSERT_EQ(heard.size(), 3U);
  expect_heard(0, {"ELEMENT_WISE_MODULUS_FLOOR: ATensor: SizeInBytes is 0; the rest of the buffer 'dividends' is bound",
                   "16 bytes from Offset 240", "expected the size, 16 or more"});
  expect_heard(1, {"BTensor", "256 bytes from Offset 0"});
  expect_heard(2, {"OutputTensor"});
  modulus.record();
  dml->queue.finish();
  EXPECT_EQ(modulus.result(), kFloorResult);
}

TEST_F(SizeOfZero, OfAnInitializerAndOfThePersistentResource) {
  Modulus modulus(*dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
  make_initializer(modulus);
  const auto persistent =
      create_buffer(dml->d3d12.Get(), modulus.compiled->GetBindingProperties().PersistentResourceSize);
  bind_initializer({modulus.b_buffer.Get(), 0, 0}, {persistent.Get(), 0, 0});
  record_initializer(modulus);
  dml->queue.finish();
  bind_execution(modulus, {modulus.a_buffer.Get(), 0, 0}, {modulus.out_buffer.Get(), 0, 0}, {persistent.Get(), 0, 0});
  modulus.record();
  dml->queue.finish();
  EXPECT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  ASSERT_EQ(heard.size(), 5U);
  expect_heard(0, {"BTensor: SizeInBytes is 0"});
  expect_heard(1, {"persistent resource: SizeInBytes is 0"});
  expect_heard(4, {"persistent resource: SizeInBytes is 0"});
}

TEST_F(SizeOfZero, OfATemporaryResource) {
  constexpr UINT kColumns = 20'000;
  const Tensor in(kFloat, {1, 1, 1, kColumns});
  const Tensor out(kFloat, {1, 1, 1, 1});
  const UINT axes[] = {3};
  const DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_SUM, &in.desc, &out.desc, 1, axes};
  ComPtr<IDMLOperator> op;
  ASSERT_EQ(dml->create_operator(DML_OPERATOR_REDUCE, &desc, op), S_OK) << anydml_last_error();
  const auto compiled = dml->compile(op.Get());
  dml->initialize(compiled.Get());
  const UINT64 needed = compiled->GetBindingProperties().TemporaryResourceSize;
  ASSERT_GT(needed, 0U);
  const auto heap = create_heap(dml->d3d12.Get(), 16);
  const auto table = dml->table(compiled.Get(), heap.Get());
  const std::vector<float> ones(kColumns, 1.0F);
  const auto input = create_buffer(dml->d3d12.Get(), kColumns * sizeof(float));
  const auto output = create_buffer(dml->d3d12.Get(), 16);
  const auto temporary = create_buffer(dml->d3d12.Get(), needed + 256);
  upload(dml->queue, input.Get(), ones.data(), kColumns * sizeof(float));
  bind_inputs(table.Get(), {{input.Get(), 0, kColumns * sizeof(float)}});
  bind_output(table.Get(), {output.Get(), 0, 4});
  const DML_BUFFER_BINDING rest{temporary.Get(), 256, 0};
  const DML_BINDING_DESC rest_desc = bind(rest);
  table->BindTemporaryResource(&rest_desc);
  ASSERT_EQ(heard.size(), 1U);
  expect_heard(0, {"temporary resource: SizeInBytes is 0"});
  ID3D12DescriptorHeap* heaps[] = {heap.Get()};
  dml->queue.list->SetDescriptorHeaps(1, heaps);
  dml->recorder->RecordDispatch(dml->queue.list.Get(), compiled.Get(), table.Get());
  dml->queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(download_as<float>(dml->queue, output.Get())[0], 20'000.0F);
}

// Programs bind a temporary resource of the reported size, which may be 0. A binding of size 0 overlaps nothing.
TEST_F(SizeOfZero, IsTakenAsItIsWhereNothingIsNeeded) {
  Modulus modulus(*dml);
  dml->initialize(modulus.compiled.Get());
  ASSERT_EQ(modulus.compiled->GetBindingProperties().TemporaryResourceSize, 0U);
  modulus.bind_all();
  const DML_BUFFER_BINDING nothing{modulus.out_buffer.Get(), 0, 0};
  const DML_BINDING_DESC nothing_desc = bind(nothing);
  modulus.table->BindTemporaryResource(&nothing_desc);
  modulus.table->BindPersistentResource(&nothing_desc);
  modulus.record();
  dml->queue.finish();
  EXPECT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  EXPECT_TRUE(heard.empty()) << heard[0];
}

// One list initializes an operator and executes it, and both tables use the same descriptors.
TEST_F(WrittenOver, AnInitializerKeepsTheBindingsOfItsRecording) {
  Modulus modulus(*dml, DML_EXECUTION_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML);
  make_initializer(modulus);
  const auto persistent = create_buffer(dml->d3d12.Get(), 1024);
  const DML_BUFFER_BINDING kept{persistent.Get(), 0, 1024};
  bind_initializer({modulus.b_buffer.Get(), 0, 16}, kept);
  record_initializer(modulus);
  initializer_table.Reset();
  bind_execution(modulus, {modulus.a_buffer.Get(), 0, 16}, {modulus.out_buffer.Get(), 0, 16}, kept);
  uav_barrier(dml->queue.list.Get());
  modulus.record();
  dml->queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  ASSERT_EQ(heard.size(), 1U);
  expect_heard(0, {"ExecuteCommandLists: initializer: another binding table overwrote 2 of its 2 descriptors",
                   "the recorded bindings are used"});
}

// Two dispatches of one operator with two tables. The second table overwrites some of the first one's descriptors.
TEST_F(WrittenOver, EachDispatchHasTheBindingsOfItsOwnTable) {
  Modulus modulus(*dml);
  dml->initialize(modulus.compiled.Get());
  ASSERT_EQ(modulus.compiled->SetName(L"remainders"), S_OK);
  modulus.bind_all();
  modulus.record();
  modulus.table = dml->table(modulus.compiled.Get(), modulus.heap.Get(), 1);
  const auto other = create_buffer(dml->d3d12.Get(), 16);
  bind_inputs(modulus.table.Get(), {{modulus.b_buffer.Get(), 0, 16}, {modulus.a_buffer.Get(), 0, 16}});
  bind_output(modulus.table.Get(), {other.Get(), 0, 16});
  modulus.record();
  ASSERT_EQ(dml->queue.list->Close(), S_OK);
  for (int again = 0; again < 2; ++again) {  // the list may be executed any number of times
    dml->queue.execute();
    dml->queue.wait();
  }
  dml->queue.reopen();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  EXPECT_EQ(download_as<int>(dml->queue, other.Get()), (std::vector<int>{3, -4, 4, -3}));
  ASSERT_EQ(heard.size(), 1U);  // one warning per operator
  expect_heard(0, {"ELEMENT_WISE_MODULUS_FLOOR 'remainders': another binding table overwrote 2 of its 3 descriptors"});
}

// A table that has been reset counts as a different table, even if nothing is bound yet.
TEST_F(WrittenOver, ByTheSameTableAfterAReset) {
  Modulus modulus(*dml);
  dml->initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  DML_BINDING_TABLE_DESC desc{};
  desc.Dispatchable = modulus.compiled.Get();
  desc.CPUDescriptorHandle = modulus.heap->GetCPUDescriptorHandleForHeapStart();
  desc.GPUDescriptorHandle = modulus.heap->GetGPUDescriptorHandleForHeapStart();
  desc.SizeInDescriptors = 3;
  ASSERT_EQ(modulus.table->Reset(&desc), S_OK) << anydml_last_error();
  modulus.table->BindInputs(0, nullptr);  // this writes three empty descriptors
  dml->queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  ASSERT_EQ(heard.size(), 1U);
  expect_heard(0, {"3 of its 3 descriptors"});
}

// Without a reset the table may be rebound, and there is no warning.
TEST_F(WrittenOver, ByTheSameTableIsABinding) {
  Modulus modulus(*dml);
  dml->initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  const auto other = create_buffer(dml->d3d12.Get(), 16);
  bind_output(modulus.table.Get(), {other.Get(), 0, 16});
  dml->queue.finish();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(download_as<int>(dml->queue, other.Get()), kFloorResult);
  EXPECT_TRUE(heard.empty()) << heard[0];
}

// Volatile descriptors may come from any table of the operator, until the submission.
TEST_F(WrittenOver, VolatileDescriptorsMayComeFromAnotherTableOfTheOperator) {
  Modulus modulus(*dml, DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  dml->initialize(modulus.compiled.Get());
  modulus.record();
  ASSERT_EQ(dml->queue.list->Close(), S_OK);
  modulus.table = dml->table(modulus.compiled.Get(), modulus.heap.Get());
  modulus.bind_all();
  dml->queue.execute();
  dml->queue.wait();
  dml->queue.reopen();
  ASSERT_EQ(removed(), S_OK) << anydml_last_error();
  EXPECT_EQ(modulus.result(), kFloorResult);
  EXPECT_TRUE(heard.empty()) << heard[0];
}

}  // namespace
}  // namespace anydml::test
