// SPDX-License-Identifier: MIT
// Runs a model that was read and checked, through the DirectML API.
#pragma once

#include <cstdint>
#include <optional>

#include "client.h"
#include "cursor.h"
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
};

// A failure that a model's own content brought about, with its place in the model.
struct ModelFailure {
  std::string path;
  std::string reason;
};

// What the library says beyond the rules that facts can state: of each operator when it is created, and of each
// dispatch when it is bound and recorded. Nothing is dispatched.
void try_operators(const Model& model, client::Device& device, Problems& problems);
void rehearse_dispatches(const Model& model, const client::DeviceOptions& device_options, Problems& problems);

// Throws ModelFailure, or client::Failure where the machine is to blame.
void execute_model(const Model& model, const ExecutionOptions& options, client::Device& device, Output& output);

}  // namespace anydml::dmlrun
