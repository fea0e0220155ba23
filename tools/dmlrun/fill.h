// SPDX-License-Identifier: MIT
// The values that a buffer or a constant begins with.
#pragma once

#include <cstddef>
#include <span>

#include "model.h"

namespace anydml::dmlrun {

// A failure with its place in the model.
struct ModelFailure {
  std::string path;
  std::string reason;
  bool of_model;  // or of the machine
};

// At the start of the bytes, which are resource.value_bytes or more. Throws ModelFailure where a file cannot be read.
void fill_values(const Resource& resource, std::span<std::byte> bytes);

}  // namespace anydml::dmlrun
