// SPDX-License-Identifier: MIT
// Finds nodes that compute the same function of their inputs: nodes of the same operator with the same types and
// attributes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/rows/row.h"

namespace anydml::onnx {

class Recipes {
 public:
  // The number of a node's function, 1 or more; 0 if it cannot be compared with others.
  [[nodiscard]] std::uint32_t number_of(const Row& row, const Node& node);
  [[nodiscard]] std::uint32_t number_of(const DomainRow& row, const NodeMessage& node, const std::vector<Kind>& kinds);

 private:
  [[nodiscard]] std::uint32_t number_of(std::string text);

  std::unordered_map<std::string, std::uint32_t> numbers_;
  Arrays kept_;  // so that their addresses are not those of other arrays
};

}  // namespace anydml::onnx
