// SPDX-License-Identifier: MIT
#include "team.h"

#include <algorithm>

namespace anydml::bench {
namespace {

// Looked at that often before a thread sleeps: some microseconds, in which the next round of a small pass comes.
constexpr int kLooks = 2000;
constexpr std::size_t kPiecesOfThread = 16;

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
        ++seen;
        if (stop_) {
          return;
        }
        take_pieces();
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
  const std::size_t units = (count / (kPiecesOfThread * threads()) + unit - 1) / unit;
  piece_ = std::max<std::size_t>(1, units) * unit;
  next_.store(0, std::memory_order_relaxed);
  left_.store(static_cast<std::uint32_t>(workers_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  take_pieces();
  for (std::uint32_t left = left_.load(std::memory_order_acquire); left != 0;
       left = left_.load(std::memory_order_acquire)) {
    await_change(left_, left);
  }
}

void Team::take_pieces() {
  for (std::size_t begin = next_.fetch_add(piece_, std::memory_order_relaxed); begin < count_;
       begin = next_.fetch_add(piece_, std::memory_order_relaxed)) {
    (*work_)(begin, std::min(count_, begin + piece_));
  }
}

}  // namespace anydml::bench
