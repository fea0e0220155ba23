// SPDX-License-Identifier: MIT
// Wraps a graph of the C API, which _graphs.py builds. Arrays are passed only for their types, shapes and strides.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <vector>

#include "operand.h"
#include "python_api.h"

namespace anydml::python {

class Graph {
 public:
  Graph() { check(anydml_graph_create(&graph_)); }
  ~Graph() { anydml_graph_release(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  anydml_value input(nb::handle like);
  // Keeps the array alive as long as the graph.
  anydml_value constant(nb::handle array);
  // offset: the distance from the value's first element to the view's first element, in elements of the view.
  anydml_value view(anydml_value of, nb::handle like, std::int64_t offset);
  // inputs: values, or 0 if absent. outs: arrays, or None if absent. Returns the values of the outputs.
  nb::list add(nb::handle op, const nb::list& inputs, const nb::list& outs, const nb::dict& given);
  void output(anydml_value value) { check(anydml_graph_add_output(graph_, value)); }

  [[nodiscard]] anydml_compiled* compile(nb::handle device) const;

 private:
  static void check(int code);
  static void take(Operand& operand, nb::handle array, const char* what);

  anydml_graph* graph_ = nullptr;
  std::vector<nb::object> arrays_;
};

}  // namespace anydml::python
