// SPDX-License-Identifier: MIT
// The arguments of a call of the C API, for an operator that runs at once or is recorded.
#pragma once

#include <list>
#include <vector>

#include "onnx/values/array.h"
#include "onnx/values/dispatch.h"

namespace anydml::onnx {

// The tensor's sizes and strides belong to the array.
[[nodiscard]] anydml_tensor tensor_of(const Array& array);

// The type and the shape of an output; kUndefined for an absent one.
struct OutputForm {
  Kind kind = Kind::kUndefined;
  Sizes shape;
};

class Call {
 public:
  // The inputs must live as long as this object.
  Call(const char* op, const Arrays& inputs, const Options& options);

  [[nodiscard]] const std::vector<anydml_tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<anydml_attribute>& attributes() const { return attributes_; }
  // Completes the forms of the outputs.
  [[nodiscard]] std::vector<OutputForm> infer(const std::vector<Out>& outs) const;

 private:
  const char* op_;
  std::vector<anydml_tensor> tensors_;
  std::vector<anydml_attribute> attributes_;
  std::list<std::vector<anydml_operator>> operators_;
  std::list<std::vector<anydml_attribute>> operator_attributes_;
};

}  // namespace anydml::onnx
