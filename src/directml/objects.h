// SPDX-License-Identifier: MIT
// The children of a DirectML device: operators, compiled operators, initializers, binding tables, recorders.
#pragma once

#include <memory>

#include "directml/object.h"
#include "directml/work.h"

namespace anydml {

class DmlOperator final : public DmlChild<DmlOperator, Interfaces<IDMLOperator, IDMLDeviceChild, IDMLObject>> {
 public:
  DmlOperator(IDMLDevice& device, std::shared_ptr<DmlCore> core, std::shared_ptr<const OperatorDef> def)
      : DmlChild(device, std::move(core)), def_(std::move(def)) {}

  [[nodiscard]] const std::shared_ptr<const OperatorDef>& def() const { return def_; }

 private:
  const std::shared_ptr<const OperatorDef> def_;
};

class DmlCompiledOperator final
    : public DmlChild<DmlCompiledOperator,
                      Interfaces<IDMLCompiledOperator, IDMLDispatchable, IDMLPageable, IDMLDeviceChild, IDMLObject>> {
 public:
  // `op` is the operator that this object keeps alive, or null for a graph.
  DmlCompiledOperator(IDMLDevice& device, std::shared_ptr<DmlCore> core, IDMLOperator* op, ComPtr<Execution> execution)
      : DmlChild(device, std::move(core)),
        operator_(op != nullptr ? ComPtr<IDMLOperator>::share(op) : ComPtr<IDMLOperator>()),
        execution_(std::move(execution)) {}
  ~DmlCompiledOperator() override { execution_->set_released(); }

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override { return execution_->properties(); }

  [[nodiscard]] const ComPtr<Execution>& execution() const { return execution_; }

 protected:
  void named(const std::string& given) override { execution_->set_name(given); }

 private:
  const ComPtr<IDMLOperator> operator_;
  const ComPtr<Execution> execution_;
};

class DmlOperatorInitializer final
    : public DmlChild<DmlOperatorInitializer, Interfaces<IDMLOperatorInitializer, IDMLDispatchable, IDMLPageable,
                                                         IDMLDeviceChild, IDMLObject>> {
 public:
  DmlOperatorInitializer(IDMLDevice& device, std::shared_ptr<DmlCore> core) : DmlChild(device, std::move(core)) {}
  ~DmlOperatorInitializer() override {
    if (initialization_) {
      initialization_->set_released();
    }
  }

  DML_BINDING_PROPERTIES STDMETHODCALLTYPE GetBindingProperties() noexcept override {
    return initialization_->properties();
  }
  HRESULT STDMETHODCALLTYPE Reset(UINT count, IDMLCompiledOperator* const* operators) noexcept override;

  // Returns an error message, or an empty string if the operators are now the targets.
  [[nodiscard]] std::string set_targets(UINT count, IDMLCompiledOperator* const* operators);

  [[nodiscard]] const ComPtr<Initialization>& initialization() const { return initialization_; }

 protected:
  void named(const std::string& given) override { initialization_->set_name(given); }

 private:
  ComPtr<Initialization> initialization_;
};

class DmlBindingTable final
    : public DmlChild<DmlBindingTable, Interfaces<IDMLBindingTable, IDMLDeviceChild, IDMLObject>> {
 public:
  DmlBindingTable(IDMLDevice& device, std::shared_ptr<DmlCore> core) : DmlChild(device, std::move(core)) {}

  void STDMETHODCALLTYPE BindInputs(UINT count, const DML_BINDING_DESC* bindings) noexcept override;
  void STDMETHODCALLTYPE BindOutputs(UINT count, const DML_BINDING_DESC* bindings) noexcept override;
  void STDMETHODCALLTYPE BindTemporaryResource(const DML_BINDING_DESC* binding) noexcept override;
  void STDMETHODCALLTYPE BindPersistentResource(const DML_BINDING_DESC* binding) noexcept override;
  HRESULT STDMETHODCALLTYPE Reset(const DML_BINDING_TABLE_DESC* desc) noexcept override;

  // Returns an error message, or an empty string if the table now uses the desc.
  [[nodiscard]] std::string set_desc(const DML_BINDING_TABLE_DESC* desc);

  [[nodiscard]] const ComPtr<Work>& work() const { return work_; }
  [[nodiscard]] const Bindings& bindings() const { return bindings_; }
  [[nodiscard]] const ResolvedDescriptor& temporary() const { return temporary_; }
  [[nodiscard]] D3D12_GPU_DESCRIPTOR_HANDLE gpu_handle() const { return gpu_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  // Runs body on the bindings and writes the resulting descriptors to the heap.
  template <class Body>
  void bind(const char* method, const Body& body) noexcept;

  ComPtr<IDMLDispatchable> dispatchable_;
  ComPtr<Work> work_;  // null for an empty table
  D3D12_CPU_DESCRIPTOR_HANDLE cpu_{};
  D3D12_GPU_DESCRIPTOR_HANDLE gpu_{};
  std::uint32_t number_ = 0;  // identifies the descriptors that this table writes
  Bindings bindings_;
  ResolvedDescriptor temporary_{};  // stored even if the work needs no temporary resource and has no descriptor for one
};

class DmlCommandRecorder final
    : public DmlChild<DmlCommandRecorder, Interfaces<IDMLCommandRecorder, IDMLDeviceChild, IDMLObject>> {
 public:
  DmlCommandRecorder(IDMLDevice& device, std::shared_ptr<DmlCore> core) : DmlChild(device, std::move(core)) {}

  void STDMETHODCALLTYPE RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                                        IDMLBindingTable* bindings) noexcept override;
};

// The work behind a dispatchable of this device; null if the dispatchable does not belong to the device.
[[nodiscard]] ComPtr<Work> find_work(IDMLDispatchable* dispatchable, const DmlCore& core);

}  // namespace anydml
