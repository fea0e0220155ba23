// SPDX-License-Identifier: MIT
// Command lists and their allocators. A list records commands; an invalid call invalidates the list, and Close reports
// the error.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "d3d12/commands.h"
#include "d3d12/object.h"
#include "d3d12/resource.h"

namespace anydml {

class GraphicsCommandList;

// Lists store their own commands, so an allocator only ensures that at most one list at a time records with it.
class CommandAllocator final
    : public Child<CommandAllocator,
                   Interfaces<ID3D12CommandAllocator, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  CommandAllocator(Device& device, D3D12_COMMAND_LIST_TYPE type) : Child(device), type_(type) {}
  ~CommandAllocator() override;

  HRESULT STDMETHODCALLTYPE Reset() noexcept override;

  [[nodiscard]] D3D12_COMMAND_LIST_TYPE type() const { return type_; }
  // Returns false if another list is recording with it.
  [[nodiscard]] bool begin() noexcept { return !recording_.exchange(true, std::memory_order_acq_rel); }
  void end() noexcept { recording_.store(false, std::memory_order_release); }
  // For the debug layer: returns the object that represents the memory of the recorded commands. Called by the list
  // that begins to record.
  [[nodiscard]] const std::shared_ptr<AllocatorUse>& debug_use();

 private:
  const D3D12_COMMAND_LIST_TYPE type_;
  std::atomic<bool> recording_{false};
  std::shared_ptr<AllocatorUse> use_;  // null until the debug layer asks
};

class GraphicsCommandList final
    : public Child<GraphicsCommandList,
                   Interfaces<ID3D12GraphicsCommandList, ID3D12CommandList, ID3D12DeviceChild, ID3D12Object>,
                   Interfaces<IBridgeCommandList>> {
 public:
  GraphicsCommandList(Device& device, D3D12_COMMAND_LIST_TYPE type) : Child(device), type_(type) {}
  ~GraphicsCommandList() override { leave_allocator(); }

  // Opens the list with this allocator. Returns an error message, or an empty string if the list is now open.
  [[nodiscard]] std::string open(ID3D12CommandAllocator* allocator);

  D3D12_COMMAND_LIST_TYPE STDMETHODCALLTYPE GetType() noexcept override { return type_; }
  HRESULT STDMETHODCALLTYPE Close() noexcept override;
  HRESULT STDMETHODCALLTYPE Reset(ID3D12CommandAllocator* allocator, ID3D12PipelineState* state) noexcept override;
  void STDMETHODCALLTYPE ClearState(ID3D12PipelineState* state) noexcept override;
  void STDMETHODCALLTYPE CopyBufferRegion(ID3D12Resource* to, UINT64 to_offset, ID3D12Resource* from,
                                          UINT64 from_offset, UINT64 bytes) noexcept override;
  void STDMETHODCALLTYPE CopyResource(ID3D12Resource* to, ID3D12Resource* from) noexcept override;
  void STDMETHODCALLTYPE ResourceBarrier(UINT count, const D3D12_RESOURCE_BARRIER* barriers) noexcept override;
  void STDMETHODCALLTYPE SetDescriptorHeaps(UINT count, ID3D12DescriptorHeap* const* heaps) noexcept override;
  void STDMETHODCALLTYPE SetComputeRootSignature(ID3D12RootSignature* signature) noexcept override;
  void STDMETHODCALLTYPE SetPipelineState(ID3D12PipelineState* state) noexcept override;
  void STDMETHODCALLTYPE ClearUnorderedAccessViewUint(D3D12_GPU_DESCRIPTOR_HANDLE gpu, D3D12_CPU_DESCRIPTOR_HANDLE cpu,
                                                      ID3D12Resource* resource, const UINT* values, UINT rect_count,
                                                      const D3D12_RECT* rects) noexcept override;
  void STDMETHODCALLTYPE DiscardResource(ID3D12Resource* resource, const D3D12_DISCARD_REGION*) noexcept override;
  void STDMETHODCALLTYPE BeginQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT index) noexcept override;
  void STDMETHODCALLTYPE EndQuery(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT index) noexcept override;
  void STDMETHODCALLTYPE ResolveQueryData(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, UINT first, UINT count,
                                          ID3D12Resource* to, UINT64 to_offset) noexcept override;
  void STDMETHODCALLTYPE SetMarker(UINT, const void*, UINT) noexcept override {}
  void STDMETHODCALLTYPE BeginEvent(UINT, const void*, UINT) noexcept override {}
  void STDMETHODCALLTYPE EndEvent() noexcept override {}

  // Drawing, textures and shaders are not supported.
  void STDMETHODCALLTYPE DrawInstanced(UINT, UINT, UINT, UINT) noexcept override { not_built("DrawInstanced"); }
  void STDMETHODCALLTYPE DrawIndexedInstanced(UINT, UINT, UINT, INT, UINT) noexcept override {
    not_built("DrawIndexedInstanced");
  }
  void STDMETHODCALLTYPE Dispatch(UINT, UINT, UINT) noexcept override { not_built("Dispatch"); }
  void STDMETHODCALLTYPE CopyTextureRegion(const D3D12_TEXTURE_COPY_LOCATION*, UINT, UINT, UINT,
                                           const D3D12_TEXTURE_COPY_LOCATION*, const D3D12_BOX*) noexcept override {
    not_built("CopyTextureRegion");
  }
  void STDMETHODCALLTYPE CopyTiles(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                   const D3D12_TILE_REGION_SIZE*, ID3D12Resource*, UINT64,
                                   D3D12_TILE_COPY_FLAGS) noexcept override {
    not_built("CopyTiles");
  }
  void STDMETHODCALLTYPE ResolveSubresource(ID3D12Resource*, UINT, ID3D12Resource*, UINT,
                                            DXGI_FORMAT) noexcept override {
    not_built("ResolveSubresource");
  }
  void STDMETHODCALLTYPE IASetPrimitiveTopology(D3D12_PRIMITIVE_TOPOLOGY) noexcept override {
    not_built("IASetPrimitiveTopology");
  }
  void STDMETHODCALLTYPE RSSetViewports(UINT, const D3D12_VIEWPORT*) noexcept override { not_built("RSSetViewports"); }
  void STDMETHODCALLTYPE RSSetScissorRects(UINT, const D3D12_RECT*) noexcept override {
    not_built("RSSetScissorRects");
  }
  void STDMETHODCALLTYPE OMSetBlendFactor(const FLOAT*) noexcept override { not_built("OMSetBlendFactor"); }
  void STDMETHODCALLTYPE OMSetStencilRef(UINT) noexcept override { not_built("OMSetStencilRef"); }
  void STDMETHODCALLTYPE ExecuteBundle(ID3D12GraphicsCommandList*) noexcept override { not_built("ExecuteBundle"); }
  void STDMETHODCALLTYPE SetGraphicsRootSignature(ID3D12RootSignature*) noexcept override {
    not_built("SetGraphicsRootSignature");
  }
  void STDMETHODCALLTYPE SetComputeRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) noexcept override {
    not_built("SetComputeRootDescriptorTable");
  }
  void STDMETHODCALLTYPE SetGraphicsRootDescriptorTable(UINT, D3D12_GPU_DESCRIPTOR_HANDLE) noexcept override {
    not_built("SetGraphicsRootDescriptorTable");
  }
  void STDMETHODCALLTYPE SetComputeRoot32BitConstant(UINT, UINT, UINT) noexcept override {
    not_built("SetComputeRoot32BitConstant");
  }
  void STDMETHODCALLTYPE SetGraphicsRoot32BitConstant(UINT, UINT, UINT) noexcept override {
    not_built("SetGraphicsRoot32BitConstant");
  }
  void STDMETHODCALLTYPE SetComputeRoot32BitConstants(UINT, UINT, const void*, UINT) noexcept override {
    not_built("SetComputeRoot32BitConstants");
  }
  void STDMETHODCALLTYPE SetGraphicsRoot32BitConstants(UINT, UINT, const void*, UINT) noexcept override {
    not_built("SetGraphicsRoot32BitConstants");
  }
  void STDMETHODCALLTYPE SetComputeRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetComputeRootConstantBufferView");
  }
  void STDMETHODCALLTYPE SetGraphicsRootConstantBufferView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetGraphicsRootConstantBufferView");
  }
  void STDMETHODCALLTYPE SetComputeRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetComputeRootShaderResourceView");
  }
  void STDMETHODCALLTYPE SetGraphicsRootShaderResourceView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetGraphicsRootShaderResourceView");
  }
  void STDMETHODCALLTYPE SetComputeRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetComputeRootUnorderedAccessView");
  }
  void STDMETHODCALLTYPE SetGraphicsRootUnorderedAccessView(UINT, D3D12_GPU_VIRTUAL_ADDRESS) noexcept override {
    not_built("SetGraphicsRootUnorderedAccessView");
  }
  void STDMETHODCALLTYPE IASetIndexBuffer(const D3D12_INDEX_BUFFER_VIEW*) noexcept override {
    not_built("IASetIndexBuffer");
  }
  void STDMETHODCALLTYPE IASetVertexBuffers(UINT, UINT, const D3D12_VERTEX_BUFFER_VIEW*) noexcept override {
    not_built("IASetVertexBuffers");
  }
  void STDMETHODCALLTYPE SOSetTargets(UINT, UINT, const D3D12_STREAM_OUTPUT_BUFFER_VIEW*) noexcept override {
    not_built("SOSetTargets");
  }
  void STDMETHODCALLTYPE OMSetRenderTargets(UINT, const D3D12_CPU_DESCRIPTOR_HANDLE*, BOOL,
                                            const D3D12_CPU_DESCRIPTOR_HANDLE*) noexcept override {
    not_built("OMSetRenderTargets");
  }
  void STDMETHODCALLTYPE ClearDepthStencilView(D3D12_CPU_DESCRIPTOR_HANDLE, D3D12_CLEAR_FLAGS, FLOAT, UINT8, UINT,
                                               const D3D12_RECT*) noexcept override {
    not_built("ClearDepthStencilView");
  }
  void STDMETHODCALLTYPE ClearRenderTargetView(D3D12_CPU_DESCRIPTOR_HANDLE, const FLOAT*, UINT,
                                               const D3D12_RECT*) noexcept override {
    not_built("ClearRenderTargetView");
  }
  void STDMETHODCALLTYPE ClearUnorderedAccessViewFloat(D3D12_GPU_DESCRIPTOR_HANDLE, D3D12_CPU_DESCRIPTOR_HANDLE,
                                                       ID3D12Resource*, const FLOAT*, UINT,
                                                       const D3D12_RECT*) noexcept override {
    not_built("ClearUnorderedAccessViewFloat");
  }
  void STDMETHODCALLTYPE SetPredication(ID3D12Resource*, UINT64, D3D12_PREDICATION_OP) noexcept override {
    not_built("SetPredication");
  }
  void STDMETHODCALLTYPE ExecuteIndirect(ID3D12CommandSignature*, UINT, ID3D12Resource*, UINT64, ID3D12Resource*,
                                         UINT64) noexcept override {
    not_built("ExecuteIndirect");
  }

  const void* device_identity() noexcept override { return &core(); }
  HRESULT record_dispatch(IBridgeDispatch* dispatch, D3D12_GPU_DESCRIPTOR_HANDLE first, std::uint32_t count,
                          std::uint32_t table, const ResolvedDescriptor* recorded, const char** why) noexcept override;

  // Returns an error message that continues "the list", or an empty string if a queue of that type may execute the
  // list.
  [[nodiscard]] std::string why_not_executable(D3D12_COMMAND_LIST_TYPE queue_type) const;
  [[nodiscard]] std::shared_ptr<const Recording> recording() const { return recording_; }

 private:
  enum class State { open, closed, spoilt };

  // Runs body, which records a command, unless the list is closed or invalid. body returns an error message, or an
  // empty string.
  template <class Body>
  void record(const char* method, const Body& body) noexcept;
  void spoil(HRESULT code, const std::string& message) noexcept;
  void not_built(const char* method) noexcept;
  void leave_allocator() noexcept;
  void record_for_debugging(const D3D12_RESOURCE_BARRIER& barrier);
  void check_named_states(const D3D12_RESOURCE_TRANSITION_BARRIER& transition);
  [[nodiscard]] std::string check_range(const char* name, ID3D12Resource* resource, std::uint64_t offset,
                                        std::uint64_t bytes, Resource*& found) const;
  [[nodiscard]] std::string check_query(ID3D12QueryHeap* heap, D3D12_QUERY_TYPE type, std::uint64_t end,
                                        std::shared_ptr<QueryStorage>& queries) const;

  const D3D12_COMMAND_LIST_TYPE type_;
  State state_ = State::closed;
  HRESULT spoilt_by_ = S_OK;
  std::string spoilt_message_;
  ComPtr<CommandAllocator> allocator_;  // set while the list is open
  std::shared_ptr<Recording> recording_ = std::make_shared<Recording>();
  std::shared_ptr<DescriptorStorage> views_;  // the current heap of views
};

}  // namespace anydml
