// SPDX-License-Identifier: MIT
// What a command line asks of a model besides what the model says: other values, comparisons, files.
#pragma once

#include <string>
#include <vector>

#include "cursor.h"
#include "model.h"

namespace anydml::dmlrun {

struct Requests {
  std::vector<std::string> inputs = {};    // NAME=VALUES: in place of the resource's own
  std::vector<std::string> expected = {};  // NAME=VALUES: compared at the end
  std::vector<std::string> outputs = {};   // NAME=FILE: written at the end
  Tolerance tolerance = {};
  std::uint64_t seed = 0;  // of random values
};

// The files are those of the user, not of the model: they may lie anywhere.
void apply_requests(const Requests& requests, Model& model, Problems& problems);

}  // namespace anydml::dmlrun
