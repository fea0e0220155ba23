// SPDX-License-Identifier: MIT
#include "directml/work.h"

#include <algorithm>

#include "backend/dispatch_log.h"
#include "com/com_object.h"
#include "plan/plan.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kResourceAlignment = 256;  // of temporary and persistent resources

void* const kThere = reinterpret_cast<void*>(1);

// What a binding must fulfil, and how messages speak of it.
struct Requirement {
  const Work& work;
  std::string_view name;
  std::uint64_t bytes;
  std::uint64_t alignment;
  bool may_be_upload;
};

std::string wrong(const Requirement& requirement, const std::string& what) {
  return format_text("{}: {}: {}", requirement.work.label(), requirement.name, what);
}

const char* heap_name(D3D12_HEAP_TYPE heap) {
  return heap == D3D12_HEAP_TYPE_UPLOAD ? "an UPLOAD" : heap == D3D12_HEAP_TYPE_READBACK ? "a READBACK" : "another";
}

// The rules for one range; at submission they hold still unless the application wrote the descriptor itself.
std::string check_range(const Requirement& requirement, const ResolvedDescriptor& binding) {
  const Descriptor& range = binding.descriptor;
  if (range.offset > binding.facts.bytes || range.bytes > binding.facts.bytes - range.offset) {
    return wrong(requirement, format_text("{} bytes from Offset {} do not lie in a buffer of {} bytes", range.bytes,
                                          range.offset, binding.facts.bytes));
  }
  if (range.bytes < requirement.bytes) {
    return wrong(requirement, format_text("SizeInBytes is {}; expected {} or more", range.bytes, requirement.bytes));
  }
  if (range.offset % requirement.alignment != 0) {
    return wrong(requirement,
                 format_text("Offset is {}; expected a multiple of {}", range.offset, requirement.alignment));
  }
  const D3D12_HEAP_TYPE heap = binding.facts.heap;
  const bool upload = heap == D3D12_HEAP_TYPE_UPLOAD && requirement.may_be_upload;
  if (heap != D3D12_HEAP_TYPE_DEFAULT && heap != D3D12_HEAP_TYPE_CUSTOM && !upload) {
    return wrong(requirement, format_text("the buffer is in {} heap; expected DEFAULT or CUSTOM{}", heap_name(heap),
                                          requirement.may_be_upload ? " or UPLOAD" : ""));
  }
  if ((binding.facts.flags & D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS) == 0 && !requirement.may_be_upload) {
    return wrong(requirement, "the buffer was made without ALLOW_UNORDERED_ACCESS; expected that flag");
  }
  return {};
}

// Takes one BUFFER binding. A null buffer means none; whether that may be is the caller's to say.
std::string take_buffer(const DmlCore& core, const Requirement& requirement, const DML_BUFFER_BINDING& given,
                        ResolvedDescriptor& binding) {
  binding = {};
  if (given.Buffer == nullptr) {
    return {};
  }
  const auto buffer = query<IBridgeBuffer>(given.Buffer);
  if (!buffer) {
    return wrong(requirement, "Buffer is not a resource of this library; expected one of libd3d12's");
  }
  ResolvedDescriptor taken{};
  buffer->describe(&taken.facts);
  if (taken.facts.device != core.parent().identity()) {
    return wrong(requirement, "Buffer is of another D3D12 device; expected one of the device's own");
  }
  taken.descriptor = {.buffer = taken.facts.buffer,
                      .offset = given.Offset,
                      .bytes = given.SizeInBytes,
                      .kind = DescriptorKind::binding,
                      .element_bytes = 0};
  taken.address = kThere;
  std::string what = check_range(requirement, taken);
  if (what.empty()) {
    binding = taken;
  }
  return what;
}

// A binding of type BUFFER or NONE.
std::string take_binding(const DmlCore& core, const Requirement& requirement, const DML_BINDING_DESC& given,
                         ResolvedDescriptor& binding) {
  binding = {};
  if (given.Type == DML_BINDING_TYPE_NONE) {
    return {};
  }
  if (given.Type != DML_BINDING_TYPE_BUFFER) {
    return wrong(requirement, format_text("the binding's Type is {}; expected DML_BINDING_TYPE_BUFFER (1)",
                                          static_cast<unsigned>(given.Type)));
  }
  if (given.Desc == nullptr) {
    return wrong(requirement, "the binding's Desc is null; expected a DML_BUFFER_BINDING");
  }
  return take_buffer(core, requirement, *static_cast<const DML_BUFFER_BINDING*>(given.Desc), binding);
}

// At recording and submission: bound, alive, and still what it was.
std::string check_present(const DmlCore& core, const Requirement& requirement, const ResolvedDescriptor& binding) {
  if (binding.descriptor.kind == DescriptorKind::none) {
    return wrong(requirement, "nothing is bound; expected a buffer");
  }
  if (binding.descriptor.kind != DescriptorKind::binding) {
    return wrong(requirement, "its descriptor was overwritten by a view; expected the binding table's own");
  }
  if (binding.address == nullptr) {
    return wrong(requirement, "the buffer bound to it was released before the list was executed");
  }
  if (binding.facts.device != core.parent().identity()) {
    return wrong(requirement, "Buffer is of another D3D12 device; expected one of the device's own");
  }
  return check_range(requirement, binding);
}

// The part of a binding that the operator may touch.
struct Area {
  std::uint64_t buffer;
  std::uint64_t first;
  std::uint64_t end;
};

Area area_of(const ResolvedDescriptor& binding, std::uint64_t bytes) {
  return {binding.descriptor.buffer, binding.descriptor.offset, binding.descriptor.offset + bytes};
}

bool intersect(const Area& a, const Area& b) { return a.buffer == b.buffer && a.first < b.end && b.first < a.end; }
bool identical(const Area& a, const Area& b) { return a.buffer == b.buffer && a.first == b.first && a.end == b.end; }

// Whether the same index is the same place in both.
bool same_layout(const TensorDesc& a, const TensorDesc& b) {
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    if (a.sizes[i] > 1 && a.strides[i] != b.strides[i]) {
      return false;
    }
  }
  return a.type == b.type;
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

Requirement persistent_requirement(const Execution& target) {
  return {target, "persistent resource", target.properties().PersistentResourceSize, kResourceAlignment, false};
}

}  // namespace

bool Work::submit(const ResolvedDescriptor* descriptors, std::uint32_t) noexcept {
  if (core_->removed()) {
    return false;
  }
  bool good = false;
  const HRESULT result = com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
    const std::string what =
        descriptors == nullptr && properties_.RequiredDescriptorCount != 0
            ? label() + ": the descriptor heap of its binding table was released before the list was executed"
            : check_submission(descriptors);
    good = what.empty();
    if (!good) {
      core_->remove(E_INVALIDARG, "ExecuteCommandLists: " + what + "; the DirectML device is removed");
    }
    return S_OK;
  });
  if (FAILED(result)) {
    core_->remove(result, "ExecuteCommandLists: an allocation failed; the DirectML device is removed");
    return false;
  }
  return good;
}

std::string Work::label() const {
  const std::scoped_lock lock(label_mutex_);
  return given_label_.empty() ? std::string(kind_) : format_text("{} '{}'", kind_, given_label_);
}

void Work::set_label(std::string given) {
  const std::scoped_lock lock(label_mutex_);
  given_label_ = std::move(given);
}

std::string Work::bind_temporary(const DML_BINDING_DESC* given, ResolvedDescriptor& temporary) const {
  temporary = {};
  const Requirement requirement{*this, "temporary resource", 0, kResourceAlignment, false};
  return given == nullptr ? std::string() : take_binding(*core_, requirement, *given, temporary);
}

// ---- Execution

Execution::Execution(std::shared_ptr<DmlCore> core, std::shared_ptr<const OperatorDef> def, bool late_bindings)
    : Work(std::move(core), def->desc.row->name), def_(std::move(def)), late_bindings_(late_bindings) {
  for (std::size_t i = 0; i < def_->input_count(); ++i) {
    if (def_->tensors[i].owned) {
      const std::uint64_t alignment = std::max(def_->tensors[i].alignment, kResourceAlignment);
      std::uint64_t& size = properties_.PersistentResourceSize;
      size = (size + alignment - 1) / alignment * alignment;
      persistent_offsets_[i] = size;
      size += def_->tensors[i].bytes;
    }
  }
  properties_.RequiredDescriptorCount = def_->input_count() + 1 + (has_persistent() ? 1 : 0);
}

Execution::~Execution() {
  if (program_ != nullptr) {
    core().device().backend->destroy(program_);
  }
}

Result<WorkPtr<Execution>> Execution::compile(std::shared_ptr<DmlCore> core, std::shared_ptr<const OperatorDef> def,
                                              bool late_bindings) {
  WorkPtr<Execution> made(new Execution(std::move(core), std::move(def), late_bindings));
  const CoreDevice& device = made->core().device();
  const Plan plan = make_plan(made->def_->desc);
  const BackendStatus status = device.backend->compile(device.handle, plan.steps.data(),
                                                       static_cast<std::uint32_t>(plan.steps.size()), &made->program_);
  if (status.code != BackendCode::ok) {
    return Error{status.code == BackendCode::out_of_memory ? ErrorKind::out_of_memory : ErrorKind::device,
                 format_text("{}: {}", made->label(), status.message)};
  }
  return made;
}

std::string Execution::bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  const std::uint32_t inputs = def_->input_count();
  if (count == 0) {
    std::fill_n(bindings.begin(), inputs, ResolvedDescriptor{});
    return {};
  }
  if (given == nullptr || count != inputs) {
    return format_text("{}: {}; expected {} bindings, one for each input tensor", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), inputs);
  }
  for (UINT i = 0; i < count; ++i) {
    const Requirement requirement = tensor_requirement(*this, def_->tensors[i]);
    ResolvedDescriptor taken{};
    if (std::string what = take_binding(core(), requirement, given[i], taken); !what.empty()) {
      return what;
    }
    const bool bound = taken.descriptor.kind != DescriptorKind::none;
    if (bound && def_->tensors[i].owned) {
      return wrong(requirement,
                   "a buffer is bound to a tensor that DirectML owns; expected DML_BINDING_TYPE_NONE, since "
                   "it was bound at initialization");
    }
    if (!bound && !def_->tensors[i].owned) {
      return wrong(requirement,
                   "the binding is NONE or its Buffer is null; expected a buffer, since the tensor is not "
                   "optional");
    }
    bindings[i] = taken;
  }
  return {};
}

std::string Execution::bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  ResolvedDescriptor& output = bindings[def_->input_count()];
  if (count == 0) {
    output = {};
    return {};
  }
  if (given == nullptr || count != 1) {
    return format_text("{}: {}; expected 1 binding, for the output tensor", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count));
  }
  const Requirement requirement = tensor_requirement(*this, def_->output());
  ResolvedDescriptor taken{};
  if (std::string what = take_binding(core(), requirement, given[0], taken); !what.empty()) {
    return what;
  }
  if (taken.descriptor.kind == DescriptorKind::none) {
    return wrong(requirement,
                 "the binding is NONE or its Buffer is null; expected a buffer, since the tensor is not "
                 "optional");
  }
  output = taken;
  return {};
}

std::string Execution::bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const {
  ResolvedDescriptor taken{};
  if (given != nullptr) {
    if (std::string what = take_binding(core(), persistent_requirement(*this), *given, taken); !what.empty()) {
      return what;
    }
  }
  if (has_persistent()) {  // otherwise whatever was bound is not needed
    bindings.back() = taken;
  }
  return {};
}

std::string Execution::check_hazards(const ResolvedDescriptor* bindings) const {
  const std::uint32_t inputs = def_->input_count();
  const Area output = area_of(bindings[inputs], def_->output().bytes);
  for (std::uint32_t i = 0; i < inputs; ++i) {
    if (def_->tensors[i].owned) {
      continue;
    }
    const Area input = area_of(bindings[i], def_->tensors[i].bytes);
    if (!intersect(input, output)) {
      continue;
    }
    const Requirement requirement = tensor_requirement(*this, def_->tensors[i]);
    if (!may_alias(def_->desc.row->facts->in_place, i)) {
      return wrong(requirement,
                   format_text("overlaps {}; expected ranges of their own, since the operator does not work "
                               "in place",
                               def_->output().name));
    }
    if (!identical(input, output)) {
      return wrong(requirement,
                   format_text("bytes {} to {} overlap {}, which has {} to {}; expected the same bytes, or none in "
                               "common",
                               input.first, input.end, def_->output().name, output.first, output.end));
    }
    if (!same_layout(def_->desc.tensors[i], def_->desc.output())) {
      const TensorDesc& tensor = def_->desc.tensors[i];
      return wrong(requirement,
                   format_text("lies over {} with strides {} instead of {}; expected the same layout to work in place",
                               def_->output().name, shape_text(tensor.strides, tensor.rank),
                               shape_text(def_->desc.output().strides, tensor.rank)));
    }
  }
  if (has_persistent() && intersect(area_of(bindings[inputs + 1], properties_.PersistentResourceSize), output)) {
    return wrong(persistent_requirement(*this),
                 format_text("overlaps {}; expected a range of its own", def_->output().name));
  }
  return {};
}

std::string Execution::check_all(const ResolvedDescriptor* bindings) const {
  for (std::uint32_t i = 0; i <= def_->input_count(); ++i) {
    if (def_->tensors[i].owned) {
      continue;
    }
    if (std::string what = check_present(core(), tensor_requirement(*this, def_->tensors[i]), bindings[i]);
        !what.empty()) {
      return what;
    }
  }
  if (has_persistent()) {
    if (std::string what = check_present(core(), persistent_requirement(*this), bindings[def_->input_count() + 1]);
        !what.empty()) {
      return what;
    }
  }
  return check_hazards(bindings);
}

std::string Execution::check_recording(const Bindings& bindings, const ResolvedDescriptor& temporary) const {
  if (std::string what = late_bindings_ ? std::string() : check_all(bindings.data()); !what.empty()) {
    return what;
  }
  // What is bound is not used, and must still keep off.
  if (temporary.descriptor.kind != DescriptorKind::none) {
    const Area area = area_of(temporary, temporary.descriptor.bytes);
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const std::uint64_t bytes =
          i <= def_->input_count() ? def_->tensors[i].bytes : properties_.PersistentResourceSize;
      if (bindings[i].descriptor.kind != DescriptorKind::none && intersect(area, area_of(bindings[i], bytes))) {
        return format_text("{}: temporary resource: overlaps {}; expected a range of its own", label(),
                           i <= def_->input_count() ? def_->tensors[i].name : "the persistent resource");
      }
    }
  }
  return {};
}

std::string Execution::check_submission(const ResolvedDescriptor* bindings) {
  if (std::string what = check_all(bindings); !what.empty()) {
    return what;
  }
  if (has_persistent()) {
    const void* place = persistent_place_.load(std::memory_order_acquire);
    if (place != nullptr && place != bindings[def_->input_count() + 1].address) {
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

void Execution::run(void* const* addresses) noexcept {
  if (core().removed()) {
    return;
  }
  if (!initialised_.load(std::memory_order_acquire) && !run_uninitialised()) {
    return;
  }
  void* operands[kMaxOperands] = {};
  const std::uint32_t inputs = def_->input_count();
  for (std::uint32_t i = 0; i <= inputs; ++i) {
    operands[i] =
        def_->tensors[i].owned ? static_cast<std::byte*>(addresses[inputs + 1]) + persistent_offsets_[i] : addresses[i];
  }
  const CoreDevice& device = core().device();
  log_dispatch(def_->desc, *device.backend, device.info->name, program_);
  const BackendStatus status = device.backend->run(program_, operands);
  if (status.code != BackendCode::ok) {
    core().remove(status.code == BackendCode::out_of_memory ? E_OUTOFMEMORY : E_FAIL, status.message);
  }
}

// ---- Initialisation

Initialisation::Initialisation(std::shared_ptr<DmlCore> core, std::vector<WorkPtr<Execution>> targets)
    : Work(std::move(core), "initializer"), targets_(std::move(targets)) {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    for (std::size_t i = 0; i < targets_[t]->def().input_count(); ++i) {
      if (targets_[t]->def().tensors[i].owned) {
        slots_.push_back({.target = t, .input = i});
      }
    }
    if (targets_[t]->has_persistent()) {
      slots_.push_back({.target = t, .input = kPersistent});
    }
  }
  properties_.RequiredDescriptorCount = static_cast<UINT>(slots_.size());
}

namespace {

Requirement owned_requirement(const Execution& target, std::size_t input) {
  const TensorBinding& tensor = target.def().tensors[input];
  return {target, tensor.name, tensor.bytes, tensor.alignment, true};
}

// One target's input bindings: all of them or none.
std::string check_array(const Execution& target, const DML_BINDING_DESC& given,
                        const DML_BUFFER_ARRAY_BINDING*& array) {
  array = nullptr;
  if (given.Type == DML_BINDING_TYPE_NONE) {
    return {};
  }
  if (given.Type != DML_BINDING_TYPE_BUFFER_ARRAY) {
    return format_text("{}: the binding's Type is {}; expected DML_BINDING_TYPE_BUFFER_ARRAY (2) or NONE",
                       target.label(), static_cast<unsigned>(given.Type));
  }
  if (given.Desc == nullptr) {
    return format_text("{}: the binding's Desc is null; expected a DML_BUFFER_ARRAY_BINDING", target.label());
  }
  array = static_cast<const DML_BUFFER_ARRAY_BINDING*>(given.Desc);
  const std::uint32_t inputs = target.def().input_count();
  if (array->BindingCount != inputs || array->Bindings == nullptr) {
    return format_text(
        "{}: {}; expected {}, one for each input tensor", target.label(),
        array->Bindings == nullptr ? "Bindings is null" : format_text("BindingCount is {}", array->BindingCount),
        inputs);
  }
  for (std::uint32_t i = 0; i < inputs; ++i) {
    const bool bound = array->Bindings[i].Buffer != nullptr;
    if (bound != target.def().tensors[i].owned) {
      return wrong(owned_requirement(target, i),
                   bound ? "a buffer is bound, but the tensor is not OWNED_BY_DML; expected a null Buffer until the "
                           "operator is executed"
                         : "Buffer is null; expected a buffer, since the tensor is OWNED_BY_DML");
    }
  }
  return {};
}

std::string check_count(UINT count, const DML_BINDING_DESC* given, std::size_t targets) {
  if (count == 0 || (given != nullptr && count == targets)) {
    return {};
  }
  return format_text("{}; expected {} bindings, one for each operator",
                     given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), targets);
}

}  // namespace

std::string Initialisation::bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  std::string what = check_count(count, given, targets_.size());
  std::vector<const DML_BUFFER_ARRAY_BINDING*> arrays(targets_.size());
  for (std::size_t t = 0; t < count && what.empty(); ++t) {
    what = check_array(*targets_[t].get(), given[t], arrays[t]);
  }
  Bindings taken = bindings;
  for (std::size_t i = 0; i < slots_.size() && what.empty(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.input == kPersistent) {
      continue;
    }
    taken[i] = {};
    if (arrays[slot.target] != nullptr) {
      what = take_buffer(core(), owned_requirement(target(slot), slot.input), arrays[slot.target]->Bindings[slot.input],
                         taken[i]);
    }
  }
  if (!what.empty()) {
    return "initializer: " + what;
  }
  bindings = std::move(taken);
  return {};
}

std::string Initialisation::bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  std::string what = check_count(count, given, targets_.size());
  for (std::size_t t = 0; t < count && what.empty(); ++t) {
    if (!targets_[t]->has_persistent()) {  // nothing is needed here, and something wrong is wrong nevertheless
      ResolvedDescriptor ignored{};
      what = take_binding(core(), persistent_requirement(*targets_[t].get()), given[t], ignored);
    }
  }
  Bindings taken = bindings;
  for (std::size_t i = 0; i < slots_.size() && what.empty(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.input == kPersistent) {
      taken[i] = {};
      if (count != 0) {
        what = take_binding(core(), persistent_requirement(target(slot)), given[slot.target], taken[i]);
      }
    }
  }
  if (!what.empty()) {
    return "initializer: " + what;
  }
  bindings = std::move(taken);
  return {};
}

std::string Initialisation::bind_persistent(const DML_BINDING_DESC* given, Bindings&) const {
  ResolvedDescriptor taken{};
  const Requirement any{*this, "persistent resource", 0, 1, false};
  if (std::string what = given != nullptr ? take_binding(core(), any, *given, taken) : std::string(); !what.empty()) {
    return what;
  }
  return taken.descriptor.kind == DescriptorKind::none
             ? std::string()
             : wrong(any, "a buffer is bound; expected none, since those of its operators are its outputs");
}

std::string Initialisation::check_all(const ResolvedDescriptor* bindings) const {
  const auto requirement = [&](const Slot& slot) {
    return slot.input == kPersistent ? persistent_requirement(target(slot))
                                     : owned_requirement(target(slot), slot.input);
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (std::string what = check_present(core(), requirement(slots_[i]), bindings[i]); !what.empty()) {
      return "initializer: " + what;
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    for (std::size_t j = 0; j < slots_.size(); ++j) {
      const bool is_pair =
          slots_[i].input == kPersistent && i != j && bindings[i].descriptor.buffer == bindings[j].descriptor.buffer;
      if (!is_pair) {
        continue;
      }
      const Requirement mine = requirement(slots_[i]);
      const Requirement other = requirement(slots_[j]);
      if (slots_[j].input != kPersistent) {  // not even beside it
        return "initializer: " + wrong(mine, format_text("is in the resource bound to {}; expected a resource that no "
                                                         "input is in",
                                                         other.name));
      }
      if (intersect(area_of(bindings[i], mine.bytes), area_of(bindings[j], other.bytes))) {
        return "initializer: " + wrong(mine, "overlaps another operator's; expected a range of its own");
      }
    }
  }
  return {};
}

std::string Initialisation::check_recording(const Bindings& bindings, const ResolvedDescriptor&) const {
  return check_all(bindings.data());
}

std::string Initialisation::check_submission(const ResolvedDescriptor* bindings) {
  std::string what = check_all(bindings);
  for (std::size_t i = 0; i < slots_.size() && what.empty(); ++i) {
    if (slots_[i].input == kPersistent) {
      targets_[slots_[i].target]->set_persistent_place(bindings[i].address);
    }
  }
  return what;
}

void Initialisation::run(void* const* addresses) noexcept {
  if (core().removed()) {
    return;
  }
  const CoreDevice& device = core().device();
  std::size_t first = 0;  // of the target's slots
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].input != kPersistent) {
      continue;
    }
    auto* persistent = static_cast<std::byte*>(addresses[i]);
    for (std::size_t j = first; j < i; ++j) {
      const Execution& target = *targets_[slots_[j].target].get();
      const BackendStatus status =
          device.backend->copy(device.handle, persistent + target.persistent_offset(slots_[j].input), addresses[j],
                               target.def().tensors[slots_[j].input].bytes);
      if (status.code != BackendCode::ok) {
        core().remove(E_FAIL, status.message);
        return;
      }
    }
    first = i + 1;
  }
  for (const auto& target : targets_) {
    if (!target->set_initialised()) {  // some clients do it before every execution, each time with the same data
      com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
        core().warn(("ExecuteCommandLists: " + target->label() + ": it was initialized again; once is enough").c_str());
        return S_OK;
      });
    }
  }
}

}  // namespace anydml
