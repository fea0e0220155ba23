// SPDX-License-Identifier: MIT
// Threads that stay, for the pass and for filling memory. Each takes piece after piece until none is left, as the
// library's threads do: with one fixed share each, the slowest thread would set the floor, and too low. The library's
// own pool is not used, since the pass is what the library is held against.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  void take_pieces();

  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::size_t piece_ = 1;
  std::atomic<std::size_t> next_{0};
  bool stop_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> left_{0};
  std::vector<std::thread> workers_;
};

}  // namespace anydml::bench
