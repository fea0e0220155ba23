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
  std::uint64_t max_memory = 0;  // what the buffers may take together
};

// What is wrong is added to the problems; the model is to be run only where there are none.
[[nodiscard]] Model read_model(const JsonDocument& document, const ReadOptions& options, Problems& problems);

// What a model asks of a feature level and of what is built here. Where they find nothing it runs, as far as anybody
// can tell without running it.
void check_level(const Model& model, facts::FeatureLevel level, Problems& problems);
void check_built(const Model& model, Problems& problems);

// "1.5 GiB"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace anydml::dmlrun
