// SPDX-License-Identifier: MIT
// The interface of a backend: a table of C functions over plans and addresses. A backend sees tensors only as the loops
// of a plan, and does not depend on the API above it. A plugin exports one table (kPluginEntry) and needs only this
// header, base, the plan's headers and the families for which it has kernels.
//
// A queue executes its work in order, either during the call or later. Work is done when a mark placed after it has
// been passed. Only one thread at a time may add work to a queue, unless the queue is synchronous. All other functions
// may be called from any thread at any time.
//
// A device that has failed stays failed. After a failure, mark and wait return failed, is_passed returns 1, and no
// function blocks. Other functions also return failed, or succeed if they do not need the device. Functions that return
// no status still release memory and objects. tests/device checks a backend against this file: docs/adding-a-device.md.
#pragma once

#include <cstdint>

#include "base/buffer_units.h"
#include "plan/device_traits.h"
#include "plan/plan.h"

namespace anydml {

enum class BackendCode : std::uint32_t {
  ok,
  out_of_memory,
  failed,
  interrupted,  // only from run: the caller ended the run, and outputs may be partly written
  not_joined,   // only from compile: steps that the plan joins cannot be joined, but they may run separately
};

struct BackendStatus {
  BackendCode code;
  // Null if code is ok. The message may describe this particular failure, like a driver's log. It is valid until this
  // thread calls the backend again, so a caller must copy it to keep it.
  const char* message;
};

struct BackendDeviceInfo {
  char name[32];          // the name for users and ANYDML_ADAPTER: "cpu", "cuda:1"
  char description[128];  // such as "Neoverse-N1, 2 threads"
  std::uint64_t memory_bytes;
  std::uint32_t threads;         // CPU threads in use; 0 for other devices
  std::uint32_t unified_memory;  // 1 if the device uses the CPU's memory, and can access all of it
  // If 1, the device uses the addresses of the process, so a pointer can also identify device memory, and `access`
  // classifies it. If 0, pointers identify only CPU memory, and the device uses only memory that it allocated or
  // imported.
  std::uint32_t shares_addresses;
  std::uint32_t asynchronous;  // 1 if queues execute their work later
  std::uint32_t vendor;        // PCI vendor and product numbers, or 0
  std::uint32_t product;
  DeviceTraits traits;  // for code that creates plans for the device
};

struct BackendSettings {
  std::uint32_t threads;   // 0 means the machine's maximum
  const char* cpu_target;  // empty for the best available
};

// The purpose of memory. Buffers are aligned to kBufferAlignment and contain zeros. A request for more memory than the
// device has fails with out_of_memory, sets the block to empty and has no other effect. A request for 0 bytes succeeds
// and receives its own handle.
enum class MemoryKind : std::uint32_t {
  temporary,        // for one run; aligned to kTemporaryAlignment, contents undefined
  device_buffer,    // the device's own memory
  upload_buffer,    // the CPU writes, the device reads
  readback_buffer,  // the device writes, the CPU reads
};

// The address of a byte, as used by a device's programs.
using DeviceAddress = std::uint64_t;

struct BackendMemory;  // opaque; owned by the backend

// Memory that a device allocated or imported, with three ways to refer to the same bytes.
struct MemoryBlock {
  BackendMemory* handle;  // for copies, fills, timestamps and release; null if there is no memory
  DeviceAddress address;  // for programs
  std::byte* host;  // for the CPU; null if the CPU cannot access the bytes, but never null for upload and readback
};

// The location of a byte, for copies, fills and timestamps.
struct MemoryLocation {
  BackendMemory* block;  // null for the CPU's memory, or the memory of a device that shares addresses
  std::uint64_t offset;  // offset in the block; without a block, the address
};
[[nodiscard]] inline MemoryLocation location_at(const void* address) {
  return {nullptr, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address))};
}

// How a device that shares addresses can use an address.
enum class Access : std::uint32_t {
  direct,   // the device's programs can use it
  by_copy,  // the CPU's memory, or other memory that copies can access
  none,
};

// A plan, in the form that is passed to a backend.
struct BackendPlan {
  const std::uint64_t* words;  // valid only during the call
  std::uint64_t word_count;
  std::uint64_t temporary_bytes;  // the bytes that the steps use at the temporary slot
  std::uint32_t temporary_slot;   // the address in this slot must be a multiple of kTemporaryAlignment
};
[[nodiscard]] inline BackendPlan backend_plan(const Plan& plan) {
  return {.words = plan.words().data(),
          .word_count = plan.words().size(),
          .temporary_bytes = plan.temporary_bytes(),
          .temporary_slot = plan.temporary_slot()};
}

// Lets a caller end a run early. On a synchronous device, the thread that starts a run calls this several times a
// second.
struct Interrupt {
  std::int32_t (*is_wanted)(void* context);  // if 1, the run ends as soon as possible
  void* context;
};

struct BackendDevice;   // opaque; owned by the backend
struct BackendProgram;  // a compiled plan; immutable, and may run many times concurrently
struct BackendQueue;
struct BackendMark;  // a position in a queue's work: an event, or the value of a timeline semaphore
// A queue in the device's own API that belongs to a caller. The backend defines its type, such as cudaStream_t.
struct BackendStream;

struct BackendTable {
  std::uint64_t build;  // kBuildHash: a plugin built from different headers is rejected. Always the first member
  const char* name;     // "cpu"

  std::uint32_t (*device_count)();
  // Called by one thread at a time, so it need not protect the process-wide state that it creates.
  BackendStatus (*open)(std::uint32_t index, const BackendSettings* settings, BackendDevice** device);
  void (*close)(BackendDevice* device);
  void (*describe)(const BackendDevice* device, BackendDeviceInfo* info);

  // Allocates memory that the device's programs can use. It must be released with the same kind and size, after all
  // work that uses it is done.
  BackendStatus (*allocate)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block);
  void (*release)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle);
  // Makes CPU memory accessible to the device until forget_host is called. The function is null if the device cannot do
  // this, or does not need to because it shares addresses.
  BackendStatus (*import_host)(BackendDevice* device, void* host, std::uint64_t bytes, MemoryBlock* block);
  void (*forget_host)(BackendDevice* device, BackendMemory* handle);
  // Allocates temporary memory for the work that is added to a queue between the two calls. Neither call waits. If the
  // function is null, or succeeds with a null handle, the device has no such memory, and the caller must wait for work
  // that needs temporary memory.
  BackendStatus (*allocate_in_order)(BackendQueue* queue, std::uint64_t bytes, MemoryBlock* block);
  void (*release_in_order)(BackendQueue* queue, BackendMemory* handle);
  // The total size of the current buffers, each rounded up to whole_units(bytes). Only the device's own memory counts,
  // so upload and readback buffers are included only if the CPU's memory is also the device's memory.
  std::uint64_t (*buffer_bytes)(const BackendDevice* device);
  Access (*access)(BackendDevice* device, const void* address);  // null if addresses are not shared

  // If the device has no kernels for the plan, fails with a message that explains why and leaves *program unchanged.
  BackendStatus (*compile)(BackendDevice* device, const BackendPlan* plan, BackendProgram** program);
  // The memory that a run needs at the plan's temporary slot: the plan's own bytes, followed by the workspace of the
  // chosen kernels.
  std::uint64_t (*temporary_bytes)(const BackendProgram* program);
  void (*destroy)(BackendProgram* program);

  // Creates a queue that the backend owns. The queue may delay work until a mark is placed.
  BackendStatus (*create_queue)(BackendDevice* device, BackendQueue** queue);
  // Creates a queue that passes its work to a stream immediately. The caller still owns the stream; null is the default
  // stream of the device's API. The function is null if the device does not support callers' streams.
  BackendStatus (*create_queue_on)(BackendDevice* device, BackendStream* stream, BackendQueue** queue);
  void (*destroy_queue)(BackendQueue* queue);  // after its work is done

  // The following functions add work. Everything that the work uses, except a pattern and the list of addresses, must
  // live until a mark that was placed after the work has been passed. copy works between any two locations, at any
  // offset, with any size; if bytes is 0, no memory is accessed. The two ranges must not overlap: callers guarantee
  // this, because GPU APIs require it.
  BackendStatus (*copy)(BackendQueue* queue, MemoryLocation to, MemoryLocation from, std::uint64_t bytes);
  // Repeats a pattern of 4 or 16 bytes, starting with its first word. The last repetition may be truncated. `to` and
  // bytes must be multiples of 4.
  BackendStatus (*fill)(BackendQueue* queue, MemoryLocation to, std::uint64_t bytes, const std::uint32_t* pattern,
                        std::uint32_t pattern_bytes);
  // `addresses` has an entry for each slot of the plan. Any value is valid for a slot that no step uses, and for the
  // temporary slot if temporary_bytes is 0. `interrupt` is null if the run cannot be interrupted.
  BackendStatus (*run)(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                       const Interrupt* interrupt);
  // Writes the time at which the earlier work is done to memory of kind readback_buffer. The time is 64-bit and in
  // nanoseconds, even if the device's clock uses a different unit. The location must be a multiple of 8. Times within a
  // queue never decrease.
  BackendStatus (*timestamp)(BackendQueue* queue, MemoryLocation to);

  // Creates a mark after all work so far. *mark is null if that work is already done, or after a failure. The functions
  // below are never passed a null mark.
  BackendStatus (*mark)(BackendQueue* queue, BackendMark** mark);
  // May be called before the mark is passed. Queues that follow the mark still wait for its position.
  void (*destroy_mark)(BackendMark* mark);
  std::uint32_t (*is_passed)(BackendMark* mark);  // 1 if the mark is passed or the device failed; never reverts to 0
  // Blocks until the mark is passed, or until the device fails.
  BackendStatus (*wait)(BackendMark* mark);
  // Makes later work wait for the mark, which must belong to this device.
  BackendStatus (*follow)(BackendQueue* queue, BackendMark* mark);

  // Returns null if the device has kernels for an operator, and otherwise a sentence that explains why not, without a
  // period. The text stays valid until the process exits. The function itself is null if the device has kernels for all
  // operators.
  const char* (*lacks)(const BackendDevice* device, const AskedOperator* op);
  // Writes a short null-terminated string that names the kernels of a program, for the log.
  void (*explain)(const BackendProgram* program, char* text, std::uint64_t capacity);
};

// The function that a plugin exports, with C linkage. If this machine has no device for the plugin, returns null and
// sets message to the reason, which stays valid until the process exits.
using PluginEntry = const BackendTable* (*)(const char** message);
inline constexpr char kPluginEntry[] = "anydml_backend";

}  // namespace anydml
