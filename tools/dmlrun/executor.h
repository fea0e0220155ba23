// SPDX-License-Identifier: MIT
// Runs a model that was read and checked, through the DirectML API.
#pragma once

#include <cstdint>
#include <optional>

#include "client.h"
#include "cursor.h"
#include "fill.h"
#include "model.h"
#include "output.h"

namespace anydml::dmlrun {

struct ExecutionOptions {
  std::uint64_t iterations = 1;
  std::uint64_t repeat = 1;                   // dispatches in each iteration
  std::optional<double> milliseconds_to_run;  // replaces the number of iterations
  double minimum_interval = 0;                // milliseconds from one iteration's start to the next
  std::size_t warm_up = 1;
  std::size_t device_samples = 8192;  // how many of the most recent samples to keep
  bool print_commands = false;
  bool profile = false;  // times each step separately, after the dispatch
};

// Collects errors from the library that the facts cannot predict. Creates and initializes each operator, and binds and
// records each dispatch, but executes nothing. Operators and dispatches with known errors are skipped. Adds up the
// memory that a run with the options would need, and allocates nothing beyond the model's limit. Returns the remaining
// memory.
[[nodiscard]] MemoryBudget rehearse_model(const Model& model, const ExecutionOptions& options,
                                          const client::DeviceOptions& device_options, Problems& problems);

// Returns whether all comparisons found the expected values. Throws ModelFailure, or client::Failure if the failure is
// not related to a location in the model.
[[nodiscard]] bool execute_model(const Model& model, const ExecutionOptions& options, MemoryBudget& memory,
                                 client::Device& device, Output& output);

}  // namespace anydml::dmlrun
