// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/quoted.h"
#include "com/com_object.h"
#include "com/private_data.h"
#include "directml/bindings.h"
#include "text/format.h"

namespace anydml {
namespace {

Requirement owned_requirement(const Execution& target, std::size_t input) {
  const TensorBinding& tensor = target.surface().tensors[input];
  return {target, tensor.name, tensor.bytes, tensor.alignment, true};
}

// Checks the input bindings of one target. The inputs must be either all bound or all unbound.
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
  const std::uint32_t inputs = target.surface().input_count;
  // An empty vector may have a null address, so null is accepted if no bindings are expected.
  const bool is_null = array->Bindings == nullptr && inputs != 0;
  if (array->BindingCount != inputs || is_null) {
    return format_text("{}: {}; expected {}, one for each input tensor", target.label(),
                       is_null ? "Bindings is null" : format_text("BindingCount is {}", array->BindingCount), inputs);
  }
  for (std::uint32_t i = 0; i < inputs; ++i) {
    const bool bound = array->Bindings[i].Buffer != nullptr;
    if (bound != target.surface().tensors[i].owned) {
      return wrong(owned_requirement(target, i),
                   bound
                       ? format_text("a {} is bound, but the tensor is not OWNED_BY_DML; expected a null Buffer until "
                                     "the operator is executed",
                                     with_name("buffer", object_name(*array->Bindings[i].Buffer)))
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

Initialization::Initialization(std::shared_ptr<DmlCore> core, std::vector<ComPtr<Execution>> targets)
    : Work(std::move(core), "initializer"), targets_(std::move(targets)) {
  std::uint64_t temporary = 0;
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const Surface& surface = targets_[t]->surface();
    for (std::size_t i = 0; i < surface.input_count; ++i) {
      if (surface.tensors[i].owned) {
        slots_.push_back({.target = t, .input = i});
      }
    }
    if (targets_[t]->has_persistent()) {
      slots_.push_back({.target = t, .input = kPersistent});
    }
    temporary = std::max(temporary, targets_[t]->initialize_temporary_bytes());
  }
  // The targets run one after another and share the temporary resource. Rounding up cannot overflow, because
  // compilation has already checked for that.
  properties_.TemporaryResourceSize = (temporary + kResourceAlignment - 1) / kResourceAlignment * kResourceAlignment;
  properties_.RequiredDescriptorCount = static_cast<UINT>(slots_.size()) + (has_temporary() ? 1U : 0U);
}

std::string Initialization::bind_inputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
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
    return label() + ": " + what;
  }
  bindings = std::move(taken);
  return {};
}

std::string Initialization::bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  std::string what = check_count(count, given, targets_.size());
  for (std::size_t t = 0; t < count && what.empty(); ++t) {
    if (!targets_[t]->has_persistent()) {  // no binding is needed, but an invalid one is still an error
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
    return label() + ": " + what;
  }
  bindings = std::move(taken);
  return {};
}

std::string Initialization::bind_persistent(const DML_BINDING_DESC* given, Bindings&) const {
  ResolvedDescriptor taken{};
  const Requirement any{*this, "persistent resource", 0, 1, false};
  if (std::string what = given != nullptr ? take_binding(core(), any, *given, taken) : std::string(); !what.empty()) {
    return what;
  }
  return taken.descriptor.kind == DescriptorKind::none
             ? std::string()
             : wrong(any, format_text(
                              "a {} is bound; expected none, since its operators' persistent resources are its outputs",
                              core().buffer_text(taken.descriptor.buffer)));
}

std::string Initialization::check_all(const ResolvedDescriptor* bindings) const {
  const auto requirement = [&](const Slot& slot) {
    return slot.input == kPersistent ? persistent_requirement(target(slot))
                                     : owned_requirement(target(slot), slot.input);
  };
  const auto end_of = [&](std::size_t i) { return area_of(bindings[i], requirement(slots_[i]).bytes).end; };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (std::string what = check_present(core(), requirement(slots_[i]), bindings[i]); !what.empty()) {
      return label() + ": " + what;
    }
  }
  if (std::string what = check_temporary(bindings); !what.empty()) {
    return label() + ": " + what;
  }
  // Sorted by buffer and offset, so that comparing neighbors is enough: one call may initialize thousands of operators.
  std::vector<std::size_t> order(slots_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::pair(bindings[i].descriptor.buffer, bindings[i].descriptor.offset);
  });
  constexpr std::size_t kNothing = static_cast<std::size_t>(-1);
  std::size_t input = kNothing;       // the first input in this buffer
  std::size_t persistent = kNothing;  // the persistent resource in this buffer that extends furthest so far
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t i = order[at];
    if (at == 0 || bindings[i].descriptor.buffer != bindings[order[at - 1]].descriptor.buffer) {
      input = persistent = kNothing;
    }
    if (slots_[i].input != kPersistent) {
      input = input == kNothing ? i : input;
    } else if (persistent != kNothing && area_of(bindings[i], 0).first < end_of(persistent)) {
      return label() + ": " +
             wrong(requirement(slots_[i]), format_text("overlaps another operator's{}; expected a range of its own",
                                                       core().in_buffer(bindings[i].descriptor.buffer)));
    } else {
      persistent = i;
    }
    if (input != kNothing && persistent != kNothing) {  // they must not share a buffer, even if they do not overlap
      return label() + ": " +
             wrong(requirement(slots_[persistent]),
                   format_text("is in the resource bound to {}; expected a resource that no input is "
                               "in",
                               requirement(slots_[input]).name));
    }
  }
  return {};
}

std::string Initialization::check_temporary(const ResolvedDescriptor* bindings) const {
  if (!has_temporary()) {
    return {};
  }
  const ResolvedDescriptor& temporary = bindings[slots_.size()];
  const Requirement requirement = temporary_requirement(*this);
  if (std::string what = check_present(core(), requirement, temporary); !what.empty()) {
    return what;
  }
  const Area area = area_of(temporary, requirement.bytes);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Requirement other = slots_[i].input == kPersistent ? persistent_requirement(target(slots_[i]))
                                                             : owned_requirement(target(slots_[i]), slots_[i].input);
    if (intersect(area, area_of(bindings[i], other.bytes))) {
      return wrong(requirement, format_text("overlaps {} of {}{}; expected a range of its own", other.name,
                                            target(slots_[i]).label(), core().in_buffer(area.buffer)));
    }
  }
  return {};
}

std::string Initialization::check_recording(const Bindings& bindings, const ResolvedDescriptor&) const {
  return check_all(bindings.data());
}

std::string Initialization::check_submission(const ResolvedDescriptor* bindings) {
  std::string what = check_all(bindings);
  for (std::size_t i = 0; i < slots_.size() && what.empty(); ++i) {
    if (slots_[i].input == kPersistent) {
      targets_[slots_[i].target]->set_persistent_address(bindings[i].address);
    }
  }
  return what;
}

BindingUse Initialization::binding_use(std::uint32_t descriptor) noexcept {
  if (descriptor >= slots_.size()) {
    return {BindingUse::Access::write, properties_.TemporaryResourceSize, "temporary resource"};
  }
  const Slot& slot = slots_[descriptor];
  if (slot.input == kPersistent) {
    return {BindingUse::Access::write, target(slot).properties().PersistentResourceSize, "persistent resource"};
  }
  const TensorBinding& tensor = target(slot).surface().tensors[slot.input];
  return {BindingUse::Access::read, tensor.bytes, tensor.name.c_str()};
}

void Initialization::run(BackendQueue* queue, const DeviceAddress* addresses,
                         const MemoryLocation* locations) noexcept {
  if (core().removed()) {
    return;
  }
  std::size_t maximum = 0;
  for (const auto& target : targets_) {
    maximum = std::max<std::size_t>(maximum, target->surface().input_count);
  }
  const std::unique_ptr<DeviceAddress[]> inputs(new (std::nothrow) DeviceAddress[maximum + 1]());
  const std::unique_ptr<MemoryLocation[]> input_locations(new (std::nothrow) MemoryLocation[maximum + 1]());
  if (inputs == nullptr || input_locations == nullptr) {
    return core().remove(E_OUTOFMEMORY, "ExecuteCommandLists: no memory for the addresses of an initializer's inputs");
  }
  const DeviceAddress temporary = has_temporary() ? addresses[slots_.size()] : 0;
  std::size_t slot = 0;
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const Execution& target = *targets_[t].get();
    std::fill_n(inputs.get(), maximum, DeviceAddress{0});
    BoundMemory persistent = {};
    for (; slot < slots_.size() && slots_[slot].target == t; ++slot) {
      if (slots_[slot].input == kPersistent) {
        persistent = {.address = addresses[slot], .location = locations[slot]};
      } else {
        inputs[slots_[slot].input] = addresses[slot];
        input_locations[slots_[slot].input] = locations[slot];
      }
    }
    if (!target.has_persistent()) {
      continue;
    }
    const BackendStatus status = target.initialize(queue, inputs.get(), input_locations.get(), persistent, temporary);
    if (status.code != BackendCode::ok) {
      return core().remove(status);
    }
  }
  for (const auto& target : targets_) {
    if (!target->set_initialized()) {  // some clients initialize before every execution, with the same data
      com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
        core().warn(("ExecuteCommandLists: " + target->label() + ": it was initialized again; once is enough").c_str());
        return S_OK;
      });
    }
  }
}

}  // namespace anydml
