// SPDX-License-Identifier: MIT
#include "team.h"

#include <algorithm>

namespace anydml::bench {
namespace {

// Looked at that often before a thread sleeps: some microseconds, in which the next round of a small pass comes.
constexpr int kLooks = 2000;

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
    workers_.emplace_back([this, index] {
      for (std::uint32_t seen = 0;;) {
        await_change(round_, seen);
        ++seen;
        if (stop_) {
          return;
        }
        work_share(index);
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
          left_.notify_one();
        }
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
  work_ = &work;
  count_ = count;
  unit_ = unit;
  left_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work_share(0);
  for (std::uint32_t left = left_.load(std::memory_order_acquire); left != 0;
       left = left_.load(std::memory_order_acquire)) {
    await_change(left_, left);
  }
}

void Team::work_share(unsigned index) const {
  const std::size_t units = (count_ + unit_ - 1) / unit_;
  const std::size_t begin = units * index / threads() * unit_;
  const std::size_t end = std::min(count_, units * (index + 1) / threads() * unit_);
  if (begin < end) {
    (*work_)(begin, end);
  }
}

}  // namespace anydml::bench
