// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

namespace anydml::dmlrun {

// All times are in milliseconds.
struct Statistics {
  std::size_t count = 0;
  double average = 0;
  double min = 0;
  double median = 0;
  double p90 = 0;  // 90 % of the samples are no longer than this
  double p99 = 0;
  double max = 0;
};

[[nodiscard]] Statistics summarize(std::span<const double> samples);

// The first samples, up to `warm_up` of them, count as cold; at least one sample counts as hot.
struct ColdAndHot {
  Statistics cold;
  Statistics hot;
};
[[nodiscard]] ColdAndHot split_samples(std::span<const double> samples, std::size_t warm_up);

class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace anydml::dmlrun
