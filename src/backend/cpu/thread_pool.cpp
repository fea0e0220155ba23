// SPDX-License-Identifier: MIT
#include "backend/cpu/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <new>
#include <system_error>
#include <thread>

#include "base/float_environment.h"

namespace anydml {

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

namespace {

// The pool whose state a fork must carry over whole: the first, which is the process's own.
std::atomic<ThreadPool*> g_forked_pool{nullptr};

}  // namespace

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) {
    try {
      std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
      break;  // the machine gives no more: those we have, and the callers, do the work
    } catch (const std::bad_alloc&) {
      break;
    }
    ++workers_;
  }
  register_fork_handlers(this);
}

void ThreadPool::register_fork_handlers(ThreadPool* pool) {
  ThreadPool* none = nullptr;
  if (!g_forked_pool.compare_exchange_strong(none, pool)) {
    return;
  }
  // The child has no workers and must not inherit a locked mutex. Jobs then run on their callers alone.
  pthread_atfork([] { g_forked_pool.load()->mutex_.lock(); }, [] { g_forked_pool.load()->mutex_.unlock(); },
                 [] {
                   ThreadPool& child = *g_forked_pool.load();
                   child.jobs_ = nullptr;
                   child.workers_ = 0;
                   child.mutex_.unlock();
                 });
}

void ThreadPool::unlink(Job& job) {
  if (job.following == nullptr) {
    return;
  }
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
  // For the life of the thread: its modes came from whichever thread created the pool.
  const DefaultFloatEnvironment modes;
  std::unique_lock lock(mutex_);
  for (;;) {
    Job* job = nullptr;
    job_arrived_.wait(lock, [&] { return (job = take_turn()) != nullptr; });
    ++job->workers_inside;
    lock.unlock();
    const bool more = job->run_one();
    lock.lock();
    if (!more) {
      unlink(*job);
    }
    if (--job->workers_inside == 0) {
      worker_left_.notify_all();
    }
  }
}

void ThreadPool::run(std::uint64_t count, ChunkFunction function, void* context) {
  Job job{.count = count, .function = function, .context = context};
  const bool shared = workers_ > 0 && count > 1;
  if (shared) {
    const std::scoped_lock lock(mutex_);
    if (jobs_ == nullptr) {
      job.previous = job.following = &job;
      jobs_ = &job;
    } else {
      job.following = jobs_;
      job.previous = jobs_->previous;
      job.previous->following = &job;
      jobs_->previous = &job;
    }
  }
  if (shared) {
    if (count - 1 >= workers_) {
      job_arrived_.notify_all();
    } else {
      for (std::uint64_t i = 1; i < count; ++i) {
        job_arrived_.notify_one();
      }
    }
  }
  while (job.run_one()) {
  }
  if (shared) {
    std::unique_lock lock(mutex_);
    unlink(job);
    worker_left_.wait(lock, [&job] { return job.workers_inside == 0; });
  }
}

}  // namespace anydml
