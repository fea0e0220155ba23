// SPDX-License-Identifier: MIT
// Tests behavior common to all D3D12 objects, and the debug layer.
#include <atomic>
#include <chrono>
#include <thread>

#include "directml/harness.h"

namespace anydml::test {
namespace {

TEST(Objects, PrivateDataAndNames) {
  const auto device = create_d3d12_device();
  const auto buffer = create_buffer(device.Get(), 16);
  const GUID key = {1, 2, 3, {4}};
  UINT size = 4;
  std::uint32_t value = 77;
  for (ID3D12Object* object : {static_cast<ID3D12Object*>(device.Get()), static_cast<ID3D12Object*>(buffer.Get())}) {
    size = 4;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), kNotFound);
    value = 77;
    ASSERT_EQ(object->SetPrivateData(key, 4, &value), S_OK);
    value = 0;
    size = 4;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), S_OK);
    EXPECT_EQ(value, 77U);
    size = 2;
    EXPECT_EQ(object->GetPrivateData(key, &size, &value), kMoreData);
    EXPECT_EQ(size, 4U);
    EXPECT_EQ(object->SetPrivateData(key, 4, nullptr), E_INVALIDARG);
    EXPECT_EQ(object->SetPrivateData(key, 0, nullptr), S_OK);
    EXPECT_EQ(object->GetPrivateData(key, &size, nullptr), kNotFound);
    // An object stored as an interface is returned with a reference for the caller.
    buffer->AddRef();
    const ULONG before = buffer->Release();
    const auto other = create_buffer(device.Get(), 16);
    ASSERT_EQ(object->SetPrivateDataInterface(key, other.Get()), S_OK);
    ComPtr<IUnknown> back;
    size = sizeof(IUnknown*);
    EXPECT_EQ(object->GetPrivateData(key, &size, back.GetAddressOf()), S_OK);
    ComPtr<IUnknown> identity;
    other.As(&identity);
    EXPECT_EQ(back.Get(), identity.Get());
    EXPECT_EQ(object->SetPrivateDataInterface(key, nullptr), S_OK);
    buffer->AddRef();
    EXPECT_EQ(buffer->Release(), before);
    EXPECT_EQ(object->SetName(L"a name with \u00fc"), S_OK);
    EXPECT_EQ(object->SetName(nullptr), S_OK);
  }
  EXPECT_EQ(buffer->SetPrivateData(key, 0, &value), S_OK);  // the data is present but empty
  size = 4;
  EXPECT_EQ(buffer->GetPrivateData(key, &size, &value), S_OK);
  EXPECT_EQ(size, 0U);
  wchar_t name[8] = {};
  ASSERT_EQ(buffer->SetName(L"weights"), S_OK);
  const GUID name_key = {0x4cca5fd8, 0x921f, 0x42c8, {0x85, 0x66, 0x70, 0xca, 0xf2, 0xa9, 0xb7, 0x41}};
  size = sizeof(name);
  EXPECT_EQ(buffer->GetPrivateData(name_key, &size, name), S_OK);
  EXPECT_EQ(std::wstring(name), L"weights");
}

TEST(Objects, IdentityAndReferences) {
  const auto device = create_d3d12_device();
  device->AddRef();
  const ULONG before = device->Release();
  {
    const auto buffer = create_buffer(device.Get(), 16);
    ComPtr<IUnknown> a;
    ComPtr<IUnknown> b;
    ComPtr<ID3D12Pageable> pageable;
    ASSERT_EQ(buffer.As(&a), S_OK);
    ASSERT_EQ(buffer.As(&pageable), S_OK);
    ASSERT_EQ(pageable.As(&b), S_OK);
    EXPECT_EQ(a.Get(), b.Get());
    ComPtr<ID3D12Heap> heap;
    EXPECT_EQ(buffer.As(&heap), E_NOINTERFACE);
    ComPtr<ID3D12Device> parent;
    ASSERT_EQ(buffer->GetDevice(IID_PPV_ARGS(&parent)), S_OK);
    EXPECT_EQ(parent.Get(), device.Get());
  }
  device->AddRef();
  EXPECT_EQ(device->Release(), before);  // the child has released its reference
}

TEST(Objects, WhatShadersNeedFailsWithAMessage) {
  const auto device = create_d3d12_device();
  void* out = &out;
  EXPECT_EQ(device->CreateRootSignature(0, "x", 1, __uuidof(ID3D12RootSignature), &out), E_NOTIMPL);
  EXPECT_EQ(out, nullptr);
  EXPECT_NE(std::string(anydml_last_error()).find("CreateRootSignature"), std::string::npos);
  const D3D12_COMPUTE_PIPELINE_STATE_DESC compute{};
  EXPECT_EQ(device->CreateComputePipelineState(&compute, __uuidof(ID3D12PipelineState), &out), E_NOTIMPL);
  ID3DBlob* blob = nullptr;
  EXPECT_EQ(D3D12SerializeVersionedRootSignature(nullptr, &blob, nullptr), E_NOTIMPL);
}

TEST(Objects, InterfacesThatAreNotThere) {
  const auto device = create_d3d12_device();
  Queue queue(device.Get());
  const GUID sharing_contract = {0x0adf7d52, 0x929c, 0x4e61, {0xad, 0xdb, 0xff, 0xed, 0x30, 0xde, 0x66, 0xef}};
  void* out = &out;
  EXPECT_EQ(queue.queue->QueryInterface(sharing_contract, &out), E_NOINTERFACE);
  EXPECT_EQ(out, nullptr);
  // Residency requests always succeed because everything is always resident.
  ComPtr<ID3D12Device3> device3;
  ASSERT_EQ(device.As(&device3), S_OK);
  const auto buffer = create_buffer(device.Get(), 16);
  ID3D12Pageable* pageables[] = {buffer.Get()};
  EXPECT_EQ(device->MakeResident(1, pageables), S_OK);
  EXPECT_EQ(device->Evict(1, pageables), S_OK);
  EXPECT_EQ(device->MakeResident(1, nullptr), E_INVALIDARG);
  EXPECT_EQ(device3->EnqueueMakeResident(D3D12_RESIDENCY_FLAG_NONE, 1, pageables, queue.fence.Get(), 99), S_OK);
  EXPECT_EQ(queue.fence->GetCompletedValue(), 99U);
}

// This test comes last because the debug layer is enabled for the whole process.
TEST(DebugLayer, MessagesReachCallbacksAndTheQueue) {
  if (debug_layer_is_forced_on()) {
    GTEST_SKIP() << "every device has the debug layer";
  }
  const auto device = create_d3d12_device();
  ComPtr<ID3D12InfoQueue1> queue;
  ComPtr<ID3D12DebugDevice> debug_device;
  EXPECT_EQ(device.As(&queue), E_NOINTERFACE);  // clients take this to mean that debugging is off
  EXPECT_EQ(device.As(&debug_device), E_NOINTERFACE);
  ComPtr<ID3D12Debug3> debug;
  ASSERT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
  debug->EnableDebugLayer();
  debug->SetEnableGPUBasedValidation(TRUE);
  ASSERT_EQ(device.As(&queue), S_OK);
  EXPECT_EQ(device.As(&debug_device), S_OK);
  ComPtr<IUnknown> a;
  ComPtr<IUnknown> b;
  ASSERT_EQ(device.As(&a), S_OK);
  ASSERT_EQ(queue.As(&b), S_OK);
  EXPECT_EQ(a.Get(), b.Get());  // the same object

  std::vector<std::string> heard;
  DWORD cookie = 0;
  const auto listen = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID id, LPCSTR text,
                         void* context) {
    EXPECT_NE(id, D3D12_MESSAGE_ID_UNKNOWN) << text;
    EXPECT_EQ(severity, D3D12_MESSAGE_SEVERITY_ERROR);
    static_cast<std::vector<std::string>*>(context)->emplace_back(text);
  };
  ASSERT_EQ(queue->RegisterMessageCallback(listen, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &heard, &cookie), S_OK);
  EXPECT_NE(cookie, 0U);
  const auto properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT);
  const auto desc = buffer_desc(0);
  void* out = nullptr;
  const auto fail = [&] {
    EXPECT_EQ(device->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, D3D12_RESOURCE_STATE_COMMON,
                                              nullptr, __uuidof(ID3D12Resource), &out),
              E_INVALIDARG);
  };
  fail();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_NE(heard[0].find("Width is 0"), std::string::npos) << heard[0];
  ASSERT_GE(queue->GetNumStoredMessages(), 1U);
  SIZE_T bytes = 0;
  const UINT64 last = queue->GetNumStoredMessages() - 1;
  ASSERT_EQ(queue->GetMessage(last, nullptr, &bytes), S_OK);
  std::vector<std::uint64_t> storage(bytes / 8 + 1);
  auto* message = reinterpret_cast<D3D12_MESSAGE*>(storage.data());
  ASSERT_EQ(queue->GetMessage(last, message, &bytes), S_OK);
  EXPECT_EQ(heard[0], message->pDescription);
  // A filter keeps errors from being stored and from reaching callbacks.
  D3D12_MESSAGE_SEVERITY severity = D3D12_MESSAGE_SEVERITY_ERROR;
  D3D12_INFO_QUEUE_FILTER filter{};
  filter.DenyList.NumSeverities = 1;
  filter.DenyList.pSeverityList = &severity;
  ASSERT_EQ(queue->PushStorageFilter(&filter), S_OK);
  fail();
  EXPECT_EQ(heard.size(), 1U);
  EXPECT_EQ(queue->GetNumMessagesDeniedByStorageFilter(), 1U);
  queue->PopStorageFilter();
  ASSERT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  EXPECT_EQ(queue->UnregisterMessageCallback(cookie), E_INVALIDARG);
  fail();
  EXPECT_EQ(heard.size(), 1U);
  // The index passed to GetMessage counts only messages that pass the retrieval filter.
  queue->ClearStoredMessages();
  EXPECT_EQ(queue->GetNumStoredMessages(), 0U);
  fail();
  ASSERT_EQ(queue->AddApplicationMessage(D3D12_MESSAGE_SEVERITY_INFO, "mine"), S_OK);
  ASSERT_EQ(queue->PushRetrievalFilter(&filter), S_OK);
  ASSERT_EQ(queue->GetNumStoredMessagesAllowedByRetrievalFilter(), 1U);
  bytes = storage.size() * 8;
  ASSERT_EQ(queue->GetMessage(0, message, &bytes), S_OK);
  EXPECT_STREQ(message->pDescription, "mine");
  EXPECT_EQ(queue->GetMessage(1, nullptr, &bytes), E_INVALIDARG);
  queue->PopRetrievalFilter();

  // A callback may unregister itself, create objects and wait. On removal, every object is updated before the callback
  // is called.
  struct Reentrant {
    ID3D12Device* device;
    ID3D12InfoQueue1* queue;
    ID3D12Fence* fence;
    DWORD cookie;
    int calls;
    UINT64 seen;
  };
  ComPtr<ID3D12Fence> fence;
  ASSERT_EQ(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)), S_OK);
  Reentrant reentrant{device.Get(), queue.Get(), fence.Get(), 0, 0, 0};
  const auto reenter = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* context) {
    auto& self = *static_cast<Reentrant*>(context);
    ++self.calls;
    self.seen = self.fence->GetCompletedValue();
    self.fence->SetEventOnCompletion(self.seen, nullptr);
    EXPECT_EQ(self.queue->UnregisterMessageCallback(self.cookie), S_OK);
  };
  ASSERT_EQ(queue->RegisterMessageCallback(reenter, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &reentrant, &reentrant.cookie),
            S_OK);
  fail();
  fail();
  EXPECT_EQ(reentrant.calls, 1);
  // Unregistering from another thread returns only when no callback is running.
  std::atomic<int> inside = 0;
  const auto slow = [](D3D12_MESSAGE_CATEGORY, D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_ID, LPCSTR, void* context) {
    auto& count = *static_cast<std::atomic<int>*>(context);
    ++count;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --count;
  };
  ASSERT_EQ(queue->RegisterMessageCallback(slow, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &inside, &cookie), S_OK);
  std::thread failing([&] {
    for (int i = 0; i < 3; ++i) {
      fail();
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(queue->UnregisterMessageCallback(cookie), S_OK);
  EXPECT_EQ(inside, 0);
  failing.join();
  ASSERT_EQ(queue->RegisterMessageCallback(reenter, D3D12_MESSAGE_CALLBACK_FLAG_NONE, &reentrant, &reentrant.cookie),
            S_OK);
  ComPtr<ID3D12Device5> device5;
  ASSERT_EQ(device.As(&device5), S_OK);
  device5->RemoveDevice();
  EXPECT_EQ(reentrant.calls, 2);
  EXPECT_EQ(reentrant.seen, UINT64_MAX);
  ComPtr<ID3D12Debug4> off;
  ASSERT_EQ(debug.As(&off), S_OK);
  off->DisableDebugLayer();
  EXPECT_EQ(device.As(&debug_device), S_OK);  // an existing interface remains available
}

}  // namespace
}  // namespace anydml::test
