// SPDX-License-Identifier: MIT
// The interface of a backend: a table of C functions over plans and addresses. It knows tensors only as the loops of a
// plan, and nothing about the API above. A plugin exports one such table (kPluginEntry) and needs this header, base,
// the plan's headers and the families that it has kernels for.
//
// Queues do their work in order, at once or later: work is done when a mark placed after it is passed. Calls that give
// work to one queue come one at a time, unless the queue works at once; every other function may be called from any
// thread at any time.
//
// A device that failed stays failed. From then on mark and wait return failed, is_passed returns 1, and no function
// blocks. Other functions return failed too, or succeed where they need nothing from the device. Functions that return
// no status still release memory and objects. tests/device holds a backend to this file: docs/adding-a-device.md.
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
  interrupted,  // only from run: its caller wished it to end; outputs are partly written
  not_joined,   // only from compile: steps that the plan joins cannot be joined, but may run separately
};

struct BackendStatus {
  BackendCode code;
  // Null when ok. It may speak of this very failure, as a driver's log does, and lives until this thread calls the
  // backend again: a caller that keeps it copies it.
  const char* message;
};

struct BackendDeviceInfo {
  char name[32];          // its name for ANYDML_ADAPTER and users: "cpu", "cuda:1"
  char description[128];  // a description: "Neoverse-N1, 2 threads"
  std::uint64_t memory_bytes;
  std::uint32_t threads;         // CPU threads at work; 0 for other devices
  std::uint32_t unified_memory;  // 1: its memory is the CPU's own, and it can reach all of it
  // 1: its addresses are addresses of the process, so that a pointer names memory of the device too, and `access` says
  // what a pointer is. 0: pointers are the CPU's alone, and the device uses only memory that it allocated or imported.
  std::uint32_t shares_addresses;
  std::uint32_t asynchronous;  // 1: queues do their work later
  std::uint32_t vendor;        // PCI's numbers for it; 0: none
  std::uint32_t product;
  DeviceTraits traits;  // for code that makes plans for it
};

struct BackendSettings {
  std::uint32_t threads;   // 0: as many as the machine allows
  const char* cpu_target;  // empty: the best the machine has
};

// The purpose of memory. Buffers begin at multiples of kBufferAlignment and hold zeros; a request for more than the
// device has fails as out of memory, leaves an empty block and harms nothing. A request for 0 bytes succeeds and has a
// handle of its own.
enum class MemoryKind : std::uint32_t {
  temporary,        // of one run: aligned to kTemporaryAlignment, contents undefined
  device_buffer,    // the device's own
  upload_buffer,    // the CPU writes, the device reads
  readback_buffer,  // the device writes, the CPU reads
};

// The address of a byte for a device's programs.
using DeviceAddress = std::uint64_t;

struct BackendMemory;  // opaque, the backend's own

// Memory that a device allocated or imported: three names for the same bytes.
struct MemoryBlock {
  BackendMemory* handle;  // for copies, fills, timestamps and the release; null: there is no memory
  DeviceAddress address;  // for programs
  std::byte* host;        // for the CPU; null if it cannot reach the bytes, as it can those of upload and readback
};

// A byte for copies, fills and timestamps.
struct MemoryPlace {
  BackendMemory* block;  // null: the CPU's memory, or memory of a device that shares addresses
  std::uint64_t offset;  // in the block; without one, the address
};
[[nodiscard]] inline MemoryPlace place_at(const void* address) {
  return {nullptr, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address))};
}

// How a device that shares addresses can use one.
enum class Access : std::uint32_t {
  direct,   // its programs can use it
  by_copy,  // the CPU's memory, or other memory that copies can reach
  none,
};

// A plan in the form that crosses to a backend.
struct BackendPlan {
  const std::uint64_t* words;  // they need not live longer than the call
  std::uint64_t word_count;
  std::uint64_t temporary_bytes;  // that the steps use at the temporary slot
  std::uint32_t temporary_slot;   // its address is a multiple of kTemporaryAlignment
};
[[nodiscard]] inline BackendPlan backend_plan(const Plan& plan) {
  return {.words = plan.words().data(),
          .word_count = plan.words().size(),
          .temporary_bytes = plan.temporary_bytes(),
          .temporary_slot = plan.temporary_slot()};
}

// By which the thread that brings a run asks whether to end it early, several times a second, if the device does its
// work at once.
struct Interrupt {
  std::int32_t (*is_wanted)(void* context);  // 1: the run ends as soon as it can
  void* context;
};

struct BackendDevice;   // opaque, the backend's own
struct BackendProgram;  // a compiled plan; immutable, may run many times at once
struct BackendQueue;
struct BackendMark;  // a place in a queue's work: an event, or the value of a timeline semaphore
// A queue of the device's own API that belongs to a caller: the backend says what it is (a cudaStream_t).
struct BackendStream;

struct BackendTable {
  std::uint64_t build;  // kBuildHash: a plugin built from other headers is rejected. Always the first member
  const char* name;     // "cpu"

  std::uint32_t (*device_count)();
  // One call at a time, so that it need not guard the state that it creates for the process.
  BackendStatus (*open)(std::uint32_t index, const BackendSettings* settings, BackendDevice** device);
  void (*close)(BackendDevice* device);
  void (*describe)(const BackendDevice* device, BackendDeviceInfo* info);

  // Memory that the device's programs can use. A release repeats the allocation's arguments, once no work uses it.
  BackendStatus (*allocate)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, MemoryBlock* block);
  void (*release)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, BackendMemory* handle);
  // The CPU's memory, from now on also the device's, until it is forgotten. Null: the device cannot do that, or need
  // not, because it shares addresses.
  BackendStatus (*import_host)(BackendDevice* device, void* host, std::uint64_t bytes, MemoryBlock* block);
  void (*forget_host)(BackendDevice* device, BackendMemory* handle);
  // Memory of kind temporary for the work that a queue receives between the two calls, which do not wait. Null, or
  // success with a null handle: the device has no such memory, and work that needs it has to be waited for.
  BackendStatus (*allocate_in_order)(BackendQueue* queue, std::uint64_t bytes, MemoryBlock* block);
  void (*release_in_order)(BackendQueue* queue, BackendMemory* handle);
  // Currently in buffers, each as whole_units(bytes): those of the device's own memory, so that buffers for the CPU
  // count only where the two are one.
  std::uint64_t (*buffer_bytes)(const BackendDevice* device);
  Access (*access)(BackendDevice* device, const void* address);  // null: the device does not share addresses

  // A plan that the device has no kernels for fails, with a message that says so, and leaves *program as it is.
  BackendStatus (*compile)(BackendDevice* device, const BackendPlan* plan, BackendProgram** program);
  // The memory that a run needs at the plan's temporary slot: the plan's own bytes, followed by the workspace of the
  // chosen kernels.
  std::uint64_t (*temporary_bytes)(const BackendProgram* program);
  void (*destroy)(BackendProgram* program);

  // A queue of our own. Work may be held back there until a mark comes.
  BackendStatus (*create_queue)(BackendDevice* device, BackendQueue** queue);
  // A queue whose work goes to a stream immediately. The stream remains the caller's; null is the one that the device's
  // API uses for callers that name none. A null function: the device has no streams of callers.
  BackendStatus (*create_queue_on)(BackendDevice* device, BackendStream* stream, BackendQueue** queue);
  void (*destroy_queue)(BackendQueue* queue);  // once its work is done

  // Work. Everything it uses must live until a mark after it is passed, except a pattern and the list of addresses.
  // Between any two places, at any offset, of any size; 0 bytes touch nothing. The two ranges share no byte: callers
  // see to that, because the APIs of GPUs demand it of their callers.
  BackendStatus (*copy)(BackendQueue* queue, MemoryPlace to, MemoryPlace from, std::uint64_t bytes);
  // Repeats a pattern of 4 or 16 bytes, beginning with its first word; the last repetition may be cut. `to` and bytes
  // are multiples of 4.
  BackendStatus (*fill)(BackendQueue* queue, MemoryPlace to, std::uint64_t bytes, const std::uint32_t* pattern,
                        std::uint32_t pattern_bytes);
  // addresses: one for each slot of the plan; any number for a slot that no step uses, and for the temporary slot if
  // temporary_bytes is 0. interrupt: null if nobody interrupts the run.
  BackendStatus (*run)(BackendQueue* queue, const BackendProgram* program, const DeviceAddress* addresses,
                       const Interrupt* interrupt);
  // The time when the work before it is done, as 64 bits at a place in memory of kind readback_buffer: nanoseconds,
  // whatever the device counts. The place is a multiple of 8. Later work of a queue has no earlier time.
  BackendStatus (*timestamp)(BackendQueue* queue, MemoryPlace to);

  // A mark after all work so far; null if that work is already done, and after a failure. The functions below never get
  // a null mark.
  BackendStatus (*mark)(BackendQueue* queue, BackendMark** mark);
  // Whether it is passed or not; queues that follow it still wait for its place.
  void (*destroy_mark)(BackendMark* mark);
  std::uint32_t (*is_passed)(BackendMark* mark);  // 1: it is, or the device failed; it stays so
  // Blocks until the mark is passed, or until the device fails.
  BackendStatus (*wait)(BackendMark* mark);
  // Work from now on waits for the mark, which is of this device.
  BackendStatus (*follow)(BackendQueue* queue, BackendMark* mark);

  // Why the device has no kernels for an operator: a sentence without a full stop, which lives as long as the process;
  // null if it has them. A null function: it has them for all operators.
  const char* (*lacks)(const BackendDevice* device, const AskedOperator* op);
  // A short text for the log that names the kernels of a program; written and terminated within capacity.
  void (*explain)(const BackendProgram* program, char* text, std::uint64_t capacity);
};

// The function that a plugin exports, with C linkage. Null, with the reason in message, if it has no device here: the
// text lives as long as the process.
using PluginEntry = const BackendTable* (*)(const char** message);
inline constexpr char kPluginEntry[] = "anydml_backend";

}  // namespace anydml
