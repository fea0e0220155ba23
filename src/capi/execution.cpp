// SPDX-License-Identifier: MIT
#include "capi/execution.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/shape.h"
#include "capi/copies.h"
#include "capi/device_memory.h"
#include "capi/run.h"
#include "plan/overlap.h"
#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

// Every element must have a valid address; an empty tensor needs none.
Status check_addresses(const Surface& surface, const Addresses& addresses) {
  for (std::size_t i = 0; i < surface.tensors.size() && !surface.empty; ++i) {
    const OpTensor& tensor = surface.tensors[i];
    if (tensor.reach.first == tensor.reach.end) {  // absent or empty
      continue;
    }
    if (addresses[i] == 0) {
      return invalid(surface, tensor, "data is null; expected the address of the element at index 0");
    }
    const std::uintptr_t address = addresses[i];
    if (address + static_cast<std::uintptr_t>(tensor.reach.first) > address ||
        address + static_cast<std::uintptr_t>(tensor.reach.end) < address) {
      return invalid(surface, tensor,
                     format_text("strides {} with sizes {} extend past the end of the address space",
                                 shape_text(tensor.tensor.strides, tensor.tensor.rank),
                                 shape_text(tensor.tensor.sizes, tensor.tensor.rank)));
    }
  }
  return {};
}

// The first later output that shares memory with this one, or the number of tensors if there is none.
std::size_t find_sharing_output(const Surface& surface, const Addresses& addresses, std::size_t output) {
  const OpTensor& one = surface.tensors[output];
  const std::uintptr_t one_address = addresses[output];
  for (std::size_t i = output + 1; i < surface.tensors.size(); ++i) {
    const OpTensor& other = surface.tensors[i];
    const std::uintptr_t other_address = addresses[i];
    if (one.present && other.present && ranges_meet(one_address, one.reach, other_address, other.reach) &&
        find_sharing(one.tensor, one_address, other.tensor, other_address) != Sharing::disjoint) {
      return i;
    }
  }
  return surface.tensors.size();
}

[[gnu::cold]] Error shared_output(const Surface& surface, std::size_t one, std::size_t other) {
  return invalid(surface, surface.tensors[other],
                 format_text("overlaps {}; expected memory of its own", surface.tensors[one].name));
}

// This function is cold, like the other paths for many tensors. Nearly all calls have few tensors, and the code for
// these calls stays together.
[[gnu::cold]] Status check_many_outputs(const Surface& surface, const Addresses& addresses) {
  std::vector<TensorAt> outputs;
  outputs.reserve(surface.tensors.size() - surface.input_count);
  for (std::size_t i = surface.input_count; i < surface.tensors.size(); ++i) {
    const OpTensor& output = surface.tensors[i];
    outputs.push_back({output.present ? &output.tensor : nullptr, addresses[i]});
  }
  const std::vector<bool> candidates = find_sharing_candidates(outputs);
  for (std::size_t i = surface.input_count; i < surface.tensors.size(); ++i) {
    if (candidates[i - surface.input_count]) {
      if (const std::size_t other = find_sharing_output(surface, addresses, i); other != surface.tensors.size()) {
        return shared_output(surface, i, other);
      }
    }
  }
  return {};
}

// Two outputs must not share memory, because their results would overwrite each other.
Status check_outputs(const Surface& surface, const Addresses& addresses) {
  if (surface.tensors.size() - surface.input_count > kFewRanges) {
    return check_many_outputs(surface, addresses);
  }
  for (std::size_t i = surface.input_count; i + 1 < surface.tensors.size(); ++i) {
    if (const std::size_t other = find_sharing_output(surface, addresses, i); other != surface.tensors.size()) {
      return shared_output(surface, i, other);
    }
  }
  return {};
}

// Whether this input is the memory of an output that may replace it. No other output overlaps such an input.
bool is_replaced(const anydml_compiled& compiled, const Addresses& addresses, std::size_t input) {
  return std::ranges::any_of(compiled.in_place, [&](const GraphPlans::InPlace& pair) {
    return pair.input == input && addresses[input] == addresses[compiled.surface.input_count + pair.output];
  });
}

// Adds inputs that share memory with an output. Used if there are many tensors.
[[gnu::cold]] void add_conflicting_inputs(const anydml_compiled& compiled, const Addresses& addresses,
                                          OperandSet& operands) {
  const Surface& surface = compiled.surface;
  std::vector<ByteRange> ranges;
  ranges.reserve(surface.tensors.size());
  for (std::size_t i = 0; i < surface.tensors.size(); ++i) {
    const bool is_apart = i < surface.input_count && is_replaced(compiled, addresses, i);
    const Reach reach = is_apart ? Reach{} : surface.tensors[i].reach;
    ranges.push_back({.first = addresses[i] + static_cast<std::uintptr_t>(reach.first),
                      .end = addresses[i] + static_cast<std::uintptr_t>(reach.end),
                      .written = i >= surface.input_count});
  }
  const std::vector<bool> conflicts = find_conflicts(ranges);
  for (std::size_t i = 0; i < surface.input_count; ++i) {
    if (conflicts[i]) {
      operands.add(i);
    }
  }
}

// Adds a graph's inputs that share memory with an output. A graph may read any byte between the first and last bytes of
// an input.
void add_overlapping_inputs(const anydml_compiled& compiled, const Addresses& addresses, OperandSet& operands) {
  const Surface& surface = compiled.surface;
  if (surface.tensors.size() > kFewRanges) {
    return add_conflicting_inputs(compiled, addresses, operands);
  }
  for (std::size_t i = 0; i < surface.input_count; ++i) {
    for (std::size_t o = surface.input_count; o < surface.tensors.size(); ++o) {
      if (ranges_meet(addresses[i], surface.tensors[i].reach, addresses[o], surface.tensors[o].reach) &&
          !is_replaced(compiled, addresses, i)) {
        operands.add(i);
      }
    }
  }
}

// Adds operands in CPU memory that the device cannot access.
Status add_unreached(const anydml_compiled& compiled, const Addresses& addresses, OperandSet& operands) {
  const Device& device = *compiled.device;
  const Surface& surface = compiled.surface;
  if (device.info.unified_memory != 0 || surface.empty) {
    return {};
  }
  for (std::size_t i = 0; i < surface.tensors.size(); ++i) {
    const OpTensor& tensor = surface.tensors[i];
    if (tensor.reach.first == tensor.reach.end) {
      continue;
    }
    if (device.info.shares_addresses == 0) {
      const auto found = device.named.find(pointer_of(addresses[i]));  // the element at index 0 always exists
      const auto before = static_cast<std::uint64_t>(-tensor.reach.first);
      const auto after = static_cast<std::uint64_t>(tensor.reach.end);
      if (!found) {
        operands.add(i);
      } else if (found->before < before || found->after < after) {
        return invalid(
            surface, tensor,
            format_text("needs {} bytes before its address and {} from there on; its memory on device {} has "
                        "{} and {}",
                        before, after, device.info.name, found->before, found->after));
      }
      continue;
    }
    switch (device.backend->access(device.handle, pointer_of(addresses[i]) + tensor.reach.first)) {
      case Access::direct:
        break;
      case Access::by_copy:
        operands.add(i);
        break;
      case Access::none:
        return invalid(surface, tensor,
                       format_text("data is memory that device {} cannot access; expected its own, or the CPU's",
                                   device.info.name));
    }
  }
  return {};
}

// Finds the operands that a run with these addresses must copy because the device cannot access them. add_overlaps adds
// the operands that an output would overwrite.
Result<OperandSet> find_unreached(const anydml_compiled& compiled, const Addresses& addresses) {
  const Surface& surface = compiled.surface;
  ANYDML_TRY(check_addresses(surface, addresses));
  ANYDML_TRY(check_outputs(surface, addresses));
  OperandSet copied(surface.tensors.size());
  ANYDML_TRY(add_unreached(compiled, addresses, copied));
  return copied;
}

// Adds an operator's inputs that share memory with an output in a way that the operator does not allow.
void add_inputs_in_the_way(const anydml_compiled& compiled, const Addresses& addresses, OperandSet& operands) {
  const OpDesc& desc = *compiled.desc;
  for (std::size_t i = 0; i < desc.input_count; ++i) {
    for (std::size_t o = desc.input_count; o < desc.tensors.size(); ++o) {
      const OpTensor& input = desc.tensors[i];
      const OpTensor& output = desc.tensors[o];
      const std::uintptr_t from = addresses[i];
      const std::uintptr_t to = addresses[o];
      if (input.present && output.present && ranges_meet(from, input.reach, to, output.reach) &&
          !is_replaced(compiled, addresses, i)) {
        const Sharing sharing = find_sharing(input.tensor, from, output.tensor, to);
        const bool allowed = sharing == Sharing::disjoint ||
                             (sharing == Sharing::identical && compiled.writes_last && may_be_in_place(desc, i));
        if (!allowed) {
          operands.add(i);
        }
      }
    }
  }
}

// Adds the operands that must be copied because an output would overwrite them.
void add_overlaps(const anydml_compiled& compiled, const Addresses& addresses, OperandSet& copied) {
  if (compiled.graph) {
    add_overlapping_inputs(compiled, addresses, copied);
  } else {
    add_inputs_in_the_way(compiled, addresses, copied);
  }
}

// Whether most bytes in the tensor's range belong to no element. A copy of the whole range would need several times the
// memory, and would read bytes that do not belong to the tensor. 4-bit elements are not copied one by one.
bool is_sparse(const OpTensor& tensor) {
  return tensor.present && !is_four_bits(tensor.tensor.type) &&
         bytes_of(tensor.reach) / 2 > static_cast<std::uint64_t>(packed_bytes(without_repeats(tensor.tensor)));
}

// Packs the tensor. Repeated elements stay repeated.
bool pack(OpTensor& tensor) {
  TensorDesc packed = without_repeats(tensor.tensor);
  if (!set_packed_strides(packed)) {
    return false;
  }
  for (std::uint32_t i = 0; i < packed.rank; ++i) {
    tensor.tensor.strides[i] = tensor.tensor.strides[i] == 0 ? 0 : packed.strides[i];
  }
  tensor.reach = reach_of(tensor.tensor);
  return true;
}

// Returns an operator to run instead of the compiled one. It packs copied outputs that have gaps, and copied inputs
// that consist mostly of gaps. Returns null if the compiled operator itself can run.
Result<std::unique_ptr<anydml_compiled>> specialized(const anydml_compiled& compiled, const OperandSet& copied) {
  if (compiled.graph) {
    return std::unique_ptr<anydml_compiled>();
  }
  OpDesc desc = *compiled.desc;
  bool changed = false;
  for (std::size_t i = 0; i < desc.tensors.size(); ++i) {
    OpTensor& tensor = desc.tensors[i];
    if (copied.has(i) && (i < desc.input_count ? is_sparse(tensor) : !is_dense(tensor.tensor))) {
      changed = true;
      if (!pack(tensor)) {
        return invalid(compiled.surface, tensor, "is too large");
      }
    }
  }
  if (!changed) {
    return std::unique_ptr<anydml_compiled>();
  }
  return compile(*compiled.device, std::move(desc));
}

// Replaces the pointers with the addresses that programs use, except for copied operands.
[[gnu::cold]] Addresses on_device(const anydml_compiled& compiled, const OperandSet& copied, Addresses addresses) {
  for (std::size_t i = 0; i < compiled.surface.tensors.size(); ++i) {
    const Reach reach = compiled.surface.tensors[i].reach;
    if (!copied.has(i) && reach.first != reach.end) {
      addresses[i] = address_on(*compiled.device, pointer_of(addresses[i]), reach).value_or(0);
    }
  }
  return addresses;
}

// Finishes the run before its memory is released, on every path out of the function.
class FinishBefore {
 public:
  explicit FinishBefore(Run& run) : run_(run) {}
  ~FinishBefore() { static_cast<void>(run_.finish()); }
  FinishBefore(const FinishBefore&) = delete;
  FinishBefore& operator=(const FinishBefore&) = delete;

 private:
  Run& run_;
};

// Runs the program, and waits if the run needs memory that can only be freed afterwards. addresses: the callers'
// pointers to the operands. reached: the addresses that programs use for operands that are not copied.
Status run_with(Run& run, const anydml_compiled& compiled, const OperandSet& copied, const Addresses& addresses,
                const Addresses& reached) {
  if (!copied.any() && compiled.temporary_bytes == 0) {
    return run.run(compiled, reached);
  }
  const Device& device = *compiled.device;
  std::unique_ptr<anydml_compiled> created;
  if (copied.any()) {
    auto other = specialized(compiled, copied);
    ANYDML_TRY(other);
    created = std::move(other.value());
  }
  const anydml_compiled& program = created != nullptr ? *created : compiled;
  std::optional<Copies> copies;
  std::uint64_t bytes = program.temporary_bytes;
  if (copied.any()) {
    copies.emplace(compiled, program, copied);
    const auto placed = copies->assign_locations(bytes);
    ANYDML_TRY(placed);
    bytes = placed.value();
  }
  if (!copies) {
    // Memory that is allocated in queue order can be freed without waiting.
    auto memory = run.memory_in_order(bytes);
    ANYDML_TRY(memory);
    if (memory.value()) {
      Addresses inside = reached;
      inside[compiled.surface.tensors.size()] = memory.value().address();
      return run.run(program, inside);
    }
  }
  Temporary temporary(device);
  ANYDML_TRY(from_backend(compiled.surface.label, *device.backend, temporary.allocate(bytes)));
  const FinishBefore finish_before(run);
  Addresses inside = reached;
  inside[compiled.surface.tensors.size()] = temporary.address();
  if (copies) {
    ANYDML_TRY(copies->bring(run, addresses, temporary, inside));
  }
  ANYDML_TRY(run.run(program, inside));
  if (copies) {
    ANYDML_TRY(copies->take_back(run, addresses, temporary));
  }
  ANYDML_TRY(run.finish());
  return copies ? copies->spread(addresses) : Status();
}

Status run_at(Run& run, const anydml_compiled& compiled, const OperandSet& copied, const Addresses& addresses) {
  return compiled.device->info.shares_addresses != 0
             ? run_with(run, compiled, copied, addresses, addresses)
             : run_with(run, compiled, copied, addresses, on_device(compiled, copied, addresses));
}

// Whether the device uses any operand in place. The default stream orders accesses to such memory.
bool has_own_memory(const anydml_compiled& compiled, const OperandSet& copied) {
  for (std::size_t i = 0; i < compiled.surface.tensors.size(); ++i) {
    if (compiled.surface.tensors[i].present && !copied.has(i)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Status Run::run(const anydml_compiled& compiled, const Addresses& addresses) {
  log_dispatch(*device_.backend, compiled.program.get(), [&](std::string_view kernels) {
    return compiled.desc ? dispatch_text(*compiled.desc, device_.info.name, kernels)
                         : format_text("dispatch graph of {} nodes in {} steps on {}: {}", compiled.graph->nodes,
                                       compiled.graph->steps, device_.info.name, kernels);
  });
  if (!compiled.graph && compiled.persistent == nullptr) {
    return run(compiled.program.get(), addresses.data());
  }
  // In a graph's plan, the slots of the graph's own memory follow the temporary slot.
  const std::size_t count = compiled.surface.tensors.size() + 1;
  Addresses slots(count + 1 + (compiled.graph ? compiled.graph->shared.size() : 0));
  std::copy_n(addresses.data(), count, slots.data());
  const auto address_of = [](const std::shared_ptr<DeviceMemory>& memory) {
    return memory != nullptr ? memory->address() : 0;
  };
  slots[count] = address_of(compiled.graph ? compiled.graph->persistent : compiled.persistent);
  slots[count + 1] = compiled.graph ? address_of(compiled.graph->constants) : 0;
  if (compiled.graph) {
    std::ranges::copy(compiled.graph->shared, slots.data() + count + 2);
  }
  return run(compiled.program.get(), slots.data());
}

namespace {

Status keep_constant(anydml_compiled& compiled, const ConstantInput& constant) {
  const OpTensor& tensor = compiled.surface.tensors[constant.input];
  if (constant.data == nullptr && element_count(tensor.tensor) != 0) {
    return invalid(compiled.surface, tensor, "data is null; expected the data of a constant");
  }
  const Device& device = *compiled.device;
  const std::uint64_t bytes = bytes_of(tensor.reach);
  auto memory = DeviceMemory::allocate(device, compiled.surface.label, bytes, DeviceMemory::Named::yes);
  ANYDML_TRY(memory);
  std::byte* const pointer = memory.value()->pointer() - tensor.reach.first;
  const auto& kept = compiled.constants.emplace_back(constant.input, std::move(memory.value()), pointer);
  Run run(device, compiled.surface.label);
  ANYDML_TRY(run.begin());
  ANYDML_TRY(run.copy(kept.memory->location(0),
                      location_of(device, static_cast<const std::byte*>(constant.data) + tensor.reach.first), bytes));
  return run.finish();
}

// Computes the values that depend only on constants, and copies the constants that the operator reads in every run.
Status fold_constants(anydml_compiled& compiled, const GraphPrograms& programs) {
  const GraphPlans& plans = programs.plans;
  const Device& device = *compiled.device;
  const std::string_view label = compiled.surface.label;
  if (plans.persistent_bytes == 0) {
    return {};
  }
  auto persistent = DeviceMemory::allocate(device, label, plans.persistent_bytes, DeviceMemory::Named::no);
  ANYDML_TRY(persistent);
  compiled.persistent = std::move(persistent.value());
  Temporary temporary(device);
  if (const std::uint64_t bytes = programs.initialize.temporary_bytes(); bytes != 0) {
    ANYDML_TRY(from_backend(label, *device.backend, temporary.allocate(bytes)));
  }
  std::vector<DeviceAddress> slots(plans.slots());  // here, an input's slot contains the address of its first byte
  std::vector<const DeviceMemory*> inputs(compiled.surface.input_count);
  for (const anydml_compiled::Constant& constant : compiled.constants) {
    inputs[constant.input] = constant.memory.get();
    slots[constant.input] = constant.memory->address();
  }
  slots[plans.temporary_slot()] = temporary.address();
  slots[plans.persistent_slot()] = compiled.persistent->address();
  Run run(device, label);
  ANYDML_TRY(run.begin());
  for (const GraphPlans::KeptInput& kept : plans.kept) {
    ANYDML_TRY(run.copy(compiled.persistent->location(kept.offset), inputs[kept.input]->location(0), kept.bytes));
  }
  if (programs.initialize) {
    ANYDML_TRY(run.run(programs.initialize.get(), slots.data()));
  }
  return run.finish();
}

}  // namespace

Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc,
                                                 std::span<const ConstantInput> constants,
                                                 const CompileOptions& options) {
  auto compiled = std::make_unique<anydml_compiled>(device);
  compiled->desc = std::make_shared<const OpDesc>(std::move(desc));
  const OpDesc& kept = *compiled->desc;
  Graph graph = graph_of(compiled->desc);
  for (const ConstantInput& constant : constants) {
    if (constant.input < kept.input_count && kept.tensors[constant.input].present) {
      // The constant's bytes start at its lowest address, which may differ from the address of the element at index 0.
      graph.inputs[constant.input].owned = true;
      graph.nodes.front().sources[constant.input].offset = -kept.tensors[constant.input].reach.first;
    }
  }
  auto programs = compile_programs(graph, device.core, kept.op->name, nullptr, options);
  ANYDML_TRY(programs);
  compiled->writes_last = programs.value().plans.writes_last;
  compiled->in_place = programs.value().plans.in_place;
  compiled->updated = programs.value().plans.updated;
  compiled->surface = {
      .label = kept.op->name, .tensors = kept.tensors, .input_count = kept.input_count, .empty = kept.empty};
  compiled->program = std::move(programs.value().run);
  compiled->temporary_bytes = compiled->program.temporary_bytes();
  for (const ConstantInput& constant : constants) {
    ANYDML_TRY(keep_constant(*compiled, constant));
  }
  ANYDML_TRY(fold_constants(*compiled, programs.value()));
  return compiled;
}

Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses) {
  auto copied = find_unreached(compiled, addresses);
  ANYDML_TRY(copied);
  // Streams order accesses to the device's own memory, so this call runs after the caller's work on the default stream.
  const bool in_order =
      compiled.device->backend->create_queue_on != nullptr && has_own_memory(compiled, copied.value());
  add_overlaps(compiled, addresses, copied.value());
  Run run(*compiled.device, compiled.surface.label);
  ANYDML_TRY(in_order ? run.begin_on(nullptr) : run.begin());
  ANYDML_TRY(run_at(run, compiled, copied.value(), addresses));
  return run.finish();
}

Status run_on_stream(const anydml_compiled& compiled, BackendStream* stream, const Addresses& addresses) {
  if (compiled.device->backend->create_queue_on == nullptr) {
    return Error{ErrorKind::device,
                 format_text("{}: device {} has no streams", compiled.surface.label, compiled.device->info.name)};
  }
  auto copied = find_unreached(compiled, addresses);
  ANYDML_TRY(copied);
  if (copied.value().any()) {
    return Error{ErrorKind::invalid_argument,
                 format_text("{}: an operand is in the CPU's memory; expected memory that device {} can access, "
                             "since the work continues after the call",
                             compiled.surface.label, compiled.device->info.name)};
  }
  add_overlaps(compiled, addresses, copied.value());
  Run run(*compiled.device, compiled.surface.label);
  ANYDML_TRY(run.begin_on(stream));
  ANYDML_TRY(run_at(run, compiled, copied.value(), addresses));
  run.leave();
  return {};
}

}  // namespace anydml
