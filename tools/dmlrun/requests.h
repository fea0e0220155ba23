// SPDX-License-Identifier: MIT
// Command-line requests that extend a model: different values, comparisons, output files.
#pragma once

#include <string>
#include <vector>

#include "cursor.h"
#include "model.h"

namespace anydml::dmlrun {

struct Requests {
  std::vector<std::string> inputs = {};    // NAME=VALUES: replace the resource's own values
  std::vector<std::string> expected = {};  // NAME=VALUES: compared at the end
  std::vector<std::string> outputs = {};   // NAME=FILE: written at the end
  Tolerance tolerance = {};
  std::uint64_t seed = 0;  // for random values
};

// These files are chosen by the user instead of the model, so they may be in any folder.
void apply_requests(const Requests& requests, Model& model, Problems& problems);

}  // namespace anydml::dmlrun
