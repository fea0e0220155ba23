// SPDX-License-Identifier: MIT
// Checks a node against ONNX's schema, and returns it in the form that its row receives.
#pragma once

#include <span>
#include <vector>

#include "onnx/model/message.h"
#include "onnx/rows/row.h"
#include "onnx/schema/schema.h"

namespace anydml::onnx {

// kinds: the types of the node's inputs, kUndefined for an absent one. fixed: the inputs that are constants, absent for
// others. Raises Invalid, WrongType or Unsupported; messages begin with the node's label.
[[nodiscard]] Node checked_node(const NodeMessage& node, const Row& row, const std::vector<Kind>& kinds,
                                const Schema& schema, int opset, Arrays fixed, const ModelMessage& model);
// The value and type of a Constant.
[[nodiscard]] Array constant_of(const NodeMessage& node, const ModelMessage& model, Kind& kind);

}  // namespace anydml::onnx
