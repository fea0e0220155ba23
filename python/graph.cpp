// SPDX-License-Identifier: MIT
#include "graph.h"

#include <cstdint>
#include <string>
#include <vector>

#include "attributes.h"
#include "call.h"
#include "errors.h"
#include "facts/facts.h"
#include "gil.h"
#include "operand.h"

namespace anydml::python {

anydml_value Graph::input(nb::handle like) {
  Operand operand;
  take(operand, like, "an input");
  anydml_value value = 0;
  check(anydml_graph_add_input(graph_, &operand.tensor, &value));
  return value;
}

anydml_value Graph::constant(nb::handle array) {
  Operand operand;
  take(operand, array, "a constant");
  anydml_value value = 0;
  arrays_.push_back(nb::borrow(array));
  check(anydml_graph_add_constant(graph_, &operand.tensor, &value));
  return value;
}

anydml_value Graph::view(anydml_value of, nb::handle like, std::int64_t offset) {
  Operand operand;
  take(operand, like, "a view");
  anydml_value value = 0;
  check(anydml_graph_add_view_at(graph_, of, &operand.tensor, offset, &value));
  return value;
}

nb::list Graph::add(nb::handle op, const nb::list& inputs, const nb::list& outs, const nb::dict& given) {
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
  nb::list created;
  for (const anydml_value value : values) {
    created.append(value);
  }
  return created;
}

anydml_compiled* Graph::compile(nb::handle device) const {
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

void Graph::check(int code) {
  if (code != ANYDML_OK) {
    raise_last(code);
  }
}

void Graph::take(Operand& operand, nb::handle array, const char* what) {
  if (!operand.take(as_array(array.ptr()))) {
    raise(PyExc_TypeError, std::string(what) + " of a graph is " + wrong_array_text(array));
  }
}

}  // namespace anydml::python
