// SPDX-License-Identifier: MIT
// Measures the same cases with one thread, two, four and so on. The library reads its number of threads only once, so
// each measurement needs a separate process.
#pragma once

#include <string>
#include <vector>

namespace anydml::bench {

struct ScalingPoint {
  unsigned threads = 0;
  double ns_per_element = 0;
  double pass_gb_per_second = 0;
  double fraction = 0;
};

struct Scaling {
  std::string name;  // the case's name
  std::string type;
  std::string op;
  std::vector<ScalingPoint> points;  // by increasing number of threads
};

// 1, 2, 4 and so on, and finally all cores
std::vector<unsigned> thread_counts(unsigned cores);

// `self` and `arguments` start a benchmark; the number of threads and the path for its JSON are added. Returns false,
// with a message, if a benchmark fails.
bool measure_scaling(const std::vector<std::string>& self, const std::vector<std::string>& arguments,
                     const std::vector<unsigned>& counts, std::vector<Scaling>& to, std::string& error);

}  // namespace anydml::bench
