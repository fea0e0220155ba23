// SPDX-License-Identifier: MIT
// A plugin for tests: an asynchronous device with memory that only it can access. It computes with the CPU backend, on
// one thread per queue, so that the library's handling of a GPU, including races, can be tested without one.
//
// Device addresses are in reserved address ranges that cannot be read. The bytes are stored elsewhere, and the CPU gets
// a pointer to them only for buffers that it may map. Any access through a device address therefore crashes the
// program, and a copy or a run fails if it receives a host pointer instead of device memory, or vice versa.
//
// anydml_later_copied_bytes() returns the number of bytes that were copied between the CPU and the device so far.
//
// ANYDML_LATER_FAILS=N: the N-th run of a program fails, and everything after it, as after a fault on a GPU. With -N,
// the call of the N-th run fails, as if the device had been lost before.
// ANYDML_LATER_ABSENT=1: the plugin reports that it has no device.
// ANYDML_LATER_WORKSPACE=N: every program requests N bytes of workspace. A run fails if the workspace is misaligned or
// was overwritten by the plan's own steps. ANYDML_LATER_APART=1: the device rejects every plan with joined steps,
// although its traits allow them. ANYDML_LATER_LACKS=NAME,NAME: the device lacks these operators, parts of operators
// and types.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "anydml_build/hash.h"
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "base/clock.h"
#include "base/process.h"

namespace anydml {

namespace {

// The types declared in backend.h belong to the CPU backend here; this plugin's own types are cast to them and back.
// A block of memory: its address on the device, and its bytes.
struct LaterMemory {
  std::uintptr_t address = 0;  // in a reserved range
  std::uint64_t bytes = 0;
  std::byte* contents = nullptr;
  void* reserved = nullptr;
  std::uint64_t reserved_bytes = 0;
};

struct LaterDevice {
  BackendDevice* cpu = nullptr;
  BackendQueue* cpu_queue = nullptr;
  std::mutex mutex;
  std::map<std::uintptr_t, LaterMemory*> memory;  // by device address
  std::atomic<std::uint64_t> promised_bytes{0};
  std::atomic<const char*> failed{nullptr};  // the reason, or null
  std::atomic<long> runs_left{0};  // until the run that fails; 0 if none fails, and negative if its call fails
  std::uint64_t workspace_bytes = 0;
};

std::atomic<std::uint64_t> g_copied_bytes{0};  // between the CPU and the device

constexpr BackendStatus kOk{BackendCode::ok, nullptr};
constexpr const char* kToldToFail = "the test device failed, as it was told to";
constexpr const char* kWorkspaceUsed = "a step of the plan used the workspace of the kernels";
constexpr const char* kNotOnDevice = "a program got an address that is not a device address";
constexpr const char* kNotAPointer = "a copy got a device address instead of a handle or a pointer";
BackendStatus failed(const LaterDevice& device) { return {BackendCode::failed, device.failed}; }
constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 30;

// Passed once, by the queue's thread; every waiter shares ownership.
struct Passage {
  std::mutex mutex;
  std::condition_variable changed;
  bool passed = false;

  void pass() {
    const std::scoped_lock lock(mutex);
    passed = true;
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return passed; });
  }
};

struct LaterMark {
  LaterDevice* device;
  std::shared_ptr<Passage> passage;
};

struct LaterQueue {
  explicit LaterQueue(LaterDevice& of) : device(&of), thread([this] { work(); }) {}
  ~LaterQueue() {
    {
      const std::scoped_lock lock(mutex);
      closed = true;
    }
    arrived.notify_all();
    thread.join();
  }
  LaterQueue(const LaterQueue&) = delete;
  LaterQueue& operator=(const LaterQueue&) = delete;

  BackendStatus give(std::function<void()> job) {
    if (device->failed != nullptr) {
      return failed(*device);
    }
    const std::scoped_lock lock(mutex);
    jobs.push_back(std::move(job));
    arrived.notify_all();
    return kOk;
  }

  void work() {
    std::minstd_rand random(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(this) >> 6));
    std::unique_lock lock(mutex);
    while (true) {
      arrived.wait(lock, [this] { return closed || !jobs.empty(); });
      if (jobs.empty()) {
        return;
      }
      const std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      if (random() % 8 == 0) {  // an occasional delay
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      }
      job();
      lock.lock();
    }
  }

  LaterDevice* device;
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<std::function<void()>> jobs;
  bool closed = false;
  std::thread thread;  // last, because it uses the other members
};

LaterDevice& own(const BackendDevice* device) {
  return *reinterpret_cast<LaterDevice*>(const_cast<BackendDevice*>(device));
}
LaterQueue& own(BackendQueue* queue) { return *reinterpret_cast<LaterQueue*>(queue); }
LaterMark& own(BackendMark* mark) { return *reinterpret_cast<LaterMark*>(mark); }

LaterMemory& own(BackendMemory* memory) { return *reinterpret_cast<LaterMemory*>(memory); }

// The bytes at a device address, or null if it is not one. A tensor without elements may begin at the end of a block.
std::byte* find_contents(LaterDevice& device, DeviceAddress address) {
  const std::scoped_lock lock(device.mutex);
  const auto after = device.memory.upper_bound(address);
  if (after == device.memory.begin()) {
    return nullptr;
  }
  const LaterMemory& memory = *std::prev(after)->second;
  const std::uint64_t offset = address - memory.address;
  return offset <= memory.bytes ? memory.contents + offset : nullptr;
}

// The bytes that a copy refers to. If a device address is passed as a host pointer, returns null and marks the device
// as failed.
std::byte* resolve(LaterDevice& device, MemoryLocation location) {
  if (location.block != nullptr) {
    return own(location.block).contents + location.offset;
  }
  if (find_contents(device, location.offset) != nullptr) {
    device.failed = kNotAPointer;
    return nullptr;
  }
  return reinterpret_cast<std::byte*>(location.offset);
}

BackendStatus open(std::uint32_t, const BackendSettings* settings, BackendDevice** device) {
  auto opened = std::make_unique<LaterDevice>();
  {
    const std::scoped_lock lock(process_mutex());  // this library's own copy of the mutex
    if (const BackendStatus status = cpu_backend().open(0, settings, &opened->cpu); status.code != BackendCode::ok) {
      return status;
    }
  }
  static_cast<void>(cpu_backend().create_queue(opened->cpu, &opened->cpu_queue));
  if (const char* fails = std::getenv("ANYDML_LATER_FAILS"); fails != nullptr) {
    opened->runs_left = std::atol(fails);
  }
  if (const char* workspace = std::getenv("ANYDML_LATER_WORKSPACE"); workspace != nullptr) {
    opened->workspace_bytes = std::strtoull(workspace, nullptr, 10);
  }
  *device = reinterpret_cast<BackendDevice*>(opened.release());
  return kOk;
}

bool refuses_joined_plans() { return std::getenv("ANYDML_LATER_APART") != nullptr; }

void describe(const BackendDevice*, BackendDeviceInfo* info) {
  *info = {};
  std::snprintf(info->name, sizeof(info->name), "later:0");
  std::snprintf(info->description, sizeof(info->description), "a device of the tests");
  info->memory_bytes = kMemoryBytes;
  info->asynchronous = 1;
  // Plans are compiled as for a GPU. The CPU's kernels can run them, although slowly.
  info->traits = {.threads = 64,
                  .joins_from = 1,
                  .forwards_tiles = false,
                  .vector_bytes = 0,
                  .has_fused_attention = false,
                  .has_row_moments = false};
  info->vendor = 0xfeed;
  info->product = 7;
}

const char* lacks(const BackendDevice*, const AskedOperator* op) {
  static const std::string list = [] {
    const char* const told = std::getenv("ANYDML_LATER_LACKS");
    return told != nullptr ? "," + std::string(told) + "," : std::string();
  }();
  const auto is_listed = [](std::string_view name) {
    return list.find("," + std::string(name) + ",") != std::string::npos;
  };
  if (is_listed(op->name) || is_listed(op->part_of)) {
    return "it was told to lack it";
  }
  const auto type = std::ranges::find_if(op->types, is_listed, [](DataType one) { return type_name(one); });
  if (type == op->types.end()) {
    return nullptr;
  }
  switch (*type) {
#define ANYDML_LACKING(type, name, value) \
  case DataType::name:                    \
    return "it was told to lack " #name;
    ANYDML_FOR_EACH_TYPE(ANYDML_LACKING)
#undef ANYDML_LACKING
    default:
      return "it was told to lack 4-bit types";
  }
}

bool is_mapped(MemoryKind kind) { return kind == MemoryKind::upload_buffer || kind == MemoryKind::readback_buffer; }

// Assigns the bytes an address that cannot be read.
BackendStatus add_memory(LaterDevice& device, std::byte* contents, std::uint64_t bytes, bool has_host,
                         MemoryBlock* block) {
  *block = {};
  if (device.failed != nullptr) {
    return failed(device);
  }
  auto result = std::make_unique<LaterMemory>();
  result->bytes = bytes;
  result->contents = contents;
  result->reserved_bytes = bytes + 2 * kBufferAlignment;
  result->reserved =
      mmap(nullptr, result->reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (result->reserved == MAP_FAILED) {
    return {BackendCode::out_of_memory, "the test device has no addresses left"};
  }
  result->address =
      (reinterpret_cast<std::uintptr_t>(result->reserved) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  const std::scoped_lock lock(device.mutex);
  device.memory[result->address] = result.get();
  *block = {.handle = reinterpret_cast<BackendMemory*>(result.get()),
            .address = result->address,
            .host = has_host ? contents : nullptr};
  static_cast<void>(result.release());
  return kOk;
}

std::byte* remove_memory(LaterDevice& device, BackendMemory* handle) {
  const std::unique_ptr<LaterMemory> memory(&own(handle));
  {
    const std::scoped_lock lock(device.mutex);
    device.memory.erase(memory->address);
  }
  munmap(memory->reserved, memory->reserved_bytes);
  return memory->contents;
}

BackendStatus allocate(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block) {
  *block = {};
  if (own(device).failed != nullptr) {
    return failed(own(device));
  }
  const std::uint64_t before = own(device).promised_bytes.fetch_add(bytes);
  if (bytes > kMemoryBytes || before + bytes > kMemoryBytes) {
    own(device).promised_bytes.fetch_sub(bytes);
    return {BackendCode::out_of_memory, "the test device has no memory for this"};
  }
  MemoryBlock inner = {};
  BackendStatus status = cpu_backend().allocate(own(device).cpu, kind, bytes, &inner);
  if (status.code == BackendCode::ok) {
    status = add_memory(own(device), inner.host, bytes, is_mapped(kind), block);
    if (status.code != BackendCode::ok) {
      cpu_backend().release(own(device).cpu, kind, bytes, inner.handle);
    }
  }
  if (status.code != BackendCode::ok) {
    own(device).promised_bytes.fetch_sub(bytes);
  }
  return status;
}

void release(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle) {
  own(device).promised_bytes.fetch_sub(bytes);
  // The CPU backend's memory handle is the address itself.
  cpu_backend().release(own(device).cpu, kind, bytes,
                        reinterpret_cast<BackendMemory*>(remove_memory(own(device), handle)));
}

// The CPU's program, the number of addresses passed to a run, and the offset of the workspace after the plan's
// temporary.
struct LaterProgram {
  BackendProgram* program = nullptr;
  std::size_t slots = 0;
  std::set<std::size_t> used_slots;  // the operands' slots, and the temporary's if there is one
  std::size_t temporary_slot = 0;
  std::uint64_t temporary_bytes = 0;
  std::uint64_t workspace_offset = 0;
  std::uint64_t workspace_bytes = 0;

  static constexpr std::byte kMark{0xa5};

  using Addresses = std::vector<DeviceAddress>;

  void mark_workspace(const Addresses& addresses) const {
    if (workspace_bytes != 0) {
      std::memset(workspace(addresses), static_cast<int>(kMark), workspace_bytes);
    }
  }
  [[nodiscard]] bool is_marked(const Addresses& addresses) const {
    return workspace_bytes == 0 || (reinterpret_cast<std::uintptr_t>(workspace(addresses)) % kTemporaryAlignment == 0 &&
                                    std::ranges::all_of(std::span(workspace(addresses), workspace_bytes),
                                                        [](std::byte one) { return one == kMark; }));
  }

 private:
  [[nodiscard]] std::byte* workspace(const Addresses& addresses) const {
    return reinterpret_cast<std::byte*>(addresses[temporary_slot]) + workspace_offset;
  }
};

LaterProgram& own(BackendProgram* program) { return *reinterpret_cast<LaterProgram*>(program); }
const LaterProgram& own(const BackendProgram* program) { return *reinterpret_cast<const LaterProgram*>(program); }

BackendStatus compile(BackendDevice* device, const BackendPlan* plan, BackendProgram** program) {
  if (own(device).failed != nullptr) {
    return failed(own(device));
  }
  auto result = std::make_unique<LaterProgram>();
  result->temporary_slot = plan->temporary_slot;
  result->slots = plan->temporary_slot + std::size_t{1};
  bool joined = false;
  for_each_step(std::span(plan->words, plan->word_count), [&](const Step& step) {
    for (const Operand& operand : step.operands) {
      joined = joined || operand.slot == kForwardedSlot;
      if (has_address(operand.slot)) {
        result->used_slots.insert(operand.slot);
      }
      result->slots =
          std::max<std::size_t>(result->slots, has_address(operand.slot) ? operand.slot + std::size_t{1} : 0);
    }
    return true;
  });
  if (joined && refuses_joined_plans()) {
    return {BackendCode::not_joined, "the test device was told to refuse joined steps"};
  }
  result->workspace_bytes = own(device).workspace_bytes;
  result->workspace_offset =
      (plan->temporary_bytes + kTemporaryAlignment - 1) / kTemporaryAlignment * kTemporaryAlignment;
  result->temporary_bytes =
      result->workspace_bytes != 0 ? result->workspace_offset + result->workspace_bytes : plan->temporary_bytes;
  if (result->temporary_bytes != 0) {
    result->used_slots.insert(result->temporary_slot);
  }
  const BackendStatus status = cpu_backend().compile(own(device).cpu, plan, &result->program);
  if (status.code == BackendCode::ok) {
    *program = reinterpret_cast<BackendProgram*>(result.release());
  }
  return status;
}

BackendStatus create_queue(BackendDevice* device, BackendQueue** queue) {
  if (own(device).failed != nullptr) {
    return failed(own(device));
  }
  *queue = reinterpret_cast<BackendQueue*>(new LaterQueue(own(device)));
  return kOk;
}

BackendStatus copy(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes) {
  return own(queue).give([=] {
    std::byte* const target = resolve(*own(queue).device, to);
    const std::byte* const source = resolve(*own(queue).device, from);
    if (target != nullptr && source != nullptr) {
      g_copied_bytes += (to.block == nullptr) != (from.block == nullptr) ? bytes : 0;
      std::memmove(target, source, bytes);
    }
  });
}

BackendStatus fill(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                   std::uint32_t pattern_bytes) {
  const std::vector<std::uint32_t> kept(pattern, pattern + pattern_bytes / 4);
  return own(queue).give([=] {
    LaterDevice& device = *own(queue).device;
    if (std::byte* const target = resolve(device, to); target != nullptr) {
      cpu_backend().fill(device.cpu_queue, location_at(target), bytes, kept.data(), pattern_bytes);
    }
  });
}

BackendStatus run(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                  const Interrupt* /*interrupt*/) {
  LaterDevice& device = *own(queue).device;
  if (device.runs_left < 0 && ++device.runs_left == 0) {
    device.failed = kToldToFail;
    return failed(device);
  }
  LaterProgram::Addresses kept(addresses, addresses + own(program).slots);
  for (const std::size_t slot : own(program).used_slots) {
    std::byte* const contents = find_contents(device, kept[slot]);
    if (contents == nullptr && kept[slot] != 0) {
      device.failed = kNotOnDevice;
      return failed(device);
    }
    kept[slot] = reinterpret_cast<std::uintptr_t>(contents);
  }
  return own(queue).give([=, &device] {
    if (device.runs_left > 0 && --device.runs_left == 0) {
      device.failed = kToldToFail;
    }
    if (device.failed == nullptr) {
      own(program).mark_workspace(kept);
      cpu_backend().run(device.cpu_queue, own(program).program, kept.data(), nullptr);
      if (!own(program).is_marked(kept)) {
        device.failed = kWorkspaceUsed;
      }
    }
  });
}

BackendStatus timestamp(BackendQueue* queue, MemoryLocation to) {
  return own(queue).give([=] {
    const std::uint64_t now = monotonic_nanoseconds();
    if (std::byte* const target = resolve(*own(queue).device, to); target != nullptr) {
      std::memcpy(target, &now, sizeof(now));
    }
  });
}

BackendStatus mark(BackendQueue* queue, BackendMark** mark) {
  *mark = nullptr;
  auto result = std::make_unique<LaterMark>(LaterMark{own(queue).device, std::make_shared<Passage>()});
  const BackendStatus status = own(queue).give([passage = result->passage] { passage->pass(); });
  if (status.code == BackendCode::ok) {
    *mark = reinterpret_cast<BackendMark*>(result.release());
  }
  return status;
}

BackendStatus wait(BackendMark* mark) {
  own(mark).passage->wait();
  return own(mark).device->failed != nullptr ? failed(*own(mark).device) : kOk;
}

BackendStatus follow(BackendQueue* queue, BackendMark* mark) {
  return own(queue).give([passage = own(mark).passage] { passage->wait(); });
}

constexpr BackendTable kTable = {
    .build = kBuildHash,
    .name = "later",
    .device_count = [] { return std::uint32_t{1}; },
    .open = open,
    .close =
        [](BackendDevice* device) {
          cpu_backend().destroy_queue(own(device).cpu_queue);
          cpu_backend().close(own(device).cpu);
          delete &own(device);
        },
    .describe = describe,
    .allocate = allocate,
    .release = release,
    .import_host =
        [](BackendDevice* device, void* host, std::uint64_t bytes, MemoryBlock* block) {
          return add_memory(own(device), static_cast<std::byte*>(host), bytes, true, block);
        },
    .forget_host = [](BackendDevice* device, BackendMemory* handle) { remove_memory(own(device), handle); },
    .allocate_in_order = nullptr,
    .release_in_order = nullptr,
    .buffer_bytes = [](const BackendDevice* device) { return cpu_backend().buffer_bytes(own(device).cpu); },
    .access = nullptr,
    .compile = compile,
    .temporary_bytes = [](const BackendProgram* program) { return own(program).temporary_bytes; },
    .destroy =
        [](BackendProgram* program) {
          cpu_backend().destroy(own(program).program);
          delete &own(program);
        },
    .create_queue = create_queue,
    .create_queue_on = nullptr,
    .destroy_queue = [](BackendQueue* queue) { delete &own(queue); },
    .copy = copy,
    .fill = fill,
    .run = run,
    .timestamp = timestamp,
    .mark = mark,
    .destroy_mark = [](BackendMark* mark) { delete &own(mark); },
    .is_passed =
        [](BackendMark* mark) {
          const std::scoped_lock lock(own(mark).passage->mutex);
          return std::uint32_t{own(mark).passage->passed};
        },
    .wait = wait,
    .follow = follow,
    .lacks = lacks,
    .explain = [](const BackendProgram* program, char* text,
                  std::uint64_t capacity) { cpu_backend().explain(own(program).program, text, capacity); },
};

}  // namespace
}  // namespace anydml

extern "C" __attribute__((visibility("default"))) std::uint64_t anydml_later_copied_bytes() {
  return anydml::g_copied_bytes;
}

extern "C" __attribute__((visibility("default"))) const anydml::BackendTable* anydml_backend(const char** message) {
  // Starts a helper process on this thread and on another one, as CUDA may if its kernel module is not loaded.
  const auto start_helper = [] {
    if (const pid_t helper = fork(); helper == 0) {
      _exit(0);
    } else if (helper > 0) {
      waitpid(helper, nullptr, 0);
    }
  };
  start_helper();
  std::thread(start_helper).join();
  if (std::getenv("ANYDML_LATER_ABSENT") != nullptr) {
    *message = "it was told to be absent";
    return nullptr;
  }
  return &anydml::kTable;
}
