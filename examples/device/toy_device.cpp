// SPDX-License-Identifier: MIT
// The smallest complete device plugin, meant as an example and a starting point: docs/adding-a-device.md explains the
// parts. "toy:0" has 256 MiB of memory at addresses starting at 2^40, which are not pointers in the process. It is
// synchronous: a queue's functions return when their work is done. It supports only a few element-wise operators.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "base/float_environment.h"
#include "ops/elementwise/element_step.h"
#include "ops/elementwise/entries.h"
#include "ops/family.h"
#include "ops/scalar/add.h"
#include "ops/scalar/extrema.h"
#include "ops/scalar/identity.h"
#include "ops/scalar/multiply.h"
#include "ops/scalar/scale_bias.h"
#include "ops/scalar/signature.h"

namespace anydml {

constexpr DeviceAddress kFirstAddress = DeviceAddress{1} << 40;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{256} << 20;

// backend.h only declares the types of devices, memory, programs and queues. A backend defines them and needs no casts.
struct BackendDevice {
  // The bytes behind the addresses. A GPU would have its own memory instead.
  std::unique_ptr<std::byte, decltype(&std::free)> memory{
      static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, kMemoryBytes)), &std::free};
  std::mutex mutex;                                             // any thread may allocate
  std::array<bool, kMemoryBytes / kBufferAlignment> used = {};  // one entry for each unit of the memory
  std::atomic<std::uint64_t> buffer_bytes{0};
  std::atomic<const char*> failed{nullptr};  // the reason for the failure; a failed device stays failed
};

// A handle is neither an address nor a pointer to the bytes, so code that confuses them fails immediately.
struct BackendMemory {
  std::uint64_t offset;
};

// The value of an element of any type: its bits are in the first bytes.
using Value = std::uint64_t;
// Applies an instruction to the values of one element.
using ElementFunction = Value (*)(const Instruction& instruction, const Value* values);

struct BackendProgram {
  struct Work {
    ElementStep step;
    std::vector<Operand> operands;           // the loads, then the stores
    std::vector<ElementFunction> functions;  // one for each instruction
  };
  std::vector<Work> works;
  std::uint64_t temporary_bytes;
};

// A synchronous queue has no state, so several threads may use it at the same time.
struct BackendQueue {
  BackendDevice* device;
};

namespace {

constexpr BackendStatus kOk{BackendCode::ok, nullptr};
constexpr BackendStatus kOutOfMemory{BackendCode::out_of_memory, "the toy device does not have enough memory"};
constexpr BackendStatus kNoKernel{BackendCode::failed, "the toy device has no kernels for a step of this plan"};
constexpr BackendStatus kNotJoined{BackendCode::not_joined, "the toy device joins no steps"};
constexpr BackendStatus kInterrupted{BackendCode::interrupted, "the run was interrupted"};

// The status that queues return. All other functions still work after the device has failed.
BackendStatus status_of(const BackendDevice& device) {
  const char* const why = device.failed;
  return why == nullptr ? kOk : BackendStatus{BackendCode::failed, why};
}

// ---- Devices --------------------------------------------------------------------------------------------------------

// Several devices may be open at a time, even with the same index: each has its own memory.
BackendStatus open(std::uint32_t /*index*/, const BackendSettings* /*settings*/, BackendDevice** device) {
  std::unique_ptr<BackendDevice> opened(new (std::nothrow) BackendDevice);
  const bool has_memory = opened != nullptr && opened->memory != nullptr;
  *device = has_memory ? opened.release() : nullptr;
  return has_memory ? kOk : kOutOfMemory;
}

void describe(const BackendDevice* /*device*/, BackendDeviceInfo* info) {
  *info = {};  // Includes the default traits: operators in small parts, nothing joined.
  std::snprintf(info->name, sizeof(info->name), "toy:0");
  std::snprintf(info->description, sizeof(info->description), "a device to learn from");
  info->memory_bytes = kMemoryBytes;
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

// Blocks of every kind occupy one or more whole units: all are aligned, and even an empty one has a unique address.
std::uint64_t units_of(std::uint64_t bytes) {
  return std::max(whole_units(bytes) / kBufferAlignment, std::uint64_t{1});
}

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) {
  *block = {};
  std::unique_ptr<BackendMemory> handle(new (std::nothrow) BackendMemory);
  if (handle == nullptr || bytes > kMemoryBytes) {  // Larger numbers might overflow when rounded up.
    return kOutOfMemory;
  }
  {
    const std::scoped_lock lock(device->mutex);
    const auto gap = std::search_n(device->used.begin(), device->used.end(), units_of(bytes), false);
    if (gap == device->used.end()) {
      return kOutOfMemory;
    }
    std::fill_n(gap, units_of(bytes), true);
    handle->offset = static_cast<std::uint64_t>(gap - device->used.begin()) * kBufferAlignment;
  }
  device->buffer_bytes += kind == MemoryKind::device_buffer ? whole_units(bytes) : 0;
  std::byte* const contents = device->memory.get() + handle->offset;
  if (kind != MemoryKind::temporary) {
    std::memset(contents, 0, bytes);
  }
  const bool is_mapped = kind == MemoryKind::upload_buffer || kind == MemoryKind::readback_buffer;
  *block = {.handle = handle.get(), .address = kFirstAddress + handle->offset, .host = is_mapped ? contents : nullptr};
  static_cast<void>(handle.release());
  return kOk;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) {
  const std::unique_ptr<BackendMemory> owned(handle);
  const std::scoped_lock lock(device->mutex);
  std::fill_n(&device->used[handle->offset / kBufferAlignment], units_of(bytes), false);
  device->buffer_bytes -= kind == MemoryKind::device_buffer ? whole_units(bytes) : 0;
}

// The bytes that a copy, a fill or a timestamp refers to: in a block, or in the CPU's memory.
std::byte* bytes_at(const BackendDevice& device, MemoryLocation position) {
  return position.block != nullptr ? device.memory.get() + position.block->offset + position.offset
                                   : reinterpret_cast<std::byte*>(position.offset);
}

// ---- Kernels --------------------------------------------------------------------------------------------------------

template <class T>
T element_of(Value value) {
  T element;
  std::memcpy(&element, &value, sizeof(T));
  return element;
}

// An operator is defined in ops/scalar; the instruction contains its attributes, such as Scale and Bias.
template <class Definition>
Value apply(const Instruction& instruction, const Value* values) {
  using Types = Signature<Definition>;
  const auto result = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return make_scalar<Definition>(instruction.attributes)(
        element_of<typename Types::template Input<i>>(values[instruction.sources[i]])...);
  }
  (std::make_index_sequence<Types::kInputs>{});
  Value value = 0;
  std::memcpy(&value, &result, sizeof(result));
  return value;
}

struct Kernel {
  EntryId entry;
  std::uint16_t variant;
  std::string_view name;
  DataType type;  // the type of all the operator's tensors
  ElementFunction function;
};

// An instruction identifies its types by a number: the position at which for_each_variant visits them.
template <template <class> class Definition, class T>
constexpr Kernel kernel_of(EntryId entry, std::string_view name) {
  std::uint16_t visited = 0;
  std::uint16_t variant = 0;
  for_each_variant<Definition>([&]<class Visited>() {
    variant = std::is_same_v<Visited, Definition<T>> ? visited : variant;
    ++visited;
  });
  return {entry, variant, name, kDataTypeOf<T>, apply<Definition<T>>};
}

// All operators that the device can compute. `lacks` and `compile` read this table.
#define TOY_KERNEL(op, Definition, T) kernel_of<Definition, T>(EntryId::op, #op)
#define TOY_IDENTITY(T, name, value) TOY_KERNEL(ELEMENT_WISE_IDENTITY, Identity, T),
constexpr Kernel kKernels[] = {
    // IDENTITY for every type: the layers above copy tensors with such steps, and do not call `lacks` first.
    ANYDML_FOR_EACH_TYPE(TOY_IDENTITY)
    // ScaleBias, an option of IDENTITY, is a separate instruction, and `lacks` cannot see whether it is present.
    TOY_KERNEL(SCALE_BIAS, ScaleBias, f16),
    TOY_KERNEL(SCALE_BIAS, ScaleBias, f32),
    TOY_KERNEL(SCALE_BIAS, ScaleBias, f64),
    TOY_KERNEL(ELEMENT_WISE_ADD, Add, f32),
    TOY_KERNEL(ELEMENT_WISE_ADD, Add, u32),  // in the programs of the conformance suite
    TOY_KERNEL(ELEMENT_WISE_MULTIPLY, Multiply, f32),
    TOY_KERNEL(ACTIVATION_RELU, Relu, f32),
};
#undef TOY_IDENTITY
#undef TOY_KERNEL

const char* lacks(const BackendDevice* /*device*/, const AskedOperator* op) {
  const char* why = "it has only a few element-wise operators";
  for (const Kernel& kernel : kKernels) {
    if (kernel.name == op->name) {
      if (std::ranges::all_of(op->types, [&](DataType type) { return type == kernel.type; })) {
        return nullptr;
      }
      why = "it has no kernel for these types";
    }
  }
  return why;
}

// ---- Programs -------------------------------------------------------------------------------------------------------

// Adds a step to the program. It copies what runs need, because the plan's data is valid only during the call to
// compile.
BackendStatus add_step(const Step& step, BackendProgram& program) {
  if (step.role != StepRole::main) {  // Only plans compiled for other traits have steps with a different role.
    return kNotJoined;
  }
  if (step.family != static_cast<std::uint32_t>(FamilyId::elementwise)) {
    return kNoKernel;
  }
  BackendProgram::Work& work = program.works.emplace_back();
  work.step = read_element_step(step);
  work.operands.assign(step.operands.begin(), step.operands.end());
  for (const Instruction& instruction : work.step.program) {
    const auto* const kernel = std::ranges::find_if(kKernels, [&](const Kernel& one) {
      return one.entry == instruction.entry && one.variant == instruction.variant;
    });
    if (kernel == std::end(kKernels)) {
      return kNoKernel;
    }
    work.functions.push_back(kernel->function);
  }
  return kOk;
}

BackendStatus compile(BackendDevice* /*device*/, const BackendPlan* plan, BackendProgram** program) try {
  auto built = std::make_unique<BackendProgram>();
  built->temporary_bytes = plan->temporary_bytes;  // The kernels need no additional workspace.
  BackendStatus status = kOk;
  for_each_step(std::span(plan->words, plan->word_count), [&](const Step& step) {
    status = add_step(step, *built);
    return status.code == BackendCode::ok;
  });
  if (status.code == BackendCode::ok) {
    *program = built.release();
  }
  return status;
} catch (const std::bad_alloc&) {  // No exception leaves the table.
  return kOutOfMemory;
}

// Visits all elements of a step. positions: the first element of each operand.
BackendStatus run_step(const BackendProgram::Work& work, std::vector<std::byte*>& positions,
                       const Interrupt* interrupt) {
  const ElementStep& step = work.step;
  std::vector<Value> values(step.loads + step.program.size());
  std::int64_t index[kMaxRank] = {};  // one for each loop
  for (std::int64_t visited = 0; visited < step.nest.count; ++visited) {
    if (visited % 65'536 == 0 && interrupt != nullptr && interrupt->is_wanted(interrupt->context) != 0) {
      return kInterrupted;
    }
    // All loads come before the first store, because an output may be an input too.
    for (std::uint32_t i = 0; i < step.loads; ++i) {
      std::memcpy(&values[i], positions[i], element_size(step.types[i]));
    }
    for (std::size_t i = 0; i < step.program.size(); ++i) {
      values[step.loads + i] = work.functions[i](step.program[i], values.data());
    }
    for (std::size_t i = step.loads; i < positions.size(); ++i) {
      std::memcpy(positions[i], &values[step.stored[i - step.loads]], element_size(step.types[i]));
    }
    // Moves to the next element: a loop that reaches its end restarts, and the enclosing loop advances.
    for (std::uint32_t i = step.nest.rank; i-- > 0;) {
      const Loop& loop = step.nest.loops[i];
      const bool ends = ++index[i] == loop.size;
      for (std::size_t operand = 0; operand < positions.size(); ++operand) {
        positions[operand] += loop.strides[operand] * (ends ? 1 - loop.size : 1);
      }
      if (!ends) {
        break;
      }
      index[i] = 0;
    }
  }
  return kOk;
}

// ---- Queues ---------------------------------------------------------------------------------------------------------

BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) {
  *queue = new (std::nothrow) BackendQueue{device};
  return *queue != nullptr ? kOk : kOutOfMemory;
}

BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) {
  if (bytes != 0) {  // Otherwise the pointers may be null.
    std::memcpy(bytes_at(*queue->device, to), bytes_at(*queue->device, from), bytes);
  }
  return status_of(*queue->device);
}

BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) {
  for (std::uint64_t i = 0; i < bytes; i += pattern_bytes) {
    std::memcpy(bytes_at(*queue->device, to) + i, pattern, std::min<std::uint64_t>(pattern_bytes, bytes - i));
  }
  return status_of(*queue->device);
}

BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* interrupt) try {
  BackendDevice& device = *queue->device;
  BackendStatus status = status_of(device);
  const DefaultFloatEnvironment modes;  // The caller's thread may round upwards, or flush subnormals to 0.
  for (auto work = program->works.begin(); work != program->works.end() && status.code == BackendCode::ok; ++work) {
    std::vector<std::byte*> positions;
    for (std::size_t i = 0; i < work->operands.size(); ++i) {
      const std::uint64_t offset = addresses[work->operands[i].slot] - kFirstAddress + work->operands[i].offset +
                                   static_cast<std::uint64_t>(work->step.nest.offsets[i]);
      if (offset >= kMemoryBytes) {
        device.failed = "a program received an address that does not belong to the toy device";
        return status_of(device);
      }
      positions.push_back(device.memory.get() + offset);
    }
    status = run_step(*work, positions, interrupt);
  }
  return status;
} catch (const std::bad_alloc&) {
  return kOutOfMemory;
}

BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t count = now.count();
  std::memcpy(bytes_at(*queue->device, to), &count, sizeof(count));
  return status_of(*queue->device);
}

// All earlier work is already done, so every mark is null, and the other functions for marks are never called.
BackendStatus mark(BackendQueue* queue, BackendMark** mark) {
  *mark = nullptr;
  return status_of(*queue->device);
}

// This table and the function below are all that the library sees of the device.
constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "toy",
    .device_count = [] { return std::uint32_t{1}; },
    .open = open,
    .close = [](BackendDevice* device) { delete device; },
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .import_host = nullptr,
    .forget_host = nullptr,
    .allocate_in_order = nullptr,
    .release_in_order = nullptr,
    .buffer_bytes = [](const BackendDevice* device) { return device->buffer_bytes.load(); },
    .access = nullptr,
    .compile = compile,
    .temporary_bytes = [](const BackendProgram* program) { return program->temporary_bytes; },
    .destroy = [](BackendProgram* program) { delete program; },
    .create_queue = create_queue,
    .create_queue_on = nullptr,
    .destroy_queue = [](BackendQueue* queue) { delete queue; },
    .copy = copy,
    .fill = fill,
    .run = run,
    .timestamp = timestamp,
    .mark = mark,
    .destroy_mark = [](BackendMark*) {},
    .is_passed = [](BackendMark*) { return std::uint32_t{1}; },
    .wait = [](BackendMark*) { return kOk; },
    .follow = [](BackendQueue*, BackendMark*) { return kOk; },
    .lacks = lacks,
    .explain = [](const BackendProgram*, char* text,
                  std::uint64_t capacity) { std::snprintf(text, capacity, "plain loops"); },
};

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char** /*message*/) {
  return &anydml::kTable;
}
