// SPDX-License-Identifier: MIT
// Code that the programs in debug_clients_test.cpp share: a network, buffers, barriers and waits.
#pragma once

#include <poll.h>

#include "directml/debug_program.h"
#include "directml/event.h"
#include "directml/graph_program.h"

namespace anydml::test {

inline constexpr auto kCommon = D3D12_RESOURCE_STATE_COMMON;
inline constexpr auto kUav = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
inline constexpr auto kCopySource = D3D12_RESOURCE_STATE_COPY_SOURCE;
inline constexpr auto kCopyDest = D3D12_RESOURCE_STATE_COPY_DEST;

using Floats = std::vector<float>;

// Computes 2 * x * w, where DirectML owns w. The network needs both a temporary and a persistent resource.
struct Network {
  static constexpr UINT kSide = 32;
  static constexpr std::uint64_t kBytes = std::uint64_t{kSide} * kSide * sizeof(float);

  explicit Network(const Dml& dml) {
    const Tensor tensor(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kSide, kSide});
    const Tensor owned(DML_TENSOR_DATA_TYPE_FLOAT32, {1, 1, kSide, kSide}, {}, DML_TENSOR_FLAG_OWNED_BY_DML);
    const DML_GEMM_OPERATOR_DESC gemm{
        &tensor.desc, &owned.desc, nullptr, &tensor.desc, DML_MATRIX_TRANSFORM_NONE, DML_MATRIX_TRANSFORM_NONE,
        1.0F,         0.0F,        nullptr};
    ComPtr<IDMLOperator> product;
    EXPECT_EQ(dml.create_operator(DML_OPERATOR_GEMM, &gemm, product), S_OK) << anydml_last_error();
    GraphBuilder graph;
    const UINT sum = graph.add(dml.binary(tensor, tensor, tensor, DML_OPERATOR_ELEMENT_WISE_ADD), {-1, -1});
    graph.output(graph.add(product, {static_cast<int>(sum), -2}), 0);
    compiled = graph.compile(dml);
    IDMLCompiledOperator* targets[] = {compiled.Get()};
    EXPECT_EQ(dml.device->CreateOperatorInitializer(0, nullptr, IID_PPV_ARGS(&initializer)), S_OK);
    EXPECT_EQ(initializer->Reset(1, targets), S_OK) << anydml_last_error();
    needs = compiled->GetBindingProperties();
    first_needs = initializer->GetBindingProperties();
    EXPECT_NE(needs.TemporaryResourceSize, 0U);
    EXPECT_NE(needs.PersistentResourceSize, 0U);
  }

  static Floats x() {
    Floats values(kBytes / sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i % 7);
    }
    return values;
  }
  static Floats w() {  // three times the identity
    Floats values(kBytes / sizeof(float));
    for (std::size_t i = 0; i < kSide; ++i) {
      values[i * (kSide + 1)] = 3;
    }
    return values;
  }
  static Floats expected() {
    Floats values = x();
    for (float& value : values) {
      value *= 6;
    }
    return values;
  }

  void bind_first(IDMLBindingTable* table, const DML_BUFFER_BINDING& owned, ID3D12Resource* persistent,
                  ID3D12Resource* temporary) const {
    const DML_BUFFER_BINDING inputs[] = {{nullptr, 0, 0}, owned};
    const DML_BUFFER_ARRAY_BINDING array{2, inputs};
    const DML_BINDING_DESC input{DML_BINDING_TYPE_BUFFER_ARRAY, &array};
    table->BindInputs(1, &input);
    bind_output(table, {persistent, 0, needs.PersistentResourceSize});
    if (first_needs.TemporaryResourceSize != 0) {
      const DML_BUFFER_BINDING buffer{temporary, 0, first_needs.TemporaryResourceSize};
      const DML_BINDING_DESC binding = test::bind(buffer);
      table->BindTemporaryResource(&binding);
    }
  }
  void bind(IDMLBindingTable* table, const DML_BUFFER_BINDING& input, const DML_BUFFER_BINDING& output,
            ID3D12Resource* persistent, ID3D12Resource* temporary) const {
    bind_inputs(table, {input, {nullptr, 0, 0}});
    bind_output(table, output);
    const DML_BUFFER_BINDING kept{persistent, 0, needs.PersistentResourceSize};
    const DML_BUFFER_BINDING scratch{temporary, 0, needs.TemporaryResourceSize};
    const DML_BINDING_DESC kept_binding = test::bind(kept);
    const DML_BINDING_DESC scratch_binding = test::bind(scratch);
    table->BindPersistentResource(&kept_binding);
    table->BindTemporaryResource(&scratch_binding);
  }
  [[nodiscard]] std::uint64_t temporary_bytes() const {
    return std::max(needs.TemporaryResourceSize, first_needs.TemporaryResourceSize);
  }
  [[nodiscard]] UINT descriptors() const {
    return std::max(needs.RequiredDescriptorCount, first_needs.RequiredDescriptorCount);
  }

  ComPtr<IDMLCompiledOperator> compiled;
  ComPtr<IDMLOperatorInitializer> initializer;
  DML_BINDING_PROPERTIES needs{};
  DML_BINDING_PROPERTIES first_needs{};
};

class DebugClients : public DebugProgram {
 protected:
  void TearDown() override { expect_none(); }

  [[nodiscard]] ID3D12Device* device() const { return dml->d3d12.Get(); }
  [[nodiscard]] static Floats numbers(float first) {
    Floats values(kElements);
    for (std::size_t i = 0; i < kElements; ++i) {
      values[i] = first + static_cast<float>(i);
    }
    return values;
  }
  [[nodiscard]] static Floats scaled(Floats values, float factor) {
    for (float& value : values) {
      value *= factor;
    }
    return values;
  }
  static void write(ID3D12Resource* buffer, const Floats& values, std::size_t offset = 0) {
    write_bytes(buffer, values.data(), values.size() * sizeof(float), offset);
  }
  [[nodiscard]] static Floats read(ID3D12Resource* buffer) { return values_of<float>(read_bytes(buffer)); }
  [[nodiscard]] ComPtr<ID3D12Resource> staging(const Floats& values) const {
    auto buffer = create_buffer(device(), values.size() * sizeof(float), D3D12_HEAP_TYPE_UPLOAD);
    write(buffer.Get(), values);
    return buffer;
  }
  [[nodiscard]] ComPtr<ID3D12Resource> committed(
      D3D12_RESOURCE_STATES state, std::uint64_t bytes = kBytes,
      const D3D12_HEAP_PROPERTIES& properties = heap_properties(D3D12_HEAP_TYPE_DEFAULT)) const {
    const auto desc = buffer_desc(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    ComPtr<ID3D12Resource> buffer;
    EXPECT_EQ(device()->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr,
                                                IID_PPV_ARGS(&buffer)),
              S_OK)
        << anydml_last_error();
    return buffer;
  }
  static D3D12_RESOURCE_BARRIER aliasing(ID3D12Resource* before = nullptr, ID3D12Resource* after = nullptr) {
    D3D12_RESOURCE_BARRIER barrier{};
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
    barrier.Aliasing = {before, after};
    return barrier;
  }
  static void barriers(ID3D12GraphicsCommandList* list, const std::vector<D3D12_RESOURCE_BARRIER>& all) {
    list->ResourceBarrier(static_cast<UINT>(all.size()), all.data());
  }
  void expect_alive() const {
    EXPECT_EQ(device()->GetDeviceRemovedReason(), S_OK);
    EXPECT_EQ(dml->device->GetDeviceRemovedReason(), S_OK) << anydml_last_error();
  }
  [[nodiscard]] ComPtr<ID3D12CommandAllocator> allocator(
      D3D12_COMMAND_LIST_TYPE type = D3D12_COMMAND_LIST_TYPE_DIRECT) const {
    ComPtr<ID3D12CommandAllocator> result;
    EXPECT_EQ(device()->CreateCommandAllocator(type, IID_PPV_ARGS(&result)), S_OK);
    return result;
  }
  [[nodiscard]] ComPtr<ID3D12GraphicsCommandList> open_list(ID3D12CommandAllocator* from) const {
    ComPtr<ID3D12GraphicsCommandList> list;
    EXPECT_EQ(device()->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, from, nullptr, IID_PPV_ARGS(&list)), S_OK);
    return list;
  }
  [[nodiscard]] DML_BINDING_TABLE_DESC table_desc(IDMLDispatchable* dispatchable, UINT first = 0) const {
    const UINT step = device()->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    DML_BINDING_TABLE_DESC desc{};
    desc.Dispatchable = dispatchable;
    desc.CPUDescriptorHandle.ptr = heap->GetCPUDescriptorHandleForHeapStart().ptr + first * step;
    desc.GPUDescriptorHandle.ptr = heap->GetGPUDescriptorHandleForHeapStart().ptr + first * step;
    desc.SizeInDescriptors = dispatchable->GetBindingProperties().RequiredDescriptorCount;
    return desc;
  }
  // Waits for a new event, as WaitForSingleObject would.
  static void wait_for_event(ID3D12Fence* fence, std::uint64_t value) {
    const Event event;
    ASSERT_EQ(fence->SetEventOnCompletion(value, event.handle()), S_OK);
    pollfd ready{event.number, POLLIN, 0};
    ASSERT_EQ(::poll(&ready, 1, 60000), 1);
  }
};

}  // namespace anydml::test
