// SPDX-License-Identifier: MIT
// Products with weights in codes of four bits may round their activations to codes of eight bits (docs/numerics.md).
#pragma once

#include <cstdint>

namespace anydml::onnx {

// Which of these products of a model do so.
enum class Activations : std::uint8_t {
  kOfModel,  // those whose nodes allow it with accuracy_level 4
  kFloat,    // none
  kInteger   // all
};

}  // namespace anydml::onnx
