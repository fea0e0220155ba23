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
  std::uint64_t repeat = 1;                   // dispatches within an iteration
  std::optional<double> milliseconds_to_run;  // instead of iterations
  double minimum_interval = 0;                // milliseconds from one iteration's start to the next
  std::size_t warm_up = 1;
  std::size_t device_samples = 8192;  // the last ones are kept
  bool print_commands = false;
  bool profile = false;  // each step of a dispatch by itself, after the dispatch
};

// What the library says beyond the rules that facts can state: of each operator when it is created and initialised, and
// of each dispatch when it is bound and recorded. What is known to be wrong already is left out; no dispatch is
// executed. Nothing is made that the model's memory does not allow; what a run with the options would take is counted.
// Gives back what is left of that memory.
[[nodiscard]] MemoryBudget rehearse_model(const Model& model, const ExecutionOptions& options,
                                          const client::DeviceOptions& device_options, Problems& problems);

// Whether all comparisons found what was expected. Throws ModelFailure, or client::Failure where no place in the model
// has to do with it.
[[nodiscard]] bool execute_model(const Model& model, const ExecutionOptions& options, MemoryBudget& memory,
                                 client::Device& device, Output& output);

}  // namespace anydml::dmlrun
