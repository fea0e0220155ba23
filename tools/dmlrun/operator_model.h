// SPDX-License-Identifier: MIT
// Builds a single-operator model from a command line that names tensors and attributes. Outputs are inferred.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "facts/facts.h"

namespace anydml::dmlrun {

struct OperatorRequest {
  std::string name;                          // as written on the command line
  std::vector<std::string> inputs = {};      // [FIELD=]x.npy or [FIELD=]TYPE:SIZES[:VALUES]; empty: the example
  std::vector<std::string> attributes = {};  // NAME=VALUE
  std::vector<std::string> results = {};     // FIELD, or [FIELD=]TYPE:SIZES: outputs that are optional or not inferred
  std::uint64_t seed = 0;
};

struct OperatorText {
  std::string_view name;
  std::string model;                   // JSON
  std::vector<std::string> results;    // the resources of the outputs
  std::vector<std::string> unprinted;  // results that have too many elements to print
};

// Finds an operator by name, with or without DML_OPERATOR_, ELEMENT_WISE_ and ACTIVATION_, in any case. Returns null if
// DirectML does not have it.
[[nodiscard]] const facts::Operator* find_operator_by_part(std::string_view name);

// Builds a model that prints its outputs unless they have thousands of elements. The error is a message.
[[nodiscard]] Result<OperatorText> operator_model(const OperatorRequest& request);

// Splits a text such as "Output=x.npy" into the resource of the output and the rest. If the text does not name an
// output, it refers to the first output.
[[nodiscard]] Result<std::string> with_resource(const OperatorText& model, const std::string& text);

}  // namespace anydml::dmlrun
