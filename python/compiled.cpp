// SPDX-License-Identifier: MIT
#include "compiled.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "attributes.h"
#include "device_call.h"
#include "errors.h"
#include "facts/facts.h"
#include "gil.h"
#include "python_api.h"

namespace anydml::python {

Compiled::Compiled(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device)
    : call_(inputs, outs) {
  const std::string name = operator_name(op);
  const Attributes attributes(facts::find_operator(name), given);
  const int code =
      anydml_compile(find_device(device), name.c_str(), call_.tensors.data(), call_.inputs,
                     &call_.tensors[call_.inputs], call_.outputs(), attributes.data(), attributes.size(), &compiled_);
  if (code != ANYDML_OK) {
    raise_last(code);
  }
  forget_arrays();
}

Compiled::Compiled(const Graph& graph, nb::handle inputs, nb::handle outs, nb::handle device)
    : call_(inputs, outs), compiled_(graph.compile(device)) {
  forget_arrays();
}

bool Compiled::takes(std::size_t which, const Operand& operand) const {
  const Operand& like = expected(which);
  const auto rank = static_cast<std::size_t>(like.tensor.rank);
  return operand.tensor.type == like.tensor.type && operand.tensor.rank == like.tensor.rank &&
         std::equal(operand.sizes, operand.sizes + rank, like.sizes) &&
         std::equal(operand.strides, operand.strides + rank, like.strides);
}

void Compiled::run(nb::handle inputs, nb::handle outs) const {
  std::vector<nb::object> arrays = list_of(inputs);
  check_count(arrays.size(), call_.inputs, "inputs");
  std::ranges::copy(list_of(outs), std::back_inserter(arrays));
  check_count(arrays.size() - call_.inputs, call_.outputs(), "outputs");
  std::vector<void*> memory;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    memory.push_back(data_of(arrays[i], i));
  }
  int code = ANYDML_OK;
  {
    const GilReleased released;
    code = anydml_compiled_run(compiled_, memory.data(), call_.inputs, memory.data() + call_.inputs, call_.outputs());
  }
  if (code != ANYDML_OK) {
    raise_last(code);
  }
}

nb::list Compiled::run_on_device(nb::handle inputs, nb::handle outs, const nb::list& truths, nb::handle device) const {
  const std::vector<nb::object> given = list_of(inputs);
  const std::vector<nb::object> targets = list_of(outs);
  check_count(given.size(), call_.inputs, "inputs");
  check_count(targets.size(), call_.outputs(), "outputs");
  check_count(nb::len(truths), call_.outputs(), "truths");
  const std::vector<nb::handle> sources(given.begin(), given.end());
  const std::vector<nb::handle> destinations(targets.begin(), targets.end());
  std::vector<bool> of_truths;
  for (const nb::handle one : truths) {
    of_truths.push_back(nb::cast<bool>(one));
  }
  DeviceCall call;
  if (!call.locate(sources.data(), sources.size(), destinations.data(), destinations.size())) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  nb::list results;
  for (const nb::object& result : call.run(compiled_, call_.operands, of_truths, device)) {
    results.append(result);
  }
  return results;
}

void Compiled::forget_arrays() {
  for (nb::object& array : call_.arrays) {
    array = array.is_none() ? nb::none() : nb::borrow(Py_True);
  }
}

void Compiled::check_count(std::size_t count, std::size_t expected, const char* what) {
  if (count != expected) {
    raise(PyExc_ValueError,
          "got " + std::to_string(count) + " " + what + "; it was compiled for " + std::to_string(expected));
  }
}

void* Compiled::data_of(nb::handle array, std::size_t which) const {
  const bool absent = call_.arrays[which].is_none();
  if (absent && array.is_none()) {
    return nullptr;
  }
  Operand operand;
  Call::take(operand, array, call_.name(which));
  if (absent || !takes(which, operand)) {
    raise(PyExc_ValueError,
          call_.name(which) + " differs in type, shape or strides from the array it was compiled for");
  }
  if (which >= call_.inputs && !PyArray_ISWRITEABLE(as_array(array.ptr()))) {
    raise(PyExc_ValueError, "output array is read-only");
  }
  return operand.tensor.data;
}

}  // namespace anydml::python
