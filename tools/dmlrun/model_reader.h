// SPDX-License-Identifier: MIT
// Reads a model from a JSON document in DxDispatch's format.
#pragma once

#include <cstdint>

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

struct ReadOptions {
  Folders folders;
  std::uint64_t max_memory = 0;  // the limit for a run (see memory_budget.h)
};

// Returns why two resources cannot be compared element by element, or nothing if they can.
[[nodiscard]] std::optional<std::string> why_not_compared(const Resource& resource, const Resource& expected);

// Adds every error to the problems. The model may be run only if there are no problems.
[[nodiscard]] Model read_model(const JsonDocument& document, const ReadOptions& options, Problems& problems);

// These functions find the rules of a feature level that the model breaks, and its operators that are not implemented
// here.
void check_level(const Model& model, facts::FeatureLevel level, Problems& problems);
[[nodiscard]] std::vector<Problem> find_not_built(const Model& model);

}  // namespace anydml::dmlrun
