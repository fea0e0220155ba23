// SPDX-License-Identifier: MIT
// Defines the module anydml._core. Its functions and classes pass arrays to the C API and return the results. run.h
// runs any operator by name. ufunc.h lets NumPy drive an operator, with NumPy's rules for types, casting, masks and
// errors. call_cache.h explains the fast path for repeated calls. device_call.h handles arrays on GPUs, graph.h and
// compiled.h handle graphs, onnx_model.h handles ONNX models, and onnx_generator.h handles text.
#define ANYDML_IMPORTS_NUMPY
#include "python_api.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/element.h"
#include "call.h"
#include "compiled.h"
#include "device_arrays.h"
#include "device_call.h"
#include "device_memory.h"
#include "errors.h"
#include "fast_graph.h"
#include "fast_operator.h"
#include "fast_ufunc.h"
#include "gil.h"
#include "graph.h"
#include "layout.h"
#include "onnx/rows/row.h"
#include "onnx/schema/schema.h"
#include "onnx_generator.h"
#include "onnx_model.h"
#include "operand.h"
#include "run.h"
#include "ufunc.h"
#include "watch.h"

namespace anydml::python {
namespace {

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

}  // namespace
}  // namespace anydml::python

NB_MODULE(_core, module) {
  using namespace anydml::python;
  if (!import_numpy()) {
    throw nb::python_error();
  }
  find_main_thread();
  numpy_two = PyArray_GetNDArrayCFeatureVersion() >= 0x12;
  // Objects that daemon threads own when Python shuts down are never destroyed, which is not a leak.
  nb::set_leak_warnings(false);
  module.attr("__version__") = anydml_version();
  module.attr("numerics_version") = anydml_numerics_version();
  nb::class_<Ufunc>(module, "Ufunc")
      .def_ro("name", &Ufunc::name)
      .def_ro("op", &Ufunc::op)
      .def_ro("inputs", &Ufunc::inputs)
      .def_ro("ufunc", &Ufunc::ufunc)
      .def("fast_function", [](const Ufunc& of, nb::object casting, nb::object order, nb::object slow_path) {
        return make_fast_ufunc(of, std::move(casting), std::move(order), std::move(slow_path));
      });
  module.def(
      "make_ufunc",
      [](const std::string& name, const std::string& op, int inputs) { return new Ufunc(name, op, inputs); },
      nb::rv_policy::reference);
  module.def("make_fast_operator", make_fast_operator, nb::arg("name"), nb::arg("inputs"), nb::arg("array").none(),
             nb::arg("fields"), nb::arg("required"), nb::arg("options"), nb::arg("same"), nb::arg("slow_path"),
             nb::arg("fixed") = nb::dict(), nb::arg("equivalent") = nb::none());
  nb::class_<FastGraph>(module, "FastGraph")
      .def(nb::init<>())
      .def("call", &FastGraph::call, nb::arg(), nb::arg().none())
      .def("add", &FastGraph::add, nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none());
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
  module.def(
      "keeps_elements", [](nb::handle op) { return keeps_elements(operator_name(op)); }, nb::arg("op").none());
  module.def("run", run_operator, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"), nb::arg("attributes"),
             nb::arg("device").none());
  module.def("infer_outputs", infer_outputs, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("dtypes"), nb::arg("shapes"), nb::arg("attributes"));
  module.def("run_on_device", run_on_device, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("attributes"), nb::arg("device").none(), nb::arg("same"), nb::arg("rules"));
  module.def("array_kind", array_kind);
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
  module.def("set_max_elements",
             [](std::int64_t count) { max_elements = std::clamp<std::int64_t>(count, 1, kMaxElements); });
  module.def("set_leak_warnings", nb::set_leak_warnings);
  module.def("cached_device_calls", cached_device_calls);
  nb::class_<DeviceMemory>(module, "DeviceMemory")
      .def("__init__",
           [](DeviceMemory* created, nb::handle device, nb::handle dtype, nb::handle shape) {
             const std::string name = nb::cast<std::string>(dtype);
             const bool is_of_truths = name == "bool";
             const std::vector<std::int64_t> sizes = numbers_in(shape);
             new (created) DeviceMemory(find_device(device), is_of_truths ? anydml::DataType::UINT8 : type_named(name),
                                        static_cast<int>(sizes.size()), sizes.data(), is_of_truths);
           })
      .def("reshaped", [](const DeviceMemory& memory, nb::handle shape) { return memory.reshaped(numbers_in(shape)); })
      .def("write", &DeviceMemory::write)
      .def("read", &DeviceMemory::read)
      .def("is_shareable", &DeviceMemory::is_shareable)
      .def("__dlpack__", [](const DeviceMemory& memory, const nb::kwargs&) { return memory.capsule(); })
      .def("__dlpack_device__", &DeviceMemory::device);
  module.def("adapters", list_adapters);
  module.def("operators", list_operators);
  nb::class_<Graph>(module, "Graph")
      .def(nb::init<>())
      .def("input", &Graph::input)
      .def("constant", &Graph::constant)
      .def("view", &Graph::view)
      .def("add", &Graph::add)
      .def("output", &Graph::output);
  nb::class_<Compiled>(module, "Compiled")
      .def(nb::init<nb::handle, nb::handle, nb::handle, const nb::dict&, nb::handle>(), nb::arg("op").none(),
           nb::arg("inputs"), nb::arg("outs"), nb::arg("attributes"), nb::arg("device").none())
      .def(nb::init<const Graph&, nb::handle, nb::handle, nb::handle>(), nb::arg("graph"), nb::arg("inputs"),
           nb::arg("outs"), nb::arg("device").none())
      .def("keeps_elements", &Compiled::keeps_elements, nb::arg("output"))
      .def("run", &Compiled::run, nb::arg("inputs"), nb::arg("outs"))
      .def("run_on_device", &Compiled::run_on_device, nb::arg("inputs"), nb::arg("outs"), nb::arg("truths"),
           nb::arg("device").none());
  nb::class_<OnnxModel>(module, "OnnxModel")
      .def(nb::init<nb::handle, const nb::list&, nb::handle, bool, nb::handle, bool, int>(), nb::arg("source"),
           nb::arg("weights"), nb::arg("folder").none(), nb::arg("literal"), nb::arg("device").none(),
           nb::arg("traced"), nb::arg("activations"))
      .def_prop_ro("inputs", &OnnxModel::inputs)
      .def_prop_ro("outputs", &OnnxModel::outputs)
      .def("run", &OnnxModel::run, nb::arg("inputs"), nb::arg("on_device").none() = nb::none())
      .def("run_node_by_node", &OnnxModel::run_node_by_node)
      .def("explain", &OnnxModel::explain)
      .def("trace", &OnnxModel::trace)
      .def("profile", &OnnxModel::profile, nb::arg("inputs"), nb::arg("rounds"));
  nb::class_<OnnxGenerator>(module, "OnnxGenerator")
      .def(nb::init<nb::handle, std::int64_t, std::int64_t, std::int64_t, nb::handle, int>(), nb::arg("folder"),
           nb::arg("slots"), nb::arg("chunk"), nb::arg("cache"), nb::arg("device").none(), nb::arg("activations"))
      .def_prop_ro("description", &OnnxGenerator::description)
      .def("start", &OnnxGenerator::start, nb::arg("prompts"), nb::arg("options"))
      .def("step", &OnnxGenerator::step)
      .def("end", &OnnxGenerator::end)
      .def("logits", &OnnxGenerator::logits);
  module.def("onnx_rows", anydml::onnx::rows_as_text);
  module.attr("onnx_newest_opset") = anydml::onnx::newest_opset();
}
