// SPDX-License-Identifier: MIT
// The tensors of a run of an ONNX model: the sizes and values that the command line chooses, or that dmlrun makes up.
#pragma once

#include <anydml/onnx.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fill.h"
#include "model.h"
#include "requests.h"

namespace anydml::dmlrun {

// The type of the elements as dmlrun shows, writes and compares them: bytes for bool and for four-bit integers, which
// are packed. DataType::unknown if the value is not a tensor of numbers.
[[nodiscard]] DataType shown_type(std::int32_t onnx_type);
// "FLOAT32[2, 3]"; BOOL, INT4 and UINT4 have their own names.
[[nodiscard]] std::string form_text(std::int32_t onnx_type, const std::vector<std::int64_t>& sizes);
// The number of bytes of a packed tensor; the largest number if it does not fit.
[[nodiscard]] std::uint64_t tensor_bytes(std::int32_t onnx_type, const std::vector<std::int64_t>& sizes);

struct OnnxInput {
  std::string name;
  std::int32_t type = ANYDML_ONNX_UNDEFINED;  // undefined if the model's own value is used
  std::vector<std::int64_t> sizes;
  std::string values;  // where they come from, for display
  std::vector<std::byte> data;
};

// Returns all inputs of the model, in order. size_options: NAME=N, for symbolic dimensions. A dimension that neither
// these options nor a file determines has the size 1. Floats without --input are normally distributed, and other types
// are zeros. Throws ModelFailure, whose path names the option that is wrong.
[[nodiscard]] std::vector<OnnxInput> onnx_inputs(const anydml_onnx_model& model, const Requests& requests,
                                                 const std::vector<std::string>& size_options, MemoryBudget& memory);

// Reads the expected values of an output. If a .npy file has another shape, says so in `difference`.
[[nodiscard]] std::vector<std::byte> expected_values(const std::string& option, const std::string& text,
                                                     std::int32_t onnx_type, const std::vector<std::int64_t>& sizes,
                                                     std::uint64_t seed, std::string& difference);

}  // namespace anydml::dmlrun
