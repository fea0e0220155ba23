// SPDX-License-Identifier: MIT
// The arrays of one call in CPU memory, and operators and graphs that are compiled for arrays like them.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "attributes.h"
#include "call.h"
#include "device_call.h"
#include "facts/facts.h"
#include "gil.h"
#include "graph.h"
#include "operand.h"

namespace anydml::python {

inline std::vector<nb::object> list_of(nb::handle arrays) {
  std::vector<nb::object> all;
  all.reserve(nb::len(arrays));
  for (const nb::handle array : arrays) {
    all.push_back(nb::borrow(array));
  }
  return all;
}

inline std::vector<std::int64_t> numbers_in(nb::handle shape) {
  std::vector<std::int64_t> all;
  for (const nb::handle size : shape) {
    all.push_back(nb::cast<std::int64_t>(size));
  }
  return all;
}

// The type named by the str "int4" or "uint4"; unknown for any other object.
inline DataType four_bits_named(nb::handle name) {
  return PyUnicode_Check(name.ptr()) == 0                             ? DataType::unknown
         : PyUnicode_CompareWithASCIIString(name.ptr(), "int4") == 0  ? DataType::INT4
         : PyUnicode_CompareWithASCIIString(name.ptr(), "uint4") == 0 ? DataType::UINT4
                                                                      : DataType::unknown;
}

// Whether the object is an array of four-bit elements as packed by _four_bits.py.
inline bool is_packed(nb::handle array) {
  if (PyArray_Check(array.ptr()) != 0) {
    return false;
  }
  const nb::object kind = in_python([] { return nb::object(nb::module_::import_("anydml._core").attr("Packed")); });
  return reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) == kind.ptr();
}

struct Call {
  std::vector<nb::object> arrays;  // the inputs, then the outputs; None means absent
  std::size_t inputs;
  std::vector<Operand> operands;
  std::vector<anydml_tensor> tensors;

  Call(nb::handle given, nb::handle outs) : arrays(list_of(given)), inputs(arrays.size()) {
    std::ranges::copy(list_of(outs), std::back_inserter(arrays));
    operands.resize(arrays.size());
    read();
  }
  [[nodiscard]] std::size_t outputs() const { return arrays.size() - inputs; }

  void read() {
    tensors.clear();
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (!arrays[i].is_none()) {  // otherwise its type is ANYDML_NONE
        take(operands[i], arrays[i], name(i));
        check_writable(i);
      }
      tensors.push_back(operands[i].tensor);
    }
  }

  // The name of an array, for messages.
  [[nodiscard]] std::string name(std::size_t i) const {
    return i < inputs       ? "inputs[" + std::to_string(i) + "]"
           : outputs() == 1 ? "out"
                            : "out[" + std::to_string(i - inputs) + "]";
  }

  static void take(Operand& operand, nb::handle array, const std::string& name) {
    if (PyArray_Check(array.ptr()) != 0 && operand.take(as_array(array.ptr()))) {
      return;
    }
    if (is_packed(array)) {
      const nb::object bytes = array.attr("bytes");
      return operand.take_four_bits(four_bits_named(array.attr("name")), numbers_in(array.attr("shape")),
                                    as_array(bytes.ptr()));
    }
    raise(PyExc_TypeError, name + " is " + wrong_array_text(array));
  }

  void check_writable(std::size_t i) const {
    if (i >= inputs && PyArray_Check(arrays[i].ptr()) != 0 && !PyArray_ISWRITEABLE(as_array(arrays[i].ptr()))) {
      raise(PyExc_ValueError, "output array is read-only");
    }
  }
};

// Whether all tensors have the same shape, so that a call can be split into parts.
inline bool has_one_shape(const facts::Operator* op) {
  if (op == nullptr) {
    return false;
  }
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  for (std::size_t i = 0; i < op->fields.size(); ++i) {
    const facts::FieldKind kind = op->fields[i].kind;
    inputs |= facts::is_input(kind) ? 1U << i : 0;
    outputs |= facts::is_output(kind) ? 1U << i : 0;
  }
  return inputs != 0 && std::has_single_bit(outputs) &&
         std::ranges::any_of(op->same, [&](const facts::SameGroup& group) {
           return group.what == facts::Same::sizes && (group.fields & (inputs | outputs)) == (inputs | outputs);
         });
}

// An operator or a graph over arrays of fixed types, shapes and strides.
class Compiled {
 public:
  Compiled(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device)
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
  // Compiles a graph. `inputs` and `outs` are arrays like the graph's inputs and outputs.
  Compiled(const Graph& graph, nb::handle inputs, nb::handle outs, nb::handle device)
      : call_(inputs, outs), shared_(graph.shared()), compiled_(graph.compile(device)) {
    forget_arrays();
  }
  ~Compiled() { anydml_compiled_release(compiled_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  [[nodiscard]] const anydml_compiled* get() const { return compiled_; }
  [[nodiscard]] std::size_t inputs() const { return call_.inputs; }
  [[nodiscard]] std::size_t outputs() const { return call_.outputs(); }
  // The form of the array that the operator was compiled for; inputs come before outputs.
  [[nodiscard]] const Operand& expected(std::size_t which) const { return call_.operands[which]; }
  [[nodiscard]] bool takes(std::size_t which, const Operand& operand) const {
    const Operand& like = expected(which);
    const auto rank = static_cast<std::size_t>(like.tensor.rank);
    return operand.tensor.type == like.tensor.type && operand.tensor.rank == like.tensor.rank &&
           std::equal(operand.sizes, operand.sizes + rank, like.sizes) &&
           std::equal(operand.strides, operand.strides + rank, like.strides);
  }

  void run(nb::handle inputs, nb::handle outs) const {
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

  // Runs over arrays on a GPU. None among `outs` asks for a new array, of bool if `truths` says so.
  [[nodiscard]] nb::list run_on_device(nb::handle inputs, nb::handle outs, const nb::list& truths,
                                       nb::handle device) const {
    const std::vector<nb::object> given = list_of(inputs);
    const std::vector<nb::object> targets = list_of(outs);
    check_count(given.size(), call_.inputs, "inputs");
    check_count(targets.size(), call_.outputs(), "outputs");
    check_count(nb::len(truths), call_.outputs(), "truths");
    const std::vector<nb::handle> sources(given.begin(), given.end());
    const std::vector<nb::handle> places(targets.begin(), targets.end());
    std::vector<bool> of_truths;
    for (const nb::handle one : truths) {
      of_truths.push_back(nb::cast<bool>(one));
    }
    DeviceCall call;
    if (!call.locate(sources.data(), sources.size(), places.data(), places.size())) {
      raise(PyExc_TypeError, "no array is on a GPU");
    }
    nb::list results;
    for (const nb::object& result : call.run(compiled_, call_.operands, of_truths, device)) {
      results.append(result);
    }
    return results;
  }

 private:
  // Releases the arrays, whose memory is not needed, but remembers which of them are absent.
  void forget_arrays() {
    for (nb::object& array : call_.arrays) {
      array = array.is_none() ? nb::none() : nb::borrow(Py_True);
    }
  }

  static void check_count(std::size_t count, std::size_t expected, const char* what) {
    if (count != expected) {
      raise(PyExc_ValueError, std::string("the number of ") + what + " is " + std::to_string(count) + "; expected " +
                                  std::to_string(expected) + ", as it was compiled for");
    }
  }

  // Returns an array's memory if the array has the layout that the operator was compiled for.
  [[nodiscard]] void* data_of(nb::handle array, std::size_t which) const {
    const bool absent = call_.arrays[which].is_none();
    if (absent && array.is_none()) {
      return nullptr;
    }
    Operand operand;
    Call::take(operand, array, call_.name(which));
    if (absent || !takes(which, operand)) {
      raise(PyExc_ValueError, call_.name(which) + " has another type, shape or strides than it was compiled for");
    }
    if (which >= call_.inputs && !PyArray_ISWRITEABLE(as_array(array.ptr()))) {
      raise(PyExc_ValueError, "output array is read-only");
    }
    return operand.tensor.data;
  }

  Call call_;
  std::vector<nb::object> shared_;  // constant arrays that each run reads
  anydml_compiled* compiled_ = nullptr;
};

}  // namespace anydml::python
