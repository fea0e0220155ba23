// SPDX-License-Identifier: MIT
// A persistent team of threads, for the pass and for filling memory. Like the library's threads, each thread takes
// pieces until none are left, large pieces first. If each thread had a fixed share, the slowest thread would determine
// the baseline and make it too slow. The team also does not wait for threads that have not started yet, which happens
// on a busy machine. The library's own pool is not used, because the library is measured against the pass.
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

  // Calls work(begin, end) for pieces of [0, count) split at multiples of `unit`, on every thread including the
  // caller's. Returns when all pieces are done.
  void share(std::size_t count, std::size_t unit, const std::function<void(std::size_t, std::size_t)>& work);

 private:
  // The work of one call. A late thread finds no piece left and releases the job.
  struct Job {
    const std::function<void(std::size_t, std::size_t)>* work = nullptr;
    std::size_t count = 0;
    std::size_t unit = 1;
    std::size_t units = 0;
    std::size_t lowest = 1;              // minimum units of a piece
    std::size_t parts = 1;               // how many parts the remaining work is divided into; a piece is one part
    std::atomic<std::size_t> next{0};    // the first unit not yet taken
    std::atomic<std::uint32_t> left{0};  // units not yet done
  };
  static void take_pieces(Job& job);

  bool stop_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::mutex mutex_;
  std::shared_ptr<Job> job_;
  std::vector<std::thread> workers_;
};

}  // namespace anydml::bench
