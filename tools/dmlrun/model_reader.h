// SPDX-License-Identifier: MIT
// From a JSON document in DxDispatch's format to a model.
#pragma once

#include <cstdint>

#include "cursor.h"
#include "files.h"
#include "model.h"

namespace anydml::dmlrun {

struct ReadOptions {
  Folders folders;
  std::uint64_t max_memory = 0;  // what a run may take: see memory_budget.h
};

// Why two resources cannot be compared element by element; nothing where they can.
[[nodiscard]] std::optional<std::string> why_not_compared(const Resource& resource, const Resource& expected);

// What is wrong is added to the problems; the model is to be run only where there are none.
[[nodiscard]] Model read_model(const JsonDocument& document, const ReadOptions& options, Problems& problems);

// The rules of a feature level that the model breaks, and its operators that are not built here.
void check_level(const Model& model, facts::FeatureLevel level, Problems& problems);
[[nodiscard]] std::vector<Problem> find_not_built(const Model& model);

}  // namespace anydml::dmlrun
