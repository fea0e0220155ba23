// SPDX-License-Identifier: MIT
// The DirectML device.
#pragma once

#include "directml/object.h"

namespace anydml {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class DmlDevice final
    : public DmlObject<DmlDevice, Interfaces<IDMLDevice1, IDMLDevice, IDMLObject>, Interfaces<IDMLDebugDevice>> {
 public:
  DmlDevice(ID3D12Device& parent, std::shared_ptr<DmlCore> core)
      : DmlObject(std::move(core)), parent_(ComPtr<ID3D12Device>::share(&parent)) {}

  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(DML_FEATURE feature, UINT query_size, const void* query, UINT data_size,
                                                void* data) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateOperator(const DML_OPERATOR_DESC* desc, REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* op, DML_EXECUTION_FLAGS flags, REFIID riid,
                                            void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT count, IDMLCompiledOperator* const* operators, REFIID riid,
                                                      void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CreateBindingTable(const DML_BINDING_TABLE_DESC* desc, REFIID riid,
                                               void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE Evict(UINT count, IDMLPageable* const* objects) noexcept override;
  HRESULT STDMETHODCALLTYPE MakeResident(UINT count, IDMLPageable* const* objects) noexcept override;
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() noexcept override { return core().removed_reason(); }
  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** out) noexcept override;
  HRESULT STDMETHODCALLTYPE CompileGraph(const DML_GRAPH_DESC* desc, DML_EXECUTION_FLAGS flags, REFIID riid,
                                         void** out) noexcept override;
  void STDMETHODCALLTYPE SetMuteDebugOutput(BOOL mute) noexcept override { core().set_muted(mute != FALSE); }

 protected:
  // IDMLDevice1 requires level 2_1, and IDMLDebugDevice requires a device that was created with the DEBUG flag.
  [[nodiscard]] bool has_interface(REFIID riid) const noexcept override;

 private:
  // The common part of every Create method. body returns the object with one reference, or the reason for the failure.
  template <class Body>
  HRESULT create(const char* method, REFIID riid, void** out, const Body& body) noexcept;
  HRESULT check_residents(const char* method, UINT count, IDMLPageable* const* objects) noexcept;

  const ComPtr<ID3D12Device> parent_;
};

#pragma GCC diagnostic pop

}  // namespace anydml
