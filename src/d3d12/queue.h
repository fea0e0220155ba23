// SPDX-License-Identifier: MIT
// Command queues, which run their work in order. An asynchronous device receives the work immediately, on the
// submitting thread, unless the queue must wait for a fence. The queue's own thread then waits for the device, signals
// fences and releases resources. On other devices, the work runs either on the queue's own thread or on a thread that
// waits for the work.
//
// Waking the queue's thread is a system call, which takes longer than a small piece of work, and the woken thread then
// competes with the waiting thread. Therefore, if the last wait came right after its submission, the next small
// submission wakes no thread, because a waiting thread is expected to run the work. Meanwhile the queue's thread checks
// the queue at intervals and runs any work that the expected thread did not run. Some clients depend on the work but
// will not run it: they poll, set an event, or make another queue wait. They wake the queue's thread immediately.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "d3d12/commands.h"
#include "d3d12/fence.h"
#include "d3d12/fifo.h"
#include "d3d12/mark.h"
#include "d3d12/object.h"

namespace anydml {

class QueueCore : public std::enable_shared_from_this<QueueCore> {
 public:
  // Throws if the device cannot provide a queue.
  explicit QueueCore(std::shared_ptr<DeviceCore> device);
  ~QueueCore();
  QueueCore(const QueueCore&) = delete;
  QueueCore& operator=(const QueueCore&) = delete;

  // Starts the queue's thread, which runs until close() is called and its work is done. Throws if the thread cannot be
  // created.
  void start();
  void close() noexcept;

  // Returns an empty submission. Reuses an old one if possible.
  [[nodiscard]] std::unique_ptr<Submission> new_submission();
  void submit(std::unique_ptr<Submission> submission);
  void signal(std::shared_ptr<FenceCore> fence, std::uint64_t value);
  void wait(std::shared_ptr<FenceCore> fence, std::uint64_t value);

  // The fence and value that the queue waits for; null if it does not wait.
  struct Awaited {
    std::shared_ptr<FenceCore> fence;
    std::uint64_t value = 0;
  };
  [[nodiscard]] Awaited awaited();

  // Makes the queue's own thread check the queue, because the event that the thread waits for may have happened, or
  // because no other thread will run the work.
  void wake() noexcept;

  // Writes the device's current time, for a queue that was not started. Returns false if the device failed.
  [[nodiscard]] bool read_clock(MemoryLocation to) noexcept;

  // Runs work on this thread until enough() is true. Does nothing if another thread is running the work, or if the
  // queue must wait.
  template <class Enough>
  void help_until(const Enough& enough) {
    std::unique_lock lock(mutex_);
    helper_expected_ = !asynchronous_ && is_recent() && !must_wait();
    run(lock, enough);
  }

 private:
  struct FenceTask {
    bool is_wait;
    std::shared_ptr<FenceCore> fence;
    std::uint64_t value;
  };
  using Task = std::variant<std::unique_ptr<Submission>, FenceTask>;
  // Work that the device has received. When it is done, the submission is released and the fence is signaled.
  struct Given {
    std::shared_ptr<Mark> mark;  // null if the work is already done
    std::unique_ptr<Submission> submission;
    std::shared_ptr<FenceCore> fence;
    std::uint64_t value = 0;
  };

  static constexpr std::uint64_t kSoon = 20'000;  // nanoseconds; a task that arrived within this time is recent
  static constexpr std::chrono::microseconds kInterval{100};  // between two checks by the queue's thread

  // A signal that depends on a released object may never come. kLookInterval: how often the queue's thread checks for
  // this. kPatience: how long work that others depend on may be stuck before it counts as hung. Windows allows a device
  // the same time.
  static constexpr std::chrono::milliseconds kLookInterval{50};
  static constexpr std::chrono::seconds kPatience{2};

  void push(Task task, bool is_small);
  void work();
  void wait_for_abandoned(std::unique_lock<std::mutex>& lock);
  void doze(std::unique_lock<std::mutex>& lock);
  // Whether the first task in the queue arrived recently.
  [[nodiscard]] bool is_recent() const noexcept { return monotonic_nanoseconds() - first_pushed_ < kSoon; }
  [[nodiscard]] bool can_proceed() const noexcept;
  // Whether the queue waits for a fence, which will wake it.
  [[nodiscard]] bool must_wait() const noexcept { return !running_ && !tasks_.empty() && !can_proceed(); }
  // Whether the queue waits for a fence that the application has released.
  [[nodiscard]] bool waits_for_abandoned() const noexcept {
    return must_wait() && std::get<FenceTask>(tasks_.front()).fence->is_abandoned();
  }
  // The caller must not hold the lock.
  [[nodiscard]] Given give(Task& task) noexcept;
  void finish(Given& given) noexcept;
  void keep_spare(Given& given) noexcept;  // the caller must hold the lock
  // The caller must hold the lock. Returns false if there was no memory to store the work; the function has then
  // already waited for it.
  bool keep_in_flight(Given& given) noexcept;
  void finish_first(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::shared_ptr<Mark> make_mark() noexcept;

  template <class Enough>
  void run(std::unique_lock<std::mutex>& lock, const Enough& enough) {
    if (running_) {
      return;
    }
    running_ = true;
    while (!enough() && can_proceed()) {
      Given given;
      {
        Task task = tasks_.pop();
        lock.unlock();
        given = give(task);
        if (given.mark == nullptr && !asynchronous_) {
          finish(given);
        }
      }  // the task's contents are released without the lock
      lock.lock();
      if (!asynchronous_ || !keep_in_flight(given)) {
        keep_spare(given);
      }
    }
    running_ = false;
    if (closed_ || !tasks_.empty() || !in_flight_.empty()) {
      helper_expected_ = false;
      arrived_.notify_all();  // the queue's own thread runs the remaining work, or exits
    }
  }

  const std::shared_ptr<DeviceCore> device_;
  const BackendTable& backend_;
  const bool asynchronous_;
  BackendQueue* queue_ = nullptr;
  std::shared_ptr<Mark> last_mark_;  // the mark after all submitted work; null if none; used by the submitting thread
  std::mutex mutex_;
  std::condition_variable arrived_;
  Fifo<Task> tasks_;
  Fifo<Given> in_flight_;  // only for an asynchronous device
  static constexpr std::size_t kMaxSpares = 16;
  std::vector<std::unique_ptr<Submission>> spares_;  // has capacity for kMaxSpares, so that adding one cannot fail
  std::uint64_t first_pushed_ = 0;                   // when a task last arrived while the queue was empty
  std::uint64_t pushes_ = 0;
  bool running_ = false;          // some thread is running a task
  bool helper_expected_ = false;  // a waiting thread is expected to run the work
  bool dozing_ = false;           // the queue's thread will check again without being woken
  bool closed_ = false;
};

class CommandQueue final
    : public Child<CommandQueue, Interfaces<ID3D12CommandQueue, ID3D12Pageable, ID3D12DeviceChild, ID3D12Object>> {
 public:
  CommandQueue(Device& device, const D3D12_COMMAND_QUEUE_DESC& desc);
  ~CommandQueue() override;

  void STDMETHODCALLTYPE UpdateTileMappings(ID3D12Resource*, UINT, const D3D12_TILED_RESOURCE_COORDINATE*,
                                            const D3D12_TILE_REGION_SIZE*, ID3D12Heap*, UINT,
                                            const D3D12_TILE_RANGE_FLAGS*, const UINT*, const UINT*,
                                            D3D12_TILE_MAPPING_FLAGS) noexcept override;
  void STDMETHODCALLTYPE CopyTileMappings(ID3D12Resource*, const D3D12_TILED_RESOURCE_COORDINATE*, ID3D12Resource*,
                                          const D3D12_TILED_RESOURCE_COORDINATE*, const D3D12_TILE_REGION_SIZE*,
                                          D3D12_TILE_MAPPING_FLAGS) noexcept override;
  void STDMETHODCALLTYPE ExecuteCommandLists(UINT count, ID3D12CommandList* const* lists) noexcept override;
  void STDMETHODCALLTYPE SetMarker(UINT, const void*, UINT) noexcept override {}
  void STDMETHODCALLTYPE BeginEvent(UINT, const void*, UINT) noexcept override {}
  void STDMETHODCALLTYPE EndEvent() noexcept override {}
  HRESULT STDMETHODCALLTYPE Signal(ID3D12Fence* fence, UINT64 value) noexcept override;
  HRESULT STDMETHODCALLTYPE Wait(ID3D12Fence* fence, UINT64 value) noexcept override;
  HRESULT STDMETHODCALLTYPE GetTimestampFrequency(UINT64* frequency) noexcept override;
  HRESULT STDMETHODCALLTYPE GetClockCalibration(UINT64* gpu, UINT64* cpu) noexcept override;
  D3D12_COMMAND_QUEUE_DESC STDMETHODCALLTYPE GetDesc() noexcept override { return desc_; }

 private:
  class Debugged;

  // Resolves the commands in the lists, and calls after_list for each list. If a buffer is missing, removes the device
  // and returns false. `debug` is null while the debug layer is off.
  template <class AfterList>
  [[nodiscard]] bool resolve(UINT count, ID3D12CommandList* const* lists, Submission& submission,
                             ExecutionBuilder* debug, const AfterList& after_list);
  void execute_observed(UINT count, ID3D12CommandList* const* lists, std::unique_ptr<Submission> submission);
  void remove_device(HRESULT reason, const std::string& what);

  const D3D12_COMMAND_QUEUE_DESC desc_;
  const std::shared_ptr<QueueCore> queue_;
  std::recursive_mutex debug_mutex_;  // recursive, since message callbacks may use the queue
  std::optional<std::uint32_t> debug_number_;
};

}  // namespace anydml
