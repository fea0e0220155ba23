// SPDX-License-Identifier: MIT
#include "backend/cpu/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/float_environment.h"
#include "base/process.h"
#include "base/processors.h"

namespace anydml {
namespace {

// While this object exists, no signal is delivered to this thread, or to threads that it creates. A worker must never
// receive a signal that is meant for the host program's own threads, or run the host's signal handlers.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

ThreadPool* g_process_pool = nullptr;  // guarded by the process mutex

// Lets a spinning thread briefly leave the core's resources to its sibling.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");  // `yield` does nothing on most cores
#endif
}

// Spins until `is_over` returns true. Returns false if it takes too long.
//
// It does not yield the processor while spinning: on a busy machine, a thread that yields loses a time slice of several
// milliseconds, whereas a sleeping thread is woken immediately.
template <class Condition>
bool spin_until(Condition is_over, std::uint64_t nanoseconds) {
  constexpr int kLooks = 16;  // iterations between readings of the clock
  const std::uint64_t begin = monotonic_nanoseconds();
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (is_over()) {
        return true;
      }
      pause();
    }
  } while (monotonic_nanoseconds() - begin < nanoseconds);
  return is_over();
}

// A worker spins for about as long as it takes to run a step with one piece. A caller waits for pieces that are already
// running; waking it would take about ten microseconds.
constexpr std::uint64_t kWorkersSpin = 50'000;
constexpr std::uint64_t kCallersSpin = 20'000;

constinit thread_local ThreadPool::Parallel t_parallel;

}  // namespace

void ThreadPool::set_parallel_of_thread(const Parallel& parallel) noexcept { t_parallel = parallel; }

unsigned ThreadPool::others_of_thread() const noexcept { return t_parallel.function != nullptr ? wanted_workers_ : 0; }

ThreadPool::ThreadPool(unsigned threads)
    : wanted_workers_(std::max(threads, 1U) - 1), processors_(usable_processors()) {
  start_workers();
}

ThreadPool& ThreadPool::of_process(unsigned threads) {
  if (g_process_pool == nullptr) {
    g_process_pool = new ThreadPool(threads != 0 ? threads : usable_processors());
    static constexpr ForkHooks kHooks = {
        .prepare = [] { g_process_pool->mutex_.lock(); },
        .parent = [] { g_process_pool->mutex_.unlock(); },
        .child = [] { g_process_pool->forget_workers(); },
    };
    set_fork_hooks(kHooks);
  }
  return *g_process_pool;
}

void ThreadPool::start_workers() {
  const SignalsBlocked blocked;
  while (workers_.load(std::memory_order_relaxed) < wanted_workers_) {
    try {
      std::thread worker([this, number = workers_.load(std::memory_order_relaxed) + 1] { work(number); });
      pthread_setname_np(worker.native_handle(), "anydml");
      worker.detach();
    } catch (const std::system_error&) {
      break;  // no more threads are available, so the callers and the existing workers do the work
    } catch (const std::bad_alloc&) {
      break;
    }
    workers_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Called in the child of a fork, whose only thread holds the mutex. The workers and all other callers no longer exist,
// but the condition variables still count them. They are constructed again in place, because destroying them would wait
// for these threads.
void ThreadPool::forget_workers() {
  new (&job_begun_) std::condition_variable;
  new (&chunks_done_) std::condition_variable;
  for (Job& job : jobs_) {
    job.left.store(0, std::memory_order_relaxed);
    job.caller_sleeps.store(false, std::memory_order_relaxed);
    job.is_in_use.store(false, std::memory_order_relaxed);
  }
  sequences_.store(0, std::memory_order_relaxed);
  hot_sequences_.store(0, std::memory_order_relaxed);
  sleepers_.store(0, std::memory_order_relaxed);
  workers_.store(0, std::memory_order_relaxed);
  lost_in_fork_.store(true, std::memory_order_relaxed);
  mutex_.unlock();
}

// ---- Workers -------------------------------------------------------------------------------------------------------

// Whether spinning threads would keep other threads from working. Having slightly more threads than processors does no
// harm.
bool ThreadPool::is_crowded() const {
  const unsigned threads = workers_.load(std::memory_order_relaxed) + sequences_.load(std::memory_order_relaxed);
  return threads > processors_ + processors_ / 8;
}

void ThreadPool::work(unsigned number) {
  // Set for the lifetime of the thread, which inherited its modes from the thread that created it.
  const DefaultFloatEnvironment modes;
  unsigned turn = 0;
  for (;;) {
    const std::uint32_t begun = jobs_begun_.load(std::memory_order_acquire);
    if (take_turn(number, turn)) {
      continue;
    }
    const auto is_cold = [this] { return hot_sequences_.load(std::memory_order_relaxed) == 0; };
    const auto has_news = [&] { return jobs_begun_.load(std::memory_order_acquire) != begun || is_cold(); };
    if (is_cold() || is_crowded() || !spin_until(has_news, kWorkersSpin)) {
      sleep();
    }
  }
}

// Works on the next job that has chunks left, starting at `turn`. Returns false if no job has chunks left.
bool ThreadPool::take_turn(unsigned number, unsigned& turn) {
  const unsigned slots = slots_.load(std::memory_order_acquire);
  for (unsigned i = 0; i < slots; ++i) {
    const unsigned location = (turn + i) % slots;
    if (work_on(jobs_[location], number)) {
      turn = location + 1;
      return true;
    }
  }
  return false;
}

// Runs one chunk, or all remaining chunks if no other thread has jobs. Returns false if no chunk was left.
bool ThreadPool::work_on(Job& job, unsigned number) {
  std::uint64_t done = 0;
  do {
    const std::int64_t left = job.take();
    if (left <= 0) {
      break;
    }
    job.function(job.context, job.count - static_cast<std::uint64_t>(left), number);
    ++done;
  } while (sequences_.load(std::memory_order_relaxed) == 1);
  if (done == 0) {
    return false;
  }
  // Sequentially consistent with the caller, which announces that it is going to sleep and then checks how many chunks
  // are done. Therefore at least one of the two threads sees the other's store.
  job.done.fetch_add(done, std::memory_order_seq_cst);
  if (job.caller_sleeps.load(std::memory_order_seq_cst)) {
    { const std::scoped_lock lock(mutex_); }
    chunks_done_.notify_all();
  }
  return true;
}

bool ThreadPool::has_work() const {
  const unsigned slots = slots_.load(std::memory_order_seq_cst);
  return std::any_of(jobs_, jobs_ + slots, [](const Job& job) { return job.left.load(std::memory_order_seq_cst) > 0; });
}

void ThreadPool::sleep() {
  std::unique_lock lock(mutex_);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  job_begun_.wait(lock, [this] { return has_work(); });
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

// ---- Callers -------------------------------------------------------------------------------------------------------

// Assigns a slot to the sequence. Returns false if the sequence must run without the workers.
bool ThreadPool::open(Sequence& sequence) {
  if (lost_in_fork_.load(std::memory_order_relaxed) && lost_in_fork_.exchange(false)) {
    start_workers();
  }
  if (workers_.load(std::memory_order_relaxed) == 0) {
    return false;
  }
  for (unsigned location = 0; location < kSlots; ++location) {
    Job& job = jobs_[location];
    if (job.is_in_use.load(std::memory_order_relaxed) || job.is_in_use.exchange(true, std::memory_order_acquire)) {
      continue;
    }
    unsigned slots = slots_.load(std::memory_order_relaxed);
    while (slots <= location && !slots_.compare_exchange_weak(slots, location + 1, std::memory_order_seq_cst)) {
    }
    sequences_.fetch_add(1, std::memory_order_relaxed);
    if (sequence.between_ == Sequence::Between::spin) {
      hot_sequences_.fetch_add(1, std::memory_order_relaxed);
    }
    sequence.job_ = &job;
    return true;
  }
  return false;
}

void ThreadPool::close(Sequence& sequence) {
  if (sequence.between_ == Sequence::Between::spin) {
    hot_sequences_.fetch_sub(1, std::memory_order_relaxed);
  }
  sequences_.fetch_sub(1, std::memory_order_relaxed);
  sequence.job_->is_in_use.store(false, std::memory_order_release);
}

// Runs a job on the threads of the caller's parallel loop. Each call of its body takes chunks until none is left, so
// the job is done if only one of the calls happens. The number of a call is the number of its thread.
bool ThreadPool::run_on_others(Sequence& sequence, std::uint64_t count, ChunkFunction function, void* context) const {
  struct Loop {
    Sequence& sequence;
    const std::uint64_t count;
    const ChunkFunction function;
    void* const context;
    const std::thread::id caller;
    alignas(kApart) std::atomic<std::uint64_t> next{0};
    std::atomic<bool> is_interrupted{false};

    void work(unsigned number) {
      const bool is_caller = std::this_thread::get_id() == caller;
      while (!is_interrupted.load(std::memory_order_relaxed)) {
        // Read before writing, because calls that begin late would delay the others.
        if (next.load(std::memory_order_relaxed) >= count) {
          return;
        }
        const std::uint64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= count) {
          return;
        }
        function(context, chunk, number);
        if (is_caller && sequence.is_interrupted()) {
          is_interrupted.store(true, std::memory_order_relaxed);
        }
      }
    }
  };
  Loop loop{sequence, count, function, context, std::this_thread::get_id()};
  const auto threads = static_cast<std::size_t>(std::min<std::uint64_t>(count, std::uint64_t{wanted_workers_} + 1));
  if (threads > 1) {
    t_parallel.function(
        t_parallel.context, threads,
        [](void* argument, std::size_t index) {
          const DefaultFloatEnvironment modes;
          static_cast<Loop*>(argument)->work(static_cast<unsigned>(index));
        },
        &loop);
  }
  loop.work(0);
  return !loop.is_interrupted.load(std::memory_order_relaxed);
}

bool ThreadPool::run_job(Sequence& sequence, std::uint64_t count, ChunkFunction function, void* context) {
  if (t_parallel.function != nullptr) {
    return run_on_others(sequence, count, function, context);
  }
  if (sequence.job_ == nullptr && !open(sequence)) {
    function(context, 0, 0);
    for (std::uint64_t chunk = 1; chunk < count; ++chunk) {
      if (sequence.is_interrupted()) {
        return false;
      }
      function(context, chunk, 0);
    }
    return true;
  }
  Job& job = *sequence.job_;
  job.count = count;
  job.function = function;
  job.context = context;
  job.done.store(0, std::memory_order_relaxed);
  // Sequentially consistent with a worker, which announces that it is going to sleep and then looks for work. Therefore
  // at least one of the two threads sees the other's store.
  job.left.store(static_cast<std::int64_t>(count), std::memory_order_seq_cst);
  jobs_begun_.fetch_add(1, std::memory_order_release);
  wake(count - 1);
  std::uint64_t own = 0;
  std::int64_t skipped = 0;
  bool is_interrupted = false;
  for (;;) {
    const std::int64_t left = job.take();
    if (left <= 0) {
      break;
    }
    function(context, count - static_cast<std::uint64_t>(left), 0);
    ++own;
    is_interrupted = sequence.is_interrupted();
    if (is_interrupted) {
      // After this, no thread can take a chunk.
      skipped = std::max<std::int64_t>(0, job.left.exchange(0, std::memory_order_acquire));
      break;
    }
  }
  wait_for(job, count - own - static_cast<std::uint64_t>(skipped));
  // The caller who wanted to interrupt the job is told so even if no chunk was left: Python has already raised an
  // error.
  return !is_interrupted;
}

void ThreadPool::wake(std::uint64_t wanted) {
  const unsigned asleep = sleepers_.load(std::memory_order_seq_cst);
  if (asleep == 0) {
    return;
  }
  // Workers that are awake find the job without being woken, unless they are busy with other jobs.
  if (sequences_.load(std::memory_order_relaxed) == 1) {
    const unsigned workers = workers_.load(std::memory_order_relaxed);
    wanted -= std::min<std::uint64_t>(wanted, workers - std::min(workers, asleep));
  }
  if (wanted == 0) {
    return;
  }
  { const std::scoped_lock lock(mutex_); }  // a worker that is counted as asleep is asleep now
  if (wanted >= asleep) {
    job_begun_.notify_all();
    return;
  }
  for (std::uint64_t i = 0; i < wanted; ++i) {
    job_begun_.notify_one();
  }
}

// Waits until the chunks that workers took are done.
void ThreadPool::wait_for(Job& job, std::uint64_t done_by_workers) {
  const auto is_done = [&] { return job.done.load(std::memory_order_seq_cst) == done_by_workers; };
  if (is_done() || (!is_crowded() && spin_until(is_done, kCallersSpin))) {
    return;
  }
  std::unique_lock lock(mutex_);
  job.caller_sleeps.store(true, std::memory_order_seq_cst);
  chunks_done_.wait(lock, is_done);
  job.caller_sleeps.store(false, std::memory_order_relaxed);
}

// ---- Scratch memory ------------------------------------------------------------------------------------------------

std::shared_ptr<Scratch> ThreadPool::scratch(std::size_t bytes) {
  const auto fits = [bytes](const std::shared_ptr<Scratch>& set) { return set != nullptr && set->bytes() >= bytes; };
  {
    const std::scoped_lock lock(mutex_);
    if (auto kept = scratch_.lock(); fits(kept)) {
      return kept;
    }
  }
  auto created = std::make_shared<Scratch>(bytes, wanted_workers_);
  // A set that is dropped here is destroyed after the mutex is unlocked.
  std::shared_ptr<Scratch> kept;
  const std::scoped_lock lock(mutex_);
  kept = scratch_.lock();
  if (fits(kept)) {
    return kept;  // another thread was faster
  }
  scratch_ = created;
  return created;
}

}  // namespace anydml
