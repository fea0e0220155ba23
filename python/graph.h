// SPDX-License-Identifier: MIT
// A graph of the C API, which _graphs.py builds. Arrays represent types, shapes and strides.
#pragma once

#include <cstdint>
#include <vector>

#include "attributes.h"
#include "call.h"
#include "operand.h"

namespace anydml::python {

// Constants that several graphs share.
class Constants {
 public:
  Constants() {
    if (const int code = anydml_constants_create(&constants_); code != ANYDML_OK) {
      raise_last(code);
    }
  }
  ~Constants() { anydml_constants_release(constants_); }
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  [[nodiscard]] anydml_constants* get() const { return constants_; }

 private:
  anydml_constants* constants_ = nullptr;
};

class Graph {
 public:
  Graph() { check(anydml_graph_create(&graph_)); }
  ~Graph() { anydml_graph_release(graph_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  anydml_value input(nb::handle like) {
    Operand operand;
    take(operand, like, "an input");
    anydml_value value = 0;
    check(anydml_graph_add_input(graph_, &operand.tensor, &value));
    return value;
  }
  // Keeps the array alive as long as the graph.
  anydml_value constant(nb::handle array) {
    Operand operand;
    take(operand, array, "a constant");
    anydml_value value = 0;
    arrays_.push_back(nb::borrow(array));
    check(anydml_graph_add_constant(graph_, &operand.tensor, &value));
    return value;
  }
  // Keeps the array alive as long as the graph and everything compiled from it. The array must not change during the
  // lifetime of `constants`.
  anydml_value shared_constant(const Constants& constants, nb::handle array) {
    Operand operand;
    take(operand, array, "a constant");
    anydml_value value = 0;
    shared_.push_back(nb::borrow(array));
    check(anydml_graph_add_shared_constant(graph_, constants.get(), &operand.tensor, &value));
    return value;
  }
  [[nodiscard]] const std::vector<nb::object>& shared() const { return shared_; }
  // offset: the distance from the value's first element to the view's first element, in elements of the view.
  anydml_value view(anydml_value of, nb::handle like, std::int64_t offset) {
    Operand operand;
    take(operand, like, "a view");
    anydml_value value = 0;
    check(anydml_graph_add_view_at(graph_, of, &operand.tensor, offset, &value));
    return value;
  }
  // inputs: values, or 0 if absent. outs: arrays, or None if absent. Returns the values of the outputs.
  nb::list add(nb::handle op, const nb::list& inputs, const nb::list& outs, const nb::dict& given) {
    const std::string name = operator_name(op);
    const Attributes attributes(facts::find_operator(name), given);
    std::vector<anydml_value> taken;
    for (const nb::handle one : inputs) {
      taken.push_back(nb::cast<anydml_value>(one));
    }
    std::vector<Operand> operands(nb::len(outs));
    std::vector<anydml_tensor> tensors;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const nb::object like = outs[i];
      if (!like.is_none()) {
        take(operands[i], like, "an output");
      }
      tensors.push_back(operands[i].tensor);
    }
    std::vector<anydml_value> values(tensors.size());
    check(anydml_graph_add_operator(graph_, name.c_str(), taken.data(), taken.size(), tensors.data(), tensors.size(),
                                    attributes.data(), attributes.size(), values.data()));
    nb::list made;
    for (const anydml_value value : values) {
      made.append(value);
    }
    return made;
  }
  void output(anydml_value value) { check(anydml_graph_add_output(graph_, value)); }

  [[nodiscard]] anydml_compiled* compile(nb::handle device) const {
    const anydml_device* on = find_device(device);
    anydml_compiled* compiled = nullptr;
    int code = ANYDML_OK;
    {
      const GilReleased released;
      code = anydml_graph_compile(graph_, on, &compiled);
    }
    check(code);
    return compiled;
  }

 private:
  static void check(int code) {
    if (code != ANYDML_OK) {
      raise_last(code);
    }
  }
  static void take(Operand& operand, nb::handle array, const char* what) {
    if (!operand.take(as_array(array.ptr()))) {
      raise(PyExc_TypeError, std::string(what) + " of a graph is " + wrong_array_text(array));
    }
  }

  anydml_graph* graph_ = nullptr;
  std::vector<nb::object> arrays_;
  std::vector<nb::object> shared_;
};

}  // namespace anydml::python
