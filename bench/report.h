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
};

std::string header_text(const Machine& machine, const Settings& settings);
// width: of the longest name of an operator
std::string column_names(std::size_t width);
std::string row_text(const Result& result, std::size_t width);
std::string latency_text(const std::vector<Latency>& latencies);
std::string scaling_text(const std::vector<Scaling>& scalings);

// False where the file cannot be written.
bool write_json(const Report& report, const std::string& path);

}  // namespace anydml::bench
