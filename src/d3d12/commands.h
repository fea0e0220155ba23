// SPDX-License-Identifier: MIT
// Recorded commands, which refer to buffers by number, and submitted commands, which refer to memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <variant>
#include <vector>

#include "com/com_ptr.h"
#include "d3d12/bridge.h"
#include "d3d12/debug/builder.h"
#include "d3d12/device_core.h"

namespace anydml {

// The values of a query heap.
class QueryStorage {
 public:
  // Throws std::bad_alloc.
  QueryStorage(const CoreDevice& device, std::uint32_t count)
      : count_(count), memory_(device, MemoryKind::readback_buffer, std::uint64_t{count} * sizeof(std::uint64_t)) {}

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] MemoryLocation ticks(std::uint32_t index) const {
    return {memory_.block().handle, index * sizeof(std::uint64_t)};
  }
  // Only valid after the work that writes the value has finished.
  [[nodiscard]] std::uint64_t read(std::uint32_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.block().host + index * sizeof(value), sizeof(value));
    return value;
  }

 private:
  const std::uint32_t count_;
  const Memory memory_;
};

struct CopyCommand {
  std::uint64_t to;
  std::uint64_t to_offset;
  std::uint64_t from;
  std::uint64_t from_offset;
  std::uint64_t bytes;
};

struct ClearCommand {
  Descriptor view;
  std::uint32_t pattern[4];
};

struct TimestampCommand {
  std::shared_ptr<QueryStorage> queries;
  std::uint32_t index;
};

struct ResolveCommand {
  std::shared_ptr<QueryStorage> queries;
  std::uint32_t first;
  std::uint32_t count;
  std::uint64_t to;
  std::uint64_t to_offset;
};

struct DispatchCommand {
  ComPtr<IBridgeDispatch> dispatch;
  std::weak_ptr<DescriptorStorage> heap;  // as in the API, the list does not keep a heap alive
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t table;         // the number of the binding table that wrote the descriptors
  bool copies;                 // IBridgeDispatch::copies
  std::size_t first_recorded;  // index into the recording's descriptors

  static constexpr std::size_t kNothingRecorded = static_cast<std::size_t>(-1);
};

// For std::visit: one function for each kind of command.
template <class... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};

// For messages: the label of DirectML work.
[[nodiscard]] std::string dispatch_label(IBridgeDispatch& dispatch);

using Command = std::variant<CopyCommand, ClearCommand, TimestampCommand, ResolveCommand, DispatchCommand>;

struct Recording {
  std::vector<Command> commands;
  std::vector<Descriptor> descriptors;  // the dispatches' descriptors, as they were bound at recording
  DebugRecording debug;
  // The number of submissions in flight. When it is zero, the recording may be reused. The shared pointer's own count
  // would not order memory accesses.
  mutable std::atomic<std::uint32_t> in_flight{0};
};

// Commands that are ready to run, and everything that must stay alive until they have run. A reused object keeps its
// memory, so submissions eventually stop allocating.
class Submission {
 public:
  Submission() = default;
  ~Submission() { clear(); }
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // A buffer that a command refers to but that no longer exists.
  struct Missing {
    const char* what = nullptr;  // its role in the command: "the source of a copy"
    std::uint64_t buffer = 0;
  };
  // Adds the commands of a closed list. Returns false if a buffer is missing. debug: describes them for the debug
  // layer; null if the layer is off.
  bool add(DeviceCore& core, const std::shared_ptr<const Recording>& recording, Missing& missing,
           ExecutionBuilder* debug);
  // Passes the commands to the device, in order.
  void run(DeviceCore& core, BackendQueue* queue) noexcept;
  void clear() noexcept;
  // For DRED: leave_breadcrumbs stores the commands of the list that was added last, and complete_breadcrumbs marks all
  // commands as completed.
  void leave_breadcrumbs(Breadcrumbs& breadcrumbs, TrailOfList list);
  void complete_breadcrumbs() noexcept {
    if (trail_ != nullptr) {
      trail_->complete();
    }
  }

  // Whether the work is expected to take no longer than waking a thread, judging from the bytes it may touch.
  [[nodiscard]] bool is_small() const { return bytes_ + work_.size() * kBytesOfAStart <= kSmallBytes; }

 private:
  struct Copy {
    MemoryLocation to;
    MemoryLocation from;
    std::uint64_t bytes;
  };
  struct Clear {
    MemoryLocation to;
    std::uint64_t bytes;
    const ClearCommand* command;
  };
  struct Timestamp {
    MemoryLocation to;
  };
  struct Dispatch {
    IBridgeDispatch* dispatch;
    std::size_t first_address;
    std::size_t first_location;
  };
  // Lists may contain hundreds of thousands of dispatches, so copies and clears are stored elsewhere to keep entries
  // small.
  template <class Kind>
  struct NumberOf {
    std::size_t index;
  };
  using Work = std::variant<NumberOf<Copy>, NumberOf<Clear>, Timestamp, Dispatch>;

  bool resolve(const DeviceCore::BufferLookup& buffers, const Command& command, Missing& missing);
  bool resolve_dispatch(DeviceCore& core, const Recording& recording, const DispatchCommand& command,
                        std::shared_ptr<DescriptorStorage>& heap);
  // Describes a command for the debug layer, after it was resolved.
  static void describe(const DeviceCore::BufferLookup& buffers, const Command& command, std::size_t index,
                       ExecutionBuilder& debug);
  void describe_dispatch(DeviceCore& core, const DispatchCommand& command, const DescriptorStorage* heap,
                         std::size_t index, ExecutionBuilder& debug) const;
  void hold(const BufferRange& range, std::uint64_t bytes);
  MemoryLocation hold(const BufferRange& range, std::uint64_t offset, std::uint64_t bytes) {
    hold(range, bytes);
    return range.location_at(offset);
  }

  static constexpr std::uint64_t kSmallBytes = 65'536;
  static constexpr std::uint64_t kBytesOfAStart = 1024;  // the bytes touched in the time it takes to start a command

  std::uint64_t number_ = 0;  // unique to each use of the object
  std::uint64_t bytes_ = 0;
  std::vector<std::shared_ptr<const Recording>> recordings_;
  std::vector<std::shared_ptr<Memory>> memory_;
  std::vector<Work> work_;
  std::vector<Copy> copies_;
  std::vector<Clear> clears_;
  std::vector<DeviceAddress> addresses_;         // for all dispatches
  std::vector<MemoryLocation> locations_;        // for the dispatches that copy
  std::vector<ResolvedDescriptor> descriptors_;  // for the dispatch being resolved
  std::shared_ptr<Trail> trail_;                 // null unless breadcrumbs are left
};

}  // namespace anydml
