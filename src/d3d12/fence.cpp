// SPDX-License-Identifier: MIT
#include "d3d12/fence.h"

#include <algorithm>
#include <cerrno>

#include "base/cancellation.h"
#include "d3d12/debug/tracker.h"
#include "d3d12/queue.h"
#include "text/format.h"

namespace anydml {
namespace {

// Processes and erases the waiters whose value is reached. Nothing in this function may fail because memory runs out.
template <class Entry, class Use>
void take_reached(std::vector<Entry>& entries, std::uint64_t value, const Use& use) noexcept {
  const auto reached = std::partition(entries.begin(), entries.end(), [&](const Entry& e) { return e.value > value; });
  std::for_each(reached, entries.end(), use);
  entries.erase(reached, entries.end());
}

}  // namespace

bool FenceCore::signal(std::uint64_t value) noexcept {
  const std::scoped_lock lock(mutex_);
  if (value < completed_.load(std::memory_order_relaxed)) {
    return false;
  }
  completed_.store(value, std::memory_order_release);
  take_reached(events_, value, [](const Event& event) { event.target->arrive(); });
  take_reached(signalers_, value, [](const QueueAt&) {});
  take_reached(marks_, value, [](const MarkAt&) {});
  // A queue's lock may be acquired while the fence's lock is held, but not vice versa.
  take_reached(sleepers_, value, [](const QueueAt& sleeper) {
    if (const auto queue = sleeper.queue.lock(); queue != nullptr) {
      queue->wake();
    }
  });
  if (waiting_threads_ != 0) {
    risen_.notify_all();
  }
  return true;
}

const FenceCore::MarkAt* FenceCore::find_mark(std::uint64_t value) const noexcept {
  const MarkAt* first = nullptr;
  for (const MarkAt& known : marks_) {
    if (known.value >= value && (first == nullptr || known.value < first->value)) {
      first = &known;
    }
  }
  return first;
}

std::shared_ptr<Mark> FenceCore::mark_at(std::uint64_t value) noexcept {
  const std::scoped_lock lock(mutex_);
  const MarkAt* known = find_mark(value);
  return known == nullptr ? nullptr : known->mark;
}

void FenceCore::expect_at(std::uint64_t value, const std::shared_ptr<Mark>& mark) noexcept {
  const std::scoped_lock lock(mutex_);
  if (value <= completed_.load(std::memory_order_relaxed)) {
    return;
  }
  try {
    marks_.push_back({.value = value, .mark = mark});
  } catch (...) {  // no memory: waiters wait until the queue's thread notices that the mark is passed
    return;
  }
  if (value > expected_.load(std::memory_order_relaxed)) {
    expected_.store(value, std::memory_order_release);
  }
  take_reached(sleepers_, value, [](const QueueAt& sleeper) {
    if (const auto queue = sleeper.queue.lock(); queue != nullptr) {
      queue->wake();
    }
  });
  if (waiting_threads_ != 0) {
    risen_.notify_all();
  }
}

void FenceCore::wake_signalers() noexcept {
  for (const QueueAt& signaler : signalers_) {
    if (const auto queue = signaler.queue.lock(); queue != nullptr) {
      queue->wake();
    }
  }
}

std::uint64_t FenceCore::poll() noexcept {
  const CancellationDeferred deferred;  // the driver may have cancellation points
  // Do not wake the signalers on the first poll, because many callers poll once before they wait.
  if (looks_left_.load(std::memory_order_relaxed) > 0 && looks_left_.fetch_sub(1, std::memory_order_relaxed) == 1) {
    const std::scoped_lock lock(mutex_);
    wake_signalers();
  }
  if (expected_.load(std::memory_order_acquire) > completed()) {
    // The device may be ahead of the last mark that the queue's thread has seen, and the caller may know that.
    std::uint64_t passed = 0;
    {
      const std::scoped_lock lock(mutex_);
      for (const MarkAt& known : marks_) {
        // is_passed() is also true if the device failed.
        const bool is_passed = known.mark->is_passed() && known.mark->wait().code == BackendCode::ok;
        passed = is_passed ? std::max(passed, known.value) : passed;
      }
    }
    if (passed != 0) {
      signal(passed);
    }
  }
  return completed();
}

void FenceCore::wait(std::uint64_t value) {
  if (completed() >= value) {
    std::shared_ptr<QueueCore> queue;
    {
      const std::scoped_lock lock(mutex_);
      queue = last_signaler_.lock();
    }
    if (queue != nullptr) {
      queue->help_until([] { return true; });  // too late to help, but the queue now expects a waiting thread
    }
    return;
  }
  std::unique_lock lock(mutex_);
  // Other threads may add or remove signalers meanwhile; a signaler that is missed here merely receives no help.
  for (std::size_t i = 0; i < signalers_.size() && completed() < value; ++i) {
    // Help only the queues that will signal this value: the work of other queues may take a long time, and the value
    // may be signaled in some other way.
    if (signalers_[i].value < value) {
      continue;
    }
    auto queue = signalers_[i].queue.lock();
    lock.unlock();
    if (queue != nullptr) {
      queue->help_until([this, value] { return completed() >= value; });
    }
    queue.reset();  // outside the lock, in case it is the last reference
    lock.lock();
  }
  ++waiting_threads_;
  const auto reached = [this, value] { return completed_.load(std::memory_order_relaxed) >= value; };
  // The mark must be for exactly this value rather than a higher one, because the value itself may be reached earlier
  // in some other way.
  const auto has_mark = [&] {
    const MarkAt* known = find_mark(value);
    return known != nullptr && known->value == value;
  };
  risen_.wait(lock, [&] { return reached() || has_mark(); });
  if (!reached()) {
    // This thread waits for the device itself, instead of waiting for the queue's thread to do so.
    const MarkAt known = *find_mark(value);
    lock.unlock();
    const bool passed = known.mark->wait().code == BackendCode::ok;
    if (passed) {
      signal(known.value);
    }
    lock.lock();
    risen_.wait(lock, reached);  // if the device is removed, every value is reached
  }
  --waiting_threads_;
}

void FenceCore::notify(std::uint64_t value, std::shared_ptr<EventTarget> event) {
  {
    const std::scoped_lock lock(mutex_);
    if (completed_.load(std::memory_order_relaxed) < value) {
      if (events_.size() == events_.capacity()) {  // drop events already set by another fence (wait-any)
        std::erase_if(events_, [](const Event& known) { return known.target->is_done(); });
      }
      events_.push_back({.value = value, .target = std::move(event)});
      wake_signalers();
      return;
    }
  }
  event->arrive();
}

void FenceCore::wake_at(std::uint64_t value, const std::shared_ptr<QueueCore>& queue) {
  const std::scoped_lock lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) < value) {
    sleepers_.push_back({.value = value, .queue = queue});
    wake_signalers();
  }
}

void FenceCore::abandon() noexcept {
  const std::scoped_lock lock(mutex_);
  abandoned_.store(true, std::memory_order_release);
  for (const QueueAt& sleeper : sleepers_) {  // each queue checks whether anything can still signal the fence
    if (const auto queue = sleeper.queue.lock(); queue != nullptr) {
      queue->wake();
    }
  }
}

bool FenceCore::is_watched(std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) >= value) {
    return false;  // signaling it would change nothing
  }
  return !is_abandoned() || waiting_threads_ != 0 ||
         std::ranges::any_of(events_, [](const Event& event) { return !event.target->is_done(); });
}

void FenceCore::forget_signal(std::uint64_t value, const QueueCore& queue) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto known = std::ranges::find_if(signalers_, [&](const QueueAt& signaler) {
    return signaler.value == value && signaler.queue.lock().get() == &queue;
  });
  if (known != signalers_.end()) {
    signalers_.erase(known);
  }
}

std::vector<std::shared_ptr<QueueCore>> FenceCore::signalers_of(std::uint64_t value) {
  std::vector<std::shared_ptr<QueueCore>> found;
  const std::scoped_lock lock(mutex_);
  for (const QueueAt& signaler : signalers_) {
    if (signaler.value >= value) {
      if (auto queue = signaler.queue.lock(); queue != nullptr) {
        found.push_back(std::move(queue));
      }
    }
  }
  return found;
}

bool FenceCore::expect_signal(std::uint64_t value, const std::shared_ptr<QueueCore>& queue) {
  const std::scoped_lock lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) < value) {
    signalers_.push_back({.value = value, .queue = queue});
    last_signaler_ = queue;
    looks_left_.store(2, std::memory_order_relaxed);
  }
  std::erase_if(events_, [](const Event& known) { return known.target->is_done(); });
  return !events_.empty() || !sleepers_.empty() || waiting_threads_ != 0;
}

HRESULT no_event(const char* method, DeviceCore& core, HANDLE event, const char* parameter, const char* null) {
  if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
    return core.fail(E_OUTOFMEMORY, format_text("{}: no file descriptor is left for the event", method));
  }
  return core.fail(E_INVALIDARG, format_text("{}: {} is {}; expected null, {}, or the descriptor of an eventfd", method,
                                             parameter, reinterpret_cast<std::intptr_t>(event), null));
}

Fence::Fence(Device& device, std::uint64_t value, D3D12_FENCE_FLAGS flags)
    : Child(device), fence_(std::make_shared<FenceCore>(value)), flags_(flags) {
  core().add_fence(fence_);
}

Fence::~Fence() { fence_->abandon(); }

std::uint64_t FenceCore::next_number() noexcept {
  static constinit std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

UINT64 STDMETHODCALLTYPE Fence::GetCompletedValue() noexcept {
  const UINT64 value = fence_->poll();
  if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
    com_boundary("ID3D12Fence::GetCompletedValue", [&]() -> HRESULT {
      tracker->host_saw(*fence_, value);
      return S_OK;
    });
  }
  return value;
}

HRESULT STDMETHODCALLTYPE Fence::SetEventOnCompletion(UINT64 value, HANDLE event) noexcept {
  return com_boundary("ID3D12Fence::SetEventOnCompletion", [&]() -> HRESULT {
    if (event == nullptr) {
      fence_->wait(value);
      if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
        tracker->host_waited(*fence_, value);
      }
      return core().removed() ? kDeviceRemoved : S_OK;
    }
    auto known = find_event(event);
    if (known == nullptr) {
      return no_event("ID3D12Fence::SetEventOnCompletion", core(), event);
    }
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
      tracker->host_expects(fence_, value);
    }
    fence_->notify(value, std::make_shared<EventTarget>(std::move(known), 1));
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Fence::Signal(UINT64 value) noexcept {
  return com_boundary("ID3D12Fence::Signal", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    if (DebugTracker* tracker = core().tracker(); tracker != nullptr) {
      tracker->host_signal(fence_, value);
    }
    if (!fence_->signal(value)) {
      return core().fail(E_INVALIDARG, format_text("ID3D12Fence::Signal{}: Value is {}; expected {} or more, since the "
                                                   "values of a fence only rise",
                                                   quoted_name(), value, fence_->completed()));
    }
    return S_OK;
  });
}

}  // namespace anydml
