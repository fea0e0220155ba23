// SPDX-License-Identifier: MIT
#include "directml/objects.h"

#include <algorithm>
#include <new>
#include <unordered_set>

#include "base/quoted.h"
#include "text/format.h"

namespace anydml {

ComPtr<Work> find_work(IDMLDispatchable* dispatchable, const DmlCore& core) {
  if (const auto* compiled = own<DmlCompiledOperator>(dispatchable, core); compiled != nullptr) {
    return ComPtr<Work>::share(compiled->execution().get());
  }
  if (const auto* initializer = own<DmlOperatorInitializer>(dispatchable, core); initializer != nullptr) {
    return ComPtr<Work>::share(initializer->initialization().get());
  }
  return {};
}

std::string DmlOperatorInitializer::set_targets(UINT count, IDMLCompiledOperator* const* operators) {
  if (operators == nullptr && count != 0) {
    return format_text("operators is null; expected {} compiled operators", count);
  }
  std::vector<ComPtr<Execution>> targets;
  std::unordered_set<const Execution*> known;
  for (UINT i = 0; i < count; ++i) {
    const auto* compiled = own<DmlCompiledOperator>(operators[i], core());
    if (compiled == nullptr) {
      return format_text("operators[{}] is {}; expected a compiled operator of this device", i,
                         operators[i] == nullptr ? "null" : "another device's");
    }
    if (!known.insert(compiled->execution().get()).second) {
      return format_text("operators[{}] appears twice; expected each operator once", i);
    }
    targets.push_back(compiled->execution());
  }
  auto created = ComPtr<Initialization>::adopt(new Initialization(shared_core(), std::move(targets)));
  created->set_name(name());
  if (initialization_) {
    initialization_->set_released();
  }
  initialization_ = std::move(created);
  return {};
}

HRESULT STDMETHODCALLTYPE DmlOperatorInitializer::Reset(UINT count, IDMLCompiledOperator* const* operators) noexcept {
  return unless_removed("IDMLOperatorInitializer::Reset", [&]() -> HRESULT {
    const std::string what = set_targets(count, operators);
    return what.empty() ? S_OK : core().fail(E_INVALIDARG, "IDMLOperatorInitializer::Reset: " + what);
  });
}

std::string DmlBindingTable::set_desc(const DML_BINDING_TABLE_DESC* desc) {
  ComPtr<Work> work;
  if (desc != nullptr) {
    work = find_work(desc->Dispatchable, core());
    if (!work) {
      return format_text("Dispatchable is {}; expected a compiled operator or an initializer of this device",
                         desc->Dispatchable == nullptr ? "null" : "another device's");
    }
    const UINT required = work->properties().RequiredDescriptorCount;
    if (desc->SizeInDescriptors < required) {
      return format_text("SizeInDescriptors is {}; expected {} or more, the RequiredDescriptorCount",
                         desc->SizeInDescriptors, required);
    }
    if (required != 0) {
      const D3D12_CPU_DESCRIPTOR_HANDLE cpu = desc->CPUDescriptorHandle;
      const D3D12_GPU_DESCRIPTOR_HANDLE gpu = desc->GPUDescriptorHandle;
      const UINT size = desc->SizeInDescriptors;
      IBridgeDevice& parent = core().parent();
      const auto past_the_end = [size](const char* handle) {
        return format_text("{}: its heap ends before SizeInDescriptors, {}, from there; expected a larger heap", handle,
                           size);
      };
      if (cpu.ptr == 0 || !parent.contains_descriptors(cpu, {0}, 1)) {
        return "CPUDescriptorHandle is not in any CBV_SRV_UAV heap of the D3D12 device; expected one from "
               "GetCPUDescriptorHandleForHeapStart, moved by the increment";
      }
      if (!parent.contains_descriptors(cpu, {0}, size)) {
        return past_the_end("CPUDescriptorHandle");
      }
      if (gpu.ptr == 0) {
        return "GPUDescriptorHandle is 0; expected one of a heap created with "
               "D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE";
      }
      if (!parent.contains_descriptors({0}, gpu, 1)) {
        return "GPUDescriptorHandle is not in any shader-visible CBV_SRV_UAV heap of the D3D12 device; expected one "
               "from "
               "GetGPUDescriptorHandleForHeapStart, moved by the increment";
      }
      if (!parent.contains_descriptors({0}, gpu, size)) {
        return past_the_end("GPUDescriptorHandle");
      }
    }
    bindings_.assign(required, ResolvedDescriptor{});
    temporary_ = {};
    cpu_ = desc->CPUDescriptorHandle;
    gpu_ = desc->GPUDescriptorHandle;
    number_ = work->table_number();
  }
  dispatchable_ = ComPtr<IDMLDispatchable>::share(desc != nullptr ? desc->Dispatchable : nullptr);
  work_ = std::move(work);
  return {};
}

HRESULT STDMETHODCALLTYPE DmlBindingTable::Reset(const DML_BINDING_TABLE_DESC* desc) noexcept {
  return unless_removed("IDMLBindingTable::Reset", [&]() -> HRESULT {
    const std::string what = set_desc(desc);
    return what.empty() ? S_OK : core().fail(E_INVALIDARG, "IDMLBindingTable::Reset: " + what);
  });
}

template <class Body>
void DmlBindingTable::bind(const char* method, const Body& body) noexcept {
  remove_if_wrong(method, [&]() -> std::string {
    if (!work_) {
      return with_name("the table", name()) + " is empty; expected one created for a dispatchable";
    }
    if (std::string what = body(); !what.empty()) {
      return what;
    }
    std::vector<Descriptor> descriptors;
    descriptors.reserve(bindings_.size());
    for (const ResolvedDescriptor& binding : bindings_) {
      descriptors.push_back(binding.descriptor);
      descriptors.back().detail = number_;
    }
    if (!descriptors.empty() &&
        !core().parent().write_descriptors(cpu_, descriptors.data(), static_cast<UINT>(descriptors.size()))) {
      return "the descriptor heap of the table's CPUDescriptorHandle was released; expected it alive";
    }
    return {};
  });
}

void STDMETHODCALLTYPE DmlBindingTable::BindInputs(UINT count, const DML_BINDING_DESC* bindings) noexcept {
  bind("IDMLBindingTable::BindInputs", [&] { return work_->bind_inputs(count, bindings, bindings_); });
}

void STDMETHODCALLTYPE DmlBindingTable::BindOutputs(UINT count, const DML_BINDING_DESC* bindings) noexcept {
  bind("IDMLBindingTable::BindOutputs", [&] { return work_->bind_outputs(count, bindings, bindings_); });
}

void STDMETHODCALLTYPE DmlBindingTable::BindTemporaryResource(const DML_BINDING_DESC* binding) noexcept {
  bind("IDMLBindingTable::BindTemporaryResource",
       [&] { return work_->bind_temporary(binding, bindings_, temporary_); });
}

void STDMETHODCALLTYPE DmlBindingTable::BindPersistentResource(const DML_BINDING_DESC* binding) noexcept {
  bind("IDMLBindingTable::BindPersistentResource", [&] { return work_->bind_persistent(binding, bindings_); });
}

void STDMETHODCALLTYPE DmlCommandRecorder::RecordDispatch(ID3D12CommandList* list, IDMLDispatchable* dispatchable,
                                                          IDMLBindingTable* bindings) noexcept {
  remove_if_wrong("IDMLCommandRecorder::RecordDispatch", [&]() -> std::string {
    const auto known_list = query<IBridgeCommandList>(list);
    if (!known_list || known_list->device_identity() != core().parent().identity()) {
      return format_text("commandList is {}; expected a list of the D3D12 device",
                         list == nullptr ? "null" : "another device's");
    }
    const ComPtr<Work> work = find_work(dispatchable, core());
    if (!work) {
      return format_text("dispatchable is {}; expected a compiled operator or an initializer of this device",
                         dispatchable == nullptr ? "null" : "another device's");
    }
    const auto* table = own<DmlBindingTable>(bindings, core());
    if (table == nullptr) {
      return format_text("bindings is {}; expected a binding table of this device",
                         bindings == nullptr ? "null" : "another device's");
    }
    if (table->work().get() != work.get()) {
      return with_name("bindings", table->name()) +
             " is a table created for another dispatchable, or before an initializer's Reset; expected one created "
             "for " +
             work->label();
    }
    if (std::string what = work->check_recording(table->bindings(), table->temporary()); !what.empty()) {
      return what;
    }
    const char* why = "";
    const HRESULT recorded =
        known_list->record_dispatch(work.get(), table->gpu_handle(), work->properties().RequiredDescriptorCount,
                                    table->number(), work->binds_late() ? nullptr : table->bindings().data(), &why);
    if (recorded == E_OUTOFMEMORY) {
      throw std::bad_alloc();  // becomes the reason for the removal
    }
    return SUCCEEDED(recorded) ? std::string()
                               : format_text("{} {}", with_name("commandList", object_name(*list)), why);
  });
}

}  // namespace anydml
