// SPDX-License-Identifier: MIT
// The arguments of a call from Python: the names of the operator and the device, and the arrays in CPU memory.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/element.h"
#include "facts/facts.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {

// Converts a name for the C API. `argument` and `expected` are used in the error message.
std::string name_of(nb::handle given, const std::string& argument, const char* expected);

std::string operator_name(nb::handle op);

const anydml_device* find_device(nb::handle name);

std::vector<nb::object> list_of(nb::handle arrays);

template <class T = std::int64_t>
std::vector<T> numbers_in(nb::handle sequence) {
  std::vector<T> all;
  for (const nb::handle one : sequence) {
    all.push_back(nb::cast<T>(one));
  }
  return all;
}

// The type named by the str "int4" or "uint4"; unknown for any other object.
DataType four_bits_named(nb::handle name);

// Whether a run of this operator may write only a part of an output, so that a new array for it must be set to 0.
bool keeps_elements(const std::string& op);

struct Call {
  std::vector<nb::object> arrays;  // the inputs, then the outputs; None means absent
  std::size_t inputs;
  std::vector<Operand> operands;
  std::vector<anydml_tensor> tensors;

  Call(nb::handle given, nb::handle outs);
  [[nodiscard]] std::size_t outputs() const { return arrays.size() - inputs; }

  void read();

  // The name of an array, for messages.
  [[nodiscard]] std::string name(std::size_t i) const;

  static void take(Operand& operand, nb::handle array, const std::string& name);

  void check_writable(std::size_t i) const;
};

// Whether all tensors have the same shape, so that a call can be split into parts.
bool has_one_shape(const facts::Operator* op);

}  // namespace anydml::python
