// SPDX-License-Identifier: MIT
#include "run.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attributes.h"
#include "base/element.h"
#include "call.h"
#include "device_arrays.h"
#include "device_call.h"
#include "errors.h"
#include "facts/facts.h"
#include "gil.h"
#include "infer.h"
#include "keyed_cache.h"
#include "layout.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {
namespace {

// Prepares a call that runs in parts, so that no part overwrites memory that a later part reads or writes.
void separate(Call& call) {
  const Operand& output = call.operands.back();
  if (!has_nested_strides(output)) {
    raise(PyExc_ValueError, "out may have overlapping elements; expected " +
                                std::to_string(element_count(output.tensor)) + " distinct ones");
  }
  for (std::size_t i = 0; i < call.inputs; ++i) {
    if (!call.arrays[i].is_none() && share_memory(call.operands[i], output) && !is_in_place(call.operands[i], output)) {
      call.arrays[i] =
          nb::steal(in_python([&] { return PyArray_NewCopy(as_array(call.arrays[i].ptr()), NPY_KEEPORDER); }));
      if (!call.arrays[i].is_valid()) {
        throw nb::python_error();
      }
    }
  }
  call.read();
}

}  // namespace

void run_operator(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& given, nb::handle device) {
  const std::string name = operator_name(op);
  const facts::Operator* known = facts::find_operator(name);
  const anydml_device* on = find_device(device);
  Call call(inputs, outs);
  const Attributes attributes(known, given);
  const auto run = [&](const anydml_tensor* tensors) {
    return anydml_run(on, name.c_str(), tensors, call.inputs, &tensors[call.inputs], call.outputs(), attributes.data(),
                      attributes.size());
  };
  Part whole;
  const bool in_parts = call.outputs() == 1 && !call.arrays.back().is_none() &&
                        is_too_large(element_count(call.tensors.back())) && has_one_shape(known);
  if (in_parts) {
    separate(call);
    if (!whole.take(call.tensors.data(), call.tensors.size())) {
      raise(PyExc_ValueError, "the inputs cannot be broadcast to the shape of out");
    }
  }
  int code = ANYDML_OK;
  {
    const GilReleased released;
    code = in_parts ? whole.run(run) : run(call.tensors.data());
  }
  if (code != ANYDML_OK) {
    raise_last(code);
  }
}

namespace {

// The last inferred outputs, cached because small calls are often repeated.
KeyedCache<nb::tuple>& inferred_outputs() {
  static auto* const all = new KeyedCache<nb::tuple>;
  return *all;
}

enum ArrayKind { kOfNumpy, kOfLibrary, kOnGpu };

nb::tuple shape_and_type(const OutputToMake& output) {
  const nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(output.shape.size())));
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    PyTuple_SET_ITEM(shape.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(output.shape[i]));
  }
  for (const TypePair& pair : kTypes) {
    if (pair.type == output.type) {
      return nb::make_tuple(shape, nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(pair.numpy))));
    }
  }
  if (is_four_bits(output.type)) {
    return nb::make_tuple(shape, output.type == DataType::INT4 ? "int4" : "uint4");
  }
  return nb::make_tuple(shape, nb::none());  // the caller chose the type
}

}  // namespace

nb::tuple infer_outputs(nb::handle op, nb::handle inputs, nb::handle outs, nb::handle dtypes, nb::handle shapes,
                        const nb::dict& attributes) {
  const std::string name = operator_name(op);
  const Call call(inputs, nb::make_tuple());
  std::vector<OutputToMake> outputs;
  for (std::size_t i = 0; i < nb::len(outs); ++i) {
    const nb::object out = outs[i];
    const nb::object type = dtypes[i];
    const nb::object shape = shapes[i];
    OutputToMake& one = outputs.emplace_back();
    one.present = !out.is_none();
    one.fresh = out.ptr() == Py_True;
    if (one.present && !one.fresh) {
      Operand operand;
      Call::take(operand, out, "out");
      one.has_type = one.has_shape = true;
      one.type = static_cast<DataType>(operand.tensor.type);
      one.shape.assign(operand.sizes, operand.sizes + operand.tensor.rank);
    }
    if (one.fresh && !type.is_none()) {
      one.has_type = true;
      one.type = four_bits_named(type);
      if (one.type == DataType::unknown) {
        one.type = type_of(reinterpret_cast<PyArray_Descr*>(type.ptr())->type_num);
      }
    }
    if (one.fresh && !shape.is_none()) {
      one.has_shape = true;
      one.shape = numbers_in(shape);
    }
  }
  const Attributes given(facts::find_operator(name), attributes);
  return inferred_outputs().get(inference_key(name, call.tensors, given, outputs), [&] {
    infer(name, call.tensors, given, outputs);
    nb::list created;
    for (const OutputToMake& one : outputs) {
      created.append(one.fresh ? nb::object(shape_and_type(one)) : nb::none());
    }
    return nb::tuple(created);
  });
}

nb::list run_on_device(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& attributes, nb::handle device,
                       nb::handle same, nb::handle rules) {
  const std::string name = operator_name(op);
  const std::vector<nb::object> given = list_of(inputs);
  const std::vector<nb::object> targets = list_of(outs);
  const std::vector<nb::handle> sources(given.begin(), given.end());
  const std::vector<nb::handle> destinations(targets.begin(), targets.end());
  const facts::Operator* known = facts::find_operator(name);
  DeviceCall call;
  call.set_rules(same, rules, has_one_shape(known));
  if (!call.locate(sources.data(), sources.size(), destinations.data(), destinations.size())) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  nb::list results;
  for (const nb::object& result : call.run(name.c_str(), Attributes(known, attributes), device)) {
    results.append(result);
  }
  return results;
}

int array_kind(const nb::args& arrays) {
  ArrayKind kind = kOfNumpy;
  for (const nb::handle array : arrays) {
    DeviceOperand operand;
    operand.locate(array);
    kind = std::max(kind, operand.on_gpu() ? kOnGpu : operand.library != nullptr ? kOfLibrary : kOfNumpy);
  }
  return kind;
}

nb::tuple device_layouts(nb::handle arrays) {
  const std::vector<nb::object> given = list_of(arrays);
  const std::vector<nb::handle> sources(given.begin(), given.end());
  DeviceCall call;
  if (!call.locate(sources.data(), sources.size(), nullptr, 0)) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  return call.layouts();
}

}  // namespace anydml::python
