// SPDX-License-Identifier: MIT
// Changes a model so that it computes the logits of one token of each sequence. In a prompt, nothing uses the others,
// and in a small model they are a fifth of the work.
#pragma once

#include <string>

#include "onnx/model/message.h"

namespace anydml::onnx {

// Adds an input, {batch, 1, 1} of int64, with the position of that token among those of the run. Returns false, and
// changes nothing, if the logits are not the result of a product with weights, of element-wise operators after it
// included.
bool select_rows(ModelMessage& message, const std::string& logits, const std::string& input);

}  // namespace anydml::onnx
