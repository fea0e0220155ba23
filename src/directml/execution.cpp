// SPDX-License-Identifier: MIT
#include <algorithm>
#include <memory>
#include <new>

#include "backend/dispatch_log.h"
#include "base/checked.h"
#include "base/shape.h"
#include "com/com_object.h"
#include "directml/bindings.h"
#include "plan/overlap.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

bool may_alias(facts::InPlace in_place, std::size_t input) {
  switch (in_place) {
    case facts::InPlace::first_input:
      return input == 0;
    case facts::InPlace::one_input:
    case facts::InPlace::any_input:
      return true;
    case facts::InPlace::each_output_but_training_step:
      return input != 4;  // TrainingStepTensor
    case facts::InPlace::none:
      break;
  }
  return false;
}

Requirement tensor_requirement(const Work& work, const TensorBinding& tensor) {
  return {work, tensor.name, tensor.bytes, tensor.alignment, false};
}

}  // namespace

Execution::Execution(std::shared_ptr<DmlCore> core, GraphDef& def, bool late_bindings)
    : Work(std::move(core), def.surface.kind),
      surface_(std::move(def.surface)),
      late_bindings_(late_bindings),
      nodes_(def.graph.nodes.size()) {
  set_name(std::move(def.name));
}

Execution::~Execution() {
  const CoreDevice& device = core().device();
  if (constants_.handle != nullptr) {
    device.backend->release(device.handle, MemoryKind::temporary, plans_.constant_bytes, constants_.handle);
  }
}

Status Execution::from_backend(const BackendStatus& status) const {
  return status.code == BackendCode::ok ? Status() : anydml::from_backend(label(), *core().device().backend, status);
}

Status Execution::keep_constants(std::span<const std::span<const std::byte>> constants) {
  const CoreDevice& device = core().device();
  if (plans_.constant_bytes == 0) {
    return {};
  }
  ANYDML_TRY(
      from_backend(device.backend->allocate(device.handle, MemoryKind::temporary, plans_.constant_bytes, &constants_)));
  BackendQueue* queue = nullptr;
  ANYDML_TRY(from_backend(device.backend->create_queue(device.handle, &queue)));
  BackendStatus status{BackendCode::ok, nullptr};
  for (std::size_t i = 0; i < constants.size() && status.code == BackendCode::ok; ++i) {
    status = device.backend->copy(queue, {constants_.handle, plans_.constants[i]}, location_at(constants[i].data()),
                                  constants[i].size());
  }
  // The application may reuse the data as soon as the call returns.
  BackendMark* mark = nullptr;
  const BackendStatus marked = device.backend->mark(queue, &mark);
  if (mark != nullptr) {
    const BackendStatus waited = device.backend->wait(mark);
    device.backend->destroy_mark(mark);
    status = status.code == BackendCode::ok ? waited : status;
  }
  device.backend->destroy_queue(queue);
  return from_backend(status.code == BackendCode::ok ? marked : status);
}

Status Execution::compile_plans(const GraphDef& def, const CompileOptions& options) {
  const bool shown = log_enabled(LogLevel::graph) && surface_.def == nullptr;
  std::string text;
  auto programs = compile_programs(def.graph, core().device(), label(), shown ? &text : nullptr, options);
  ANYDML_TRY(programs);
  if (shown) {
    log_line(LogLevel::graph, "graph\n", graph_text(def.graph), text);
  }
  plans_ = std::move(programs.value().plans);
  initialize_ = std::move(programs.value().initialize);
  program_ = std::move(programs.value().run);
  const auto temporary = checked_align_bytes(program_.temporary_bytes(), kResourceAlignment);
  if (!temporary || !checked_align_bytes(initialize_.temporary_bytes(), kResourceAlignment)) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: the size of its temporary memory overflows 64 bits", label())};
  }
  properties_.PersistentResourceSize = plans_.persistent_bytes;
  properties_.TemporaryResourceSize = *temporary;
  properties_.RequiredDescriptorCount =
      surface_.tensor_count() + (has_persistent() ? 1U : 0U) + (has_temporary() ? 1U : 0U);
  return keep_constants(def.constants);
}

Result<ComPtr<Execution>> Execution::compile(std::shared_ptr<DmlCore> core, GraphDef def, bool late_bindings,
                                             const CompileOptions& options) {
  auto created = ComPtr<Execution>::adopt(new Execution(std::move(core), def, late_bindings));
  ANYDML_TRY(created->compile_plans(def, options));
  return created;
}

template <class Use>
BackendStatus Execution::with_addresses(const DeviceAddress* inputs, DeviceAddress persistent,
                                        const DeviceAddress* outputs, DeviceAddress temporary,
                                        const Use& use) const noexcept {
  // Enough stack space for the tensors of real networks, so that running them does not allocate.
  constexpr std::size_t kFew = 512;
  DeviceAddress few[kFew];
  std::unique_ptr<DeviceAddress[]> many;
  if (plans_.slots() > kFew) {
    many.reset(new (std::nothrow) DeviceAddress[plans_.slots()]);
    if (many == nullptr) {
      return {BackendCode::out_of_memory, "no memory for the addresses of tensors"};
    }
  }
  DeviceAddress* const addresses = many != nullptr ? many.get() : few;
  std::copy_n(inputs, plans_.inputs, addresses);
  addresses[plans_.persistent_slot()] = persistent;
  addresses[plans_.constants_slot()] = constants_.address;
  for (std::uint32_t i = 0; i < plans_.outputs; ++i) {
    addresses[plans_.output_slot(i)] = outputs != nullptr ? outputs[i] : 0;
  }
  addresses[plans_.temporary_slot()] = temporary;
  return use(addresses);
}

BackendStatus Execution::initialize(BackendQueue* queue, const DeviceAddress* inputs, const MemoryLocation* locations,
                                    const BoundMemory& persistent, DeviceAddress temporary) const noexcept {
  const CoreDevice& device = core().device();
  for (const GraphPlans::KeptInput& kept : plans_.kept) {
    const MemoryLocation to = {persistent.location.block, persistent.location.offset + kept.offset};
    const BackendStatus status = device.backend->copy(queue, to, locations[kept.input], kept.bytes);
    if (status.code != BackendCode::ok) {
      return status;
    }
  }
  if (!initialize_) {
    return {BackendCode::ok, nullptr};
  }
  return with_addresses(inputs, persistent.address, nullptr, temporary, [&](const DeviceAddress* addresses) {
    return device.backend->run(queue, initialize_.get(), addresses, nullptr);
  });
}

std::string Execution::bind_tensors(std::size_t first, std::uint32_t tensors, UINT count, const DML_BINDING_DESC* given,
                                    Bindings& bindings) const {
  for (UINT i = 0; i < tensors; ++i) {
    const TensorBinding& tensor = surface_.tensors[first + i];
    const Requirement requirement = tensor_requirement(*this, tensor);
    ResolvedDescriptor taken{};
    if (count != 0) {
      if (std::string what = take_binding(core(), requirement, given[i], taken); !what.empty()) {
        return what;
      }
      const bool bound = taken.descriptor.kind != DescriptorKind::none;
      if (bound && !tensor.present && surface_.def != nullptr) {  // a graph's unread inputs may be bound
        return wrong(requirement,
                     format_text("a {} is bound to a tensor that is absent; expected DML_BINDING_TYPE_NONE, since the "
                                 "operator was created without it",
                                 core().buffer_text(taken.descriptor.buffer)));
      }
      if (bound && tensor.owned) {
        return wrong(requirement,
                     format_text("a {} is bound to a tensor that DirectML owns; expected DML_BINDING_TYPE_NONE, since "
                                 "it was bound at initialization",
                                 core().buffer_text(taken.descriptor.buffer)));
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
  const std::uint32_t inputs = surface_.input_count;
  if (count != 0 && (given == nullptr || count != inputs)) {
    return format_text("{}: {}; expected {} binding{}, one for each input tensor", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), inputs,
                       inputs == 1 ? "" : "s");
  }
  return bind_tensors(0, inputs, count, given, bindings);
}

std::string Execution::bind_outputs(UINT count, const DML_BINDING_DESC* given, Bindings& bindings) const {
  const std::uint32_t outputs = surface_.output_count();
  if (count != 0 && (given == nullptr || count != outputs)) {
    return format_text("{}: {}; expected {} binding{}", label(),
                       given == nullptr ? "bindings is null" : format_text("bindingCount is {}", count), outputs,
                       outputs == 1 ? ", for the output tensor" : "s, one for each output tensor");
  }
  return bind_tensors(surface_.input_count, outputs, count, given, bindings);
}

std::string Execution::bind_persistent(const DML_BINDING_DESC* given, Bindings& bindings) const {
  ResolvedDescriptor taken{};
  if (given != nullptr) {
    if (std::string what = take_binding(core(), persistent_requirement(*this), *given, taken); !what.empty()) {
      return what;
    }
  }
  if (has_persistent()) {  // otherwise the binding is not needed
    bindings[persistent_slot()] = taken;
  }
  return {};
}

std::string Execution::check_in_place(const ResolvedDescriptor* bindings, std::size_t input, std::size_t output) const {
  const TensorBinding& to = surface_.tensors[output];
  const Area from_area = area_of(bindings[input], surface_.tensors[input].bytes);
  const Area to_area = area_of(bindings[output], to.bytes);
  if (!intersect(from_area, to_area)) {
    return {};
  }
  const bool may_replace = std::ranges::any_of(plans_.in_place, [&](const GraphPlans::InPlace& pair) {
    return pair.input == input && pair.output + surface_.input_count == output;
  });
  if (may_replace && identical(from_area, to_area)) {
    return {};
  }
  const Requirement requirement = tensor_requirement(*this, surface_.tensors[input]);
  const auto where = [&] { return core().in_buffer(to_area.buffer); };
  if (surface_.def == nullptr || !may_alias(surface_.def->desc.op->in_place, input)) {
    return wrong(requirement, format_text("overlaps {}{}; expected separate ranges, since {} does not work in place",
                                          to.name, where(), surface_.def == nullptr ? "a graph" : "the operator"));
  }
  if (!identical(from_area, to_area)) {
    return wrong(requirement,
                 format_text("bytes {} to {} overlap {}, which has {} to {}{}; expected the same bytes, or none in "
                             "common",
                             from_area.first, from_area.end, to.name, to_area.first, to_area.end, where()));
  }
  const TensorDesc& tensor = surface_.def->desc.tensors[input].tensor;
  const TensorDesc& result = surface_.def->desc.tensors[output].tensor;
  if (!same_layout(tensor, result)) {
    return wrong(
        requirement,
        format_text("overlaps {}{} with strides {} instead of {}; expected the same layout to work in place", to.name,
                    where(), shape_text(tensor.strides, tensor.rank), shape_text(result.strides, tensor.rank)));
  }
  return {};
}

template <class IsLookedAt>
std::string Execution::check_outputs(const ResolvedDescriptor* bindings, const IsLookedAt& is_looked_at) const {
  const std::uint32_t tensors = surface_.tensor_count();
  for (std::size_t output = surface_.input_count; output < tensors; ++output) {
    const TensorBinding& to = surface_.tensors[output];
    if (!to.present || !is_looked_at(output)) {
      continue;
    }
    for (std::size_t input = 0; input < surface_.input_count; ++input) {
      if (surface_.tensors[input].present && !surface_.tensors[input].owned) {
        if (std::string what = check_in_place(bindings, input, output); !what.empty()) {
          return what;
        }
      }
    }
    const Area area = area_of(bindings[output], to.bytes);
    for (std::size_t other = output + 1; other < tensors; ++other) {
      const TensorBinding& second = surface_.tensors[other];
      if (second.present && intersect(area, area_of(bindings[other], second.bytes))) {
        return wrong(tensor_requirement(*this, second),
                     format_text("overlaps {}{}; expected a range of its own", to.name, core().in_buffer(area.buffer)));
      }
    }
    if (has_persistent() && intersect(area_of(bindings[tensors], properties_.PersistentResourceSize), area)) {
      return wrong(persistent_requirement(*this),
                   format_text("overlaps {}{}; expected a range of its own", to.name, core().in_buffer(area.buffer)));
    }
  }
  return {};
}

[[gnu::cold]] std::string Execution::check_many_hazards(const ResolvedDescriptor* bindings) const {
  const std::uint32_t tensors = surface_.tensor_count();
  std::vector<ByteRange> ranges(tensors + std::size_t{1});
  const auto range_of = [](const Area& area, bool written) {
    return ByteRange{.buffer = area.buffer, .first = area.first, .end = area.end, .written = written};
  };
  for (std::size_t i = 0; i < tensors; ++i) {
    const TensorBinding& tensor = surface_.tensors[i];
    const bool is_output = i >= surface_.input_count;
    if (tensor.present && (is_output || !tensor.owned)) {
      ranges[i] = range_of(area_of(bindings[i], tensor.bytes), is_output);
    }
  }
  if (has_persistent()) {
    ranges[tensors] = range_of(area_of(bindings[tensors], properties_.PersistentResourceSize), false);
  }
  const std::vector<bool> conflicts = find_conflicts(ranges);
  return check_outputs(bindings, [&](std::size_t output) { return bool{conflicts[output]}; });
}

std::string Execution::check_hazards(const ResolvedDescriptor* bindings) const {
  // Networks have hundreds of inputs and one output, so the few pairs fit on the stack.
  constexpr std::size_t kFewPairs = 1024;
  return std::size_t{surface_.output_count()} * surface_.tensor_count() > kFewPairs
             ? check_many_hazards(bindings)
             : check_outputs(bindings, [](std::size_t) { return true; });
}

std::string Execution::check_all(const ResolvedDescriptor* bindings) const {
  const std::uint32_t tensors = surface_.tensor_count();
  for (std::uint32_t i = 0; i < tensors; ++i) {
    if (surface_.tensors[i].owned || !surface_.tensors[i].present) {
      continue;
    }
    if (std::string what = check_present(core(), tensor_requirement(*this, surface_.tensors[i]), bindings[i]);
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
  // A temporary binding that is not needed must not overlap anything, so its whole range is checked.
  const Area area =
      area_of(temporary, has_temporary() ? properties_.TemporaryResourceSize : temporary.descriptor.bytes);
  for (std::size_t i = 0; i < temporary_slot(); ++i) {
    const bool is_tensor = i < persistent_slot();
    const std::uint64_t bytes = is_tensor ? surface_.tensors[i].bytes : properties_.PersistentResourceSize;
    if (bindings[i].descriptor.kind != DescriptorKind::none && intersect(area, area_of(bindings[i], bytes))) {
      return wrong(temporary_requirement(*this),
                   format_text("overlaps {}{}; expected a range of its own",
                               is_tensor ? surface_.tensors[i].name : std::string("the persistent resource"),
                               core().in_buffer(area.buffer)));
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
    const DeviceAddress where = persistent_address_.load(std::memory_order_acquire);
    if (where != 0 && where != bindings[surface_.tensor_count()].address) {
      return wrong(persistent_requirement(*this), "is not the one that the operator was initialized with");
    }
  }
  return {};
}

bool Execution::run_uninitialized() noexcept {
  com_boundary("ExecuteCommandLists", [&]() -> HRESULT {
    if (has_persistent()) {
      core().remove(E_INVALIDARG, "ExecuteCommandLists: " + label() +
                                      ": it has a persistent resource and was executed before it was "
                                      "initialized; expected an initializer's dispatch before it; the "
                                      "DirectML device is removed");
    } else if (!warned_.exchange(true)) {
      core().warn(("ExecuteCommandLists: " + label() +
                   ": it was never initialized; it does not need to be and runs, but "
                   "other implementations may refuse")
                      .c_str());
    }
    return S_OK;
  });
  if (has_persistent()) {  // this is reached if memory ran out during the report above
    core().remove(E_INVALIDARG, "ExecuteCommandLists: an operator was executed before it was initialized");
  }
  return !has_persistent();
}

BindingUse Execution::binding_use(std::uint32_t descriptor) noexcept {
  if (descriptor < surface_.tensor_count()) {
    const TensorBinding& tensor = surface_.tensors[descriptor];
    const bool is_input = descriptor < surface_.input_count;
    return {!tensor.present || tensor.owned ? BindingUse::Access::none
            : is_input                      ? BindingUse::Access::read
                                            : BindingUse::Access::write,
            tensor.bytes, tensor.name.c_str(), tensor.has_gaps};
  }
  return has_persistent() && descriptor == persistent_slot()
             ? BindingUse{BindingUse::Access::read, properties_.PersistentResourceSize, "persistent resource"}
             : BindingUse{BindingUse::Access::write, properties_.TemporaryResourceSize, "temporary resource"};
}

void Execution::run(BackendQueue* queue, const DeviceAddress* bound, const MemoryLocation*) noexcept {
  if (core().removed()) {
    return;
  }
  if (!initialized_.load(std::memory_order_acquire) && !run_uninitialized()) {
    return;
  }
  const CoreDevice& device = core().device();
  log_dispatch(*device.backend, program_.get(), [&](std::string_view kernels) {
    return surface_.def != nullptr ? dispatch_text(surface_.def->desc, device.info->name, kernels)
                                   : format_text("dispatch {} of {} nodes in {} steps on {}: {}", label(), nodes_,
                                                 plans_.steps, device.info->name, kernels);
  });
  const BackendStatus status = with_addresses(
      bound, has_persistent() ? bound[persistent_slot()] : 0, bound + surface_.input_count,
      has_temporary() ? bound[temporary_slot()] : 0,
      [&](const DeviceAddress* slots) { return device.backend->run(queue, program_.get(), slots, nullptr); });
  if (status.code != BackendCode::ok) {
    core().remove(status);
  }
}

}  // namespace anydml
