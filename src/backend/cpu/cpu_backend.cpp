// SPDX-License-Identifier: MIT
#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "anydml_build/hash.h"
#include "backend/cpu/family.h"
#include "backend/cpu/thread_pool.h"
#include "backend/equal_work.h"
#include "base/buffer_memory.h"
#include "base/clock.h"
#include "base/float_environment.h"
#include "base/memory.h"
#include "base/text_file.h"

namespace anydml {

struct BackendDevice {
  ThreadPool* pool;
  cpu::Target target;
  std::uint64_t memory_bytes;
  std::atomic<std::uint64_t> promised_bytes{0};  // promised to buffers, even if the memory was never touched
  BufferMemory buffers;
  std::string model;
};

namespace {

constexpr BackendStatus kOk{BackendCode::ok, nullptr};
constexpr BackendStatus kInterrupted{BackendCode::interrupted,
                                     "interrupted by the caller; the outputs are partly written"};
constexpr BackendStatus kOutOfMemory{BackendCode::out_of_memory, "the CPU device has no memory for this"};

std::string cpu_model() {
  std::string model;
  for_each_line(read_text_file("/proc/cpuinfo"), [&model](const std::string& line) {
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      model = colon == std::string::npos ? line : line.substr(colon + 2);
    }
    return model.empty();
  });
  if (!model.empty()) {
    return model;
  }
#if defined(__aarch64__)
  return "aarch64 CPU";
#elif defined(__x86_64__)
  return "x86-64 CPU";
#else
  return "CPU";
#endif
}

// Calls a function that may allocate. Exceptions must not escape from the functions in the table.
template <class Body>
BackendStatus guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (...) {
    return {BackendCode::failed, "the CPU device failed unexpectedly"};
  }
}

// Chooses the requested instruction set, or the best one available.
BackendStatus choose_target(std::string_view wanted, cpu::Target& target) {
  const auto targets = cpu::machine_targets();
  const auto found = wanted.empty() ? targets.begin() : std::ranges::find(targets, wanted, cpu::target_name);
  if (found != targets.end()) {
    target = *found;
    return kOk;
  }
  static char message[256];  // for the first failure; open is called under the process mutex
  int length =
      std::snprintf(message, sizeof(message), "ANYDML_CPU_TARGET is '%.*s'; expected one that this machine runs: ",
                    static_cast<int>(std::min<std::size_t>(wanted.size(), 64)), wanted.data());
  for (const cpu::Target other : targets) {
    const auto used = static_cast<std::size_t>(length);
    length += std::snprintf(message + used, sizeof(message) - used, "%s%s", other == targets.front() ? "" : ", ",
                            cpu::target_name(other));
  }
  return {BackendCode::failed, message};
}

BackendStatus open(std::uint32_t index, const BackendSettings* settings, BackendDevice** device) {
  return guarded([&]() -> BackendStatus {
    if (index != 0) {
      return {BackendCode::failed, "the CPU is one device, with index 0"};
    }
    auto opened = std::make_unique<BackendDevice>();
    if (const BackendStatus status =
            choose_target(settings->cpu_target == nullptr ? "" : settings->cpu_target, opened->target);
        status.code != BackendCode::ok) {
      return status;
    }
    for (const cpu::FamilyKernels* family : cpu::families()) {
      if (family->open != nullptr) {
        family->open(opened->target);
      }
    }
    opened->memory_bytes = read_memory_state().limit;
    opened->model = cpu_model();
    opened->pool = &ThreadPool::of_process(settings->threads);
    *device = opened.release();
    return kOk;
  });
}

void close(BackendDevice* device) { delete device; }

void describe(const BackendDevice* device, BackendDeviceInfo* info) {
  *info = {};
  std::snprintf(info->name, sizeof(info->name), "cpu");
  std::snprintf(info->description, sizeof(info->description), "%s, %u thread%s", device->model.c_str(),
                device->pool->threads(), device->pool->threads() == 1 ? "" : "s");
  info->memory_bytes = device->memory_bytes;
  info->threads = device->pool->threads();
  info->unified_memory = 1;
  info->shares_addresses = 1;
  info->traits = {.threads = device->pool->threads(),
                  .joins_from = 1,
                  .forwards_tiles = true,
                  .vector_bytes = cpu::vector_bytes(device->target),
                  .reads_codes = true,
                  .has_fused_attention = true,
                  .has_row_moments = true};
}

// On the CPU, a block's handle and its two addresses are the same number.
MemoryBlock block_at(void* address) {
  return {.handle = static_cast<BackendMemory*>(address),
          .address = reinterpret_cast<std::uintptr_t>(address),
          .host = static_cast<std::byte*>(address)};
}
// A handle is the address of the block's first byte, and is never 0.
std::byte* address_of(MemoryLocation location) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(location.block) + location.offset);
}

constexpr std::uint64_t kAddressSpace = std::uint64_t{1} << 56;

BackendStatus allocate_buffer(BackendDevice* device, std::uint64_t bytes, MemoryBlock* block) {
  // The kernel does not count untouched pages as used, so promised memory is also counted here. The machine's state is
  // read only for requests that are large enough to matter.
  constexpr std::uint64_t kLarge = std::uint64_t{16} << 20;
  if (bytes > std::min(device->memory_bytes, kAddressSpace) ||
      (bytes >= kLarge && bytes > read_memory_state().available)) {
    return kOutOfMemory;
  }
  const std::uint64_t whole = whole_units(bytes);
  if (device->promised_bytes.fetch_add(whole) + whole > device->memory_bytes) {
    device->promised_bytes.fetch_sub(whole);
    return kOutOfMemory;
  }
  void* address = nullptr;
  try {
    address = device->buffers.allocate(bytes);
  } catch (...) {
  }
  if (address == nullptr) {
    device->promised_bytes.fetch_sub(whole);
    return kOutOfMemory;
  }
  *block = block_at(address);
  return kOk;
}

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) {
  return guarded([&]() -> BackendStatus {
    *block = {};
    if (kind != MemoryKind::temporary) {
      return allocate_buffer(device, bytes, block);
    }
    if (bytes > kAddressSpace) {  // operator new rounds up to the alignment, which could overflow to 0 bytes
      return kOutOfMemory;
    }
    *block = block_at(::operator new (bytes, std::align_val_t{kTemporaryAlignment}, std::nothrow));
    return block->handle == nullptr ? kOutOfMemory : kOk;
  });
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) {
  if (kind == MemoryKind::temporary) {
    ::operator delete (static_cast<void*>(handle), std::align_val_t{kTemporaryAlignment});
    return;
  }
  device->buffers.release(handle, bytes);
  device->promised_bytes.fetch_sub(whole_units(bytes));
}

// Queues are synchronous and have no state, so a queue is just a pointer to its device.
BackendDevice* device_of(BackendQueue* queue) { return reinterpret_cast<BackendDevice*>(queue); }

BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) {
  *queue = reinterpret_cast<BackendQueue*>(device);
  return kOk;
}

BackendStatus copy(BackendQueue*, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) {
  if (bytes != 0) {  // otherwise the addresses may be null
    std::memmove(address_of(to), address_of(from), bytes);
  }
  return kOk;
}

BackendStatus fill(BackendQueue*, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) {
  // Write the pattern, then keep doubling the part already written by copying it.
  std::byte* const first = address_of(to);
  std::uint64_t done = std::min<std::uint64_t>(bytes, pattern_bytes);
  std::memcpy(first, pattern, done);
  while (done < bytes) {
    const std::uint64_t more = std::min(done, bytes - done);
    std::memcpy(first + done, first, more);
    done += more;
  }
  return kOk;
}

BackendStatus timestamp(BackendQueue*, MemoryLocation to) {
  const std::uint64_t now = monotonic_nanoseconds();
  std::memcpy(address_of(to), &now, sizeof(now));
  return kOk;
}

}  // namespace

// A step that its family prepared. Equal steps of a program, such as those of a network's layers, share the prepared
// step.
struct ReadyStep {
  std::shared_ptr<const cpu::PreparedStep> prepared;
  std::size_t operand_count = 0;
};

struct BackendProgram {
  std::vector<ReadyStep> steps;
  // For each step, the locations of its operands, followed by the locations of the operands of its joined steps.
  std::vector<Operand> operands;
  // How threads wait between steps. They spin if the program gives them several jobs in a row.
  ThreadPool::Sequence::Between between = ThreadPool::Sequence::Between::sleep;
  std::shared_ptr<Scratch> scratch;  // null if no step needs it
  std::uint64_t temporary_bytes = 0;
};

namespace {

// Prepares one unit of work: a main step with its prologue and epilogue. Returns null if the steps cannot form one, or
// if the family's prepare function returns null.
std::shared_ptr<const cpu::PreparedStep> prepare(std::span<const Step> steps, const cpu::StepContext& context) {
  const auto families = cpu::families();
  auto work = join_steps<cpu::Neighbor>(steps, [&](const Step& step) -> std::unique_ptr<cpu::JoinedStep> {
    const cpu::FamilyKernels& family = *families[step.family];
    return family.prepare_joined != nullptr ? family.prepare_joined(step, context) : nullptr;
  });
  return work ? families[work->main->family]->prepare(*work->main, context, std::move(work->neighbors)) : nullptr;
}

// Adds the operands of one unit of work in the order of join_steps. Returns their number.
std::size_t add_operands(std::span<const Step> steps, std::vector<Operand>& operands) {
  const std::size_t before = operands.size();
  const auto add = [&](const Step& step) {
    operands.insert(operands.end(), step.operands.begin(), step.operands.end());
  };
  add(*std::ranges::find(steps, StepRole::main, &Step::role));
  for (const Step& step : steps) {
    if (step.role != StepRole::main) {
      add(step);
    }
  }
  return operands.size() - before;
}

// Decides whether threads stay awake between steps, and allocates the scratch memory for the steps.
void make_ready_for_threads(BackendProgram& program, ThreadPool& pool) {
  std::uint64_t jobs = 0;
  std::size_t scratch_bytes = 0;
  for (const ReadyStep& step : program.steps) {
    const cpu::PreparedStep& prepared = *step.prepared;
    jobs += prepared.phases() > 1 ? prepared.phases() : prepared.pieces() > 1 ? 1 : 0;
    scratch_bytes = std::max(scratch_bytes, prepared.scratch_bytes());
  }
  if (jobs > 1) {
    program.between = ThreadPool::Sequence::Between::spin;
  }
  if (scratch_bytes > 0) {
    program.scratch = pool.scratch(scratch_bytes);
  }
}

BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) {
  return guarded([&]() -> BackendStatus {
    auto compiled = std::make_unique<BackendProgram>();
    compiled->temporary_bytes = plan->temporary_bytes;
    const cpu::StepContext context{.target = device->target, .threads = device->pool->threads()};
    EqualWork equal;
    bool joined = false;  // whether the unit being prepared has joined steps
    const bool known = for_each_work(std::span(plan->words, plan->word_count), [&](std::span<const Step> steps) {
      joined = steps.size() > 1;
      for (const Step& step : steps) {
        if (step.family >= cpu::families().size()) {
          return false;
        }
      }
      const std::size_t number = compiled->steps.size();
      const std::size_t like = equal.find_or_add(steps, number);
      auto prepared = like != number ? compiled->steps[like].prepared : prepare(steps, context);
      if (prepared == nullptr) {
        return false;
      }
      compiled->steps.push_back(
          {.prepared = std::move(prepared), .operand_count = add_operands(steps, compiled->operands)});
      return true;
    });
    if (!known) {
      return {joined ? BackendCode::not_joined : BackendCode::failed,
              "the plan requires a kernel that the CPU device does not have"};
    }
    make_ready_for_threads(*compiled, *device->pool);
    *program = compiled.release();
    return kOk;
  });
}

void destroy(BackendProgram* program) { delete program; }

struct StepRun {
  const cpu::PreparedStep* prepared;
  const Scratch* workers_scratch;           // null if no step of the program needs it
  const Scratch::OfOthers* others_scratch;  // of the threads of the caller's parallel loop; null if it has none
  std::byte* callers_scratch;
  std::uint32_t phase;
  std::byte* operands[kMaxStepOperands];
};

void run_piece(void* context, std::uint64_t piece, unsigned thread) noexcept {
  const auto& run = *static_cast<const StepRun*>(context);
  std::byte* const scratch = thread == 0 || run.workers_scratch == nullptr ? run.callers_scratch
                             : run.others_scratch != nullptr               ? run.others_scratch->of_thread(thread)
                                                                           : run.workers_scratch->of_worker(thread);
  run.prepared->run({.number = piece, .phase = run.phase, .scratch = scratch}, run.operands);
}

// Runs a step that has several phases. Returns false if interrupted.
[[gnu::noinline]] bool run_phases(ThreadPool::Sequence& jobs, StepRun& run) {
  for (; run.phase < run.prepared->phases(); ++run.phase) {
    if (!jobs.run(run.prepared->pieces_in(run.phase), run_piece, &run)) {
      return false;
    }
  }
  return true;
}

[[gnu::always_inline]] inline BackendStatus run_steps(ThreadPool& pool, const BackendProgram& program,
                                                      const DeviceAddress* addresses, std::byte* callers_scratch,
                                                      const Scratch::OfOthers* others_scratch,
                                                      const Interrupt* interrupt) {
  Interruption interruption(interrupt);
  ThreadPool::Sequence jobs(pool, program.between, interrupt != nullptr ? &interruption : nullptr);
  const Operand* operand = program.operands.data();
  for (const ReadyStep& step : program.steps) {
    StepRun run;
    run.prepared = step.prepared.get();
    run.workers_scratch = callers_scratch == nullptr ? nullptr : program.scratch.get();
    run.others_scratch = others_scratch;
    run.callers_scratch = callers_scratch;
    run.phase = 0;
    for (std::size_t i = 0; i < step.operand_count; ++i, ++operand) {
      run.operands[i] = has_address(operand->slot)
                            ? reinterpret_cast<std::byte*>(addresses[operand->slot]) + operand->offset
                            : nullptr;
    }
    const bool is_done =
        run.prepared->phases() == 1 ? jobs.run(run.prepared->pieces(), run_piece, &run) : run_phases(jobs, run);
    if (!is_done) {
      return kInterrupted;
    }
  }
  return kOk;
}

[[gnu::noinline]] BackendStatus run_with_scratch(ThreadPool& pool, const BackendProgram& program,
                                                 const DeviceAddress* addresses, const Interrupt* interrupt) {
  const Scratch::OfCaller scratch(program.scratch.get());
  if (scratch.memory() == nullptr) {
    return kOutOfMemory;
  }
  if (const unsigned others = pool.others_of_thread(); others != 0) {
    const Scratch::OfOthers of_others(*program.scratch, others);
    return of_others.is_complete() ? run_steps(pool, program, addresses, scratch.memory(), &of_others, interrupt)
                                   : kOutOfMemory;
  }
  return run_steps(pool, program, addresses, scratch.memory(), nullptr, interrupt);
}

BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* interrupt) {
  const DefaultFloatEnvironment modes;
  ThreadPool& pool = *device_of(queue)->pool;
  if (program->scratch != nullptr) {
    return run_with_scratch(pool, *program, addresses, interrupt);
  }
  return run_steps(pool, *program, addresses, nullptr, nullptr, interrupt);
}

void explain(const BackendProgram* program, char* text, std::uint64_t capacity) {
  if (program->steps.empty()) {
    std::snprintf(text, capacity, "nothing to do");
    return;
  }
  program->steps.back().prepared->explain(text, capacity);
  if (const std::size_t length = std::strlen(text); program->steps.size() > 1 && length < capacity) {
    std::snprintf(text + length, capacity - length, ", %zu steps", program->steps.size());
  }
}

constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "cpu",
    .device_count = [] { return std::uint32_t{1}; },
    .open = open,
    .close = close,
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .import_host = nullptr,
    .forget_host = nullptr,
    .allocate_in_order = nullptr,
    .release_in_order = nullptr,
    .buffer_bytes = [](const BackendDevice* device) { return device->promised_bytes.load(); },
    .access = [](BackendDevice*, const void*) { return Access::direct; },
    .compile = compile,
    .temporary_bytes = [](const BackendProgram* program) { return program->temporary_bytes; },
    .destroy = destroy,
    .create_queue = create_queue,
    .create_queue_on = nullptr,
    .destroy_queue = [](BackendQueue*) {},
    .copy = copy,
    .fill = fill,
    .run = run,
    .timestamp = timestamp,
    .mark =
        [](BackendQueue*, BackendMark** mark) {
          *mark = nullptr;
          return kOk;
        },
    .destroy_mark = [](BackendMark*) {},
    .is_passed = [](BackendMark*) { return std::uint32_t{1}; },
    .wait = [](BackendMark*) { return kOk; },
    .follow = [](BackendQueue*, BackendMark*) { return kOk; },
    .lacks = nullptr,
    .explain = explain,
};

}  // namespace

const BackendTable& cpu_backend() { return kTable; }

}  // namespace anydml
