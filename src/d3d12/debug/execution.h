// SPDX-License-Identifier: MIT
// A call to ExecuteCommandLists as the debug layer sees it: barriers, and the bytes that each command accesses.
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

// A barrier as a list records it. Buffers are identified by number; 0: all buffers.
struct DebugBarrier {
  D3D12_RESOURCE_BARRIER_TYPE type;
  D3D12_RESOURCE_BARRIER_FLAGS flags;
  std::uint64_t buffer;  // of an aliasing barrier: the buffer before
  D3D12_RESOURCE_STATES before;
  D3D12_RESOURCE_STATES after;
  D3D12_HEAP_TYPE heap;
  std::size_t next_command;  // the command in front of which it was recorded
};

// The memory of an allocator. D3D12 discards the commands in it when the allocator is reset or released.
struct AllocatorUse {
  std::atomic<std::uint64_t> resets{0};
  std::atomic<bool> released{false};
};

// What a list records for the debug layer, in addition to its commands.
struct DebugRecording {
  std::vector<DebugBarrier> barriers;
  std::shared_ptr<AllocatorUse> allocator;  // null: the list was opened before the debug layer was enabled
  std::uint64_t resets = 0;                 // of the allocator, when the list was opened
  std::string allocator_name;               // quoted, after a space; or empty
};

// The bytes of a block of memory that a command accesses through a buffer.
struct DebugAccess {
  std::uint64_t memory;  // the block's number, and the range in it
  std::uint64_t first;
  std::uint64_t end;
  std::uint64_t buffer;
  std::uint64_t offset;         // the range's start in the buffer
  const char* role;             // "its OutputTensor", "its destination"; never freed
  D3D12_RESOURCE_STATES state;  // required for the access
  D3D12_HEAP_TYPE heap;
  bool write;
  bool has_gaps;  // some of the bytes may not be accessed: a tensor with strides
};

// Either a barrier or a command with its accesses. Lists may contain hundreds of thousands of commands, so an entry is
// small.
struct DebugOp {
  enum class Kind : std::uint8_t {
    barrier,
    unseen,  // commands that were recorded before the debug layer was enabled
    command,
  } kind;
  std::uint32_t list;
  std::uint32_t command;       // its number in the list, starting with 1; barriers are not counted
  std::uint32_t index;         // of a barrier, or of a command's label
  std::uint32_t first_access;  // of the execution's accesses
  std::uint32_t access_count;
};

struct DebugExecution {
  ExecutionId id;
  std::string queue_name;  // quoted, after a space; empty if the queue has no name
  std::vector<std::string> list_names;
  std::vector<DebugOp> ops;
  std::vector<DebugBarrier> barriers;
  std::vector<std::string> labels;  // "a copy", "ELEMENT_WISE_ADD 'sum'"
  std::vector<DebugAccess> accesses;
};

// An object that an execution needs until it is finished, identified by its address or by a buffer's number.
struct DebugObject {
  enum class Kind { buffer, descriptor_heap, dispatch, allocator, query_heap } kind;
  std::uint64_t number;
  auto operator<=>(const DebugObject&) const = default;
};

// Everything that an execution needs until it is finished.
struct DebugUses {
  struct Descriptors {
    const void* heap;
    std::uint32_t first;
    std::uint32_t count;
    auto operator<=>(const Descriptors&) const = default;
  };
  struct Write {  // to memory that the CPU can map
    std::uint64_t memory;
    std::uint64_t first;
    std::uint64_t end;
  };
  std::vector<DebugObject> objects;
  std::vector<Descriptors> descriptors;
  std::vector<Write> mappable_writes;
};

// For messages: where a command is.
[[nodiscard]] std::string describe_op(const DebugExecution& execution, std::size_t op);

}  // namespace anydml
