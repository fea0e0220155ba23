// SPDX-License-Identifier: MIT
// A call to ExecuteCommandLists, as recorded by the debug layer: its barriers, and the bytes that each command
// accesses.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d3d12/debug/clock.h"
#include "d3d12/headers.h"

namespace anydml {

// A barrier as a list records it. Buffers are identified by number; 0 means all buffers.
struct DebugBarrier {
  D3D12_RESOURCE_BARRIER_TYPE type;
  D3D12_RESOURCE_BARRIER_FLAGS flags;
  std::uint64_t buffer;  // for an aliasing barrier: the buffer that was used before
  D3D12_RESOURCE_STATES before;
  D3D12_RESOURCE_STATES after;
  D3D12_HEAP_TYPE heap;
  std::size_t next_command;  // index of the first command after the barrier
};

// The state of an allocator. D3D12 discards the recorded commands when the allocator is reset or released.
struct AllocatorUse {
  std::atomic<std::uint64_t> resets{0};
  std::atomic<bool> released{false};
};

// Data that a list records for the debug layer, in addition to its commands.
struct DebugRecording {
  std::vector<DebugBarrier> barriers;
  std::shared_ptr<AllocatorUse> allocator;  // null if the list was opened before the debug layer was enabled
  std::uint64_t resets = 0;                 // the allocator's resets when the list was opened
  std::string allocator_name;               // empty, or a space and the quoted name
};

// The bytes of a block of memory that a command accesses through a buffer.
struct DebugAccess {
  std::uint64_t memory;  // number of the block; the range in it follows
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t buffer;
  std::uint64_t offset;         // the range's start in the buffer
  const char* role;             // "its OutputTensor", "its destination"; never freed
  D3D12_RESOURCE_STATES state;  // the state that the access requires
  D3D12_HEAP_TYPE heap;
  bool write;
  bool has_gaps;  // the command may skip some of the bytes, as in a tensor with strides
};

// Either a barrier or a command with its accesses. Entries are small, because lists may contain hundreds of thousands
// of commands.
struct DebugOp {
  enum class Kind : std::uint8_t {
    barrier,
    unseen,  // commands that were recorded before the debug layer was enabled
    command,
  } kind;
  std::uint32_t list;
  std::uint32_t command;       // the command's number in the list, starting from 1; barriers are not counted
  std::uint32_t index;         // index of the barrier, or of the command's label
  std::uint32_t first_access;  // index among the execution's accesses
  std::uint32_t access_count;
};

struct DebugExecution {
  ExecutionId id;
  std::string queue_name;  // a space and the quoted name; empty if the queue has no name
  std::vector<std::string> list_names;
  std::vector<DebugOp> ops;
  std::vector<DebugBarrier> barriers;
  std::vector<std::string> labels;  // "a copy", "ELEMENT_WISE_ADD 'sum'"
  std::vector<DebugAccess> accesses;
};

// An object that an execution needs until the execution is finished. It is identified by its address, or by its number
// if it is a buffer.
struct DebugObject {
  enum class Kind { buffer, descriptor_heap, dispatch, allocator, query_heap } kind;
  std::uint64_t number;
  auto operator<=>(const DebugObject&) const = default;
};

// Everything that an execution needs until the execution is finished.
struct DebugUses {
  struct Descriptors {
    const void* heap;
    std::uint32_t first;
    std::uint32_t count;
    auto operator<=>(const Descriptors&) const = default;
  };
  struct Write {  // a write to memory that the CPU can map
    std::uint64_t memory;
    std::uint64_t first;
    std::uint64_t end;
  };
  std::vector<DebugObject> objects;
  std::vector<Descriptors> descriptors;
  std::vector<Write> mappable_writes;
};

// The position of a command or barrier, for messages.
[[nodiscard]] std::string describe_op(const DebugExecution& execution, std::size_t op);

}  // namespace anydml
