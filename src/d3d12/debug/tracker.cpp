// SPDX-License-Identifier: MIT
#include "d3d12/debug/tracker.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/quoted.h"
#include "com/com_object.h"
#include "d3d12/device_core.h"
#include "d3d12/fence.h"
#include "text/format.h"

namespace anydml {

std::uint32_t DebugTracker::add_queue() {
  const std::scoped_lock lock(mutex_);
  // Reuses the number of a released queue whose work the program has waited for, so that clocks stay short.
  for (std::uint32_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    if (queue.released && queue.tasks.empty() && (queue.executions == 0 || host_.includes({i, queue.executions}))) {
      queue.released = false;
      queue.finished = {};
      return i;
    }
  }
  queues_.emplace_back();
  return static_cast<std::uint32_t>(queues_.size() - 1);
}

void DebugTracker::remove_queue(std::uint32_t queue) {
  const std::scoped_lock lock(mutex_);
  queues_[queue].released = true;
}

ExecutionId DebugTracker::begin_execution(std::uint32_t queue) {
  const std::scoped_lock lock(mutex_);
  return {queue, ++queues_[queue].executions};
}

void DebugTracker::add_messages(Messages messages) {
  const std::scoped_lock lock(mutex_);
  std::ranges::move(messages, std::back_inserter(messages_));
}

void DebugTracker::post_messages() noexcept {
  com_boundary("the debug layer", [&]() -> HRESULT {
    Messages messages;
    {
      const std::scoped_lock lock(mutex_);
      messages.swap(messages_);
    }
    for (const auto& [message, text] : messages) {  // no lock is held, because callbacks may call anything
      if (!core_.removed()) {
        core_.report(message, text.c_str());
      }
    }
    return S_OK;
  });
}

void DebugTracker::execute(std::shared_ptr<const DebugExecution> execution, const DebugUses& uses) {
  const std::scoped_lock lock(mutex_);
  look_at_events();
  add_uses(uses, execution->id);
  const std::uint32_t queue = execution->id.queue;
  described_ += execution->ops.size() + execution->accesses.size();
  queues_[queue].tasks.emplace_back(ExecuteTask{std::move(execution), host_});
  advance();
  forget_finished();
}

DebugTracker::FenceState& DebugTracker::state_of(const std::shared_ptr<FenceCore>& fence) {
  // A program may create a fence for each submission, so forget released fences. The caller has already looked at their
  // events.
  if (fences_.size() > 64 && !fences_.contains(fence->number())) {
    std::erase_if(fences_, [](const auto& known) { return known.second.fence.expired(); });
  }
  FenceState& state = fences_[fence->number()];
  state.fence = fence;
  return state;
}

void DebugTracker::signal(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  look_at_events();
  state_of(fence);
  queues_[queue].tasks.emplace_back(FenceTask{false, fence->number(), value, host_});
  advance();
}

void DebugTracker::wait(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  look_at_events();
  state_of(fence);
  queues_[queue].tasks.emplace_back(FenceTask{true, fence->number(), value, {}});
  advance();
}

void DebugTracker::host_signal(const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    state_of(fence).signals[value].join(host_);
    advance();
  }
  post_messages();
}

// When a fence has reached a value, the work before every signal with this value or a lower one is finished.
void DebugTracker::saw(FenceState& state, std::uint64_t value) {
  const auto end = state.signals.upper_bound(value);
  for (auto signal = state.signals.begin(); signal != end; ++signal) {
    host_.join(signal->second);
  }
  if (end != state.signals.begin()) {  // keep the last one, because a queue may still wait for its value
    state.signals.erase(state.signals.begin(), std::prev(end));
  }
}

// A signal with a higher value may have ended the wait.
void DebugTracker::waited(FenceState& state, std::uint64_t value, std::uint64_t completed) {
  const auto signal = state.signals.lower_bound(value);
  const bool is_known = signal != state.signals.end();
  if (is_known && value <= state.forgotten) {
    host_.join(signal->second);
  }
  saw(state, is_known && signal->first <= completed ? signal->first : value);
}

void DebugTracker::host_saw(const FenceCore& fence, std::uint64_t value) {
  {
    const std::scoped_lock lock(mutex_);
    advance();  // a queue may have waited for a signal that the debug layer has not seen
    if (const auto found = fences_.find(fence.number()); found != fences_.end()) {
      saw(found->second, value);
    }
  }
  post_messages();
}

void DebugTracker::host_waited(const FenceCore& fence, std::uint64_t value) {
  {
    const std::scoped_lock lock(mutex_);
    advance();  // see host_saw
    if (const auto found = fences_.find(fence.number()); found != fences_.end()) {
      waited(found->second, value, fence.completed());
    }
  }
  post_messages();
}

void DebugTracker::host_expects(const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    state_of(fence).expected.insert(value);
  }
  post_messages();
}

void DebugTracker::look_at_events() {
  bool advanced = false;
  for (auto& [number, state] : fences_) {
    if (state.expected.empty()) {
      continue;
    }
    const auto fence = state.fence.lock();
    const std::uint64_t completed = fence != nullptr ? fence->completed() : UINT64_MAX;
    const auto end = state.expected.upper_bound(completed);
    if (end != state.expected.begin()) {
      if (!std::exchange(advanced, true)) {
        advance();  // see host_saw
      }
      waited(state, *std::prev(end), completed);
      state.expected.erase(state.expected.begin(), end);
    }
  }
}

bool DebugTracker::can_pass(const FenceTask& wait, DebugClock& finished) {
  const auto found = fences_.find(wait.fence);
  if (found == fences_.end()) {
    return true;
  }
  const auto signal = found->second.signals.lower_bound(wait.value);
  if (signal != found->second.signals.end()) {
    finished.join(signal->second);
    return true;
  }
  // The fence may have reached the value through a signal from before the debug layer was enabled. poll() asks the
  // device, which may be ahead of the fence.
  const auto fence = found->second.fence.lock();
  const bool pending = std::ranges::any_of(queues_, [&](const Queue& queue) {
    return std::ranges::any_of(queue.tasks, [&](const auto& task) {
      const auto* known = std::get_if<FenceTask>(&task);
      return known != nullptr && !known->is_wait && known->fence == wait.fence && known->value >= wait.value;
    });
  });
  return !pending && (fence == nullptr || fence->poll() >= wait.value);
}

bool DebugTracker::advance(Queue& queue) {
  bool advanced = false;
  while (!queue.tasks.empty()) {
    if (const auto* task = std::get_if<ExecuteTask>(&queue.tasks.front()); task != nullptr) {
      queue.finished.join(task->host);
      DebugScope(
          task->execution, queue.finished, memories_,
          [this](std::uint64_t buffer) { return with_name("", core_.buffer_name(buffer)); },
          [&](DebugMessage message, std::string text) { messages_.emplace_back(message, std::move(text)); })
          .check();
      queue.finished.add(task->execution->id);  // the queue's next task begins after this one
    } else {
      const FenceTask& fence = std::get<FenceTask>(queue.tasks.front());
      if (fence.is_wait) {
        if (!can_pass(fence, queue.finished)) {
          return advanced;
        }
      } else if (const auto found = fences_.find(fence.fence); found != fences_.end()) {
        queue.finished.join(fence.host);
        found->second.signals[fence.value].join(queue.finished);
        // Without this limit, signals would accumulate forever in a program that never looks at its fence. Forgetting
        // old signals has only one effect: waits for them cover more work.
        constexpr std::size_t kMaxSignals = 4096;
        if (found->second.signals.size() > kMaxSignals) {
          found->second.forgotten = found->second.signals.begin()->first;
          found->second.signals.erase(found->second.signals.begin());
        }
      }
    }
    queue.tasks.pop_front();
    advanced = true;
  }
  return advanced;
}

bool DebugTracker::advance_all() {
  bool advanced = false;
  for (Queue& queue : queues_) {
    advanced = advance(queue) || advanced;
  }
  return advanced;
}

void DebugTracker::advance() {
  for (;;) {
    while (advance_all()) {
    }
    // A queue may also wait for the fence's initial value while a different queue is about to signal a higher value.
    const auto passing = std::ranges::find_if(queues_, [&](const Queue& queue) {
      const auto* wait = queue.tasks.empty() ? nullptr : std::get_if<FenceTask>(&queue.tasks.front());
      const auto found = wait != nullptr ? fences_.find(wait->fence) : fences_.end();
      const auto fence = found != fences_.end() ? found->second.fence.lock() : nullptr;
      return fence != nullptr && fence->poll() >= wait->value;
    });
    if (passing == queues_.end()) {
      return;
    }
    if (!advance_all()) {  // otherwise the fence reached the value in the meantime
      passing->tasks.pop_front();
    }
  }
}

void DebugTracker::forget_finished() {
  std::size_t segments = 0;
  for (const auto& [memory, accesses] : memories_) {
    segments += accesses.size() + 1;
  }
  constexpr std::size_t kMaxDescribed = 100'000;  // each access keeps the description of its whole execution alive
  if (segments < forget_at_ && described_ < kMaxDescribed) {
    return;
  }
  described_ = 0;
  // An access can be forgotten once the CPU has waited for it, because every later execution then begins after it.
  segments = 0;
  for (auto known = memories_.begin(); known != memories_.end();) {
    known->second.forget(host_);
    segments += known->second.size() + 1;
    known = known->second.empty() ? memories_.erase(known) : std::next(known);
  }
  forget_at_ = std::max<std::size_t>(1024, 2 * segments);
}

void DebugTracker::add_uses(const DebugUses& uses, const ExecutionId& execution) {
  for (const DebugObject& object : uses.objects) {
    std::vector<ExecutionId>& known = uses_[object];
    const auto same_queue =
        std::ranges::find_if(known, [&](const ExecutionId& use) { return use.queue == execution.queue; });
    if (same_queue != known.end()) {
      *same_queue = execution;
    } else {
      known.push_back(execution);
    }
  }
  for (const DebugUses::Descriptors& range : uses.descriptors) {
    descriptors_[{range, execution.queue}] = execution.number;
  }
  for (const DebugUses::Write& write : uses.mappable_writes) {
    add_mapped_write(write, execution);
  }
}

void DebugTracker::note_finished(std::vector<MappedWrite>& writes) const {
  for (MappedWrite& write : writes) {
    write.finished = write.finished || host_.includes(write.execution);
  }
}

void DebugTracker::add_mapped_write(const DebugUses::Write& write, const ExecutionId& execution) {
  std::vector<MappedWrite>& writes = mapped_[write.memory];
  note_finished(writes);
  std::erase_if(writes, [&](const MappedWrite& known) {
    const bool same_order = known.finished || known.execution.queue == execution.queue;
    return same_order && known.first >= write.first && known.end <= write.end;
  });
  constexpr std::size_t kMaxWrites = 64;  // a limit, because a program may divide its buffer in many ways
  if (writes.size() >= kMaxWrites) {
    // Erase the newest finished write, because a program that has fallen behind will map the oldest one next.
    const auto newest =
        std::find_if(writes.rbegin(), writes.rend(), [](const MappedWrite& known) { return known.finished; });
    if (newest != writes.rend()) {
      writes.erase(std::prev(newest.base()));
    }
  }
  writes.push_back({write.first, write.end, execution});
}

bool DebugTracker::end_uses(const DebugObject& object) {
  const std::scoped_lock lock(mutex_);
  const auto ended = uses_.extract(object);
  if (ended.empty()) {
    return false;
  }
  if (object.kind == DebugObject::Kind::descriptor_heap) {
    const auto* heap = reinterpret_cast<const void*>(object.number);
    std::erase_if(descriptors_, [&](const auto& known) { return known.first.first.heap == heap; });
  }
  look_at_events();
  return !core_.removed() &&
         std::ranges::any_of(ended.mapped(), [&](const ExecutionId& use) { return !host_.includes(use); });
}

void DebugTracker::report_released(const std::string& what) {
  add_messages(
      {{DebugMessage::deleted_while_in_use,
        what + " was released while submitted work may still need it; expected the program to wait first for a fence "
               "that the queue signals after the work"}});
  post_messages();
}

void DebugTracker::report_reset(const std::string& what) {
  add_messages(
      {{DebugMessage::allocator_in_use,
        what +
            ": lists that were recorded with it may still be running; expected the program to wait first for a fence "
            "that the queue signals after them"}});
  post_messages();
}

void DebugTracker::change_descriptors(const void* heap, std::uint32_t first, std::uint32_t count,
                                      const std::string& what) {
  bool reported = false;
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    // Ranges are sorted by heap and first descriptor, and only a few are in flight.
    for (auto known = descriptors_.lower_bound({{heap, 0, 0}, 0});
         known != descriptors_.end() && known->first.first.heap == heap;) {
      const DebugUses::Descriptors range = known->first.first;
      if (host_.includes({known->first.second, known->second})) {
        known = descriptors_.erase(known);
        continue;
      }
      if (range.first >= first + count) {
        break;
      }
      if (range.first + range.count > first && !std::exchange(reported, true)) {
        messages_.emplace_back(DebugMessage::descriptors_changed,
                               format_text("{} changes descriptors {} to {} while submitted work may still need "
                                           "descriptors {} to {} of the heap; expected the program to wait first for a "
                                           "fence that the queue signals after the work, or to use other descriptors",
                                           what, first, first + count - 1, range.first, range.first + range.count - 1));
        known = descriptors_.erase(known);
        continue;
      }
      ++known;
    }
  }
  post_messages();
}

// A program that passes no read range may intend to read only bytes that no unfinished work writes. Map itself does not
// synchronize with the device, so such a program is correct. This is common if many small readbacks share a buffer.
bool DebugTracker::has_settled_bytes(const std::vector<MappedWrite>& writes, const MapCall& call) {
  const auto is_settled = [&](std::uint64_t first, std::uint64_t end) {
    return first < end && (!call.only_read_back || std::ranges::any_of(writes, [&](const MappedWrite& write) {
             return write.finished && write.first < end && first < write.end;
           }));
  };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unfinished;
  for (const MappedWrite& write : writes) {
    if (!write.finished) {
      unfinished.emplace_back(write.first, write.end);
    }
  }
  std::ranges::sort(unfinished);
  std::uint64_t at = call.first;
  for (const auto& [first, end] : unfinished) {
    if (is_settled(at, std::min(first, call.end))) {
      return true;
    }
    at = std::max(at, end);
  }
  return is_settled(at, call.end);
}

void DebugTracker::map(const MapCall& call, const std::string& what) {
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    std::vector<MappedWrite>* writes = mapped_.contains(call.memory) ? &mapped_[call.memory] : nullptr;
    if (writes != nullptr) {
      note_finished(*writes);
      const auto conflict = std::ranges::find_if(*writes, [&](const MappedWrite& write) {
        return !write.finished && write.first < call.end && call.first < write.end;
      });
      if (conflict != writes->end() && (call.names_range || !has_settled_bytes(*writes, call))) {
        messages_.emplace_back(
            DebugMessage::mapped_while_written,
            format_text("{}: submitted work may still be writing bytes {} to {}; expected the "
                        "program to wait first for a fence that the queue signals after the work",
                        what, std::max(conflict->first, call.buffer) - call.buffer, conflict->end - call.buffer));
      }
    }
  }
  post_messages();
}

void DebugTracker::forget_mapped(std::uint64_t memory, std::uint64_t first, std::uint64_t end) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = mapped_.find(memory); found != mapped_.end()) {
    std::erase_if(found->second, [&](const MappedWrite& write) { return write.first >= first && write.end <= end; });
    if (found->second.empty()) {
      mapped_.erase(found);
    }
  }
}

}  // namespace anydml
