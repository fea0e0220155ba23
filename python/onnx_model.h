// SPDX-License-Identifier: MIT
// ONNX models over NumPy arrays. _model.py turns arguments into arrays, and errors into the package's exceptions.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "onnx/program/model.h"
#include "onnx/program/trace.h"
#include "python_api.h"

namespace anydml::python {

class OnnxModel {
 public:
  // source: a path as a str, or a model as bytes. weights: tuples of an initializer's number and its elements as bytes,
  // for initializers that have none in `source`. folder: the folder of the external tensors of bytes, or None. device:
  // the name of an adapter, or None. traced: whether to collect a trace. activations: the number of an Activations.
  //
  // Errors in a model raise ValueError, TypeError, MemoryError or NotImplementedError, whose arguments are the message
  // and a list of everything that is not supported.
  OnnxModel(nb::handle source, const nb::list& weights, nb::handle folder, bool is_literal, nb::handle device,
            bool traced, int activations);

  // Tuples: the name, ONNX's number of the element type, the shape, and whether the model has an initializer. The
  // number is 0 for values that are not tensors. A shape is None or a tuple of ints, of str for named dimensions, and
  // of None.
  [[nodiscard]] nb::list inputs() const;
  [[nodiscard]] nb::list outputs() const;

  // Runs the model over a list with an array, or None for an initializer, for each input. Returns new arrays. Four-bit
  // elements are int8 and uint8 arrays, and strings are arrays of objects. A sequence of maps is a list of dicts.
  // on_device: whether other outputs are in the memory of the model's device; None means that they are if an input is.
  [[nodiscard]] nb::list run(const nb::list& inputs, nb::handle on_device);
  // The same without any graph.
  [[nodiscard]] nb::list run_node_by_node(const nb::list& inputs);
  [[nodiscard]] std::string explain() const;
  // Tuples: the seconds, the operator and the label of each node.
  [[nodiscard]] nb::list profile(const nb::list& inputs, int rounds);
  // The lines of the trace, a JSON document; none if the model is not traced.
  [[nodiscard]] nb::list trace() const;

 private:
  using Run = onnx::Arrays (onnx::Model::*)(std::span<const onnx::Array> inputs, const onnx::OutputMemory& memory);
  [[nodiscard]] nb::list outputs_of(Run run, const nb::list& inputs, nb::handle on_device);

  nb::object kept_;                     // the model's weights are in these bytes
  std::shared_ptr<onnx::Trace> trace_;  // may be null
  std::unique_ptr<onnx::Model> model_;
};

}  // namespace anydml::python
