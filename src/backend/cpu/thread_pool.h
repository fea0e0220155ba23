// SPDX-License-Identifier: MIT
// Threads that share the chunks of jobs. The thread that submits a job also works on it. It never waits for a worker
// that has not taken a chunk, so a job finishes even if every worker is busy, could not be created, or was lost in a
// fork.
//
// Jobs       A pool has a fixed array of job slots. Each thread that is currently submitting jobs uses one slot. The
//            slots live as long as the pool, so workers read them without a lock. A slot counts down the chunks that no
//            thread has taken. A thread that took a chunk keeps the job open until it reports the chunk as done, so it
//            may read the rest of the job. A late thread reads a count that is not positive.
// Sequences  A program is a sequence of jobs: its steps, and the phases of a step. Each job begins when the previous
//            job has ended, and sees everything that the earlier jobs wrote. Between two jobs in a sequence, the
//            workers spin, because waking a thread takes longer than a small step. After tens of microseconds they
//            sleep. They do not spin if no sequence is running, or if the workers and the callers outnumber the
//            processors.
// Ends       An interrupted caller removes all remaining chunks without running them, and waits for the chunks in
//            progress.
// Fairness   If several threads submit jobs, a worker alternates between the jobs after each chunk. If there is only
//            one job, the workers stay with it.
//
// No existing library is used, for two reasons. Packaged pools are not instrumented, so ThreadSanitizer would report
// races that do not exist. Also, concurrent callers must share the workers fairly.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backend/cpu/interruption.h"
#include "backend/cpu/scratch.h"

namespace anydml {

class ThreadPool {
 private:
  struct Job;

 public:
  // Runs one chunk. Several threads may call it at the same time; it must not throw. `thread` is 0 for the thread that
  // submitted the job, and otherwise the number of a worker. No two threads that work on a job have the same number.
  using ChunkFunction = void (*)(void* context, std::uint64_t chunk, unsigned thread) noexcept;

  // `threads` includes the caller, so a pool with one thread has no workers.
  explicit ThreadPool(unsigned threads);
  // Pools are never destroyed, because their threads and callers on other threads may outlive main.
  ~ThreadPool() = delete;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The process's pool. The first call creates it with this many threads; 0 means the number of processors that the
  // process may use. It survives a fork. The caller must hold the process mutex.
  static ThreadPool& of_process(unsigned threads);

  // The number of threads that can work on a job: the workers that could be created, and the caller.
  [[nodiscard]] unsigned threads() const { return workers_.load(std::memory_order_relaxed) + 1; }

  // A parallel loop over other threads, in place of the workers: calls body(argument, i) for some or all of the numbers
  // i below `count`, at most once for each, and returns when these calls have returned.
  struct Parallel {
    void (*function)(void* context, std::size_t count, void (*body)(void* argument, std::size_t index),
                     void* argument) = nullptr;
    void* context = nullptr;
  };
  // Determines the threads for the jobs that this thread submits; without a function, they are the workers.
  static void set_parallel_of_thread(const Parallel& parallel) noexcept;
  // The number of threads besides the caller that a parallel loop of this thread may use; 0 without a loop.
  [[nodiscard]] unsigned others_of_thread() const noexcept;

  // A sequence of jobs that one thread submits. The object costs nothing until the first job with several chunks.
  class Sequence {
   public:
    enum class Between { sleep, spin };  // how workers wait for the next job

    // `interruption` is null if the jobs always run to completion.
    Sequence(ThreadPool& pool, Between between, Interruption* interruption = nullptr)
        : pool_(pool), between_(between), interruption_(interruption) {}
    ~Sequence() {
      if (job_ != nullptr) {
        pool_.close(*this);
      }
    }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    // Runs all chunks, 0 to count - 1, and returns when they are done. Returns false if interrupted: some chunks may
    // then not have run, and no chunk is still running.
    bool run(std::uint64_t count, ChunkFunction function, void* context) {
      if (is_interrupted()) {
        return false;
      }
      if (count == 1) {
        function(context, 0, 0);
      } else if (count > 1) {
        return pool_.run_job(*this, count, function, context);
      }
      return true;
    }

   private:
    friend class ThreadPool;
    ThreadPool& pool_;
    [[nodiscard]] bool is_interrupted() { return interruption_ != nullptr && interruption_->is_wanted(); }

    const Between between_;
    Interruption* const interruption_;
    Job* job_ = nullptr;
  };

  // Runs a single job.
  void run(std::uint64_t count, ChunkFunction function, void* context) {
    Sequence(*this, Sequence::Between::sleep).run(count, function, context);
  }

  // Scratch memory with at least this many bytes for each thread. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Scratch> scratch(std::size_t bytes);

 private:
  static constexpr std::size_t kApart = 128;  // bytes between data that different threads write: two cache lines
  static constexpr unsigned kSlots = 64;      // threads that submit jobs while all slots are taken work alone

  struct Job {
    // A thread that takes a chunk reads the rest of the job from the same cache line.
    alignas(kApart) std::atomic<std::int64_t> left{0};  // chunks that no thread has taken, if positive
    std::uint64_t count = 0;
    ChunkFunction function = nullptr;
    void* context = nullptr;

    alignas(kApart) std::atomic<std::uint64_t> done{0};  // chunks that workers took and finished
    std::atomic<bool> caller_sleeps{false};
    std::atomic<bool> is_in_use{false};

    // Takes a chunk and returns the number of chunks that were left, including this one. If the number is not positive,
    // no chunk was left.
    [[nodiscard]] std::int64_t take() {
      // Read before writing, because unnecessary writes by many threads would delay the threads that are starting.
      const std::int64_t seen = left.load(std::memory_order_relaxed);
      return seen <= 0 ? seen : left.fetch_sub(1, std::memory_order_acquire);
    }
  };

  void start_workers();
  void work(unsigned number);
  bool take_turn(unsigned number, unsigned& turn);
  bool work_on(Job& job, unsigned number);
  void sleep();
  [[nodiscard]] bool has_work() const;
  [[nodiscard]] bool is_crowded() const;

  bool run_on_others(Sequence& sequence, std::uint64_t count, ChunkFunction function, void* context) const;
  bool open(Sequence& sequence);
  void close(Sequence& sequence);
  bool run_job(Sequence& sequence, std::uint64_t count, ChunkFunction function, void* context);
  void wake(std::uint64_t wanted);
  void wait_for(Job& job, std::uint64_t done_by_workers);
  void forget_workers();

  const unsigned wanted_workers_;
  const unsigned processors_;
  std::atomic<unsigned> workers_{0};
  std::atomic<bool> lost_in_fork_{false};  // the first job that can use the workers restarts them
  std::atomic<unsigned> sequences_{0};     // sequences that have a slot
  std::atomic<unsigned> slots_{0};         // slots that have ever been used

  // Spinning workers read this cache line, which changes with every job.
  alignas(kApart) std::atomic<std::uint32_t> jobs_begun_{0};
  std::atomic<unsigned> hot_sequences_{0};  // sequences whose workers spin between jobs

  alignas(kApart) std::mutex mutex_;  // for sleeping and waking, and for scratch_
  std::atomic<unsigned> sleepers_{0};
  std::condition_variable job_begun_;
  std::condition_variable chunks_done_;
  std::weak_ptr<Scratch> scratch_;  // the largest set that programs share

  Job jobs_[kSlots];
};

}  // namespace anydml
