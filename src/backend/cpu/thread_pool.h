// SPDX-License-Identifier: MIT
// Threads that share the chunks of running jobs. The thread that brings a job works on it too and never waits for a
// worker to start, so a job finishes even when every worker is busy, could not be created, or was lost in a fork.
//
// Why our own: a few dozen lines suffice; packaged pools are not instrumented, so ThreadSanitizer reports races that
// are none; and concurrent callers must share the workers fairly, which here is one chunk of each job in turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace anydml {

class ThreadPool {
 public:
  // What a job does for one of its chunks. Called from several threads at once; must not throw.
  using ChunkFunction = void (*)(void* context, std::uint64_t chunk) noexcept;

  // `threads` counts the callers' own, so a pool of one has no workers.
  explicit ThreadPool(unsigned threads);
  // Pools are never destroyed: their threads outlive main, as do callers in other threads.
  ~ThreadPool() = delete;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool of the process, made at the first call, which says how many threads; 0: as many as the machine gives. It
  // passes through a fork. Called with the process mutex held.
  static ThreadPool& of_process(unsigned threads);

  // Threads that can work on a job: the workers that could be created, and the caller.
  [[nodiscard]] unsigned threads() const { return workers_.load(std::memory_order_relaxed) + 1; }

  // Runs all chunks, 0 to count - 1, and returns when all are done.
  void run(std::uint64_t count, ChunkFunction function, void* context);

 private:
  struct Job;

  void start_workers();
  void work();
  void run_shared(Job& job);
  void link(Job& job);
  void unlink(Job& job);
  Job* take_turn();
  void forget_workers();

  const unsigned wanted_workers_;
  std::atomic<unsigned> workers_{0};
  std::atomic<bool> lost_in_fork_{false};  // the workers are to be started again, at the first job that can use them
  std::mutex mutex_;
  std::condition_variable job_arrived_;
  std::condition_variable worker_left_;
  std::atomic<unsigned> linked_jobs_{0};  // in the ring; written with the mutex held
  Job* jobs_ = nullptr;                   // a ring of jobs that still have chunks to give; the next turn is its head's
};

}  // namespace anydml
