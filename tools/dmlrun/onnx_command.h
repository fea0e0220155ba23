// SPDX-License-Identifier: MIT
// ONNX models as the models of dmlrun run and dmlrun check, through the C interface of the ONNX library.
#pragma once

#include <string>

#include "commands.h"
#include "json_writer.h"

namespace anydml::dmlrun {

// Whether a path ends in .onnx.
[[nodiscard]] bool is_onnx_model(const std::string& file);
[[nodiscard]] int run_onnx_model(const RunArguments& arguments);
// Prints a line, or adds an object to `json` if JSON was requested.
[[nodiscard]] int check_onnx_model(const std::string& file, const ModelArguments& arguments, JsonWriter& json);

}  // namespace anydml::dmlrun
