// SPDX-License-Identifier: MIT
// What a backend is to the rest: a table of C functions over plans and addresses. It knows tensors only as the loops of
// a plan, and nothing of the API above. A plugin exports one such table and needs this header, base and the scalars.
//
// It is synchronous: run returns when the output is written, copy when the bytes have arrived. Queues, which make it
// asynchronous, belong to the API above. Every function may be called from any thread at any time.
#pragma once

#include <cstdint>

#include "plan/plan.h"

namespace anydml {

inline constexpr std::uint32_t kBackendVersion = 3;

enum class BackendCode : std::uint32_t { ok, out_of_memory, failed };

struct BackendStatus {
  BackendCode code;
  const char* message;  // lives as long as the process; null when ok
};

struct BackendDeviceInfo {
  char name[32];          // what ANYDML_ADAPTER and users call it: "cpu", "cuda:1"
  char description[128];  // what it is: "Neoverse-N1, 2 threads"
  std::uint64_t memory_bytes;
  std::uint32_t threads;  // CPU threads at work; 0 for other devices
};

struct BackendSettings {
  std::uint32_t threads;   // 0: as many as the machine gives
  const char* cpu_target;  // empty: the best the machine has
};

// What memory is for. Buffers begin at multiples of kBufferAlignment and hold zeros; a request for more than the device
// has is refused as out of memory.
enum class MemoryKind : std::uint32_t {
  temporary,        // of one run: aligned to kTemporaryAlignment, contents undefined
  device_buffer,    // the device's own
  upload_buffer,    // the CPU writes, the device reads
  readback_buffer,  // the device writes, the CPU reads
};
inline constexpr std::uint64_t kBufferAlignment = 65536;

struct BackendDevice;   // opaque, the backend's own
struct BackendProgram;  // a compiled plan; immutable, may run many times at once

struct BackendTable {
  std::uint32_t version;    // kBackendVersion
  std::uint32_t step_size;  // sizeof(Step): a plugin built against another plan is refused
  std::uint64_t rows_hash;  // kRowsHash: likewise one built against other rows
  const char* name;         // "cpu"

  std::uint32_t (*device_count)();
  // Called with the process mutex held: what it makes for the process it need not guard itself.
  BackendStatus (*open)(std::uint32_t index, const BackendSettings* settings, BackendDevice** device);
  void (*close)(BackendDevice* device);
  void (*describe)(const BackendDevice* device, BackendDeviceInfo* info);

  // Memory the device's programs can use. A release repeats what the allocation said.
  BackendStatus (*allocate)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void** address);
  void (*release)(BackendDevice* device, MemoryKind kind, std::uint64_t bytes, void* address);
  std::uint64_t (*buffer_bytes)(const BackendDevice* device);  // in buffers now
  BackendStatus (*copy)(BackendDevice* device, void* to, const void* from, std::uint64_t bytes);

  BackendStatus (*compile)(BackendDevice* device, const Step* steps, std::uint32_t step_count,
                           BackendProgram** program);
  void (*destroy)(BackendProgram* program);
  // addresses: one for each slot of the plan.
  BackendStatus (*run)(const BackendProgram* program, void* const* addresses);

  // Which kernels a program runs, as a short text for the log; written and terminated within capacity.
  void (*explain)(const BackendProgram* program, char* text, std::uint64_t capacity);
};

}  // namespace anydml
