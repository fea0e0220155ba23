// SPDX-License-Identifier: MIT
// Threads that stay, for the pass and for filling memory: each takes one contiguous share. The library's own pool is
// not used, since the pass is what the library is held against.
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

  // Calls work(begin, end) on every thread, the caller's included, over [0, count) cut at multiples of `unit`; returns
  // when all are done.
  void share(std::size_t count, std::size_t unit, const std::function<void(std::size_t, std::size_t)>& work);

 private:
  void work_share(unsigned index) const;

  const std::function<void(std::size_t, std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;
  std::size_t unit_ = 1;
  bool stop_ = false;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> left_{0};
  std::vector<std::thread> workers_;
};

}  // namespace anydml::bench
