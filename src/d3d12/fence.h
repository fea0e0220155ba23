// SPDX-License-Identifier: MIT
// Fences. A fence has a value that never decreases, and threads and queues can wait for it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "d3d12/event.h"
#include "d3d12/mark.h"
#include "d3d12/object.h"

namespace anydml {

class QueueCore;

class FenceCore {
 public:
  explicit FenceCore(std::uint64_t value) : number_(next_number()), completed_(value) {}
  FenceCore(const FenceCore&) = delete;
  FenceCore& operator=(const FenceCore&) = delete;

  // Identifies the fence for the debug layer. No other fence ever has the same number.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_acquire); }

  // Raises the value and wakes all waiters that it releases. Returns false if the value is not higher than the current
  // one.
  bool signal(std::uint64_t value) noexcept;
  // Called when the device is removed: every value then counts as reached.
  void reach_end() noexcept { signal(UINT64_MAX); }

  // Returns when the value is reached. The waiting thread itself runs the work of the queues that will signal it.
  void wait(std::uint64_t value);

  // Notifies the event when the value is reached, or immediately if it already is.
  void notify(std::uint64_t value, std::shared_ptr<EventTarget> event);

  // Wakes the queue when the value is reached, unless it already is.
  void wake_at(std::uint64_t value, const std::shared_ptr<QueueCore>& queue);

  // Whether a queue that waits for the value may continue: either the value is reached, or the device has already
  // received the work that will reach it.
  [[nodiscard]] bool is_ahead(std::uint64_t value) const noexcept {
    return completed() >= value || expected_.load(std::memory_order_acquire) >= value;
  }
  // Records that the device has received the work and that the value is reached when the mark is passed.
  void expect_at(std::uint64_t value, const std::shared_ptr<Mark>& mark) noexcept;
  // The mark after which the value is reached; null if the value is already reached or no mark for it is known.
  [[nodiscard]] std::shared_ptr<Mark> mark_at(std::uint64_t value) noexcept;

  // Records that the queue will signal this value. Returns whether a thread, an event or another queue is already
  // waiting for the fence.
  [[nodiscard]] bool expect_signal(std::uint64_t value, const std::shared_ptr<QueueCore>& queue);

  // Called when the application has released the fence. After that, only queues that already plan to signal it can do
  // so.
  void abandon() noexcept;
  [[nodiscard]] bool is_abandoned() const noexcept { return abandoned_.load(std::memory_order_acquire); }
  // Whether anything could still notice that the value is reached: the fence has an owner, or something waits for it.
  [[nodiscard]] bool is_watched(std::uint64_t value);
  // Records that the queue will not signal this value after all.
  void forget_signal(std::uint64_t value, const QueueCore& queue) noexcept;
  // The queues that will signal this value or a higher one.
  [[nodiscard]] std::vector<std::shared_ptr<QueueCore>> signalers_of(std::uint64_t value);

  // Returns the value, for callers that may poll. The second poll wakes the queues that will raise the value.
  [[nodiscard]] std::uint64_t poll() noexcept;

 private:
  struct Event {
    std::uint64_t value;
    std::shared_ptr<EventTarget> target;
  };
  struct QueueAt {
    std::uint64_t value;
    std::weak_ptr<QueueCore> queue;
  };
  struct MarkAt {
    std::uint64_t value;
    std::shared_ptr<Mark> mark;
  };

  static std::uint64_t next_number() noexcept;
  // The caller must hold the mutex.
  void wake_signalers() noexcept;
  [[nodiscard]] const MarkAt* find_mark(std::uint64_t value) const noexcept;

  const std::uint64_t number_;
  std::atomic<std::uint64_t> completed_;
  std::atomic<std::uint64_t> expected_{0};  // the highest value that has a mark
  std::atomic<bool> abandoned_{false};
  std::atomic<int> looks_left_{0};  // polls left before the signalers are woken; 0 if no signaler needs waking
  std::mutex mutex_;
  std::condition_variable risen_;
  std::uint32_t waiting_threads_ = 0;
  std::vector<Event> events_;
  std::vector<MarkAt> marks_;               // marks in the work of asynchronous queues
  std::vector<QueueAt> sleepers_;           // queues that wait for a value
  std::vector<QueueAt> signalers_;          // queues that will signal a value
  std::weak_ptr<QueueCore> last_signaler_;  // the last queue that promised a signal; it may already have signaled
};

// Reports that find_event or make_event failed, and returns the HRESULT for errno. null: what a null event means, for
// the message.
HRESULT no_event(const char* method, DeviceCore& core, HANDLE event, const char* parameter = "hEvent",
                 const char* null = "to block");

class Fence final
    : public Child<Fence, Interfaces<ID3D12Fence1, ID3D12Fence, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  Fence(Device& device, std::uint64_t value, D3D12_FENCE_FLAGS flags);
  ~Fence() override;

  UINT64 STDMETHODCALLTYPE GetCompletedValue() noexcept override;
  HRESULT STDMETHODCALLTYPE SetEventOnCompletion(UINT64 value, HANDLE event) noexcept override;
  HRESULT STDMETHODCALLTYPE Signal(UINT64 value) noexcept override;
  D3D12_FENCE_FLAGS STDMETHODCALLTYPE GetCreationFlags() noexcept override { return flags_; }

  [[nodiscard]] const std::shared_ptr<FenceCore>& fence() const { return fence_; }

 private:
  const std::shared_ptr<FenceCore> fence_;
  const D3D12_FENCE_FLAGS flags_;
};

}  // namespace anydml
