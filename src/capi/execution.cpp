// SPDX-License-Identifier: MIT
#include "capi/execution.h"

#include <span>

#include "backend/dispatch_log.h"
#include "base/checked.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

// Every element's address must exist; an empty tensor has none.
Status check_addresses(const OpDesc& desc, std::span<void* const> addresses) {
  if (desc.element_count == 0) {
    return {};
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Where where{desc.row->name, desc.row->tensors[i]};
    if (addresses[i] == nullptr) {
      return invalid(where, "data is null; expected the address of the element at index 0");
    }
    const Reach reach = desc.reaches[i];
    const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
    if (address + static_cast<std::uintptr_t>(reach.first) > address ||
        address + static_cast<std::uintptr_t>(reach.end) < address) {
      return invalid(where, format_text("strides {} with sizes {} reach past the end of the address space",
                                        shape_text(desc.tensors[i].strides, desc.tensors[i].rank),
                                        shape_text(desc.tensors[i].sizes, desc.tensors[i].rank)));
    }
  }
  return {};
}

// Which inputs need staging; checks the addresses on the way.
Result<StagedInputs> staging(const OpDesc& desc, const Addresses& addresses) {
  ANYDML_TRY(check_addresses(desc, std::span(addresses.data(), desc.input_count + 1)));
  std::array<std::uintptr_t, kMaxOperands> numbers{};
  for (std::size_t i = 0; i <= desc.input_count; ++i) {
    numbers[i] = reinterpret_cast<std::uintptr_t>(addresses[i]);
  }
  return inputs_to_stage(desc, numbers.data());
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
    log_dispatch(compiled.desc, *device_.backend, device_.info.name, compiled.program);
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
  if (device.info.unified_memory != 0 || desc.element_count == 0) {
    return copied;
  }
  for (std::size_t i = 0; i <= desc.input_count; ++i) {
    const auto* first = static_cast<const std::byte*>(addresses[i]) + desc.reaches[i].first;
    switch (device.backend->access(device.handle, first)) {
      case Access::direct:
        break;
      case Access::by_copy:
        copied |= CopiedOperands{1} << i;
        break;
      case Access::none:
        return invalid({desc.row->name, desc.row->tensors[i]},
                       format_text("data is memory that device {} does not reach; expected its own, or the CPU's",
                                   device.info.name));
    }
  }
  return copied;
}

std::uint64_t bytes_of(Reach reach) { return static_cast<std::uint64_t>(reach.end - reach.first); }

// Whether the output's elements are all there is between its first and its last.
bool is_dense(const OpDesc& desc) {
  return bytes_of(desc.reaches[desc.input_count]) ==
         static_cast<std::uint64_t>(desc.element_count) * element_size(desc.output().type);
}

// From the packed copy to where the output is, on the CPU: the bytes between its elements are not ours to write.
Status scatter(const OpDesc& packed, const OpDesc& desc, void* from, void* to) {
  const auto cpu = cpu_device();
  ANYDML_TRY(cpu);
  const Step step = make_copy(packed.output(), desc.output());
  const BackendTable& backend = *cpu.value()->backend;
  BackendProgram* program = nullptr;
  ANYDML_TRY(from_backend(desc.row->name, backend, backend.compile(cpu.value()->handle, &step, 1, &program)));
  Run run(*cpu.value(), desc.row->name.data());
  Status status = run.begin();
  if (status) {
    void* const addresses[] = {from, to};
    status = from_backend(desc.row->name, backend, backend.run(run.queue(), program, addresses));
  }
  backend.destroy(program);
  return status;
}

// Runs with copies in the device's memory of the operands that it does not reach.
Status run_through_copies(const anydml_compiled& compiled, CopiedOperands copied, StagedInputs staged,
                          Addresses addresses) {
  const Device& device = *compiled.device;
  const char* op = compiled.desc.row->name.data();
  const std::uint32_t output = compiled.desc.input_count;
  const bool output_copied = (copied >> output & 1) != 0;
  // An input that is copied shares nothing with the output any more.
  staged &= ~copied;

  OpDesc desc = compiled.desc;
  const bool packed = output_copied && !is_dense(desc);
  if (packed) {
    if (!set_packed_strides(desc.tensors[output])) {
      return invalid({desc.row->name, desc.row->tensors[output]}, "is too large");
    }
    desc.reaches[output] = reach_of(desc.tensors[output]);
  }
  const anydml_compiled* program = &compiled;
  std::unique_ptr<anydml_compiled> made;
  std::uint64_t temporary_bytes = 0;
  if (packed || staged != 0) {
    const Plan plan = make_plan(desc, staged);
    temporary_bytes = plan.temporary_bytes;
    auto other = compile(device, desc, plan);
    ANYDML_TRY(other);
    made = std::move(other.value());
    program = made.get();
  }

  // One piece of memory for all, each operand at a multiple of what any kernel asks for.
  constexpr std::uint64_t kAlignment = 256;
  std::uint64_t offsets[kMaxOperands] = {};
  auto bytes = checked_align_bytes(temporary_bytes, kAlignment);
  for (std::uint32_t i = 0; i <= output && bytes; ++i) {
    if ((copied >> i & 1) != 0) {
      offsets[i] = *bytes;
      const auto own = checked_align_bytes(bytes_of(desc.reaches[i]), kAlignment);
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
  std::unique_ptr<std::byte[]> packed_output;
  Run run(device, op);
  // What is on the device already is ordered by its default stream; a queue of our own knows nothing of that.
  const bool all_copied = copied == (CopiedOperands{2} << output) - 1;
  ANYDML_TRY(all_copied ? run.begin() : run.begin_on(kDefaultStream));

  Addresses inside = addresses;
  inside[output + 1] = memory;
  for (std::uint32_t i = 0; i <= output; ++i) {
    if ((copied >> i & 1) == 0) {
      continue;
    }
    inside[i] = memory + offsets[i] - desc.reaches[i].first;
    if (i != output) {
      ANYDML_TRY(run.copy(memory + offsets[i], static_cast<std::byte*>(addresses[i]) + desc.reaches[i].first,
                          bytes_of(desc.reaches[i])));
    }
  }
  ANYDML_TRY(run.run(*program, inside));
  if (output_copied) {
    void* to = static_cast<std::byte*>(addresses[output]) + desc.reaches[output].first;
    if (packed) {
      packed_output = std::make_unique_for_overwrite<std::byte[]>(bytes_of(desc.reaches[output]));
      to = packed_output.get();
    }
    ANYDML_TRY(run.copy(to, memory + offsets[output], bytes_of(desc.reaches[output])));
  }
  ANYDML_TRY(run.finish());
  return packed ? scatter(desc, compiled.desc, packed_output.get(), addresses[output]) : Status();
}

// Runs, with copies of those inputs that share memory with the output.
Status run_staged(Run& run, const anydml_compiled& compiled, StagedInputs staged, Addresses addresses) {
  if (staged == 0) {
    return run.run(compiled, addresses);
  }
  const Device& device = *compiled.device;
  const Plan plan = make_plan(compiled.desc, staged);
  const auto other = compile(device, compiled.desc, plan);
  ANYDML_TRY(other);
  Temporary temporary(device);
  ANYDML_TRY(from_backend(compiled.desc.row->name, *device.backend, temporary.allocate(plan.temporary_bytes)));
  addresses[plan.temporary_slot()] = temporary.address();
  const Status status = run.run(*other.value(), addresses);
  const Status finished = run.finish();  // before the temporary goes
  return status ? finished : status;
}

}  // namespace

Result<std::unique_ptr<anydml_compiled>> compile(const Device& device, const OpDesc& desc, const Plan& plan) {
  auto compiled = std::make_unique<anydml_compiled>();
  compiled->desc = desc;
  compiled->device = &device;
  ANYDML_TRY(from_backend(desc.row->name, *device.backend,
                          device.backend->compile(device.handle, plan.steps.data(),
                                                  static_cast<std::uint32_t>(plan.steps.size()), &compiled->program)));
  return compiled;
}

Status run_compiled(const anydml_compiled& compiled, const Addresses& addresses) {
  const auto staged = staging(compiled.desc, addresses);
  ANYDML_TRY(staged);
  const auto copied = operands_to_copy(compiled, addresses);
  ANYDML_TRY(copied);
  if (copied.value() != 0) {
    return run_through_copies(compiled, copied.value(), staged.value(), addresses);
  }
  Run run(*compiled.device, compiled.desc.row->name.data());
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
                             compiled.desc.row->name, compiled.device->info.name)};
  }
  Run run(*compiled.device, compiled.desc.row->name.data());
  ANYDML_TRY(run.begin_on(stream != nullptr ? stream : kDefaultStream));
  ANYDML_TRY(run_staged(run, compiled, staged.value(), addresses));
  run.leave();
  return {};
}

}  // namespace anydml
