// SPDX-License-Identifier: MIT
#include "d3d12/fence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "d3d12/queue.h"

namespace anydml {
namespace {

void write_event(int descriptor) noexcept {
  // An event that is full already is set as far as its reader can tell; waiting for room could take for ever.
  pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (poll(&ready, 1, 0) == 1) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(descriptor, &one, sizeof(one));
  }
  close(descriptor);
}

}  // namespace

int duplicate_event(HANDLE event) noexcept {
  const auto number = reinterpret_cast<std::intptr_t>(event);
  if (number < 0 || number > INT32_MAX) {
    return -1;
  }
  const int descriptor = fcntl(static_cast<int>(number), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) {
    return -1;
  }
  // Writing to anything but an eventfd could block or raise SIGPIPE on a thread that is not its owner's.
  char path[48];
  char target[32] = "";
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(path, target, sizeof(target));
  if (length >= 0 && std::string_view(target, static_cast<std::size_t>(length)) != "anon_inode:[eventfd]") {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

FenceCore::~FenceCore() {
  for (const Event& event : events_) {
    close(event.descriptor);
  }
}

bool FenceCore::signal(std::uint64_t value) noexcept {
  // Moved out and acted on without the lock: waking a queue takes the queue's own.
  std::vector<Event> due;
  std::vector<Sleeper> woken;
  {
    const std::scoped_lock lock(mutex_);
    if (value < completed_.load(std::memory_order_relaxed)) {
      return false;
    }
    completed_.store(value, std::memory_order_release);
    // Partitioned in place and counted, since nothing here may fail for want of memory.
    const auto event = std::partition(events_.begin(), events_.end(), [&](const Event& e) { return e.value > value; });
    if (event == events_.begin()) {
      due.swap(events_);
    } else {
      for (auto it = event; it != events_.end(); ++it) {
        write_event(it->descriptor);
      }
      events_.erase(event, events_.end());
    }
    const auto sleeper =
        std::partition(sleepers_.begin(), sleepers_.end(), [&](const Sleeper& s) { return s.value > value; });
    if (sleeper == sleepers_.begin()) {
      woken.swap(sleepers_);
    } else {
      try {
        woken.assign(sleeper, sleepers_.end());
        sleepers_.erase(sleeper, sleepers_.end());
      } catch (...) {  // out of memory: wake them all, and those that must will sleep again
        woken.swap(sleepers_);
      }
    }
    risen_.notify_all();
  }
  for (const Event& event : due) {
    write_event(event.descriptor);
  }
  for (const Sleeper& sleeper : woken) {
    if (const auto queue = sleeper.queue.lock(); queue != nullptr) {
      queue->wake();
    }
  }
  return true;
}

void FenceCore::wait(std::uint64_t value) {
  if (completed() >= value) {
    return;
  }
  std::vector<std::weak_ptr<QueueCore>> signalers;
  {
    const std::scoped_lock lock(mutex_);
    signalers = signalers_;
  }
  for (const auto& signaler : signalers) {
    if (const auto queue = signaler.lock(); queue != nullptr) {
      queue->help_until([this, value] { return completed() >= value; });
    }
  }
  std::unique_lock lock(mutex_);
  risen_.wait(lock, [this, value] { return completed_.load(std::memory_order_relaxed) >= value; });
}

void FenceCore::notify(std::uint64_t value, int event) {
  {
    const std::scoped_lock lock(mutex_);
    if (completed_.load(std::memory_order_relaxed) < value) {
      events_.push_back({.value = value, .descriptor = event});
      return;
    }
  }
  write_event(event);
}

void FenceCore::wake_at(std::uint64_t value, const std::shared_ptr<QueueCore>& queue) {
  const std::scoped_lock lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) < value) {
    sleepers_.push_back({.value = value, .queue = queue});
  }
}

void FenceCore::expect_signal_from(const std::shared_ptr<QueueCore>& queue) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(signalers_, [](const auto& known) { return known.expired(); });
  if (std::ranges::none_of(signalers_, [&](const auto& known) { return known.lock() == queue; })) {
    signalers_.push_back(queue);
  }
}

Fence::Fence(Device& device, std::uint64_t value, D3D12_FENCE_FLAGS flags)
    : Child(device), fence_(std::make_shared<FenceCore>(value)), flags_(flags) {
  core().add_fence(fence_);
}

HRESULT STDMETHODCALLTYPE Fence::SetEventOnCompletion(UINT64 value, HANDLE event) noexcept {
  return com_boundary("ID3D12Fence::SetEventOnCompletion", [&]() -> HRESULT {
    if (event == nullptr) {
      fence_->wait(value);
      return core().removed() ? kDeviceRemoved : S_OK;
    }
    const int descriptor = duplicate_event(event);
    if (descriptor < 0) {
      return core().fail(E_INVALIDARG, fmt::format("ID3D12Fence::SetEventOnCompletion: hEvent is {}; expected null, to "
                                                   "block, or the descriptor of an eventfd",
                                                   reinterpret_cast<std::intptr_t>(event)));
    }
    try {
      fence_->notify(value, descriptor);
    } catch (...) {
      close(descriptor);
      throw;
    }
    return S_OK;
  });
}

HRESULT STDMETHODCALLTYPE Fence::Signal(UINT64 value) noexcept {
  return com_boundary("ID3D12Fence::Signal", [&]() -> HRESULT {
    if (core().removed()) {
      return kDeviceRemoved;
    }
    if (!fence_->signal(value)) {
      return core().fail(E_INVALIDARG, fmt::format("ID3D12Fence::Signal: Value is {}; expected {} or more, since the "
                                                   "values of a fence only rise",
                                                   value, fence_->completed()));
    }
    return S_OK;
  });
}

}  // namespace anydml
