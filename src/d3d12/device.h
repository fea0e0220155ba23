// SPDX-License-Identifier: MIT
// The D3D12 device: it creates all other objects and reports its capabilities.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "d3d12/object.h"

namespace anydml {

struct Refusal;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class Device final
    : public Object<Device,
                    Interfaces<ID3D12Device9, ID3D12Object, ID3D12Device, ID3D12Device1, ID3D12Device2, ID3D12Device3,
                               ID3D12Device4, ID3D12Device5, ID3D12Device6, ID3D12Device7, ID3D12Device8>,
                    Interfaces<IBridgeDevice>, Interfaces<ID3D12InfoQueue1, ID3D12InfoQueue>,
                    Interfaces<ID3D12DebugDevice2, ID3D12DebugDevice>,
                    Interfaces<ID3D12DeviceRemovedExtendedData2, ID3D12DeviceRemovedExtendedData1,
                               ID3D12DeviceRemovedExtendedData>> {
 public:
  // Returns the adapter's existing device, or creates one. The caller receives a reference.
  static Result<Device*> of_adapter(std::uint32_t index);

  explicit Device(std::shared_ptr<DeviceCore> core);
  ~Device() override;

  UINT STDMETHODCALLTYPE GetNodeCount() noexcept override { return 1; }
  HRESULT STDMETHODCALLTYPE CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID riid,
                                               void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommandQueue1(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID creator, REFIID riid,
                                                void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE type, REFIID riid,
                                                   void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommandList(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                              ID3D12CommandAllocator* allocator, ID3D12PipelineState* state,
                                              REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommandList1(UINT node_mask, D3D12_COMMAND_LIST_TYPE type,
                                               D3D12_COMMAND_LIST_FLAGS flags, REFIID riid,
                                               void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(D3D12_FEATURE feature, void* data, UINT size) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc, REFIID riid,
                                                 void** out) noexcept override;
  UINT STDMETHODCALLTYPE GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE) noexcept override {
    return sizeof(Descriptor);
  }
  void STDMETHODCALLTYPE CreateConstantBufferView(const D3D12_CONSTANT_BUFFER_VIEW_DESC* desc,
                                                  D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateShaderResourceView(ID3D12Resource* resource, const D3D12_SHADER_RESOURCE_VIEW_DESC* desc,
                                                  D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter,
                                                   const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                                                   D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateRenderTargetView(ID3D12Resource*, const D3D12_RENDER_TARGET_VIEW_DESC*,
                                                D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateDepthStencilView(ID3D12Resource*, const D3D12_DEPTH_STENCIL_VIEW_DESC*,
                                                D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateSampler(const D3D12_SAMPLER_DESC*, D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CreateSamplerFeedbackUnorderedAccessView(ID3D12Resource*, ID3D12Resource*,
                                                                  D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept override;
  void STDMETHODCALLTYPE CopyDescriptors(UINT to_count, const D3D12_CPU_DESCRIPTOR_HANDLE* to, const UINT* to_sizes,
                                         UINT from_count, const D3D12_CPU_DESCRIPTOR_HANDLE* from,
                                         const UINT* from_sizes, D3D12_DESCRIPTOR_HEAP_TYPE type) noexcept override;
  void STDMETHODCALLTYPE CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE to,
                                               D3D12_CPU_DESCRIPTOR_HANDLE from,
                                               D3D12_DESCRIPTOR_HEAP_TYPE type) noexcept override;
  D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE
  GetResourceAllocationInfo(UINT, UINT count, const D3D12_RESOURCE_DESC* descs) noexcept override;
  D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE GetResourceAllocationInfo1(
      UINT, UINT count, const D3D12_RESOURCE_DESC* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) noexcept override;
  D3D12_RESOURCE_ALLOCATION_INFO STDMETHODCALLTYPE GetResourceAllocationInfo2(
      UINT, UINT count, const D3D12_RESOURCE_DESC1* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) noexcept override;
  D3D12_HEAP_PROPERTIES STDMETHODCALLTYPE GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommittedResource(const D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS flags,
                                                    const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES state,
                                                    const D3D12_CLEAR_VALUE* clear, REFIID riid,
                                                    void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommittedResource1(const D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS flags,
                                                     const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES state,
                                                     const D3D12_CLEAR_VALUE* clear,
                                                     ID3D12ProtectedResourceSession* session, REFIID riid,
                                                     void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommittedResource2(const D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS flags,
                                                     const D3D12_RESOURCE_DESC1* desc, D3D12_RESOURCE_STATES state,
                                                     const D3D12_CLEAR_VALUE* clear,
                                                     ID3D12ProtectedResourceSession* session, REFIID riid,
                                                     void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateHeap(const D3D12_HEAP_DESC* desc, REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateHeap1(const D3D12_HEAP_DESC* desc, ID3D12ProtectedResourceSession* session,
                                        REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreatePlacedResource(ID3D12Heap* heap, UINT64 offset, const D3D12_RESOURCE_DESC* desc,
                                                 D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                 REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreatePlacedResource1(ID3D12Heap* heap, UINT64 offset, const D3D12_RESOURCE_DESC1* desc,
                                                  D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                                  REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, ID3D12Pageable* const* objects) noexcept override;
  HRESULT STDMETHODCALLTYPE Evict(UINT count, ID3D12Pageable* const* objects) noexcept override;
  HRESULT STDMETHODCALLTYPE EnqueueMakeResident(D3D12_RESIDENCY_FLAGS, UINT count, ID3D12Pageable* const* objects,
                                                ID3D12Fence* fence, UINT64 value) noexcept override;
  HRESULT STDMETHODCALLTYPE SetResidencyPriority(UINT count, ID3D12Pageable* const* objects,
                                                 const D3D12_RESIDENCY_PRIORITY*) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID riid,
                                        void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE SetEventOnMultipleFenceCompletion(ID3D12Fence* const* fences, const UINT64* values,
                                                              UINT count, D3D12_MULTIPLE_FENCE_WAIT_FLAGS flags,
                                                              HANDLE event) noexcept override;
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() noexcept override { return core_->removed_reason(); }
  void STDMETHODCALLTYPE RemoveDevice() noexcept override;
  void STDMETHODCALLTYPE GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count, UINT64 base,
                                               D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* rows,
                                               UINT64* row_bytes, UINT64* total) noexcept override;
  void STDMETHODCALLTYPE GetCopyableFootprints1(const D3D12_RESOURCE_DESC1* desc, UINT first, UINT count, UINT64 base,
                                                D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* rows,
                                                UINT64* row_bytes, UINT64* total) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID riid,
                                            void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE SetStablePowerState(BOOL) noexcept override { return S_OK; }
  void STDMETHODCALLTYPE GetResourceTiling(ID3D12Resource*, UINT* tiles, D3D12_PACKED_MIP_INFO*, D3D12_TILE_SHAPE*,
                                           UINT* subresources, UINT, D3D12_SUBRESOURCE_TILING*) noexcept override;
  LUID STDMETHODCALLTYPE GetAdapterLuid() noexcept override;
  HRESULT STDMETHODCALLTYPE EnumerateMetaCommands(UINT* count, D3D12_META_COMMAND_DESC*) noexcept override;
  void STDMETHODCALLTYPE GetRaytracingAccelerationStructurePrebuildInfo(
      const D3D12_BUILD_RAYTRACING_ACCELERATION_STRUCTURE_INPUTS*,
      D3D12_RAYTRACING_ACCELERATION_STRUCTURE_PREBUILD_INFO* info) noexcept override;
  D3D12_DRIVER_MATCHING_IDENTIFIER_STATUS STDMETHODCALLTYPE CheckDriverMatchingIdentifier(
      D3D12_SERIALIZED_DATA_TYPE, const D3D12_SERIALIZED_DATA_DRIVER_MATCHING_IDENTIFIER*) noexcept override {
    return D3D12_DRIVER_MATCHING_IDENTIFIER_UNSUPPORTED_TYPE;
  }
  HRESULT STDMETHODCALLTYPE SetBackgroundProcessingMode(D3D12_BACKGROUND_PROCESSING_MODE, D3D12_MEASUREMENTS_ACTION,
                                                        HANDLE event, BOOL* further) noexcept override;

  // Shaders, textures and sharing between processes are not implemented.
  HRESULT STDMETHODCALLTYPE CreateGraphicsPipelineState(const D3D12_GRAPHICS_PIPELINE_STATE_DESC*, REFIID,
                                                        void** out) noexcept override {
    return not_built("CreateGraphicsPipelineState", out);
  }
  HRESULT STDMETHODCALLTYPE CreateComputePipelineState(const D3D12_COMPUTE_PIPELINE_STATE_DESC*, REFIID,
                                                       void** out) noexcept override {
    return not_built("CreateComputePipelineState", out);
  }
  HRESULT STDMETHODCALLTYPE CreateRootSignature(UINT, const void*, SIZE_T, REFIID, void** out) noexcept override {
    return not_built("CreateRootSignature", out);
  }
  HRESULT STDMETHODCALLTYPE CreateReservedResource(const D3D12_RESOURCE_DESC*, D3D12_RESOURCE_STATES,
                                                   const D3D12_CLEAR_VALUE*, REFIID, void** out) noexcept override {
    return not_built("CreateReservedResource", out);
  }
  HRESULT STDMETHODCALLTYPE CreateSharedHandle(ID3D12DeviceChild*, const SECURITY_ATTRIBUTES*, DWORD, LPCWSTR,
                                               HANDLE* out) noexcept override {
    return not_built("CreateSharedHandle", out);
  }
  HRESULT STDMETHODCALLTYPE OpenSharedHandle(HANDLE, REFIID, void** out) noexcept override {
    return not_built("OpenSharedHandle", out);
  }
  HRESULT STDMETHODCALLTYPE OpenSharedHandleByName(LPCWSTR, DWORD, HANDLE* out) noexcept override {
    return not_built("OpenSharedHandleByName", out);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandSignature(const D3D12_COMMAND_SIGNATURE_DESC*, ID3D12RootSignature*, REFIID,
                                                   void** out) noexcept override {
    return not_built("CreateCommandSignature", out);
  }
  HRESULT STDMETHODCALLTYPE CreatePipelineLibrary(const void*, SIZE_T, REFIID, void** out) noexcept override {
    return not_built("CreatePipelineLibrary", out);
  }
  HRESULT STDMETHODCALLTYPE CreatePipelineState(const D3D12_PIPELINE_STATE_STREAM_DESC*, REFIID,
                                                void** out) noexcept override {
    return not_built("CreatePipelineState", out);
  }
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromAddress(const void*, REFIID, void** out) noexcept override {
    return not_built("OpenExistingHeapFromAddress", out);
  }
  HRESULT STDMETHODCALLTYPE OpenExistingHeapFromFileMapping(HANDLE, REFIID, void** out) noexcept override {
    return not_built("OpenExistingHeapFromFileMapping", out);
  }
  HRESULT STDMETHODCALLTYPE CreateProtectedResourceSession(const D3D12_PROTECTED_RESOURCE_SESSION_DESC*, REFIID,
                                                           void** out) noexcept override {
    return not_built("CreateProtectedResourceSession", out);
  }
  HRESULT STDMETHODCALLTYPE CreateReservedResource1(const D3D12_RESOURCE_DESC*, D3D12_RESOURCE_STATES,
                                                    const D3D12_CLEAR_VALUE*, ID3D12ProtectedResourceSession*, REFIID,
                                                    void** out) noexcept override {
    return not_built("CreateReservedResource1", out);
  }
  HRESULT STDMETHODCALLTYPE CreateLifetimeTracker(ID3D12LifetimeOwner*, REFIID, void** out) noexcept override {
    return not_built("CreateLifetimeTracker", out);
  }
  HRESULT STDMETHODCALLTYPE EnumerateMetaCommandParameters(REFGUID, D3D12_META_COMMAND_PARAMETER_STAGE, UINT*, UINT*,
                                                           D3D12_META_COMMAND_PARAMETER_DESC*) noexcept override {
    return not_built("EnumerateMetaCommandParameters");
  }
  HRESULT STDMETHODCALLTYPE CreateMetaCommand(REFGUID, UINT, const void*, SIZE_T, REFIID,
                                              void** out) noexcept override {
    return not_built("CreateMetaCommand", out);
  }
  HRESULT STDMETHODCALLTYPE CreateStateObject(const D3D12_STATE_OBJECT_DESC*, REFIID, void** out) noexcept override {
    return not_built("CreateStateObject", out);
  }
  HRESULT STDMETHODCALLTYPE AddToStateObject(const D3D12_STATE_OBJECT_DESC*, ID3D12StateObject*, REFIID,
                                             void** out) noexcept override {
    return not_built("AddToStateObject", out);
  }
  HRESULT STDMETHODCALLTYPE CreateProtectedResourceSession1(const D3D12_PROTECTED_RESOURCE_SESSION_DESC1*, REFIID,
                                                            void** out) noexcept override {
    return not_built("CreateProtectedResourceSession1", out);
  }
  HRESULT STDMETHODCALLTYPE CreateShaderCacheSession(const D3D12_SHADER_CACHE_SESSION_DESC*, REFIID,
                                                     void** out) noexcept override {
    return not_built("CreateShaderCacheSession", out);
  }
  HRESULT STDMETHODCALLTYPE ShaderCacheControl(D3D12_SHADER_CACHE_KIND_FLAGS kinds,
                                               D3D12_SHADER_CACHE_CONTROL_FLAGS control) noexcept override;

  // IBridgeDevice
  std::uint64_t build() noexcept override { return kBuildHash; }
  const void* identity() noexcept override { return core_.get(); }
  std::uint32_t adapter_index() noexcept override { return core_->adapter_index(); }
  HRESULT removed_reason() noexcept override { return core_->removed_reason(); }
  Posted post_message(MessageSeverity severity, const char* text, bool logged) noexcept override {
    return core_->post(severity, text, logged);
  }
  void enable_debug() noexcept override;
  const std::atomic<bool>& debugging_flag() noexcept override { return core_->debugging_flag(); }
  void count_internal(int change) noexcept override { core_->live_objects().count_internal(change); }
  void note_removal() noexcept override { core_->note_removal(); }
  bool add_live_object(const LiveObject& object) noexcept override { return core_->live_objects().add(object); }
  void remove_live_object(const void* object) noexcept override { core_->live_objects().remove(object); }
  bool contains_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE cpu, D3D12_GPU_DESCRIPTOR_HANDLE gpu,
                            std::uint32_t count) noexcept override;
  bool write_descriptors(D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                         std::uint32_t count) noexcept override;
  void report(DebugMessage message, const char* text) noexcept override { core_->report(message, text); }
  void buffer_name(std::uint64_t buffer, char* text, std::size_t room) noexcept override;
  void dispatch_released(IBridgeDispatch* dispatch) noexcept override;

  // ID3D12InfoQueue1
  using Stage = MessageStore::Stage;
  HRESULT STDMETHODCALLTYPE SetMessageCountLimit(UINT64 limit) noexcept override;
  void STDMETHODCALLTYPE ClearStoredMessages() noexcept override { core_->messages().clear(); }
  HRESULT STDMETHODCALLTYPE GetMessage(UINT64 index, D3D12_MESSAGE* message, SIZE_T* bytes) noexcept override {
    return core_->messages().get(index, message, bytes);
  }
  UINT64 STDMETHODCALLTYPE GetNumMessagesAllowedByStorageFilter() noexcept override {
    return core_->messages().allowed();
  }
  UINT64 STDMETHODCALLTYPE GetNumMessagesDeniedByStorageFilter() noexcept override {
    return core_->messages().denied();
  }
  UINT64 STDMETHODCALLTYPE GetNumStoredMessages() noexcept override { return core_->messages().stored(); }
  UINT64 STDMETHODCALLTYPE GetNumStoredMessagesAllowedByRetrievalFilter() noexcept override {
    return core_->messages().retrievable();
  }
  UINT64 STDMETHODCALLTYPE GetNumMessagesDiscardedByMessageCountLimit() noexcept override {
    return core_->messages().discarded();
  }
  UINT64 STDMETHODCALLTYPE GetMessageCountLimit() noexcept override { return core_->messages().limit(); }
  HRESULT STDMETHODCALLTYPE AddStorageFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) noexcept override {
    return add_entries(Stage::storage, filter);
  }
  HRESULT STDMETHODCALLTYPE GetStorageFilter(D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) noexcept override {
    return core_->messages().get_filter(Stage::storage, filter, bytes);
  }
  void STDMETHODCALLTYPE ClearStorageFilter() noexcept override { core_->messages().clear_filter(Stage::storage); }
  HRESULT STDMETHODCALLTYPE PushEmptyStorageFilter() noexcept override { return push(Stage::storage, nullptr, false); }
  HRESULT STDMETHODCALLTYPE PushCopyOfStorageFilter() noexcept override { return push(Stage::storage, nullptr, true); }
  HRESULT STDMETHODCALLTYPE PushStorageFilter(D3D12_INFO_QUEUE_FILTER* filter) noexcept override {
    return filter == nullptr ? E_INVALIDARG : push(Stage::storage, filter, false);
  }
  void STDMETHODCALLTYPE PopStorageFilter() noexcept override { core_->messages().pop_filter(Stage::storage); }
  UINT STDMETHODCALLTYPE GetStorageFilterStackSize() noexcept override {
    return core_->messages().filter_stack_size(Stage::storage);
  }
  HRESULT STDMETHODCALLTYPE AddRetrievalFilterEntries(D3D12_INFO_QUEUE_FILTER* filter) noexcept override {
    return add_entries(Stage::retrieval, filter);
  }
  HRESULT STDMETHODCALLTYPE GetRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter, SIZE_T* bytes) noexcept override {
    return core_->messages().get_filter(Stage::retrieval, filter, bytes);
  }
  void STDMETHODCALLTYPE ClearRetrievalFilter() noexcept override { core_->messages().clear_filter(Stage::retrieval); }
  HRESULT STDMETHODCALLTYPE PushEmptyRetrievalFilter() noexcept override {
    return push(Stage::retrieval, nullptr, false);
  }
  HRESULT STDMETHODCALLTYPE PushCopyOfRetrievalFilter() noexcept override {
    return push(Stage::retrieval, nullptr, true);
  }
  HRESULT STDMETHODCALLTYPE PushRetrievalFilter(D3D12_INFO_QUEUE_FILTER* filter) noexcept override {
    return filter == nullptr ? E_INVALIDARG : push(Stage::retrieval, filter, false);
  }
  void STDMETHODCALLTYPE PopRetrievalFilter() noexcept override { core_->messages().pop_filter(Stage::retrieval); }
  UINT STDMETHODCALLTYPE GetRetrievalFilterStackSize() noexcept override {
    return core_->messages().filter_stack_size(Stage::retrieval);
  }
  HRESULT STDMETHODCALLTYPE AddMessage(D3D12_MESSAGE_CATEGORY category, D3D12_MESSAGE_SEVERITY severity,
                                       D3D12_MESSAGE_ID id, LPCSTR text) noexcept override;
  HRESULT STDMETHODCALLTYPE AddApplicationMessage(D3D12_MESSAGE_SEVERITY severity, LPCSTR text) noexcept override {
    return AddMessage(D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED, severity, D3D12_MESSAGE_ID_UNKNOWN, text);
  }
  HRESULT STDMETHODCALLTYPE SetBreakOnCategory(D3D12_MESSAGE_CATEGORY category, BOOL enabled) noexcept override {
    return set_break(category, enabled);
  }
  HRESULT STDMETHODCALLTYPE SetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity, BOOL enabled) noexcept override {
    return set_break(severity, enabled);
  }
  HRESULT STDMETHODCALLTYPE SetBreakOnID(D3D12_MESSAGE_ID id, BOOL enabled) noexcept override {
    return set_break(id, enabled);
  }
  BOOL STDMETHODCALLTYPE GetBreakOnCategory(D3D12_MESSAGE_CATEGORY category) noexcept override {
    return core_->messages().breaks_on(category) ? TRUE : FALSE;
  }
  BOOL STDMETHODCALLTYPE GetBreakOnSeverity(D3D12_MESSAGE_SEVERITY severity) noexcept override {
    return core_->messages().breaks_on(severity) ? TRUE : FALSE;
  }
  BOOL STDMETHODCALLTYPE GetBreakOnID(D3D12_MESSAGE_ID id) noexcept override {
    return core_->messages().breaks_on(id) ? TRUE : FALSE;
  }
  void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) noexcept override { core_->messages().set_muted(mute != FALSE); }
  BOOL STDMETHODCALLTYPE GetMuteDebugOutput() noexcept override { return core_->messages().muted() ? TRUE : FALSE; }
  HRESULT STDMETHODCALLTYPE RegisterMessageCallback(D3D12MessageFunc function, D3D12_MESSAGE_CALLBACK_FLAGS flags,
                                                    void* context, DWORD* cookie) noexcept override;
  HRESULT STDMETHODCALLTYPE UnregisterMessageCallback(DWORD cookie) noexcept override {
    return com_boundary("ID3D12InfoQueue1::UnregisterMessageCallback",
                        [&] { return core_->messages().unregister_callback(cookie); });
  }

  // ID3D12DebugDevice2
  HRESULT STDMETHODCALLTYPE SetFeatureMask(D3D12_DEBUG_FEATURE mask) noexcept override;
  D3D12_DEBUG_FEATURE STDMETHODCALLTYPE GetFeatureMask() noexcept override { return feature_mask_; }
  HRESULT STDMETHODCALLTYPE ReportLiveDeviceObjects(D3D12_RLDO_FLAGS flags) noexcept override;
  HRESULT STDMETHODCALLTYPE SetDebugParameter(D3D12_DEBUG_DEVICE_PARAMETER_TYPE, const void*, UINT) noexcept override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetDebugParameter(D3D12_DEBUG_DEVICE_PARAMETER_TYPE, void*, UINT) noexcept override {
    return E_NOTIMPL;
  }

  // ID3D12DeviceRemovedExtendedData2, in device_dred.cpp
  HRESULT STDMETHODCALLTYPE GetAutoBreadcrumbsOutput(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT* output) noexcept override;
  HRESULT STDMETHODCALLTYPE GetPageFaultAllocationOutput(D3D12_DRED_PAGE_FAULT_OUTPUT* output) noexcept override;
  HRESULT STDMETHODCALLTYPE GetAutoBreadcrumbsOutput1(D3D12_DRED_AUTO_BREADCRUMBS_OUTPUT1* output) noexcept override;
  HRESULT STDMETHODCALLTYPE GetPageFaultAllocationOutput1(D3D12_DRED_PAGE_FAULT_OUTPUT1* output) noexcept override;
  HRESULT STDMETHODCALLTYPE GetPageFaultAllocationOutput2(D3D12_DRED_PAGE_FAULT_OUTPUT2* output) noexcept override;
  D3D12_DRED_DEVICE_STATE STDMETHODCALLTYPE GetDeviceState() noexcept override;

  [[nodiscard]] DeviceCore& core() const { return *core_; }
  [[nodiscard]] const std::shared_ptr<DeviceCore>& shared_core() const { return core_; }

 protected:
  // The debug interfaces exist only if the debug layer is on: clients interpret E_NOINTERFACE as "off".
  [[nodiscard]] bool has_interface(REFIID riid) const noexcept override;

 private:
  // The common part of every Create method: clears the out-pointer, then calls body, which checks the arguments and
  // creates the object.
  template <class Body>
  HRESULT create(const char* method, REFIID riid, void** out, const Body& body) noexcept;
  HRESULT wrong(const char* method, const char* what) noexcept;
  // On failure, returns null and sets `refusal`, whose message names the field that requested the memory.
  std::shared_ptr<Memory> allocate(const D3D12_HEAP_PROPERTIES& properties, const char* field, std::uint64_t bytes,
                                   Refusal& refusal) const;
  [[nodiscard]] bool is_unified() const { return core_->device().info->unified_memory != 0; }
  HRESULT not_built(const char* method, void** out = nullptr) noexcept;
  template <class Body>
  void remove_on_failure(const char* method, const Body& body) noexcept;
  void write_view(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE at, const Descriptor& view) noexcept;
  bool change_descriptors(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE first, const Descriptor* descriptors,
                          std::uint32_t count) noexcept;
  void no_such_view(const char* method, D3D12_CPU_DESCRIPTOR_HANDLE at) noexcept;
  HRESULT check_residents(const char* method, UINT count, ID3D12Pageable* const* objects) noexcept;
  HRESULT add_entries(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter) noexcept;
  HRESULT push(Stage stage, const D3D12_INFO_QUEUE_FILTER* filter, bool copy) noexcept;
  template <class Output, class Body>
  HRESULT removed_data(const char* method, Output* output, bool enabled, const Body& body) noexcept;
  template <class What>
  HRESULT set_break(What what, BOOL enabled) noexcept {
    return com_boundary("ID3D12InfoQueue", [&] {
      core_->messages().set_break(what, enabled != FALSE);
      return S_OK;
    });
  }

  const std::shared_ptr<DeviceCore> core_;
  std::once_flag registered_;  // among the live objects
  D3D12_DEBUG_FEATURE feature_mask_ = D3D12_DEBUG_FEATURE_NONE;
};

#pragma GCC diagnostic pop

// CheckFeatureSupport: S_OK, or E_INVALIDARG with the reason.
HRESULT check_feature(const BackendDeviceInfo& device, D3D12_FEATURE feature, void* data, UINT size,
                      std::string& wrong);

}  // namespace anydml
