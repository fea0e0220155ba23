// SPDX-License-Identifier: MIT
// The debug layer of one device: it follows queues, fences and the CPU to find uses of memory and objects that are
// correct only by accident. Commands run in order here, so such mistakes would otherwise go unnoticed.
//
// Work is known to be finished only if the program has waited for it through a fence: by polling the fence, blocking on
// it, or asking it to set an event. A submission that merely happens to be finished does not count.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "d3d12/debug/scope.h"

namespace anydml {

class DeviceCore;
class FenceCore;

class DebugTracker {
 public:
  explicit DebugTracker(DeviceCore& core) : core_(core) {}

  [[nodiscard]] std::uint32_t add_queue();
  void remove_queue(std::uint32_t queue);
  // Reserves the number of the queue's next execution.
  [[nodiscard]] ExecutionId begin_execution(std::uint32_t queue);
  // The next three functions post no messages, because their callers hold a queue's lock. The callers release the lock
  // and then call post_messages().
  void execute(std::shared_ptr<const DebugExecution> execution, const DebugUses& uses);
  void signal(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value);
  void wait(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value);

  using Messages = std::vector<std::pair<DebugMessage, std::string>>;
  void add_messages(Messages messages);
  void post_messages() noexcept;

  // Called when the CPU signals the fence, has seen the fence's value, has waited until the fence reached the value, or
  // has asked for an event when the fence reaches it.
  void host_signal(const std::shared_ptr<FenceCore>& fence, std::uint64_t value);
  void host_saw(const FenceCore& fence, std::uint64_t value);
  void host_waited(const FenceCore& fence, std::uint64_t value);
  void host_expects(const std::shared_ptr<FenceCore>& fence, std::uint64_t value);

  // Called when the object is being released. Reports a mistake if an execution may still need the object. describe()
  // returns text such as "ID3D12Resource 'weights'".
  template <class Describe>
  void released(const DebugObject& object, const Describe& describe) {
    if (end_uses(object)) {
      report_released(describe());
    }
  }
  // Like released(), for an allocator that is being reset.
  template <class Describe>
  void reset(const DebugObject& object, const Describe& describe) {
    if (end_uses(object)) {
      report_reset(describe());
    }
  }
  void change_descriptors(const void* heap, std::uint32_t first, std::uint32_t count, const std::string& what);
  struct MapCall {
    std::uint64_t memory;
    std::uint64_t first;  // the range that the CPU may read
    std::uint64_t end;
    bool names_range;      // the program specified the range; otherwise it may read any part of the buffer
    bool only_read_back;   // the CPU has no reason to access bytes that the device has not written
    std::uint64_t buffer;  // the buffer's offset in the memory
  };
  void map(const MapCall& call, const std::string& what);
  // Called when a buffer that occupies these bytes of the memory is being released. Forgets the writes that a Map of
  // this buffer would have to wait for.
  void forget_mapped(std::uint64_t memory, std::uint64_t first, std::uint64_t end);

 private:
  struct FenceTask {
    bool is_wait;
    std::uint64_t fence;
    std::uint64_t value;
    DebugClock host;  // for a signal: the work that the CPU had waited for when it submitted the signal
  };
  struct ExecuteTask {
    std::shared_ptr<const DebugExecution> execution;
    DebugClock host;  // the work that the CPU had waited for when it submitted this work
  };
  struct Queue {
    std::uint64_t executions = 0;  // the number of executions submitted
    bool released = false;
    DebugClock finished;  // the work that is finished before the next task begins
    std::deque<std::variant<ExecuteTask, FenceTask>> tasks;
  };
  struct FenceState {
    std::weak_ptr<FenceCore> fence;
    std::map<std::uint64_t, DebugClock> signals;  // by value: the work that is finished when the fence reaches it
    std::set<std::uint64_t> expected;             // the values for which an event will notify the CPU
    std::uint64_t forgotten = 0;                  // the highest value whose signal was dropped
  };
  struct MappedWrite {
    std::uint64_t first;
    std::uint64_t end;
    ExecutionId execution;
    bool finished = false;  // finished writes are kept: a program may map the whole buffer to read just these bytes
  };

  FenceState& state_of(const std::shared_ptr<FenceCore>& fence);
  // Checks all executions that no longer wait for a fence. The caller must hold the mutex.
  void advance();
  [[nodiscard]] bool advance_all();
  [[nodiscard]] bool advance(Queue& queue);
  [[nodiscard]] bool can_pass(const FenceTask& wait, DebugClock& finished);
  // Notes the work that is known to be finished because an event was set.
  void look_at_events();
  void waited(FenceState& state, std::uint64_t value, std::uint64_t completed);
  void saw(FenceState& state, std::uint64_t value);
  void forget_finished();
  void add_uses(const DebugUses& uses, const ExecutionId& execution);
  void note_finished(std::vector<MappedWrite>& writes) const;
  void add_mapped_write(const DebugUses::Write& write, const ExecutionId& execution);
  [[nodiscard]] static bool has_settled_bytes(const std::vector<MappedWrite>& writes, const MapCall& call);
  // Forgets the object, even if memory has run out, because a new object may get the same address. Returns whether an
  // execution may still need the object.
  [[nodiscard]] bool end_uses(const DebugObject& object);
  void report_released(const std::string& what);
  void report_reset(const std::string& what);

  DeviceCore& core_;
  std::mutex mutex_;
  std::vector<Queue> queues_;
  std::unordered_map<std::uint64_t, FenceState> fences_;
  DebugClock host_;  // the work that the CPU has waited for
  MemoryAccesses memories_;
  std::size_t forget_at_ = 1024;  // the number of segments at which finished accesses are forgotten
  std::size_t described_ = 0;     // commands and accesses since accesses were last forgotten
  Messages messages_;             // not posted yet
  std::map<DebugObject, std::vector<ExecutionId>> uses_;
  // For each pair of descriptors and a queue, the queue's last execution that needs the descriptors.
  std::map<std::pair<DebugUses::Descriptors, std::uint32_t>, std::uint64_t> descriptors_;
  std::unordered_map<std::uint64_t, std::vector<MappedWrite>> mapped_;  // by memory block; oldest first
};

}  // namespace anydml
