// SPDX-License-Identifier: MIT
// Infers the types and shapes of outputs that do not have an array yet, using capi/infer.h. Reports an error if the
// inputs do not determine them.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attributes.h"
#include "base/element.h"

namespace anydml::python {

// One output. A type or a shape that the caller requests for a new array is kept.
struct OutputToMake {
  bool present = true;
  bool fresh = true;  // the output does not have an array yet
  bool has_type = false;
  DataType type = DataType::unknown;
  bool has_shape = false;
  std::vector<std::int64_t> shape;
};

// Returns a key that contains everything that determines the outputs of a call.
std::string inference_key(const std::string& op, std::span<const anydml_tensor> inputs, const Attributes& attributes,
                          const std::vector<OutputToMake>& outputs);

// Sets the missing type and shape of every output.
void infer(const std::string& op, std::span<const anydml_tensor> inputs, const Attributes& attributes,
           std::vector<OutputToMake>& outputs);

}  // namespace anydml::python
