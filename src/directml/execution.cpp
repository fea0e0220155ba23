// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <new>

#include "backend/dispatch_log.h"
#include "base/checked.h"
#include "com/com_object.h"
#include "directml/bindings.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

// Whether the same index is the same place in both.
bool same_layout(const TensorDesc& a, const TensorDesc& b) {
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) {
      return false;
    }
  }
  return element_size(a.type) == element_size(b.type);
}

bool may_alias(facts::InPlace in_place, std::size_t input) {
  switch (in_place) {
    case facts::InPlace::first_input:
      return input == 0;
    case facts::InPlace::one_input:
    case facts::InPlace::any_input:
      return true;
    case facts::InPlace::none:
    case facts::InPlace::each_output_but_training_step:
      break;
  }
  return false;
}

Requirement tensor_requirement(const Work& work, const TensorBinding& tensor) {
  return {work, tensor.name, tensor.bytes, tensor.alignment, false};
}

}  // namespace

Execution::Execution(std::shared_ptr<DmlCore> core, std::shared_ptr<const OperatorDef> def, bool late_bindings)
    : Work(std::move(core), def->desc.op->name), def_(std::move(def)), late_bindings_(late_bindings) {}

std::optional<std::uint64_t> Execution::place_owned() {
  std::uint64_t size = 0;
  persistent_offsets_.resize(def_->input_count());
  for (std::size_t i = 0; i < def_->input_count(); ++i) {
    if (!def_->tensors[i].owned) {
      continue;
    }
    const auto place = checked_align_bytes(size, std::max(def_->tensors[i].alignment, kResourceAlignment));
    const auto end = place ? checked_add_bytes(*place, def_->tensors[i].bytes) : std::nullopt;
    if (!end) {
      return std::nullopt;
    }
    has_persistent_ = true;
    persistent_offsets_[i] = *place;
    size = *end;
  }
  return size;
}

Execution::~Execution() {
  if (program_ != nullptr) {
    core().device().backend->destroy(program_);
  }
}

Result<ComPtr<Execution>> Execution::compile(std::shared_ptr<DmlCore> core, std::shared_ptr<const OperatorDef> def,
                                             bool late_bindings) {
  auto made = ComPtr<Execution>::adopt(new Execution(std::move(core), std::move(def), late_bindings));
  const auto persistent = made->place_owned();
  if (!persistent) {
    return Error{
        ErrorKind::invalid_argument,
        format_text("{}: the tensors that are OWNED_BY_DML have more bytes in all than 64 bits count", made->label())};
  }
  const Plan plan = make_plan(made->def_->desc);
  const auto temporary = checked_align_bytes(plan.temporary_bytes(), kResourceAlignment);
  if (!temporary) {
    return Error{
        ErrorKind::out_of_memory,
        format_text("{}: what it keeps for the time of a run has more bytes than 64 bits count", made->label())};
  }
  made->properties_.PersistentResourceSize = *persistent;
  made->properties_.TemporaryResourceSize = *temporary;
  made->properties_.RequiredDescriptorCount =
      made->def_->tensor_count() + (made->has_persistent() ? 1U : 0U) + (made->has_temporary() ? 1U : 0U);
  const CoreDevice& device = made->core().device();
  const BackendStatus status =
      device.backend->compile(device.handle, plan.words().data(), plan.words().size(), &made->program_);
  if (status.code != BackendCode::ok) {
    return Error{kind_of(status.code), format_text("{}: {}", made->label(), status.message)};
  }
  return made;
}

std::string Execution::bind_tensors(std::size_t first, std::uint32_t tensors, UINT count, const DML_BINDING_DESC* given,
                                    Bindings& bindings) const {
  for (UINT i = 0; i < tensors; ++i) {
    const TensorBinding& tensor = def_->tensors[first + i];
    const Requirement requirement = tensor_requirement(*this, tensor);
    ResolvedDescriptor taken{};
    if (count != 0) {
      if (std::string what = take_binding(core(), requirement, given[i], taken); !what.empty()) {
        return what;
      }
      const bool bound = taken.descriptor.kind != DescriptorKind::none;
      if (bound && !tensor.present) {
        return wrong(requirement,
                     "a buffer is bound to a tensor that is absent; expected DML_BINDING_TYPE_NONE, since the "
                     "operator was created without it");
      }
      if (bound && tensor.owned) {
        return wrong(requirement,
                     "a buffer is bound to a tensor that DirectML owns; expected DML_BINDING_TYPE_NONE, since "
                     "it was bound at initialization");
      }
      if (!bound && tensor.present && !tensor.owned) {
        return wrong(requirement,
                     "the binding is NONE or its Buffer is null; expected a buffer, since the tensor is not "
                     "optional");
      }
    }
    bindings[first + i] = taken;
  }
  return {};
}

std::string Execution::bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  const std::uint32_t inputs = def_->input_count();
  if (count != 0 && (given == nullptr || count != inputs)) {
    return format_text("{}: {}; expected {} binding{}, one for each input tensor", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), inputs,
                       inputs == 1 ? "" : "s");
  }
  return bind_tensors(0, inputs, count, given, bindings);
}

std::string Execution::bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  const std::uint32_t outputs = def_->output_count();
  if (count != 0 && (given == nullptr || count != outputs)) {
    return format_text("{}: {}; expected {} binding{}", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), outputs,
                       outputs == 1 ? ", for the output tensor" : "s, one for each output tensor");
  }
  return bind_tensors(def_->input_count(), outputs, count, given, bindings);
}

std::string Execution::bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const {
  ResolvedDescriptor taken{};
  if (given != nullptr) {
    if (std::string what = take_binding(core(), persistent_requirement(*this), *given, taken); !what.empty()) {
      return what;
    }
  }
  if (has_persistent()) {  // otherwise whatever was bound is not needed
    bindings[persistent_slot()] = taken;
  }
  return {};
}

std::string Execution::check_in_place(const ResolvedDescriptor* bindings, std::size_t input, std::size_t output) const {
  const TensorBinding& to = def_->tensors[output];
  const Area from_area = area_of(bindings[input], def_->tensors[input].bytes);
  const Area to_area = area_of(bindings[output], to.bytes);
  if (!intersect(from_area, to_area)) {
    return {};
  }
  const Requirement requirement = tensor_requirement(*this, def_->tensors[input]);
  if (!may_alias(def_->desc.op->in_place, input)) {
    return wrong(requirement, format_text("overlaps {}; expected ranges of their own, since the operator does not work "
                                          "in place",
                                          to.name));
  }
  if (!identical(from_area, to_area)) {
    return wrong(requirement,
                 format_text("bytes {} to {} overlap {}, which has {} to {}; expected the same bytes, or none in "
                             "common",
                             from_area.first, from_area.end, to.name, to_area.first, to_area.end));
  }
  const TensorDesc& tensor = def_->desc.tensors[input].tensor;
  const TensorDesc& result = def_->desc.tensors[output].tensor;
  if (!same_layout(tensor, result)) {
    return wrong(
        requirement,
        format_text("lies over {} with strides {} instead of {}; expected the same layout to work in place", to.name,
                    shape_text(tensor.strides, tensor.rank), shape_text(result.strides, tensor.rank)));
  }
  return {};
}

std::string Execution::check_hazards(const ResolvedDescriptor* bindings) const {
  const std::uint32_t tensors = def_->tensor_count();
  for (std::size_t output = def_->input_count(); output < tensors; ++output) {
    const TensorBinding& to = def_->tensors[output];
    if (!to.present) {
      continue;
    }
    for (std::size_t input = 0; input < def_->input_count(); ++input) {
      if (def_->tensors[input].present && !def_->tensors[input].owned) {
        if (std::string what = check_in_place(bindings, input, output); !what.empty()) {
          return what;
        }
      }
    }
    const Area area = area_of(bindings[output], to.bytes);
    for (std::size_t other = output + 1; other < tensors; ++other) {
      const TensorBinding& second = def_->tensors[other];
      if (second.present && intersect(area, area_of(bindings[other], second.bytes))) {
        return wrong(tensor_requirement(*this, second),
                     format_text("overlaps {}; expected a range of its own", to.name));
      }
    }
    if (has_persistent() && intersect(area_of(bindings[tensors], properties_.PersistentResourceSize), area)) {
      return wrong(persistent_requirement(*this), format_text("overlaps {}; expected a range of its own", to.name));
    }
  }
  return {};
}

std::string Execution::check_all(const ResolvedDescriptor* bindings) const {
  const std::uint32_t tensors = def_->tensor_count();
  for (std::uint32_t i = 0; i < tensors; ++i) {
    if (def_->tensors[i].owned || !def_->tensors[i].present) {
      continue;
    }
    if (std::string what = check_present(core(), tensor_requirement(*this, def_->tensors[i]), bindings[i]);
        !what.empty()) {
      return what;
    }
  }
  if (has_persistent()) {
    if (std::string what = check_present(core(), persistent_requirement(*this), bindings[tensors]); !what.empty()) {
      return what;
    }
  }
  if (has_temporary()) {
    const ResolvedDescriptor& temporary = bindings[temporary_slot()];
    if (std::string what = check_present(core(), temporary_requirement(*this), temporary); !what.empty()) {
      return what;
    }
    if (std::string what = check_temporary(bindings, temporary); !what.empty()) {
      return what;
    }
  }
  return check_hazards(bindings);
}

std::string Execution::check_temporary(const ResolvedDescriptor* bindings, const ResolvedDescriptor& temporary) const {
  // Of what is bound and not needed, all of it must keep off.
  const Area area =
      area_of(temporary, has_temporary() ? properties_.TemporaryResourceSize : temporary.descriptor.bytes);
  for (std::size_t i = 0; i < temporary_slot(); ++i) {
    const bool is_tensor = i < persistent_slot();
    const std::uint64_t bytes = is_tensor ? def_->tensors[i].bytes : properties_.PersistentResourceSize;
    if (bindings[i].descriptor.kind != DescriptorKind::none && intersect(area, area_of(bindings[i], bytes))) {
      return wrong(temporary_requirement(*this),
                   format_text("overlaps {}; expected a range of its own",
                               is_tensor ? def_->tensors[i].name : "the persistent resource"));
    }
  }
  return {};
}

std::string Execution::check_recording(const Bindings& bindings, const ResolvedDescriptor& temporary) const {
  if (std::string what = late_bindings_ ? std::string() : check_all(bindings.data()); !what.empty()) {
    return what;
  }
  return temporary.descriptor.kind == DescriptorKind::none ? std::string()
                                                           : check_temporary(bindings.data(), temporary);
}

std::string Execution::check_submission(const ResolvedDescriptor* bindings) {
  if (std::string what = check_all(bindings); !what.empty()) {
    return what;
  }
  if (has_persistent()) {
    const void* place = persistent_place_.load(std::memory_order_acquire);
    if (place != nullptr && place != bindings[def_->tensor_count()].address) {
      return wrong(persistent_requirement(*this), "is not the one that the operator was initialized with");
    }
  }
  return {};
}

bool Execution::run_uninitialised() noexcept {
  com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
    if (has_persistent()) {
      core().remove(E_INVALIDARG, "ExecuteCommandLists: " + label() +
                                      ": it has a persistent resource and was executed before it was "
                                      "initialized; expected an initializer's dispatch before it; the "
                                      "DirectML device is removed");
    } else if (!warned_.exchange(true)) {
      core().warn(("ExecuteCommandLists: " + label() +
                   ": it was never initialized; it needs nothing of it and runs, but "
                   "elsewhere it may not")
                      .c_str());
    }
    return S_OK;
  });
  if (has_persistent()) {  // if there was no memory to say so
    core().remove(E_INVALIDARG, "ExecuteCommandLists: an operator was executed before it was initialized");
  }
  return !has_persistent();
}

void Execution::run(BackendQueue* queue, void* const* addresses) noexcept {
  if (core().removed()) {
    return;
  }
  if (!initialised_.load(std::memory_order_acquire) && !run_uninitialised()) {
    return;
  }
  // Few tensors, as nearly all operators have, take no memory.
  constexpr std::size_t kFew = 16;
  void* few[kFew];
  std::unique_ptr<void*[]> many;
  const std::uint32_t tensors = def_->tensor_count();
  if (tensors + 1 > kFew) {
    many.reset(new (std::nothrow) void*[tensors + 1]);
    if (many == nullptr) {
      return core().remove(E_OUTOFMEMORY, "ExecuteCommandLists: no memory for the addresses of an operator's tensors");
    }
  }
  void** operands = many != nullptr ? many.get() : few;
  for (std::uint32_t i = 0; i < tensors; ++i) {
    operands[i] =
        def_->tensors[i].owned ? static_cast<std::byte*>(addresses[tensors]) + persistent_offsets_[i] : addresses[i];
  }
  operands[tensors] = has_temporary() ? addresses[temporary_slot()] : nullptr;
  const CoreDevice& device = core().device();
  log_dispatch(*device.backend, program_,
               [&](std::string_view kernels) { return dispatch_text(def_->desc, device.info->name, kernels); });
  const BackendStatus status = device.backend->run(queue, program_, operands);
  if (status.code != BackendCode::ok) {
    core().remove(hresult_of(kind_of(status.code)), status.message);
  }
}

}  // namespace anydml
