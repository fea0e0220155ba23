// SPDX-License-Identifier: MIT
// A small DirectML program that runs with the debug layer on and collects its messages, for tests that make mistakes on
// purpose.
#pragma once

#include <mutex>
#include <optional>

#include "directml/harness.h"

namespace anydml::test {

struct DebugMessage {
  D3D12_MESSAGE_CATEGORY category;
  D3D12_MESSAGE_SEVERITY severity;
  int id;
  std::string text;
};

// Provides a device with the debug layer on, an operator that adds 16 FLOAT32 elements, and buffers and binding tables
// for the operator.
class DebugProgram : public ::testing::Test {
 protected:
  static constexpr UINT kElements = 16;
  static constexpr std::uint64_t kBytes = kElements * sizeof(float);
  static constexpr UINT kDescriptors = 64;

  DebugProgram() {
    ComPtr<ID3D12Debug> debug;
    EXPECT_EQ(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)), S_OK);
    debug->EnableDebugLayer();
    dml.emplace();
    EXPECT_EQ(dml->d3d12->QueryInterface(IID_PPV_ARGS(&info)), S_OK);
    EXPECT_EQ(info->RegisterMessageCallback(&receive, D3D12_MESSAGE_CALLBACK_FLAG_NONE, this, &cookie), S_OK);
    heap = create_heap(dml->d3d12.Get(), kDescriptors);
    const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, 1, kElements});
    compiled = dml->compile(dml->binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD).Get());
    dml->initialize(compiled.Get());
    a = create_buffer(dml->d3d12.Get(), 4 * kBytes);
    b = create_buffer(dml->d3d12.Get(), 4 * kBytes);
    c = create_buffer(dml->d3d12.Get(), 4 * kBytes);
    d = create_buffer(dml->d3d12.Get(), 4 * kBytes);
    a->SetName(L"A");
    b->SetName(L"B");
    c->SetName(L"C");
    d->SetName(L"D");
    compiled->SetName(L"sum");
    set_heap();
  }
  ~DebugProgram() override {
    if (info != nullptr) {
      info->UnregisterMessageCallback(cookie);
    }
  }

  static void receive(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity, D3D12_MESSAGE_ID id,
                      LPCSTR text, void* context) {
    auto& program = *static_cast<DebugProgram*>(context);
    const std::scoped_lock lock(program.mutex);
    program.messages.push_back({category, severity, static_cast<int>(id), text});
  }

  // The ids of the errors and warnings that were received since the last call.
  std::vector<int> ids() {
    const std::scoped_lock lock(mutex);
    std::vector<int> result;
    for (const DebugMessage& message : messages) {
      result.push_back(message.id);
      last_text = message.text;
    }
    messages.clear();
    return result;
  }
  void expect_none() {
    const std::vector<int> found = ids();
    EXPECT_TRUE(found.empty()) << last_text;
  }
  // Expects exactly one message, which contains these words.
  void expect_one(int id, const std::vector<std::string>& words = {}) {
    EXPECT_EQ(ids(), std::vector<int>{id}) << last_text;
    for (const std::string& word : words) {
      EXPECT_NE(last_text.find(word), std::string::npos) << word << " is not in: " << last_text;
    }
  }

  void set_heap() { set_heap(dml->queue.list.Get()); }
  void set_heap(ID3D12GraphicsCommandList* list) const {
    ID3D12DescriptorHeap* heaps[] = {heap.Get()};
    list->SetDescriptorHeaps(1, heaps);
  }
  // Closes the list, runs it, waits, and reopens the list. Nothing is in flight afterwards.
  void finish() {
    dml->queue.finish();
    set_heap();
  }

  struct Range {
    ID3D12Resource* buffer;
    std::uint64_t offset = 0;
  };
  [[nodiscard]] static DML_BUFFER_BINDING binding(const Range& range) { return {range.buffer, range.offset, kBytes}; }
  // A binding table with its own descriptors.
  ComPtr<IDMLBindingTable> bound(const Range& first, const Range& second, const Range& out) {
    const auto table = dml->table(compiled.Get(), heap.Get(), next_descriptor);
    next_descriptor += 4;
    bind_inputs(table.Get(), {binding(first), binding(second)});
    bind_output(table.Get(), binding(out));
    return table;
  }
  void add(const Range& first, const Range& second, const Range& out) {
    add(dml->queue.list.Get(), first, second, out);
  }
  void add(ID3D12GraphicsCommandList* list, const Range& first, const Range& second, const Range& out) {
    dml->recorder->RecordDispatch(list, compiled.Get(), bound(first, second, out).Get());
  }

  static D3D12_RESOURCE_BARRIER uav(ID3D12Resource* buffer) {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barrier.UAV.pResource = buffer;
    return barrier;
  }
  static D3D12_RESOURCE_BARRIER transition(ID3D12Resource* buffer, D3D12_RESOURCE_STATES before,
                                           D3D12_RESOURCE_STATES after,
                                           D3D12_RESOURCE_BARRIER_FLAGS flags = D3D12_RESOURCE_BARRIER_FLAG_NONE) {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    barrier.Flags = flags;
    barrier.Transition = {buffer, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, before, after};
    return barrier;
  }
  void barrier(const D3D12_RESOURCE_BARRIER& one) const { dml->queue.list->ResourceBarrier(1, &one); }

  std::optional<Dml> dml;
  ComPtr<ID3D12InfoQueue1> info;
  DWORD cookie = 0;
  ComPtr<ID3D12DescriptorHeap> heap;
  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<ID3D12Resource> a, b, c, d;
  UINT next_descriptor = 0;
  std::mutex mutex;
  std::vector<DebugMessage> messages;
  std::string last_text;
};

}  // namespace anydml::test
