// SPDX-License-Identifier: MIT
#include "onnx_model.h"

#include <anydml/anydml.h>

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "call.h"
#include "errors.h"
#include "gil.h"
#include "onnx_call.h"
#include "onnx_device_arrays.h"
#include "operand.h"

namespace anydml::python {
namespace {

using onnx::Kind;

struct OnnxType {
  int numpy;
  Kind kind;
};
constexpr OnnxType kOnnxTypes[] = {
    {NPY_BOOL, Kind::kBool},      {NPY_INT8, Kind::kInt8},        {NPY_UINT8, Kind::kUint8},
    {NPY_INT16, Kind::kInt16},    {NPY_UINT16, Kind::kUint16},    {NPY_INT, Kind::kInt32},
    {NPY_UINT, Kind::kUint32},    {NPY_LONG, Kind::kInt64},       {NPY_ULONG, Kind::kUint64},
    {NPY_LONGLONG, Kind::kInt64}, {NPY_ULONGLONG, Kind::kUint64}, {NPY_HALF, Kind::kFloat16},
    {NPY_FLOAT, Kind::kFloat},    {NPY_DOUBLE, Kind::kDouble},
};

Kind kind_of_numpy(int type) {
  for (const OnnxType& one : kOnnxTypes) {
    if (one.numpy == type) {
      return one.kind;
    }
  }
  return Kind::kUndefined;
}

int numpy_type_of(Kind kind) {
  for (const OnnxType& one : kOnnxTypes) {
    if (one.kind == onnx::array_kind(kind)) {
      return one.numpy;
    }
  }
  return NPY_NOTYPE;
}

nb::object described(const onnx::ValueMessage& value, bool has_initializer) {
  nb::object shape = nb::none();
  if (value.has_shape) {
    nb::list sizes;
    for (const onnx::Dimension& one : value.shape) {
      if (one.size >= 0) {
        sizes.append(one.size);
      } else if (!one.name.empty()) {
        sizes.append(nb::str(one.name.c_str(), one.name.size()));
      } else {
        sizes.append(nb::none());
      }
    }
    shape = nb::steal(PyList_AsTuple(sizes.ptr()));
  }
  const auto number = static_cast<std::int32_t>(value.kind);
  return nb::make_tuple(nb::str(value.name.c_str(), value.name.size()), number <= onnx::kMaxDataType ? number : 0,
                        shape, has_initializer);
}

// The characters of a str, which keeps them valid.
std::string_view text_in(PyObject* item, const char* what) {
  if (PyUnicode_Check(item) == 0) {
    raise(PyExc_TypeError, std::string("an element of ") + what + " is " + text_of(item) + "; expected str");
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(item, &size);
  if (text == nullptr) {
    throw nb::python_error();  // a surrogate, which UTF-8 does not have
  }
  return {text, static_cast<std::size_t>(size)};
}

// A copy of the strings of an array of objects, which other threads may change while the model runs.
onnx::Array strings_of(PyArrayObject* given) {
  const nb::object packed = nb::steal(PyArray_NewCopy(given, NPY_CORDER));
  if (!packed.is_valid()) {
    throw nb::python_error();
  }
  PyArrayObject* const array = as_array(packed.ptr());
  auto* const items = static_cast<PyObject**>(PyArray_DATA(array));
  std::vector<std::string_view> texts;
  texts.reserve(static_cast<std::size_t>(PyArray_SIZE(array)));
  for (npy_intp i = 0; i < PyArray_SIZE(array); ++i) {
    texts.push_back(text_in(items[i] == nullptr ? Py_None : items[i], "an input"));
  }
  return onnx::Array::strings({PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array)}, texts);
}

nb::object str_of(std::string_view text) {
  // Strings come from str objects and from models, and both were checked to be UTF-8.
  nb::object result = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (!result.is_valid()) {
    throw nb::python_error();
  }
  return result;
}

// An array of str objects.
nb::object array_of_strings(const onnx::Array& strings) {
  std::vector<npy_intp> sizes(strings.shape().begin(), strings.shape().end());
  nb::object result = nb::steal(PyArray_SimpleNew(static_cast<int>(sizes.size()), sizes.data(), NPY_OBJECT));
  if (!result.is_valid()) {
    throw nb::python_error();
  }
  auto* items = static_cast<PyObject**>(PyArray_DATA(as_array(result.ptr())));
  for (const std::string_view text : strings.elements<std::string_view>()) {
    Py_XSETREF(*items, str_of(text).release().ptr());
    ++items;
  }
  return result;
}

// The keys of maps as a list of int or str objects.
nb::list list_of_keys(const onnx::Array& keys) {
  nb::list result;
  if (keys.kind() == Kind::kString) {
    for (const std::string_view text : keys.elements<std::string_view>()) {
      result.append(str_of(text));
    }
  } else {
    for (const std::int64_t number : keys.to_integers()) {
      result.append(number);
    }
  }
  return result;
}

// A dict for each row of a matrix.
nb::list dicts_of(const nb::object& matrix, const onnx::Array& keys) {
  const nb::list names = list_of_keys(keys);
  PyArrayObject* const array = as_array(matrix.ptr());
  const auto* number = static_cast<const float*>(PyArray_DATA(array));
  nb::list rows;
  for (npy_intp row = 0; row < PyArray_DIM(array, 0); ++row) {
    nb::dict one;
    for (const nb::handle name : names) {
      one[name] = nb::float_(static_cast<double>(*number++));
    }
    rows.append(one);
  }
  return rows;
}

// Keeps arrays valid while a model runs. A layout that graphs do not support is copied.
struct OnnxInputs {
  std::vector<nb::object> kept;
  onnx::Arrays arrays;

  OnnxInputs(const onnx::Model& model, const nb::list& given, OnnxDeviceArrays& on_device) {
    for (const nb::handle one : given) {
      const std::size_t position = arrays.size();
      std::optional<onnx::Array> there;
      if (!one.is_none() && PyArray_Check(one.ptr()) == 0 && position < model.inputs().size()) {
        there = on_device.take(one, model.inputs()[position].name);
      }
      arrays.push_back(there.has_value() ? *std::move(there) : one.is_none() ? onnx::Array() : taken(one));
    }
  }

 private:
  onnx::Array taken(nb::handle given) {
    if (PyArray_Check(given.ptr()) == 0) {
      raise(PyExc_TypeError, "an input is " + wrong_array_text(given));
    }
    PyArrayObject* array = as_array(given.ptr());
    if (PyArray_TYPE(array) == NPY_OBJECT) {
      return strings_of(array);
    }
    const Kind kind = kind_of_numpy(PyArray_TYPE(array));
    if (kind == Kind::kUndefined || !PyArray_ISNOTSWAPPED(array)) {
      raise(PyExc_TypeError, "an input is " + wrong_array_text(given));
    }
    kept.push_back(nb::borrow(given));
    if (!is_regular(array)) {
      kept.back() = nb::steal(PyArray_NewCopy(array, NPY_CORDER));
      if (!kept.back().is_valid()) {
        throw nb::python_error();
      }
      array = as_array(kept.back().ptr());
    }
    onnx::Sizes shape(PyArray_DIMS(array), PyArray_DIMS(array) + PyArray_NDIM(array));
    if (PyArray_SIZE(array) == 0) {
      return onnx::Array::empty(kind, std::move(shape));
    }
    onnx::Sizes strides;
    for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
      strides.push_back(PyArray_STRIDE(array, axis) / static_cast<npy_intp>(onnx::item_size(kind)));
    }
    return onnx::Array::wrap(kind, std::move(shape), std::move(strides), PyArray_DATA(array), nullptr);
  }

  static bool is_regular(PyArrayObject* array) {
    bool regular = PyArray_ISALIGNED(array);
    for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
      const npy_intp step = PyArray_STRIDE(array, axis);
      regular = regular && step >= 0 && step % PyArray_ITEMSIZE(array) == 0;
    }
    return regular;
  }
};

std::span<const std::byte> bytes_of(nb::handle bytes) {
  if (PyBytes_Check(bytes.ptr()) == 0) {
    raise(PyExc_TypeError, "expected bytes, not " + text_of(bytes));
  }
  return {reinterpret_cast<const std::byte*>(PyBytes_AS_STRING(bytes.ptr())),
          static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

// The elements of an initializer that the message lacks.
struct Weight {
  std::size_t initializer;
  std::span<const std::byte> bytes;
};

std::vector<Weight> weights_of(const nb::list& weights) {
  std::vector<Weight> all;
  for (const nb::handle one : weights) {
    const nb::tuple pair = nb::cast<nb::tuple>(one);
    all.push_back({nb::cast<std::size_t>(pair[0]), bytes_of(pair[1])});
  }
  return all;
}

void add_weights(const std::vector<Weight>& weights, std::vector<onnx::TensorMessage>& initializers) {
  for (const Weight& one : weights) {
    onnx::TensorMessage& tensor = initializers.at(one.initializer);
    tensor.raw_data = one.bytes;
    tensor.has_raw_data = true;
  }
}

// Creates an array for an output, on a thread without the GIL.
void* new_output(nb::object& output, Kind kind, const onnx::Sizes& shape) {
  const GilHeld held;
  if (shape.size() > static_cast<std::size_t>(NPY_MAXDIMS)) {
    onnx::fail("an output has {} dimensions; NumPy supports up to {}", shape.size(), NPY_MAXDIMS);
  }
  std::vector<npy_intp> sizes(shape.begin(), shape.end());
  output = nb::steal(PyArray_SimpleNew(static_cast<int>(sizes.size()), sizes.data(), numpy_type_of(kind)));
  if (!output.is_valid()) {
    PyErr_Clear();
    throw onnx::NoMemory("there is not enough memory for an output with the shape " + onnx::listed(shape));
  }
  return PyArray_DATA(as_array(output.ptr()));
}

// The same for an array on the device.
void* new_output_there(OnnxDeviceArrays& there, std::size_t position, Kind kind, const onnx::Sizes& shape) {
  const GilHeld held;
  void* const memory = there.new_output(position, kind, shape);
  anydml_set_interrupt(ask_python, nullptr);  // calls to this module from Python code remove it
  return memory;
}

}  // namespace

OnnxModel::OnnxModel(nb::handle source, const nb::list& weights, nb::handle folder, bool is_literal, nb::handle device,
                     bool traced, int activations)
    : kept_(nb::make_tuple(source, weights)), trace_(traced ? std::make_shared<onnx::Trace>() : nullptr) {
  const bool is_path = PyUnicode_Check(source.ptr()) != 0;
  const std::string path = is_path ? path_of(source) : std::string();
  const std::span<const std::byte> bytes = is_path ? std::span<const std::byte>() : bytes_of(source);
  const std::vector<Weight> apart = weights_of(weights);
  const bool has_folder = !is_path && !folder.is_none();
  const std::string beside = has_folder ? path_of(folder) : std::string();
  const onnx::ModelOptions options = {.device = find_device(device),
                                      .is_literal = is_literal,
                                      .activations = static_cast<onnx::Activations>(activations),
                                      .trace = trace_};
  call_onnx([&] {
    const onnx::TraceScope scope(trace_.get());
    onnx::TraceEvent event;
    onnx::ModelMessage message = is_path ? onnx::read_model(path) : onnx::parse_model(bytes, nullptr, "the bytes");
    event.end("Session", "read", onnx::TraceArguments().text("path", path));
    add_weights(apart, message.graph.initializers);
    if (has_folder) {
      message.folder = beside;
      message.has_folder = true;
    }
    model_ = std::make_unique<onnx::Model>(std::move(message), options);
  });
}

nb::list OnnxModel::inputs() const {
  nb::list all;
  for (std::size_t i = 0; i < model_->inputs().size(); ++i) {
    all.append(described(model_->inputs()[i], model_->has_initializer(i)));
  }
  return all;
}

nb::list OnnxModel::outputs() const {
  nb::list all;
  for (const onnx::ValueMessage& value : model_->outputs()) {
    all.append(described(value, false));
  }
  return all;
}

nb::list OnnxModel::run(const nb::list& inputs, nb::handle on_device) {
  return outputs_of(&onnx::Model::run, inputs, on_device);
}

nb::list OnnxModel::run_node_by_node(const nb::list& inputs) {
  return outputs_of(&onnx::Model::run_node_by_node, inputs, nb::none());
}

nb::list OnnxModel::outputs_of(Run run, const nb::list& inputs, nb::handle on_device) {
  OnnxDeviceArrays there(*model_);
  const OnnxInputs given(*model_, inputs, there);
  there.choose(on_device);
  std::vector<nb::object> outputs(model_->outputs().size());
  onnx::Arrays strings;
  call_onnx([&] {
    strings = ((*model_).*run)(given.arrays, [&](std::size_t position, Kind kind, const onnx::Sizes& shape) {
      return model_->outputs()[position].keys || !there.has_output(kind)
                 ? new_output(outputs[position], kind, shape)
                 : new_output_there(there, position, kind, shape);
    });
  });
  nb::list results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const onnx::Array& keys = model_->outputs()[i].keys;
    if (strings[i]) {
      results.append(array_of_strings(strings[i]));
    } else if (keys) {
      results.append(dicts_of(outputs[i], keys));
    } else {
      const nb::object on_its_device = there.output(i);
      results.append(on_its_device.is_valid() ? on_its_device : outputs[i]);
    }
  }
  return results;
}

std::string OnnxModel::explain() const {
  std::string text;
  call_onnx([&] { text = model_->explain(); });  // without the GIL, for which a run may wait
  return text;
}

nb::list OnnxModel::trace() const {
  nb::list lines;
  if (trace_ != nullptr) {
    trace_->for_each_line([&](const std::string& line) { lines.append(nb::str(line.c_str(), line.size())); });
  }
  return lines;
}

nb::list OnnxModel::profile(const nb::list& inputs, int rounds) {
  OnnxDeviceArrays there(*model_);
  const OnnxInputs given(*model_, inputs, there);
  if (rounds < 1) {
    raise(PyExc_ValueError, "rounds is " + std::to_string(rounds) + "; expected 1 or more");
  }
  std::vector<onnx::StepTime> times;
  call_onnx([&] { times = model_->profile(given.arrays, rounds); });
  nb::list results;
  for (const onnx::StepTime& one : times) {
    results.append(nb::make_tuple(one.seconds, one.op, one.label));
  }
  return results;
}

}  // namespace anydml::python
