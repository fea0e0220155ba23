// SPDX-License-Identifier: MIT
// NumPy arrays to the C API and back. Two ways lead through here: ufuncs, which NumPy itself drives with all it knows
// of types, casting, masks and errors; and a short way for arrays that need none of that, which gives the core whole
// arrays at once instead of a row at a time. Arrays on GPUs have a way of their own: device_call.h.
#include <nanobind/nanobind.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <anydml/anydml.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "attributes.h"
#include "base/element.h"
#include "call.h"
#include "device_arrays.h"
#include "device_call.h"
#include "facts/facts.h"
#include "gil.h"
#include "graph.h"
#include "infer.h"
#include "layout.h"
#include "operand.h"
#include "short_way.h"
#include "ufunc.h"

namespace anydml::python {
namespace {

// ---- Any operator --------------------------------------------------------------------------------------------------

std::vector<nb::object> list_of(nb::handle arrays) {
  std::vector<nb::object> all;
  all.reserve(nb::len(arrays));
  for (const nb::handle array : arrays) {
    all.push_back(nb::borrow(array));
  }
  return all;
}

std::vector<std::int64_t> numbers_in(nb::handle shape) {
  std::vector<std::int64_t> all;
  for (const nb::handle size : shape) {
    all.push_back(nb::cast<std::int64_t>(size));
  }
  return all;
}

// Of a str "int4" or "uint4"; unknown of anything else.
DataType four_bits_named(nb::handle name) {
  return PyUnicode_Check(name.ptr()) == 0                             ? DataType::unknown
         : PyUnicode_CompareWithASCIIString(name.ptr(), "int4") == 0  ? DataType::INT4
         : PyUnicode_CompareWithASCIIString(name.ptr(), "uint4") == 0 ? DataType::UINT4
                                                                      : DataType::unknown;
}

// Whether it is an array of four-bit elements as _four_bits.py packs it.
bool is_packed(nb::handle array) {
  if (PyArray_Check(array.ptr()) != 0) {
    return false;
  }
  const nb::object kind = in_python([] { return nb::object(nb::module_::import_("anydml._core").attr("Packed")); });
  return reinterpret_cast<PyObject*>(Py_TYPE(array.ptr())) == kind.ptr();
}

struct Call {
  std::vector<nb::object> arrays;  // the inputs, then the outputs; None is absent
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

  // Of an array, for messages.
  [[nodiscard]] std::string name(std::size_t i) const {
    return i < inputs       ? "inputs[" + std::to_string(i) + "]"
           : outputs() == 1 ? "out"
                            : "out[" + std::to_string(i - inputs) + "]";
  }

  static void take(Operand& operand, nb::handle array, const std::string& name) {
    const bool is_array = PyArray_Check(array.ptr()) != 0;
    if (is_array && operand.take(as_array(array.ptr()))) {
      return;
    }
    if (is_packed(array)) {
      const nb::object bytes = array.attr("bytes");
      return operand.take_four_bits(four_bits_named(array.attr("name")), numbers_in(array.attr("shape")),
                                    as_array(bytes.ptr()));
    }
    raise(PyExc_TypeError, name + " is " + (is_array ? array_text(array) : text_of(array)) + kExpectedArray);
  }

  void check_writable(std::size_t i) const {
    if (i >= inputs && PyArray_Check(arrays[i].ptr()) != 0 && !PyArray_ISWRITEABLE(as_array(arrays[i].ptr()))) {
      raise(PyExc_ValueError, "output array is read-only");
    }
  }
};

// Whether all tensors have one shape, so that a call may be made in parts.
bool has_one_shape(const facts::Operator* op) {
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

// Before a call in parts: none must be written where another is still to be read, or written.
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

// What was inferred last, since small calls are repeated. Used with the GIL held.
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

// Of each output that is True its shape and type, as far as the entries of dtypes (dtype objects) and shapes (tuples)
// do not say them; None of the others, which are arrays, or None if they are absent.
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

// The results, in a list. same: inputs that have one type. rules: what is known of each output.
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

// Whose the arrays are: NumPy's alone, another library's in the CPU's memory among them, or one on a GPU.
int place_of(const nb::args& arrays) {
  Place place = kOfNumpy;
  for (const nb::handle array : arrays) {
    DeviceOperand operand;
    operand.locate(array);
    place = std::max(place, operand.on_gpu() ? kOnGpu : operand.library != nullptr ? kOfLibrary : kOfNumpy);
  }
  return place;
}

// Of arrays on a GPU: see DeviceCall::layouts.
nb::tuple device_layouts(nb::handle arrays) {
  const std::vector<nb::object> given = list_of(arrays);
  const std::vector<nb::handle> sources(given.begin(), given.end());
  DeviceCall call;
  if (!call.locate(sources.data(), sources.size(), nullptr, 0)) {
    raise(PyExc_TypeError, "no array is on a GPU");
  }
  return call.layouts();
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
  // Of a graph: arrays like its inputs and outputs.
  Compiled(const Graph& graph, nb::handle inputs, nb::handle outs, nb::handle device)
      : call_(inputs, outs), shared_(graph.shared()), compiled_(graph.compile(device)) {
    forget_arrays();
  }
  ~Compiled() { anydml_compiled_release(compiled_); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

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

  // Over arrays on a GPU; None among the outs is a new one, of bool where `truths` says so.
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
  // Their memory is not needed, but which of them are absent.
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

  // An array's memory, if it is laid out as the one that was compiled for.
  [[nodiscard]] void* data_of(nb::handle array, std::size_t which) const {
    const bool absent = call_.arrays[which].is_none();
    if (absent && array.is_none()) {
      return nullptr;
    }
    Operand operand;
    Call::take(operand, array, call_.name(which));
    const Operand& expected = call_.operands[which];
    const auto rank = static_cast<std::size_t>(expected.tensor.rank);
    if (absent || operand.tensor.type != expected.tensor.type || operand.tensor.rank != expected.tensor.rank ||
        !std::equal(operand.sizes, operand.sizes + rank, expected.sizes) ||
        !std::equal(operand.strides, operand.strides + rank, expected.strides)) {
      raise(PyExc_ValueError, call_.name(which) + " has another type, shape or strides than it was compiled for");
    }
    if (which >= call_.inputs && !PyArray_ISWRITEABLE(as_array(array.ptr()))) {
      raise(PyExc_ValueError, "output array is read-only");
    }
    return operand.tensor.data;
  }

  Call call_;
  std::vector<nb::object> shared_;  // arrays that runs read
  anydml_compiled* compiled_ = nullptr;
};

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
  numpy_two = PyArray_GetNDArrayCFeatureVersion() >= 0x12;
  // What a daemon thread held when Python ended is still there afterwards, and nobody's mistake.
  nb::set_leak_warnings(false);
  module.attr("__version__") = anydml_version();
  nb::class_<Ufunc>(module, "Ufunc")
      .def_ro("name", &Ufunc::name)
      .def_ro("op", &Ufunc::op)
      .def_ro("inputs", &Ufunc::inputs)
      .def_ro("ufunc", &Ufunc::ufunc)
      .def(
          "try_one",
          [](const Ufunc& of, nb::handle x, nb::handle out) {
            return of.inputs == 1 ? try_short(of, &x, out) : not_here();
          },
          nb::arg().none(), nb::arg().none())
      .def(
          "try_two",
          [](const Ufunc& of, nb::handle a, nb::handle b, nb::handle out) {
            const nb::handle inputs[] = {a, b};
            return of.inputs == 2 ? try_short(of, inputs, out) : not_here();
          },
          nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def(
      "make_ufunc",
      [](const std::string& name, const std::string& op, int inputs) { return new Ufunc(name, op, inputs); },
      nb::rv_policy::reference);
  module.def("operator_name", operator_name, nb::arg("op").none());
  module.def("run", run_operator, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"), nb::arg("attributes"),
             nb::arg("device").none());
  module.def("infer_outputs", infer_outputs, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("dtypes"), nb::arg("shapes"), nb::arg("attributes"));
  module.def("run_on_device", run_on_device, nb::arg("op").none(), nb::arg("inputs"), nb::arg("outs"),
             nb::arg("attributes"), nb::arg("device").none(), nb::arg("same"), nb::arg("rules"));
  module.def("place_of", place_of);
  module.def("device_layouts", device_layouts, nb::arg("arrays"));
  module.def("is_default_device", [](nb::handle device) { return find_device(device) == anydml_device_at(0); });
  module.def("set_most_elements",
             [](std::int64_t count) { most_elements = std::clamp<std::int64_t>(count, 1, kMostElements); });
  module.def("set_leak_warnings", nb::set_leak_warnings);
  module.def("device_calls_kept", [] { return CompiledCalls::of_process().size(); });
  nb::class_<DeviceMemory>(module, "DeviceMemory")
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
