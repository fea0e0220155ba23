// SPDX-License-Identifier: MIT
// Measures the overhead of a call, with work so small that the overhead dominates.
#pragma once

#include <string>
#include <vector>

namespace anydml::bench {

struct Latency {
  std::string name;
  std::string what;
  double median_ns = 0;
  double min_ns = 0;
};

struct LatencyFailure {
  std::string message;
};

// Measures each figure for `seconds`. Throws LatencyFailure.
std::vector<Latency> measure_latency(double seconds);

// Measures the figures for calls through the DirectML API.
void measure_directml_latency(double seconds, std::vector<Latency>& to);

}  // namespace anydml::bench
