// SPDX-License-Identifier: MIT
// A model of one operator out of a command line: tensors and attributes by name, and outputs as they follow from them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "facts/facts.h"

namespace anydml::dmlrun {

struct OperatorRequest {
  std::string name;                      // as it was written
  std::vector<std::string> inputs = {};  // [FIELD=]x.npy or [FIELD=]TYPE:SIZES[:VALUES]; none: the operator's example
  std::vector<std::string> attributes = {};  // NAME=VALUE
  std::vector<std::string> results = {};     // FIELD, or [FIELD=]TYPE:SIZES: outputs that are optional or do not follow
  std::uint64_t seed = 0;
};

struct OperatorText {
  std::string_view name;
  std::string model;                   // JSON
  std::vector<std::string> results;    // the resources of the outputs
  std::vector<std::string> unprinted;  // of these, the ones that have too many elements to be printed
};

// With or without DML_OPERATOR_, ELEMENT_WISE_ and ACTIVATION_, in any case; null where DirectML has none.
[[nodiscard]] const facts::Operator* find_operator_by_part(std::string_view name);

// The model prints its outputs unless they have thousands of elements. The error is a sentence.
[[nodiscard]] Result<OperatorText> operator_model(const OperatorRequest& request);

// The output that a text such as "Output=x.npy" begins with, as its resource is called, and the rest; the first output
// where the text names none.
[[nodiscard]] Result<std::string> with_resource(const OperatorText& model, const std::string& text);

}  // namespace anydml::dmlrun
