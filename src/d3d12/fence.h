// SPDX-License-Identifier: MIT
// Fences: a value that only rises, and those who wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "d3d12/object.h"

namespace anydml {

class QueueCore;

class FenceCore {
 public:
  explicit FenceCore(std::uint64_t value) : completed_(value) {}
  ~FenceCore();
  FenceCore(const FenceCore&) = delete;
  FenceCore& operator=(const FenceCore&) = delete;

  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_acquire); }

  // Raises the value and wakes whoever waits for it. A lower value changes nothing and gives false.
  bool signal(std::uint64_t value) noexcept;
  // The device is gone: every value is reached.
  void reach_end() noexcept { signal(UINT64_MAX); }

  // Returns when the value is reached. The waiting thread itself runs the work of queues that are to signal it.
  void wait(std::uint64_t value);

  // Writes to the event once the value is reached, at once if it is. Takes over the descriptor.
  void notify(std::uint64_t value, int event);

  // The queue is woken when the value is reached, if it is not already.
  void wake_at(std::uint64_t value, const std::shared_ptr<QueueCore>& queue);

  // A queue has a signal for this fence among its work.
  void expect_signal_from(const std::shared_ptr<QueueCore>& queue);

 private:
  struct Event {
    std::uint64_t value;
    int descriptor;
  };
  struct Sleeper {
    std::uint64_t value;
    std::weak_ptr<QueueCore> queue;
  };

  std::atomic<std::uint64_t> completed_;
  std::mutex mutex_;
  std::condition_variable risen_;
  std::vector<Event> events_;
  std::vector<Sleeper> sleepers_;
  std::vector<std::weak_ptr<QueueCore>> signalers_;
};

class Fence final
    : public Child<Fence, Interfaces<ID3D12Fence1, ID3D12Fence, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  Fence(Device& device, std::uint64_t value, D3D12_FENCE_FLAGS flags);

  UINT64 STDMETHODCALLTYPE GetCompletedValue() noexcept override { return fence_->completed(); }
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64 value, HANDLE event) noexcept override;
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) noexcept override;
  D3D12_FENCE_FLAGS STDMETHODCALLTYPE GetCreationFlags() noexcept override { return flags_; }

  [[nodiscard]] const std::shared_ptr<FenceCore>& fence() const { return fence_; }

 private:
  const std::shared_ptr<FenceCore> fence_;
  const D3D12_FENCE_FLAGS flags_;
};

// The eventfd that a HANDLE is on Linux, duplicated; -1 when it is none.
[[nodiscard]] int duplicate_event(HANDLE event) noexcept;

}  // namespace anydml
