// SPDX-License-Identifier: MIT
#include "d3d12/queue.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>

#include "d3d12/command_list.h"
#include "d3d12/debug/tracker.h"
#include "text/format.h"

namespace anydml {

QueueCore::QueueCore(std::shared_ptr<DeviceCore> device)
    : device_(std::move(device)),
      backend_(*device_->device().backend),
      asynchronous_(device_->device().info->asynchronous != 0) {
  spares_.reserve(kMaxSpares);
  const BackendStatus status = backend_.create_queue(device_->device().handle, &queue_);
  if (status.code == BackendCode::out_of_memory) {
    throw std::bad_alloc();
  }
  if (status.code != BackendCode::ok) {
    throw std::runtime_error(status.message);
  }
}

QueueCore::~QueueCore() {
  last_mark_.reset();
  backend_.destroy_queue(queue_);
}

void QueueCore::start() {
  // Signals belong to the application, so the thread starts with all signals blocked.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([queue = shared_from_this()] { queue->work(); }).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void QueueCore::close() noexcept {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  helper_expected_ = false;
  arrived_.notify_all();
}

void QueueCore::wake() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    helper_expected_ = false;
  }
  arrived_.notify_all();
}

void QueueCore::push(Task task, bool is_small) {
  {
    std::unique_lock lock(mutex_);
    if (tasks_.empty()) {
      first_pushed_ = monotonic_nanoseconds();
    }
    tasks_.push(std::move(task));
    ++pushes_;
    if (asynchronous_) {
      run(lock, [] { return false; });
      return;
    }
    helper_expected_ = helper_expected_ && is_small;
    if (helper_expected_ && dozing_) {
      return;
    }
  }
  arrived_.notify_all();  // outside the lock, which the woken thread acquires first
}

std::unique_ptr<Submission> QueueCore::new_submission() {
  {
    const std::scoped_lock lock(mutex_);
    if (!spares_.empty()) {
      auto spare = std::move(spares_.back());
      spares_.pop_back();
      return spare;
    }
  }
  return std::make_unique<Submission>();
}

void QueueCore::submit(std::unique_ptr<Submission> submission) {
  const bool is_small = submission->is_small();
  push(std::move(submission), is_small);
}

void QueueCore::signal(std::shared_ptr<FenceCore> fence, std::uint64_t value) {
  const bool awaited = fence->expect_signal(value, shared_from_this());
  try {
    push(FenceTask{.is_wait = false, .fence = fence, .value = value}, true);
  } catch (...) {  // no memory, so the queue will not signal the value
    fence->forget_signal(value, *this);
    throw;
  }
  if (awaited) {
    wake();
  }
}

void QueueCore::wait(std::shared_ptr<FenceCore> fence, std::uint64_t value) {
  fence->wake_at(value, shared_from_this());
  push(FenceTask{.is_wait = true, .fence = std::move(fence), .value = value}, true);
}

bool QueueCore::can_proceed() const noexcept {
  if (tasks_.empty()) {
    return false;
  }
  const auto* task = std::get_if<FenceTask>(&tasks_.front());
  return task == nullptr || !task->is_wait || task->fence->is_ahead(task->value);
}

std::shared_ptr<Mark> QueueCore::make_mark() noexcept {
  if (last_mark_ != nullptr) {
    return last_mark_;
  }
  BackendMark* created = nullptr;
  const BackendStatus status = backend_.mark(queue_, &created);
  if (status.code != BackendCode::ok) {
    device_->remove(kDeviceHung, status.message);
  }
  if (created == nullptr) {
    return nullptr;
  }
  try {
    last_mark_ = std::make_shared<Mark>(backend_, created);
  } catch (...) {                               // no memory to store the mark, so wait for it here
    static_cast<void>(backend_.wait(created));  // the next call also reports a failure
    backend_.destroy_mark(created);
  }
  return last_mark_;
}

QueueCore::Given QueueCore::give(Task& task) noexcept {
  if (auto* submission = std::get_if<std::unique_ptr<Submission>>(&task); submission != nullptr) {
    last_mark_.reset();
    (*submission)->run(*device_, queue_);
    return {.mark = make_mark(), .submission = std::move(*submission), .fence = nullptr};
  }
  FenceTask& fence = std::get<FenceTask>(task);
  if (fence.is_wait) {
    if (const auto mark = fence.fence->mark_at(fence.value); mark != nullptr && !device_->removed()) {
      last_mark_.reset();
      if (const BackendStatus status = backend_.follow(queue_, mark->get()); status.code != BackendCode::ok) {
        device_->remove(kDeviceHung, status.message);
      }
    }
    return {};
  }
  Given given{.mark = make_mark(), .submission = nullptr, .fence = std::move(fence.fence), .value = fence.value};
  if (given.mark != nullptr) {
    given.fence->expect_at(given.value, given.mark);
  }
  return given;
}

void QueueCore::finish(Given& given) noexcept {
  bool completed = given.mark != nullptr;
  if (given.mark != nullptr) {
    if (const BackendStatus status = given.mark->wait(); status.code != BackendCode::ok) {
      device_->remove(kDeviceHung, status.message);
      completed = false;
    }
  }
  if (given.submission != nullptr) {
    if (completed) {
      given.submission->complete_breadcrumbs();
    }
    given.submission->clear();
  }
  // On an asynchronous device, another thread may already have seen a later mark.
  if (given.fence != nullptr && !given.fence->signal(given.value) && !asynchronous_ && !device_->removed()) {
    device_->warn("ID3D12CommandQueue::Signal: Value is below the fence's current value, which was left unchanged");
  }
}

void QueueCore::keep_spare(Given& given) noexcept {
  if (given.submission != nullptr && spares_.size() < kMaxSpares) {
    spares_.push_back(std::move(given.submission));
  }
}

bool QueueCore::keep_in_flight(Given& given) noexcept {
  try {
    in_flight_.push(std::move(given));
    return true;
  } catch (...) {
    mutex_.unlock();
    finish(given);  // may be out of order, but only the highest fence value counts
    mutex_.lock();
    return false;
  }
}

void QueueCore::finish_first(std::unique_lock<std::mutex>& lock) {
  Given given = in_flight_.pop();
  lock.unlock();
  finish(given);
  given.mark.reset();
  given.fence.reset();
  lock.lock();
  keep_spare(given);
}

bool QueueCore::read_clock(MemoryLocation to) noexcept {
  if (const BackendStatus status = backend_.timestamp(queue_, to); status.code != BackendCode::ok) {
    device_->remove(kDeviceHung, status.message);
    return false;
  }
  const auto mark = make_mark();
  return mark == nullptr || mark->wait().code == BackendCode::ok;
}

void QueueCore::doze(std::unique_lock<std::mutex>& lock) {
  const std::uint64_t seen = pushes_;
  dozing_ = true;
  arrived_.wait_for(lock, kInterval);
  dozing_ = false;
  if (pushes_ == seen) {  // idle: the next submission wakes the thread
    helper_expected_ = false;
  }
}

QueueCore::Awaited QueueCore::awaited() {
  const std::scoped_lock lock(mutex_);
  if (!must_wait() || !in_flight_.empty()) {  // work in flight may signal the value that a thread waits for
    return {};
  }
  const FenceTask& task = std::get<FenceTask>(tasks_.front());
  return {.fence = task.fence, .value = task.value};
}

namespace {

// Whether the fence can still reach the value. The application can signal it as long as it owns the fence. Otherwise,
// some queue must be about to signal it, and that queue must not be waiting for a value that cannot be reached. Queues
// may wait for each other.
bool can_be_reached(const QueueCore::Awaited& awaited, std::vector<const QueueCore*>& seen) {
  if (!awaited.fence->is_abandoned() || awaited.fence->is_ahead(awaited.value)) {
    return true;
  }
  for (const auto& queue : awaited.fence->signalers_of(awaited.value)) {
    if (std::ranges::find(seen, queue.get()) != seen.end()) {
      continue;
    }
    seen.push_back(queue.get());
    if (const auto before = queue->awaited(); before.fence == nullptr || can_be_reached(before, seen)) {
      return true;
    }
  }
  // A queue that has signaled in the meantime is not among the signalers.
  return awaited.fence->is_ahead(awaited.value);
}

}  // namespace

// The queue waits for a fence that the application has released. If nothing can signal the fence, the work behind it
// will never run. If nobody depends on this work, it is dropped when the queue itself is released. If the work would
// signal a fence that is still owned or waited for, and the situation persists, the device is removed as hung.
void QueueCore::wait_for_abandoned(std::unique_lock<std::mutex>& lock) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::time_point kNotYet = Clock::time_point::max();
  Clock::time_point watched_since = kNotYet;
  while (waits_for_abandoned()) {
    bool hopeless = false;
    bool is_watched = false;
    try {
      const FenceTask& first = std::get<FenceTask>(tasks_.front());
      const Awaited before{.fence = first.fence, .value = first.value};
      std::vector<Awaited> signals;  // the signals queued behind the wait
      for (const Task& task : tasks_) {
        if (const auto* fence = std::get_if<FenceTask>(&task); fence != nullptr && !fence->is_wait) {
          signals.push_back({.fence = fence->fence, .value = fence->value});
        }
      }
      lock.unlock();  // a fence's lock is never acquired while a queue's lock is held
      std::vector<const QueueCore*> seen{this};
      hopeless = !can_be_reached(before, seen);
      is_watched = std::ranges::any_of(signals, [](const Awaited& one) { return one.fence->is_watched(one.value); });
    } catch (...) {  // no memory to check: try again later
    }
    if (!lock.owns_lock()) {
      lock.lock();
    }
    if (!hopeless || !is_watched) {
      watched_since = kNotYet;
    } else if (watched_since == kNotYet) {
      watched_since = Clock::now();
    }
    if (hopeless && waits_for_abandoned()) {
      if (!is_watched && closed_) {
        while (!tasks_.empty()) {  // no task is added to a closed queue
          {
            const Task dropped = tasks_.pop();
            lock.unlock();
          }  // the task's contents are released without the lock
          lock.lock();
        }
        lock.unlock();
        device_->warn(
            "ID3D12CommandQueue::Wait: nothing can signal the fence any more; the work behind it was dropped");
        lock.lock();
        return;
      }
      if (is_watched && Clock::now() - watched_since >= kPatience) {
        lock.unlock();
        device_->remove(kDeviceHung,
                        "ID3D12CommandQueue::Wait: the fence was released and nothing can signal it any more, "
                        "but work behind it would signal another fence; the D3D12 device is removed");
        lock.lock();
        return;
      }
    }
    arrived_.wait_for(lock, kLookInterval);
  }
}

void QueueCore::work() {
  std::unique_lock lock(mutex_);
  while (!closed_ || running_ || !tasks_.empty() || !in_flight_.empty()) {
    if (!running_ && can_proceed() && !(helper_expected_ && is_recent())) {
      helper_expected_ = false;
      run(lock, [] { return false; });
    } else if (!in_flight_.empty()) {
      finish_first(lock);
    } else if (waits_for_abandoned()) {
      wait_for_abandoned(lock);
    } else if (helper_expected_ && !must_wait()) {
      doze(lock);
    } else {
      arrived_.wait(lock);
    }
  }
}

CommandQueue::CommandQueue(Device& device, const D3D12_COMMAND_QUEUE_DESC& desc)
    : Child(device), desc_(desc), queue_(std::make_shared<QueueCore>(shared_core())) {
  queue_->start();
}

void STDMETHODCALLTYPE CommandQueue::UpdateTileMappings(ID3D12Resource*, UINT, const D3D12_TILED_RESOURCE_COORDINATE*,
                                                        const D3D12_TILE_REGION_SIZE*, ID3D12Heap*, UINT,
                                                        const D3D12_TILE_RANGE_FLAGS*, const UINT*, const UINT*,
                                                        D3D12_TILE_MAPPING_FLAGS) noexcept {
  core().remove(E_NOTIMPL,
                "ID3D12CommandQueue::UpdateTileMappings: tiled resources are not supported; "
                "CheckFeatureSupport says so (TiledResourcesTier)");
}

void STDMETHODCALLTYPE CommandQueue::CopyTileMappings(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                                      ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*,
                                                      const D3D12_TILE_REGION_SIZE*,
                                                      D3D12_TILE_MAPPING_FLAGS) noexcept {
  core().remove(E_NOTIMPL,
                "ID3D12CommandQueue::CopyTileMappings: tiled resources are not supported; "
                "CheckFeatureSupport says so (TiledResourcesTier)");
}

CommandQueue::~CommandQueue() {
  if (debug_number_) {
    com_boundary("ID3D12CommandQueue::Release", [&]() -> HRESULT {
      core().tracker()->remove_queue(*debug_number_);
      return S_OK;
    });
  }
  queue_->close();
}

// The debug layer's part of a call to the queue. While this object exists, no other thread uses the queue, so the debug
// layer sees the work in the queue's order. The destructor posts the messages without the lock, because callbacks may
// wait for other threads.
class CommandQueue::Debugged {
 public:
  explicit Debugged(CommandQueue& queue) : tracker_(queue.core().tracker()) {
    if (tracker_ == nullptr) {
      return;
    }
    lock_ = std::unique_lock(queue.debug_mutex_);
    if (!queue.debug_number_) {
      queue.debug_number_ = tracker_->add_queue();
    }
    number_ = *queue.debug_number_;
  }
  ~Debugged() {
    if (tracker_ != nullptr) {
      lock_.unlock();
      tracker_->post_messages();
    }
  }
  Debugged(const Debugged&) = delete;
  Debugged& operator=(const Debugged&) = delete;

  explicit operator bool() const { return tracker_ != nullptr; }
  [[nodiscard]] DebugTracker& tracker() const { return *tracker_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  DebugTracker* const tracker_;
  std::unique_lock<std::recursive_mutex> lock_;
  std::uint32_t number_ = 0;
};

template <class AfterList>
bool CommandQueue::resolve(UINT count, ID3D12CommandList* const* lists, Submission& submission, ExecutionBuilder* debug,
                           const AfterList& after_list) {
  for (UINT i = 0; i < count; ++i) {
    auto* list = own<GraphicsCommandList>(lists[i], core());
    Submission::Missing missing;
    if (debug != nullptr) {
      debug->begin_list(*list->recording(), list->quoted_name());
    }
    if (!submission.add(core(), list->recording(), missing, debug)) {
      remove_device(E_INVALIDARG,
                    format_text("ppCommandLists[{}]{}: {} was released before its list was executed", i,
                                list->quoted_name(), with_name(missing.what, core().buffer_name(missing.buffer))));
      return false;
    }
    if (debug != nullptr) {
      debug->end_list();
    }
    after_list(*list);
  }
  return true;
}

// A separate function, so that calls without the debug layer or DRED do not pay for their objects.
[[gnu::noinline]] void CommandQueue::execute_observed(UINT count, ID3D12CommandList* const* lists,
                                                      std::unique_ptr<Submission> submission) {
  const Debugged debugged(*this);
  std::optional<ExecutionBuilder> debug;
  if (debugged) {
    debug.emplace(debugged.tracker().begin_execution(debugged.number()), quoted_name());
  }
  const auto leave_breadcrumbs = [&](GraphicsCommandList& list) {
    if (core().leaves_breadcrumbs()) {
      submission->leave_breadcrumbs(
          core().breadcrumbs(),
          {.list_name = DredName(list.name()), .queue_name = DredName(name()), .list = &list, .queue = this});
    }
  };
  if (!resolve(count, lists, *submission, debug ? &*debug : nullptr, leave_breadcrumbs)) {
    return;
  }
  if (debug) {
    debug->finish(debugged.tracker());
  }
  queue_->submit(std::move(submission));
}

void CommandQueue::remove_device(HRESULT reason, const std::string& what) {
  core().remove(reason, format_text("ID3D12CommandQueue::ExecuteCommandLists{}: {}; the D3D12 device is removed",
                                    quoted_name(), what));
}

void STDMETHODCALLTYPE CommandQueue::ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) noexcept {
  const HRESULT result = com_boundary("ID3D12CommandQueue::ExecuteCommandLists", [&]() -> HRESULT {
    if (core().removed() || count == 0) {
      return S_OK;
    }
    if (lists == nullptr) {
      remove_device(E_INVALIDARG, format_text("ppCommandLists is null; expected {} lists", count));
      return S_OK;
    }
    // All lists are checked before any of them is resolved, so an invalid call runs nothing.
    for (UINT i = 0; i < count; ++i) {
      const auto* list = own<GraphicsCommandList>(lists[i], core());
      if (list == nullptr) {
        remove_device(E_INVALIDARG, format_text("ppCommandLists[{}] is {}; expected a command list of this device", i,
                                                lists[i] == nullptr ? "null" : "of another device"));
        return S_OK;
      }
      if (const std::string why = list->why_not_executable(desc_.Type); !why.empty()) {
        remove_device(E_INVALIDARG, format_text("ppCommandLists[{}]{} {}", i, list->quoted_name(), why));
        return S_OK;
      }
    }
    auto submission = queue_->new_submission();
    if (core().tracker() != nullptr || core().leaves_breadcrumbs()) {
      execute_observed(count, lists, std::move(submission));
    } else if (resolve(count, lists, *submission, nullptr, [](const GraphicsCommandList&) {})) {
      queue_->submit(std::move(submission));
    }
    return S_OK;
  });
  if (FAILED(result)) {
    core().remove(result, "ID3D12CommandQueue::ExecuteCommandLists: an allocation failed; the D3D12 device is removed");
  }
}

HRESULT STDMETHODCALLTYPE CommandQueue::Signal(ID3D12Fence* fence, UINT64 value) noexcept {
  return com_boundary("ID3D12CommandQueue::Signal", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    const auto* known = own<Fence>(fence, core());
    if (known == nullptr) {
      return core().fail(E_INVALIDARG,
                         "ID3D12CommandQueue::Signal: pFence is null or another device's; expected a "
                         "fence of this device");
    }
    if (core().tracker() == nullptr) {
      queue_->signal(known->fence(), value);
    } else {
      const Debugged debugged(*this);
      debugged.tracker().signal(debugged.number(), known->fence(), value);
      queue_->signal(known->fence(), value);
    }
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE CommandQueue::Wait(ID3D12Fence* fence, UINT64 value) noexcept {
  return com_boundary("ID3D12CommandQueue::Wait", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    const auto* known = own<Fence>(fence, core());
    if (known == nullptr) {
      return core().fail(
          E_INVALIDARG,
          "ID3D12CommandQueue::Wait: pFence is null or another device's; expected a fence of this device");
    }
    if (core().tracker() == nullptr) {
      queue_->wait(known->fence(), value);
    } else {
      const Debugged debugged(*this);
      debugged.tracker().wait(debugged.number(), known->fence(), value);
      queue_->wait(known->fence(), value);
    }
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE CommandQueue::GetTimestampFrequency(UINT64* frequency) noexcept {
  if (frequency == nullptr) {
    return E_INVALIDARG;
  }
  *frequency = kClockFrequency;
  return S_OK;
}

HRESULT STDMETHODCALLTYPE CommandQueue::GetClockCalibration(UINT64* gpu, UINT64* cpu) noexcept {
  return com_boundary("ID3D12CommandQueue::GetClockCalibration", [&]() -> HRESULT {
    if (gpu == nullptr || cpu == nullptr) {
      return E_INVALIDARG;
    }
    if (core().removed()) {
      return kDeviceRemoved;
    }
    // Use a separate queue, because this queue's pending work would delay reading the clock.
    const auto aside = std::make_shared<QueueCore>(shared_core());
    const QueryStorage query(core().device(), 1);
    const std::uint64_t before = monotonic_nanoseconds();
    if (!aside->read_clock(query.ticks(0))) {
      return kDeviceRemoved;
    }
    *gpu = query.read(0);
    *cpu = before + (monotonic_nanoseconds() - before) / 2;
    return S_OK;
  });
}

}  // namespace anydml
