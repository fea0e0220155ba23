// SPDX-License-Identifier: MIT
// Formats benchmark results for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "latency.h"
#include "machine.h"
#include "measure.h"
#include "scaling.h"

namespace anydml::bench {

struct Report {
  BenchEnvironment machine;
  Settings settings;
  std::vector<std::string> arguments;
  std::vector<Result> results;
  std::vector<Latency> latencies;
  std::vector<Scaling> scalings;
  double others_busy_cores = 0;  // the average number of cores that other processes used meanwhile
  bool is_busy = false;          // whether the other processes disturbed the measurement
};

std::string header_text(const BenchEnvironment& machine, const Settings& settings);
// width: the length of the longest operator name
std::string column_names(std::size_t width);
std::string row_text(const Result& result, std::size_t width);
// Explains the columns; `has_factors`: at least one row has a factor.
std::string legend_text(bool has_factors);
// Explains why the figures are unreliable; empty if they are reliable.
std::string warning_text(const Report& report);
std::string latency_text(const std::vector<Latency>& latencies);
std::string scaling_text(const std::vector<Scaling>& scalings);

// Returns false if the file cannot be written.
bool write_json(const Report& report, const std::string& path);

}  // namespace anydml::bench
