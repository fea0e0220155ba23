// SPDX-License-Identifier: MIT
// Threads that stay, for the pass and for filling memory. Each takes piece after piece until none is left, large ones
// first, as the library's threads do: with one fixed share each, the slowest thread would set the floor, and too low.
// Nor is a thread waited for that has not started, on a machine where others run too. The library's own pool is not
// used, since the pass is what the library is held against.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace anydml::bench {

class Team {
 public:
  explicit Team(unsigned threads);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();

  [[nodiscard]] unsigned threads() const { return static_cast<unsigned>(workers_.size()) + 1; }

  // Calls work(begin, end) for pieces of [0, count) cut at multiples of `unit`, on every thread, the caller's included;
  // returns when all are done.
  void share(std::size_t count, std::size_t unit, const std::function<void(std::size_t, std::size_t)>& work);

 private:
  // What one call shares. A thread that comes late finds no piece left, and lets go of it.
  struct Job {
    const std::function<void(std::size_t, std::size_t)>* work = nullptr;
    std::size_t count = 0;
    std::size_t unit = 1;
    std::size_t units = 0;
    std::size_t least = 1;               // units of a piece
    std::size_t parts = 1;               // of what is left; a piece is one
    std::atomic<std::size_t> next{0};    // unit that nobody has taken
    std::atomic<std::uint32_t> left{0};  // units that are not done
  };
  static void take_pieces(Job& job);

  bool stop_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::mutex mutex_;
  std::shared_ptr<Job> job_;
  std::vector<std::thread> workers_;
};

}  // namespace anydml::bench
