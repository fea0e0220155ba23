// SPDX-License-Identifier: MIT
#include "backend/cpu/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>

#include "base/float_environment.h"
#include "base/process.h"

namespace anydml {
namespace {

// While it lives no signal is delivered to this thread. Threads inherit that: a worker must never take a signal that
// the host means for its own threads, nor run its handlers.
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

}  // namespace

// Lives on the stack of the thread that brought it. That thread leaves only when no worker is in the job.
struct ThreadPool::Job {
  std::uint64_t count;
  ChunkFunction function;
  void* context;
  std::atomic<std::uint64_t> next{0};
  // Guarded by the pool's mutex.
  unsigned workers_inside = 0;
  Job* previous = nullptr;
  Job* following = nullptr;  // null: not in the ring

  // Runs one chunk; false when there are none left.
  bool run_one() {
    const std::uint64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= count) {
      return false;
    }
    function(context, chunk);
    return true;
  }
};

ThreadPool::ThreadPool(unsigned threads) : wanted_workers_(std::max(threads, 1U) - 1) { start_workers(); }

ThreadPool& ThreadPool::of_process(unsigned threads) {
  if (g_process_pool == nullptr) {
    g_process_pool = new ThreadPool(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency()));
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
      std::thread worker([this] { work(); });
      pthread_setname_np(worker.native_handle(), "anydml");
      worker.detach();
    } catch (const std::system_error&) {
      break;  // the machine gives no more: those we have, and the callers, do the work
    } catch (const std::bad_alloc&) {
      break;
    }
    workers_.fetch_add(1, std::memory_order_relaxed);
  }
}

// In the child of a fork, whose one thread holds the mutex: the workers and whoever waited are gone, and the condition
// variables still count them. Those are made anew in place; destroying them would wait for threads that do not exist.
void ThreadPool::forget_workers() {
  new (&job_arrived_) std::condition_variable;
  new (&worker_left_) std::condition_variable;
  jobs_ = nullptr;
  linked_jobs_.store(0, std::memory_order_relaxed);
  workers_.store(0, std::memory_order_relaxed);
  lost_in_fork_.store(true, std::memory_order_relaxed);
  mutex_.unlock();
}

void ThreadPool::link(Job& job) {
  linked_jobs_.fetch_add(1, std::memory_order_relaxed);
  if (jobs_ == nullptr) {
    job.previous = job.following = &job;
    jobs_ = &job;
    return;
  }
  job.following = jobs_;
  job.previous = jobs_->previous;
  job.previous->following = &job;
  jobs_->previous = &job;
}

void ThreadPool::unlink(Job& job) {
  if (job.following == nullptr) {
    return;
  }
  linked_jobs_.fetch_sub(1, std::memory_order_relaxed);
  if (job.following == &job) {
    jobs_ = nullptr;
  } else {
    job.previous->following = job.following;
    job.following->previous = job.previous;
    if (jobs_ == &job) {
      jobs_ = job.following;
    }
  }
  job.following = nullptr;
}

// The job whose turn it is; the one after it comes next. Called with the mutex held; null when there is none.
ThreadPool::Job* ThreadPool::take_turn() {
  Job* const job = jobs_;
  if (job != nullptr) {
    jobs_ = job->following;
  }
  return job;
}

void ThreadPool::work() {
  // For the life of the thread: its modes came from whichever thread created it.
  const DefaultFloatEnvironment modes;
  std::unique_lock lock(mutex_);
  for (;;) {
    Job* job = nullptr;
    job_arrived_.wait(lock, [&] { return (job = take_turn()) != nullptr; });
    ++job->workers_inside;
    lock.unlock();
    bool more = job->run_one();
    // Alone, a job has every turn: no need to come back for it.
    while (more && linked_jobs_.load(std::memory_order_relaxed) == 1) {
      more = job->run_one();
    }
    lock.lock();
    if (!more) {
      unlink(*job);
    }
    if (--job->workers_inside == 0) {
      worker_left_.notify_all();
    }
  }
}

void ThreadPool::run_shared(Job& job) {
  {
    const std::scoped_lock lock(mutex_);
    link(job);
  }
  if (job.count - 1 >= workers_.load(std::memory_order_relaxed)) {
    job_arrived_.notify_all();
  } else {
    for (std::uint64_t i = 1; i < job.count; ++i) {
      job_arrived_.notify_one();
    }
  }
  while (job.run_one()) {
  }
  std::unique_lock lock(mutex_);
  unlink(job);
  worker_left_.wait(lock, [&job] { return job.workers_inside == 0; });
}

void ThreadPool::run(std::uint64_t count, ChunkFunction function, void* context) {
  if (count == 1) {
    function(context, 0);
    return;
  }
  if (count > 1 && lost_in_fork_.load(std::memory_order_relaxed) && lost_in_fork_.exchange(false)) {
    start_workers();
  }
  Job job{.count = count, .function = function, .context = context};
  if (count > 1 && workers_.load(std::memory_order_relaxed) > 0) {
    run_shared(job);
  } else {
    while (job.run_one()) {
    }
  }
}

}  // namespace anydml
