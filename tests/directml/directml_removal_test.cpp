// SPDX-License-Identifier: MIT
// Tests the removal of DirectML devices, behavior common to their objects, and messages from the debug layer.
#include "directml/modulus.h"

namespace anydml::test {
namespace {

TEST(Removal, IsOfOneDeviceAndEndsItsMethods) {
  Dml dml;
  Modulus modulus(dml);
  ComPtr<IDMLDevice> sibling;
  ASSERT_EQ(DMLCreateDevice(dml.d3d12.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&sibling)), S_OK);
  modulus.table->BindInputs(1, nullptr);
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(sibling->GetDeviceRemovedReason(), S_OK);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  void* out = &out;
  EXPECT_EQ(dml.device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  EXPECT_EQ(modulus.compiled->SetName(L"x"), kDeviceRemoved);
  EXPECT_EQ(modulus.table->Reset(nullptr), kDeviceRemoved);
  EXPECT_EQ(dml.device->MakeResident(0, nullptr), kDeviceRemoved);
  out = &out;
  EXPECT_EQ(dml.device->GetParentDevice(__uuidof(ID3D12Device), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  out = &out;
  EXPECT_EQ(modulus.compiled->GetDevice(__uuidof(IDMLDevice), &out), kDeviceRemoved);
  EXPECT_EQ(out, nullptr);
  ComPtr<IDMLObject> object;
  EXPECT_EQ(modulus.compiled.As(&object), S_OK);  // IUnknown's methods still work
  modulus.bind_all();                             // this does nothing, and does not crash
  modulus.record();
  dml.queue.finish();
}

TEST(Removal, OfTheD3D12DeviceRemovesThisOne) {
  Dml dml;
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(dml.d3d12.As(&device5), S_OK);
  device5->RemoveDevice();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), kDeviceRemoved);
  void* out = &out;
  EXPECT_EQ(dml.device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &out), kDeviceRemoved);
}

TEST(Removal, AtSubmissionWhenABufferIsGone) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  modulus.b_buffer.Reset();
  dml.queue.submit();
  dml.queue.wait();  // the queue continues; only the dispatch is skipped
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(std::string(anydml_last_error()).find("BTensor"), std::string::npos) << anydml_last_error();
}

TEST(Removal, AtSubmissionWhenTheHeapIsGone) {
  Dml dml;
  Modulus modulus(dml);
  dml.initialize(modulus.compiled.Get());
  modulus.bind_all();
  modulus.record();
  ASSERT_EQ(dml.queue.list->Close(), S_OK);
  modulus.heap.Reset();
  dml.queue.execute();
  dml.queue.wait();
  EXPECT_EQ(dml.device->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(dml.d3d12->GetDeviceRemovedReason(), S_OK);
  EXPECT_NE(std::string(anydml_last_error()).find("descriptor heap"), std::string::npos) << anydml_last_error();
}

TEST(Objects, ReferencesAndNames) {
  Dml dml;
  Modulus modulus(dml);
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(modulus.compiled->GetDevice(IID_PPV_ARGS(&device)), S_OK);
  EXPECT_EQ(device.Get(), dml.device.Get());
  // The table keeps its dispatchable alive, and the compiled operator its operator.
  modulus.op->AddRef();
  EXPECT_GE(modulus.op->Release(), 2U);
  modulus.compiled->AddRef();
  EXPECT_GE(modulus.compiled->Release(), 2U);
  EXPECT_EQ(modulus.compiled->SetName(L"modulus"), S_OK);
  const GUID key = {9, 9, 9, {9}};
  UINT size = 0;
  EXPECT_EQ(modulus.compiled->GetPrivateData(key, &size, nullptr), kNotFound);
  EXPECT_EQ(modulus.compiled->SetPrivateDataInterface(key, dml.device.Get()), S_OK);
  ComPtr<IUnknown> back;
  size = sizeof(void*);
  EXPECT_EQ(modulus.compiled->GetPrivateData(key, &size, back.GetAddressOf()), S_OK);
  EXPECT_NE(back.Get(), nullptr);
  IDMLPageable* pageables[] = {modulus.compiled.Get()};
  EXPECT_EQ(dml.device->Evict(1, pageables), S_OK);
  EXPECT_EQ(dml.device->MakeResident(1, pageables), S_OK);
  ComPtr<IDMLOperatorInitializer> initializer;
  EXPECT_EQ(modulus.compiled.As(&initializer), E_NOINTERFACE);
  EXPECT_EQ(modulus.compiled->SetPrivateDataInterface(key, nullptr), S_OK);
}

TEST(Objects, NamesAppearInMessages) {
  Dml dml;
  Modulus modulus(dml);
  ASSERT_EQ(modulus.compiled->SetName(L"layer7/mod"), S_OK);
  modulus.record();
  EXPECT_NE(std::string(anydml_last_error()).find("ELEMENT_WISE_MODULUS_FLOOR 'layer7/mod': ATensor"),
            std::string::npos)
      << anydml_last_error();
}

TEST(Objects, EverythingReleasedWhileWorkIsInFlight) {
  for (int round = 0; round < 20; ++round) {
    ComPtr<ID3D12Fence> fence;
    {
      Dml dml;
      Modulus modulus(dml);
      modulus.bind_all();
      modulus.record();
      dml.queue.submit();
      fence = dml.queue.fence;
    }  // breaks D3D12's rules, but must not access released objects
    EXPECT_EQ(fence->SetEventOnCompletion(fence->GetCompletedValue(), nullptr), S_OK);
  }
}

TEST(DebugLayer, RejectionsReachTheInfoQueue) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  ComPtr<ID3D12Debug4> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  {
    Dml dml(DML_CREATE_DEVICE_FLAG_DEBUG);
    Dml quiet;
    ComPtr<ID3D12InfoQueue1> queue;
    ASSERT_EQ(dml.d3d12.As(&queue), S_OK);
    std::vector<std::string> heard;
    DWORD cookie = 0;
    const auto listen = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR text,
                           void* context) { static_cast<std::vector<std::string>*>(context)->emplace_back(text); };
    ASSERT_EQ(queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
    const Tensor f32(kFloat, {1, 1, 1, 4});
    const Tensor f16(DML_TENSOR_DATA_TYPE_FLOAT16, {1, 1, 1, 4});
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC desc{&f32.desc, &f16.desc, nullptr};
    ComPtr<IDMLOperator> op;
    EXPECT_EQ(quiet.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    EXPECT_TRUE(heard.empty());  // the device was created without the flag
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    ASSERT_EQ(heard.size(), 1U);
    for (const char* part : {"ELEMENT_WISE_IDENTITY", "OutputTensor", "FLOAT16", "FLOAT32"}) {
      EXPECT_NE(heard[0].find(part), std::string::npos) << heard[0];
    }
    ComPtr<IDMLDebugDevice> mute;
    ASSERT_EQ(dml.device.As(&mute), S_OK);
    mute->SetMuteDebugOutput(TRUE);
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_ELEMENT_WISE_IDENTITY, &desc, op), E_INVALIDARG);
    EXPECT_EQ(heard.size(), 1U);
    // An operator that was never initialized still runs, with a warning.
    mute->SetMuteDebugOutput(FALSE);
    Modulus modulus(dml);
    modulus.bind_all();
    modulus.record();
    dml.queue.finish();
    EXPECT_EQ(modulus.result(), kFloorResult);
    ASSERT_EQ(heard.size(), 2U);
    EXPECT_NE(heard[1].find("never initialized"), std::string::npos) << heard[1];
    EXPECT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  }
  debug->DisableDebugLayer();
}

}  // namespace
}  // namespace anydml::test
