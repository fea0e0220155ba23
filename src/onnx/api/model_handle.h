// SPDX-License-Identifier: MIT
// The object behind the C interface's anydml_onnx_model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "anydml/onnx.h"
#include "onnx/program/model.h"
#include "onnx/program/trace.h"

namespace anydml::onnx {

// Descriptions of a model's inputs or outputs, with the arrays that they point to. The names are the model's own.
struct ValueInfos {
  std::vector<std::vector<std::int64_t>> sizes;
  std::vector<std::vector<const char*>> dimension_names;
  std::vector<anydml_onnx_value_info> infos;

  void add(const ValueMessage& value, bool has_initializer);
};

// Checks options and returns them as this version's struct; null means the defaults. Raises Invalid, or Unsupported if
// a newer program sets members that this version would ignore.
[[nodiscard]] anydml_onnx_options read_options(const char* function, const anydml_onnx_options* given);
// The trace in options from read_options, or null.
[[nodiscard]] std::shared_ptr<Trace> trace_of(const anydml_onnx_options& options);
[[nodiscard]] ModelOptions model_options_of(const anydml_onnx_options& options);
[[nodiscard]] anydml_onnx_model* make_model(ModelMessage message, const anydml_onnx_options& options);

}  // namespace anydml::onnx

struct anydml_onnx_trace {
  std::shared_ptr<anydml::onnx::Trace> trace = std::make_shared<anydml::onnx::Trace>();
};

struct anydml_onnx_model {
  anydml_onnx_model(anydml::onnx::ModelMessage message, const anydml::onnx::ModelOptions& options);

  anydml::onnx::Model model;
  anydml::onnx::ValueInfos inputs, outputs;
};
