// SPDX-License-Identifier: MIT
// Passes NumPy arrays to the C API and returns its results. There are two ways: ufuncs, which NumPy itself drives with
// its rules for types, casting, masks and errors; and a short way for arrays that need none of these, which passes the
// core whole arrays instead of one row at a time. device_call.h handles arrays on GPUs.
#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <anydml/anydml.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "attributes.h"
#include "base/element.h"
#include "call.h"
#include "compiled.h"
#include "device_arrays.h"
#include "device_call.h"
#include "facts/facts.h"
#include "gil.h"
#include "graph.h"
#include "infer.h"
#include "layout.h"
#include "operand.h"
#include "short_call.h"
#include "short_way.h"
#include "ufunc.h"
#include "watch.h"

namespace anydml::python {
namespace {

// ---- Any operator --------------------------------------------------------------------------------------------------

// Prepares a call in parts: no part may overwrite memory that another part still has to read or write.
void separate(Call& call) {
  const Operand& output = call.operands.back();
  if (!has_nested_places(output)) {
    raise(PyExc_ValueError, "out has elements that may share a place; expected none of " +
                                std::to_string(element_count(output.tensor)) + " to do so");
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
  return nb::make_tuple(shape, nb::none());  // the caller's own type
}

// The last inferred outputs, kept because small calls are often repeated. Used with the GIL held.
class InferredCalls {
 public:
  static constexpr std::size_t kMost = 256;

  static InferredCalls& of_process() {
    static auto* const all = new InferredCalls;
    return *all;
  }

  template <class Make>
  nb::tuple get(const std::string& key, Make make) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) {
      return known->second;
    }
    nb::tuple made = make();
    if (by_key_.size() == kMost) {
      by_key_.clear();
    }
    by_key_.emplace(key, made);
    return made;
  }

 private:
  std::unordered_map<std::string, nb::tuple> by_key_;
};

// For each output that is True, returns its shape and type, unless its entry in `dtypes` (dtype objects) or `shapes`
// (tuples) gives them. For all other outputs, which are arrays, or None if absent, returns None.
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
  return InferredCalls::of_process().get(inference_key(name, call.tensors, given, outputs), [&] {
    infer(name, call.tensors, given, outputs);
    nb::list made;
    for (const OutputToMake& one : outputs) {
      made.append(one.fresh ? nb::object(shape_and_type(one)) : nb::none());
    }
    return nb::tuple(made);
  });
}

// Returns the results in a list. same: inputs that share a type. rules: the known type and shape of each output.
nb::list run_on_device(nb::handle op, nb::handle inputs, nb::handle outs, const nb::dict& attributes, nb::handle device,
                       nb::handle same, nb::handle rules) {
  const std::string name = operator_name(op);
  const std::vector<nb::object> given = list_of(inputs);
  const std::vector<nb::object> targets = list_of(outs);
  const std::vector<nb::handle> sources(given.begin(), given.end());
  const std::vector<nb::handle> places(targets.begin(), targets.end());
  const facts::Operator* known = facts::find_operator(name);
  DeviceCall call;
  call.set_rules(same, rules, has_one_shape(known));
  if (!call.locate(sources.data(), sources.size(), places.data(), places.size())) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  nb::list results;
  for (const nb::object& result : call.run(name.c_str(), Attributes(known, attributes), device)) {
    results.append(result);
  }
  return results;
}

enum Place { kOfNumpy, kOfLibrary, kOnGpu };

// Whether all arrays are NumPy's, some belong to another library in CPU memory, or one is on a GPU.
int place_of(const nb::args& arrays) {
  Place place = kOfNumpy;
  for (const nb::handle array : arrays) {
    DeviceOperand operand;
    operand.locate(array);
    place = std::max(place, operand.on_gpu() ? kOnGpu : operand.library != nullptr ? kOfLibrary : kOfNumpy);
  }
  return place;
}

// The layouts of arrays on a GPU: see DeviceCall::layouts.
nb::tuple device_layouts(nb::handle arrays) {
  const std::vector<nb::object> given = list_of(arrays);
  const std::vector<nb::handle> sources(given.begin(), given.end());
  DeviceCall call;
  if (!call.locate(sources.data(), sources.size(), nullptr, 0)) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  return call.layouts();
}

nb::list list_adapters() {
  nb::list all;
  for (std::size_t i = 0; i < anydml_device_count(); ++i) {
    const anydml_device_info& info = *anydml_device_get_info(anydml_device_at(i));
    nb::dict one;
    one["name"] = info.name;
    one["description"] = info.description;
    one["memory_bytes"] = info.memory_bytes;
    one["threads"] = info.threads;
    all.append(one);
  }
  if (nb::len(all) == 0) {
    PyErr_SetString(PyExc_RuntimeError, anydml_last_error());
    throw nb::python_error();
  }
  return all;
}

nb::list list_operators() {
  nb::list all;
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info& info = *anydml_operator_at(i);
    nb::list types;
    for (std::uint32_t type = 1; type <= static_cast<std::uint32_t>(DataType::INT4); ++type) {
      if ((info.types >> type & 1) != 0) {
        types.append(anydml_type_name(type));
      }
    }
    nb::dict one;
    one["name"] = info.name;
    one["number"] = info.directml_value;
    one["feature_level"] = info.feature_level;
    one["formula"] = info.formula;
    one["built"] = info.is_built != 0;
    one["inputs"] = info.input_count;
    one["types"] = types;
    all.append(one);
  }
  return all;
}

bool import_numpy() {
  import_array1(false);
  import_umath1(false);
  return true;
}

std::vector<std::int64_t> sizes_of(nb::handle shape) {
  std::vector<std::int64_t> sizes;
  for (const nb::handle size : shape) {
    sizes.push_back(nb::cast<std::int64_t>(size));
  }
  return sizes;
}

}  // namespace
}  // namespace anydml::python

NB_MODULE(_core, module) {
  using namespace anydml::python;
  if (!import_numpy()) {
    throw nb::python_error();
  }
  find_main_thread();
  numpy_two = PyArray_GetNDArrayCFeatureVersion() >= 0x12;
  // Objects that a daemon thread held when Python ended still exist afterwards, and are not a leak to report.
  nb::set_leak_warnings(false);
  module.attr("__version__") = anydml_version();
  nb::class_<Ufunc>(module, "Ufunc")
      .def_ro("name", &Ufunc::name)
      .def_ro("op", &Ufunc::op)
      .def_ro("inputs", &Ufunc::inputs)
      .def_ro("ufunc", &Ufunc::ufunc)
      .def("short_way", [](const Ufunc& of, nb::object casting, nb::object order, nb::object long_way) {
        return make_callable(
            std::make_unique<ShortUfunc>(of, std::move(casting), std::move(order), std::move(long_way)));
      });
  module.def(
      "make_ufunc",
      [](const std::string& name, const std::string& op, int inputs) { return new Ufunc(name, op, inputs); },
      nb::rv_policy::reference);
  module.def(
      "make_short_call",
      [](std::string name, std::size_t inputs, nb::handle array, nb::handle fields, std::size_t required,
         nb::handle options, nb::handle same, nb::object long_way, nb::dict fixed, nb::object equivalent) {
        return make_callable(std::make_unique<ShortCall>(std::move(name), inputs, array, fields, required, options,
                                                         same, std::move(fixed), std::move(long_way),
                                                         std::move(equivalent)));
      },
      nb::arg("name"), nb::arg("inputs"), nb::arg("array").none(), nb::arg("fields"), nb::arg("required"),
      nb::arg("options"), nb::arg("same"), nb::arg("long_way"), nb::arg("fixed") = nb::dict(),
      nb::arg("equivalent") = nb::none());
  nb::class_<ShortGraph>(module, "ShortGraph")
      .def(nb::init<>())
      .def("call", &ShortGraph::call, nb::arg(), nb::arg().none())
      .def("keep", &ShortGraph::keep, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none());
  module.def("fingerprint", [](nb::handle array) {
    if (!PyArray_Check(array.ptr())) {
      raise(PyExc_TypeError, "fingerprint takes an array");
    }
    return fingerprint(as_array(array.ptr()));
  });
  module.def("watch_holds", [](const nb::tuple& tree, const nb::list& arguments, bool contents) {
    return watch_holds(tree, arguments.ptr(), contents);
  });
  module.def("operator_name", operator_name, nb::arg("op").none());
  module.def("run", run_operator, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"), nb::arg("attributes"),
             nb::arg("device").none());
  module.def("infer_outputs", infer_outputs, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("dtypes"), nb::arg("shapes"), nb::arg("attributes"));
  module.def("run_on_device", run_on_device, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("attributes"), nb::arg("device").none(), nb::arg("same"), nb::arg("rules"));
  module.def("place_of", place_of);
  module.def("address_of", [](nb::handle array) {
    if (!PyArray_Check(array.ptr())) {
      raise(PyExc_TypeError, "address_of takes an array");
    }
    return reinterpret_cast<std::uintptr_t>(PyArray_DATA(as_array(array.ptr())));
  });
  module.def(
      "device_name",
      [](nb::handle device) {
        const anydml_device_info* const info = anydml_device_get_info(find_device(device));
        if (info == nullptr) {
          raise(PyExc_RuntimeError, anydml_last_error());
        }
        return std::string(info->name);
      },
      nb::arg("device").none());
  module.def("device_layouts", device_layouts, nb::arg("arrays"));
  module.def("is_default_device", [](nb::handle device) { return find_device(device) == anydml_device_at(0); });
  module.def("set_most_elements",
             [](std::int64_t count) { most_elements = std::clamp<std::int64_t>(count, 1, kMostElements); });
  module.def("set_leak_warnings", nb::set_leak_warnings);
  module.def("device_calls_kept", [] { return CompiledCalls::of_process().size(); });
  nb::class_<DeviceMemory>(module, "DeviceMemory")
      .def("__init__",
           [](DeviceMemory* made, nb::handle device, nb::handle dtype, nb::handle shape) {
             const std::string name = nb::cast<std::string>(dtype);
             const bool is_of_truths = name == "bool";
             const std::vector<std::int64_t> sizes = sizes_of(shape);
             new (made) DeviceMemory(find_device(device), is_of_truths ? anydml::DataType::UINT8 : type_named(name),
                                     static_cast<int>(sizes.size()), sizes.data(), is_of_truths);
           })
      .def("reshaped", [](const DeviceMemory& memory, nb::handle shape) { return memory.reshaped(sizes_of(shape)); })
      .def("write", &DeviceMemory::write)
      .def("read", &DeviceMemory::read)
      .def("is_shareable", &DeviceMemory::is_shareable)
      .def("__dlpack__", [](const DeviceMemory& memory, const nb::kwargs&) { return memory.capsule(); })
      .def("__dlpack_device__", &DeviceMemory::device);
  module.def("adapters", list_adapters);
  module.def("operators", list_operators);
  nb::class_<Constants>(module, "Constants").def(nb::init<>());
  nb::class_<Graph>(module, "Graph")
      .def(nb::init<>())
      .def("input", &Graph::input)
      .def("constant", &Graph::constant)
      .def("shared_constant", &Graph::shared_constant)
      .def("view", &Graph::view)
      .def("add", &Graph::add)
      .def("output", &Graph::output);
  nb::class_<Compiled>(module, "Compiled")
      .def(nb::init<nb::handle, nb::handle, nb::handle, const nb::dict&, nb::handle>(), nb::arg("op").none(),
           nb::arg("inputs"), nb::arg("outs"), nb::arg("attributes"), nb::arg("device").none())
      .def(nb::init<const Graph&, nb::handle, nb::handle, nb::handle>(), nb::arg("graph"), nb::arg("inputs"),
           nb::arg("outs"), nb::arg("device").none())
      .def("run", &Compiled::run, nb::arg("inputs"), nb::arg("outs"))
      .def("run_on_device", &Compiled::run_on_device, nb::arg("inputs"), nb::arg("outs"), nb::arg("truths"),
           nb::arg("device").none());
}
