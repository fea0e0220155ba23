// SPDX-License-Identifier: MIT
#include "d3d12/debug/tracker.h"

#include <algorithm>

#include "base/quoted.h"
#include "d3d12/device_core.h"
#include "d3d12/fence.h"
#include "text/format.h"

namespace anydml {

std::uint32_t DebugTracker::add_queue() {
  const std::scoped_lock lock(mutex_);
  queues_.emplace_back();
  return static_cast<std::uint32_t>(queues_.size() - 1);
}

ExecutionId DebugTracker::begin_execution(std::uint32_t queue) {
  const std::scoped_lock lock(mutex_);
  return {queue, ++queues_[queue].executions};
}

void DebugTracker::post(const Messages& messages) {
  for (const auto& [message, text] : messages) {
    core_.report(message, text.c_str());
  }
}

void DebugTracker::execute(std::shared_ptr<const DebugExecution> execution, const DebugUses& uses) {
  Messages messages;
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    add_uses(uses, execution->id);
    const std::uint32_t queue = execution->id.queue;
    queues_[queue].tasks.emplace_back(ExecuteTask{std::move(execution), host_});
    advance(messages);
    forget_finished();
  }
  post(messages);  // callbacks may call anything, so the lock is not held
}

DebugTracker::FenceState& DebugTracker::state_of(const std::shared_ptr<FenceCore>& fence) {
  // Fences come and go in programs that create one per submission.
  if (fences_.size() > 64 && !fences_.contains(fence->number())) {
    std::erase_if(fences_, [](const auto& known) { return known.second.fence.expired(); });
  }
  FenceState& state = fences_[fence->number()];
  state.fence = fence;
  return state;
}

void DebugTracker::signal(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  Messages messages;
  {
    const std::scoped_lock lock(mutex_);
    state_of(fence);
    queues_[queue].tasks.emplace_back(FenceTask{false, fence->number(), value});
    advance(messages);
  }
  post(messages);
}

void DebugTracker::wait(std::uint32_t queue, const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  Messages messages;
  {
    const std::scoped_lock lock(mutex_);
    state_of(fence);
    queues_[queue].tasks.emplace_back(FenceTask{true, fence->number(), value});
    advance(messages);
  }
  post(messages);
}

void DebugTracker::host_signal(const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  Messages messages;
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    state_of(fence).signals[value].join(host_);
    advance(messages);
  }
  post(messages);
}

// A value that is reached finishes the work before every signal of a value up to it.
void DebugTracker::saw(FenceState& state, std::uint64_t value) {
  const auto end = state.signals.upper_bound(value);
  for (auto signal = state.signals.begin(); signal != end; ++signal) {
    host_.join(signal->second);
  }
  if (end != state.signals.begin()) {  // a queue may still wait for the value
    state.signals.erase(state.signals.begin(), std::prev(end));
  }
}

// A signal of a higher value may have ended the wait.
void DebugTracker::waited(FenceState& state, std::uint64_t value, std::uint64_t completed) {
  const auto signal = state.signals.lower_bound(value);
  saw(state, signal != state.signals.end() && signal->first <= completed ? signal->first : value);
}

void DebugTracker::host_saw(const FenceCore& fence, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = fences_.find(fence.number()); found != fences_.end()) {
    saw(found->second, value);
  }
}

void DebugTracker::host_waited(const FenceCore& fence, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = fences_.find(fence.number()); found != fences_.end()) {
    waited(found->second, value, fence.completed());
  }
}

void DebugTracker::host_expects(const std::shared_ptr<FenceCore>& fence, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  state_of(fence).expected.insert(value);
}

void DebugTracker::look_at_events() {
  for (auto& [number, state] : fences_) {
    if (state.expected.empty()) {
      continue;
    }
    const auto fence = state.fence.lock();
    const std::uint64_t completed = fence != nullptr ? fence->completed() : UINT64_MAX;
    const auto end = state.expected.upper_bound(completed);
    if (end != state.expected.begin()) {
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
  // The value may be the fence's initial value, or a signal from before the debug layer was enabled has reached it. The
  // fence cannot be ahead of `signals`, since each signal is recorded before it is submitted.
  const auto fence = found->second.fence.lock();
  return fence == nullptr || fence->completed() >= wait.value;
}

bool DebugTracker::advance(Queue& queue, Messages& messages) {
  bool advanced = false;
  while (!queue.tasks.empty()) {
    if (const auto* task = std::get_if<ExecuteTask>(&queue.tasks.front()); task != nullptr) {
      queue.finished.join(task->host);
      DebugScope(
          task->execution, queue.finished, memories_,
          [this](std::uint64_t buffer) { return with_name("", core_.buffer_name(buffer)); },
          [&](DebugMessage message, std::string text) { messages.emplace_back(message, std::move(text)); })
          .check();
      queue.finished.add(task->execution->id);  // the queue's next task begins after it
    } else {
      const FenceTask& fence = std::get<FenceTask>(queue.tasks.front());
      if (fence.is_wait) {
        if (!can_pass(fence, queue.finished)) {
          return advanced;
        }
      } else if (const auto found = fences_.find(fence.fence); found != fences_.end()) {
        found->second.signals[fence.value].join(queue.finished);
        // A program that never looks at its fence would otherwise collect signals forever. Forgetting old ones only
        // makes waits for them cover more work.
        constexpr std::size_t kMaxSignals = 4096;
        if (found->second.signals.size() > kMaxSignals) {
          found->second.signals.erase(found->second.signals.begin());
        }
      }
    }
    queue.tasks.pop_front();
    advanced = true;
  }
  return advanced;
}

void DebugTracker::advance(Messages& messages) {
  bool advanced = true;
  while (advanced) {
    advanced = false;
    for (Queue& queue : queues_) {
      advanced = advance(queue, messages) || advanced;
    }
  }
}

void DebugTracker::forget_finished() {
  std::size_t segments = 0;
  for (const auto& [memory, accesses] : memories_) {
    segments += accesses.size() + 1;
  }
  if (segments < forget_at_) {
    return;
  }
  // An access can be forgotten once every later execution begins after it: the CPU has waited for it.
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
    std::vector<MappedWrite>& writes = mapped_[write.memory];
    std::erase_if(writes, [&](const MappedWrite& known) {
      const bool covered =
          known.execution.queue == execution.queue && known.first >= write.first && known.end <= write.end;
      return covered || host_.includes(known.execution);
    });
    writes.push_back({write.first, write.end, execution});
  }
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
  post({{DebugMessage::deleted_while_in_use,
         what + " was released while submitted work may still need it; expected the program to wait first for a fence "
                "that the queue signals after the work"}});
}

void DebugTracker::report_reset(const std::string& what) {
  post({{DebugMessage::allocator_in_use,
         what +
             ": lists that were recorded with it may still be running; expected the program to wait first for a fence "
             "that the queue signals after them"}});
}

void DebugTracker::change_descriptors(const void* heap, std::uint32_t first, std::uint32_t count,
                                      const std::string& what) {
  Messages messages;
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
      if (range.first + range.count > first && messages.empty()) {
        messages.emplace_back(DebugMessage::descriptors_changed,
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
  if (!core_.removed()) {
    post(messages);
  }
}

void DebugTracker::map(std::uint64_t memory, std::uint64_t first, std::uint64_t end, const std::string& what) {
  Messages messages;
  {
    const std::scoped_lock lock(mutex_);
    look_at_events();
    const auto found = mapped_.find(memory);
    if (found == mapped_.end()) {
      return;
    }
    std::erase_if(found->second, [&](const MappedWrite& write) { return host_.includes(write.execution); });
    for (const MappedWrite& write : found->second) {
      if (write.first < end && first < write.end) {
        messages.emplace_back(DebugMessage::mapped_while_written,
                              format_text("{}: submitted work may still be writing bytes {} to {} of its memory; "
                                          "expected the program to wait first for a fence that the queue signals after "
                                          "the work",
                                          what, write.first, write.end));
        break;
      }
    }
    if (found->second.empty()) {
      mapped_.erase(found);
    }
  }
  if (!core_.removed()) {
    post(messages);
  }
}

}  // namespace anydml
