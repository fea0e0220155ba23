// SPDX-License-Identifier: MIT
#include "capi/execution.h"

#include <algorithm>
#include <vector>

#include "backend/dispatch_log.h"
#include "base/checked.h"
#include "ops/copy.h"
#include "plan/overlap.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

// Every element's address must exist; an empty tensor has none.
Status check_addresses(const OpDesc& desc, const Addresses& addresses) {
  for (std::size_t i = 0; i < desc.tensors.size() && !desc.empty; ++i) {
    const OpTensor& tensor = desc.tensors[i];
    if (tensor.reach.first == tensor.reach.end) {  // absent, or without an element
      continue;
    }
    if (addresses[i] == nullptr) {
      return invalid(desc, tensor, "data is null; expected the address of the element at index 0");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
    if (address + static_cast<std::uintptr_t>(tensor.reach.first) > address ||
        address + static_cast<std::uintptr_t>(tensor.reach.end) < address) {
      return invalid(desc, tensor,
                     format_text("strides {} with sizes {} reach past the end of the address space",
                                 shape_text(tensor.tensor.strides, tensor.tensor.rank),
                                 shape_text(tensor.tensor.sizes, tensor.tensor.rank)));
    }
  }
  return {};
}

// Two outputs must not share memory: which of them would be there in the end?
Status check_outputs(const OpDesc& desc, const Addresses& addresses) {
  for (std::size_t i = desc.input_count; i < desc.tensors.size(); ++i) {
    for (std::size_t j = i + 1; j < desc.tensors.size(); ++j) {
      const OpTensor& one = desc.tensors[i];
      const OpTensor& other = desc.tensors[j];
      const auto one_address = reinterpret_cast<std::uintptr_t>(addresses[i]);
      const auto other_address = reinterpret_cast<std::uintptr_t>(addresses[j]);
      if (one.present && other.present && ranges_meet(one_address, one.reach, other_address, other.reach) &&
          find_sharing(one.tensor, one_address, other.tensor, other_address) != Sharing::disjoint) {
        return invalid(desc, other, format_text("overlaps {}; expected memory of its own", one.name));
      }
    }
  }
  return {};
}

// Which inputs need staging; checks the addresses on the way.
Result<StagedInputs> staging(const OpDesc& desc, const Addresses& addresses) {
  ANYDML_TRY(check_addresses(desc, addresses));
  ANYDML_TRY(check_outputs(desc, addresses));
  static_assert(sizeof(void*) == sizeof(std::uintptr_t));
  return inputs_to_stage(desc, reinterpret_cast<const std::uintptr_t*>(addresses.data()));
}

// Memory of a device for the length of one run.
class Temporary {
 public:
  explicit Temporary(const Device& device) : device_(device) {}
  ~Temporary() {
    if (address_ != nullptr) {
      device_.backend->release(device_.handle, MemoryKind::temporary, bytes_, address_);
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  BackendStatus allocate(std::uint64_t bytes) {
    bytes_ = bytes;
    return device_.backend->allocate(device_.handle, MemoryKind::temporary, bytes, &address_);
  }
  [[nodiscard]] void* address() const { return address_; }

 private:
  const Device& device_;
  std::uint64_t bytes_ = 0;
  void* address_ = nullptr;
};

// The work of one call on a queue. Nothing it uses may go before finish() has returned.
class Run {
 public:
  Run(const Device& device, const char* op) : device_(device), op_(op) {}
  ~Run() {
    static_cast<void>(finish());  // after a failure, which has been reported
    if (queue_ != nullptr && wrapped_) {
      device_.backend->destroy_queue(queue_);
    } else if (queue_ != nullptr) {
      device_.give_queue_back(queue_);
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // On a queue of the device's own, or on a stream.
  Status begin() {
    auto taken = device_.take_queue();
    ANYDML_TRY(taken);
    queue_ = taken.value();
    return {};
  }
  Status begin_on(void* stream) {
    wrapped_ = true;
    return check(device_.backend->create_queue(device_.handle, stream, &queue_));
  }

  Status copy(void* to, const void* from, std::uint64_t bytes) {
    unfinished_ = true;
    return check(device_.backend->copy(queue_, to, from, bytes));
  }
  [[nodiscard]] BackendQueue* queue() const { return queue_; }
  Status run(const anydml_compiled& compiled, const Addresses& addresses) {
    unfinished_ = true;
    log_dispatch(*device_.backend, compiled.program,
                 [&](std::string_view kernels) { return dispatch_text(compiled.desc, device_.info.name, kernels); });
    return check(device_.backend->run(queue_, compiled.program, addresses.data()));
  }
  // Returns when the work is done.
  Status finish() {
    if (!std::exchange(unfinished_, false)) {
      return {};
    }
    BackendMark* mark = nullptr;
    const Status marked = check(device_.backend->mark(queue_, &mark));
    if (mark == nullptr) {
      return marked;
    }
    const Status waited = check(device_.backend->wait(mark));
    device_.backend->destroy_mark(mark);
    return waited;
  }
  // The work is the stream's now.
  void leave() { unfinished_ = false; }

 private:
  Status check(BackendStatus status) const { return from_backend(op_, *device_.backend, status); }

  const Device& device_;
  const char* op_;
  BackendQueue* queue_ = nullptr;
  bool wrapped_ = false;
  bool unfinished_ = false;
};

// Bit i: operand i is the CPU's memory, which the device does not reach.
using CopiedOperands = std::uint32_t;

Result<CopiedOperands> operands_to_copy(const anydml_compiled& compiled, const Addresses& addresses) {
  const Device& device = *compiled.device;
  const OpDesc& desc = compiled.desc;
  CopiedOperands copied = 0;
  if (device.info.unified_memory != 0 || desc.empty) {
    return copied;
  }
  for (std::size_t i = 0; i < desc.tensors.size(); ++i) {
    if (!desc.tensors[i].present) {
      continue;
    }
    const auto* first = static_cast<const std::byte*>(addresses[i]) + desc.tensors[i].reach.first;
    switch (device.backend->access(device.handle, first)) {
      case Access::direct:
        break;
      case Access::by_copy:
        copied |= CopiedOperands{1} << i;
        break;
      case Access::none:
        return invalid(desc, desc.tensors[i],
                       format_text("data is memory that device {} does not reach; expected its own, or the CPU's",
                                   device.info.name));
    }
  }
  return copied;
}

std::uint64_t bytes_of(Reach reach) { return static_cast<std::uint64_t>(reach.end - reach.first); }

// Whether a tensor's elements are all there is between its first and its last.
bool is_dense(const TensorDesc& tensor, Reach reach) {
  return bytes_of(reach) == static_cast<std::uint64_t>(element_count(tensor)) * element_size(tensor.type);
}

// From the packed copy to where the output is, on the CPU: the bytes between its elements are not ours to write.
Status scatter(const char* op, const TensorDesc& packed, const TensorDesc& tensor, void* from, void* to) {
  const auto cpu = cpu_device();
  ANYDML_TRY(cpu);
  Plan plan(1, 1);
  add_copy(plan, {.tensor = packed, .slot = plan.input_slot(0)}, {.tensor = tensor, .slot = plan.output_slot(0)});
  const BackendTable& backend = *cpu.value()->backend;
  BackendProgram* program = nullptr;
  ANYDML_TRY(from_backend(op, backend,
                          backend.compile(cpu.value()->handle, plan.words().data(), plan.words().size(), &program)));
  Run run(*cpu.value(), op);
  Status status = run.begin();
  if (status) {
    void* const addresses[] = {from, to};
    status = from_backend(op, backend, backend.run(run.queue(), program, addresses));
  }
  backend.destroy(program);
  return status;
}

// Runs with copies in the device's memory of the operands that it does not reach.
Status run_through_copies(const anydml_compiled& compiled, CopiedOperands copied, StagedInputs staged,
                          const Addresses& addresses) {
  const Device& device = *compiled.device;
  const char* op = compiled.desc.op->name.data();
  const auto is_copied = [copied](std::size_t tensor) { return (copied >> tensor & 1) != 0; };
  // An input that is copied shares nothing with the output any more.
  staged &= ~copied;

  OpDesc desc = compiled.desc;
  const std::size_t count = desc.tensors.size();
  std::vector<bool> packed(count);  // outputs with bytes of others between their elements
  for (std::size_t i = desc.input_count; i < count; ++i) {
    OpTensor& output = desc.tensors[i];
    packed[i] = is_copied(i) && !is_dense(output.tensor, output.reach);
    if (packed[i]) {
      if (!set_packed_strides(output.tensor)) {
        return invalid(desc, output, "is too large");
      }
      output.reach = reach_of(output.tensor);
    }
  }
  const anydml_compiled* program = &compiled;
  std::unique_ptr<anydml_compiled> made;
  if (staged != 0 || std::ranges::find(packed, true) != packed.end()) {
    auto other = compile(device, desc, make_plan(desc, staged));
    ANYDML_TRY(other);
    made = std::move(other.value());
    program = made.get();
  }

  // One piece of memory for all, each operand at a multiple of what any kernel asks for.
  constexpr std::uint64_t kAlignment = 256;
  std::vector<std::uint64_t> offsets(count);
  auto bytes = checked_align_bytes(program->temporary_bytes, kAlignment);
  for (std::size_t i = 0; i < count && bytes; ++i) {
    if (is_copied(i)) {
      offsets[i] = *bytes;
      const auto own = checked_align_bytes(bytes_of(desc.tensors[i].reach), kAlignment);
      bytes = own ? checked_add_bytes(*bytes, *own) : std::nullopt;
    }
  }
  if (!bytes) {
    return Error{ErrorKind::out_of_memory,
                 format_text("{}: the tensors reach over more bytes in all than 64 bits count", op)};
  }
  Temporary temporary(device);
  ANYDML_TRY(from_backend(op, *device.backend, temporary.allocate(*bytes)));
  auto* const memory = static_cast<std::byte*>(temporary.address());
  std::vector<std::unique_ptr<std::byte[]>> packed_outputs(count);
  Run run(device, op);
  // What is on the device already is ordered by its default stream; a queue of our own knows nothing of that.
  bool all_copied = true;
  for (std::size_t i = 0; i < count; ++i) {
    all_copied = all_copied && (is_copied(i) || !desc.tensors[i].present);
  }
  ANYDML_TRY(all_copied ? run.begin() : run.begin_on(kDefaultStream));

  Addresses inside = addresses;
  inside[count] = memory;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_copied(i)) {
      continue;
    }
    const Reach reach = desc.tensors[i].reach;
    inside[i] = memory + offsets[i] - reach.first;
    if (i < desc.input_count) {
      ANYDML_TRY(run.copy(memory + offsets[i], static_cast<std::byte*>(addresses[i]) + reach.first, bytes_of(reach)));
    }
  }
  ANYDML_TRY(run.run(*program, inside));
  for (std::size_t i = desc.input_count; i < count; ++i) {
    const Reach reach = desc.tensors[i].reach;
    if (!is_copied(i)) {
      continue;
    }
    void* to = static_cast<std::byte*>(addresses[i]) + reach.first;
    if (packed[i]) {
      packed_outputs[i] = std::make_unique_for_overwrite<std::byte[]>(bytes_of(reach));
      to = packed_outputs[i].get();
    }
    ANYDML_TRY(run.copy(to, memory + offsets[i], bytes_of(reach)));
  }
  ANYDML_TRY(run.finish());
  for (std::size_t i = desc.input_count; i < count; ++i) {
    if (packed[i]) {
      ANYDML_TRY(
          scatter(op, desc.tensors[i].tensor, compiled.desc.tensors[i].tensor, packed_outputs[i].get(), addresses[i]));
    }
  }
  return {};
}

// Runs, with copies of those inputs that share memory with the output, and with what else the plan keeps in between.
Status run_staged(Run& run, const anydml_compiled& compiled, StagedInputs staged, const Addresses& addresses) {
  if (staged == 0 && compiled.temporary_bytes == 0) {
    return run.run(compiled, addresses);
  }
  const Device& device = *compiled.device;
  const anydml_compiled* program = &compiled;
  std::unique_ptr<anydml_compiled> made;
  if (staged != 0) {
    auto other = compile(device, compiled.desc, make_plan(compiled.desc, staged));
    ANYDML_TRY(other);
    made = std::move(other.value());
    program = made.get();
  }
  Temporary temporary(device);
  ANYDML_TRY(from_backend(compiled.desc.op->name, *device.backend, temporary.allocate(program->temporary_bytes)));
  Addresses with_temporary = addresses;
  with_temporary[compiled.desc.tensors.size()] = temporary.address();
  const Status status = run.run(*program, with_temporary);
  const Status finished = run.finish();  // before the temporary goes
  return status ? finished : status;
}

}  // namespace

Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, OpDesc desc, const Plan& plan) {
  auto compiled = std::make_unique<anydml_compiled>();
  compiled->desc = std::move(desc);
  compiled->device = &device;
  compiled->temporary_bytes = plan.temporary_bytes();
  ANYDML_TRY(from_backend(
      desc.op->name, *device.backend,
      device.backend->compile(device.handle, plan.words().data(), plan.words().size(), &compiled->program)));
  return compiled;
}

Status keep_constant(anydml_compiled& compiled, std::size_t input, const void* data) {
  const OpTensor& tensor = compiled.desc.tensors[input];
  const Device& device = *compiled.device;
  if (data == nullptr && element_count(tensor.tensor) != 0) {
    return invalid(compiled.desc, tensor, "data is null; expected the data of a constant");
  }
  anydml_compiled::Constant constant{
      .input = input, .bytes = bytes_of(tensor.reach), .memory = nullptr, .address = nullptr};
  compiled.constants.reserve(compiled.constants.size() + 1);
  ANYDML_TRY(
      from_backend(compiled.desc.op->name, *device.backend,
                   device.backend->allocate(device.handle, MemoryKind::temporary, constant.bytes, &constant.memory)));
  constant.address = static_cast<std::byte*>(constant.memory) - tensor.reach.first;
  compiled.constants.push_back(constant);
  Run run(device, compiled.desc.op->name.data());
  ANYDML_TRY(run.begin());
  ANYDML_TRY(run.copy(constant.memory, static_cast<const std::byte*>(data) + tensor.reach.first, constant.bytes));
  return run.finish();
}

Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses) {
  const auto staged = staging(compiled.desc, addresses);
  ANYDML_TRY(staged);
  const auto copied = operands_to_copy(compiled, addresses);
  ANYDML_TRY(copied);
  if (copied.value() != 0) {
    return run_through_copies(compiled, copied.value(), staged.value(), addresses);
  }
  Run run(*compiled.device, compiled.desc.op->name.data());
  // Memory of the device's own is ordered by its streams: this call comes after what the caller gave the default one.
  ANYDML_TRY(compiled.device->info.unified_memory != 0 ? run.begin() : run.begin_on(kDefaultStream));
  ANYDML_TRY(run_staged(run, compiled, staged.value(), addresses));
  return run.finish();
}

Status run_on_stream(const anydml_compiled& compiled, void* stream, const Addresses& addresses) {
  const auto staged = staging(compiled.desc, addresses);
  ANYDML_TRY(staged);
  const auto copied = operands_to_copy(compiled, addresses);
  ANYDML_TRY(copied);
  if (copied.value() != 0) {
    return Error{ErrorKind::invalid_argument,
                 format_text("{}: an operand is the CPU's memory; expected memory that device {} reaches, since the "
                             "work goes on after the call",
                             compiled.desc.op->name, compiled.device->info.name)};
  }
  Run run(*compiled.device, compiled.desc.op->name.data());
  ANYDML_TRY(run.begin_on(stream != nullptr ? stream : kDefaultStream));
  ANYDML_TRY(run_staged(run, compiled, staged.value(), addresses));
  run.leave();
  return {};
}

}  // namespace anydml
