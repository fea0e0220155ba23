// SPDX-License-Identifier: MIT
// Fills buffers and constants with their initial values.
#pragma once

#include <cstddef>
#include <span>

#include "model.h"

namespace anydml::dmlrun {

// A failure with its location in the model.
struct ModelFailure {
  std::string path;
  std::string reason;
  bool of_model;  // whether the model is at fault, and not the machine
};

// Fills the start of `bytes`, which has resource.value_bytes or more. Throws ModelFailure if a file cannot be read.
void fill_values(const Resource& resource, std::span<std::byte> bytes);

}  // namespace anydml::dmlrun
