// SPDX-License-Identifier: MIT
// The figures for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "latency.h"
#include "machine.h"
#include "measure.h"
#include "scaling.h"

namespace anydml::bench {

struct Report {
  Machine machine;
  Settings settings;
  std::vector<std::string> arguments;
  std::vector<Result> results;
  std::vector<Latency> latencies;
  std::vector<Scaling> scalings;
  double others_busy_cores = 0;  // what other processes took meanwhile
  bool is_busy = false;          // and whether that was in the way
};

std::string header_text(const Machine& machine, const Settings& settings);
// width: of the longest name of an operator
std::string column_names(std::size_t width);
std::string row_text(const Result& result, std::size_t width);
// What the columns mean; `has_factors`: one of the rows has a factor.
std::string legend_text(bool has_factors);
// Why the figures are not to be trusted; empty where nothing is against them.
std::string warning_text(const Report& report);
std::string latency_text(const std::vector<Latency>& latencies);
std::string scaling_text(const std::vector<Scaling>& scalings);

// False where the file cannot be written.
bool write_json(const Report& report, const std::string& path);

}  // namespace anydml::bench
