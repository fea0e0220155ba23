// SPDX-License-Identifier: MIT
#include "team.h"

#include <algorithm>

namespace anydml::bench {
namespace {

// How many times a thread polls before it sleeps. Polling lasts a few microseconds, and the next round of a small pass
// usually begins within that time.
constexpr int kLooks = 2000;
constexpr std::size_t kPartsOfRest = 2;  // per thread: a piece is one part of the remaining work
constexpr std::size_t kPartsOfAll = 64;  // per thread: a piece is at least one part of all the work

void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t from) {
  for (int i = 0; i < kLooks; ++i) {
    if (value.load(std::memory_order_acquire) != from) {
      return;
    }
  }
  value.wait(from, std::memory_order_acquire);
}

}  // namespace

Team::Team(unsigned threads) {
  for (unsigned index = 1; index < threads; ++index) {
    workers_.emplace_back([this] {
      for (std::uint32_t seen = 0;;) {
        await_change(round_, seen);
        seen = round_.load(std::memory_order_acquire);
        if (stop_) {
          return;
        }
        std::unique_lock lock(mutex_);
        const std::shared_ptr<Job> job = job_;
        lock.unlock();
        take_pieces(*job);
      }
    });
  }
}

Team::~Team() {
  stop_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void Team::share(std::size_t count, std::size_t unit, const std::function<void(std::size_t, std::size_t)>& work) {
  if (workers_.empty()) {
    work(0, count);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->work = &work;
  job->count = count;
  job->unit = unit;
  job->units = (count + unit - 1) / unit;
  job->lowest = std::max<std::size_t>(1, job->units / (kPartsOfAll * threads()));
  job->parts = kPartsOfRest * threads();
  job->left = static_cast<std::uint32_t>(job->units);
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
  }
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  take_pieces(*job);
  for (std::uint32_t left = job->left.load(std::memory_order_acquire); left != 0;
       left = job->left.load(std::memory_order_acquire)) {
    await_change(job->left, left);
  }
}

void Team::take_pieces(Job& job) {
  for (std::size_t begin = job.next.load(std::memory_order_relaxed); begin < job.units;) {
    const std::size_t rest = job.units - begin;
    const std::size_t size = std::min(rest, std::max(job.lowest, rest / job.parts));
    if (!job.next.compare_exchange_weak(begin, begin + size, std::memory_order_relaxed)) {
      continue;
    }
    (*job.work)(begin * job.unit, std::min(job.count, (begin + size) * job.unit));
    if (job.left.fetch_sub(static_cast<std::uint32_t>(size), std::memory_order_acq_rel) == size) {
      job.left.notify_one();
    }
    begin = job.next.load(std::memory_order_relaxed);
  }
}

}  // namespace anydml::bench
