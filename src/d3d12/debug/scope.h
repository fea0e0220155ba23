// SPDX-License-Identifier: MIT
// Checks one call to ExecuteCommandLists: the states of its buffers, and the order of its accesses.
//
// Except in UPLOAD and READBACK heaps, buffers start every call in the state COMMON, because in D3D12 they decay to it
// when the previous call has finished. The first use of a buffer promotes it to the state that the use requires. Calls
// on one queue run one after another, so only commands in the same call need barriers between them; calls on different
// queues need a fence.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "d3d12/debug/accesses.h"
#include "d3d12/debug_messages.h"

namespace anydml {

using MemoryAccesses = std::unordered_map<std::uint64_t, AccessMap>;  // by the number of the memory block

class DebugScope {
 public:
  using Report = std::function<void(DebugMessage, std::string)>;
  using BufferName = std::function<std::string(std::uint64_t)>;  // empty, or a space and the quoted name

  // `finished` contains the executions that are known to finish before this one begins.
  DebugScope(std::shared_ptr<const DebugExecution> execution, const DebugClock& finished, MemoryAccesses& memories,
             const BufferName& buffer_name, const Report& report)
      : execution_(std::move(execution)),
        finished_(finished),
        memories_(memories),
        buffer_name_(buffer_name),
        report_(report) {}

  void check();

 private:
  struct BufferState {
    D3D12_RESOURCE_STATES state = D3D12_RESOURCE_STATE_COMMON;
    bool promoted = false;   // whether a use, rather than a transition, set the state
    bool splitting = false;  // whether a split transition to `next` has begun
    D3D12_RESOURCE_STATES next = D3D12_RESOURCE_STATE_COMMON;
    std::size_t last_op = 0;  // the command or barrier that set the state
  };

  // The last barrier for each buffer.
  class Barriers {
   public:
    // buffer: 0 for all buffers.
    void add(std::uint64_t buffer, std::size_t op) { (buffer == 0 ? all_ : last_[buffer]) = op + 1; }
    // Whether a barrier for the buffer follows the operation.
    [[nodiscard]] bool separate(std::uint64_t buffer, std::size_t op) const {
      const auto found = last_.find(buffer);
      return op < all_ || (found != last_.end() && op < found->second);
    }

   private:
    std::size_t all_ = 0;  // the position of the last barrier for all buffers, plus one
    std::unordered_map<std::uint64_t, std::size_t> last_;
  };

  // The limit for each kind of message. Without it, a list that repeats a mistake would produce a message for every
  // command.
  static constexpr std::size_t kMaxReports = 16;

  void check_command(std::size_t op);
  void check_transition(std::size_t op, const DebugBarrier& barrier);
  [[nodiscard]] bool may_report(DebugMessage message) {
    return ++reported_[static_cast<std::size_t>(message)] <= kMaxReports;
  }
  void check_state(std::size_t op, const DebugAccess& access);
  // Returns whether a conflict was reported.
  bool check_order(std::size_t op, const DebugAccess& access, const PastAccess& past);
  [[nodiscard]] std::string where(std::size_t op) const { return describe_op(*execution_, op); }
  [[nodiscard]] std::string buffer_text(std::uint64_t buffer) const;
  [[nodiscard]] std::string access_text(const DebugAccess& access, bool reads) const;

  const std::shared_ptr<const DebugExecution> execution_;
  const DebugClock& finished_;
  MemoryAccesses& memories_;
  const BufferName& buffer_name_;
  const Report& report_;
  std::size_t reported_[kDebugMessages] = {};  // the number of messages of each kind
  std::unordered_map<std::uint64_t, BufferState> states_;
  Barriers barriers_;
  Barriers aliasing_barriers_;
};

}  // namespace anydml
