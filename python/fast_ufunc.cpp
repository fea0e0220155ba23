// SPDX-License-Identifier: MIT
#include "fast_ufunc.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <cfenv>
#include <memory>
#include <string>
#include <utility>

#include "attributes.h"
#include "base/element.h"
#include "call_arguments.h"
#include "call_cache.h"
#include "device_arrays.h"
#include "device_call.h"
#include "dlpack.h"
#include "errors.h"
#include "fast_function.h"
#include "faults.h"
#include "gil.h"
#include "layout.h"
#include "operand.h"
#include "python_api.h"

namespace anydml::python {
namespace {

// Computes the shape that the inputs are broadcast to.
bool broadcast(const Operand* inputs, int count, int& rank, npy_intp* sizes) {
  rank = 0;
  for (int k = 0; k < count; ++k) {
    rank = std::max(rank, inputs[k].tensor.rank);
  }
  std::fill_n(sizes, rank, 1);
  return std::all_of(inputs, inputs + count, [&](const Operand& one) { return broadcast_with(one, rank, sizes); });
}

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

// Runs the operator. `given` tells whether the result is the caller's array. Returns NotImplemented if the ufunc must
// handle the call.
nb::object run_whole(const Ufunc& of, const Operand* operands, npy_intp count, const nb::object& result, bool given) {
  const Operand& output = operands[of.inputs];
  const auto type = static_cast<DataType>(output.tensor.type);
  const bool large = is_too_large(count);
  if (given) {
    for (int i = 0; i < of.inputs; ++i) {
      const bool over = share_memory(output, operands[i]);
      if (over && is_float_type(type)) {
        return not_implemented();  // the output would overwrite the operands' NaNs
      }
      // A part must not overwrite memory that a later part reads or writes. NumPy handles such calls.
      if (large && over && !is_in_place(operands[i], output)) {
        return not_implemented();
      }
    }
    if (large && !has_nested_strides(output)) {
      return not_implemented();
    }
  }
  int faults = 0;
  int code = ANYDML_OK;
  const auto run = [&] {
    if (of.faults == Faults::modulus && !is_float_type(type) && count > 0 && any_zero(operands[1])) {
      faults = FE_DIVBYZERO;
    }
    anydml_tensor tensors[kMaxOperands + 1];
    std::transform(operands, operands + of.inputs + 1, tensors, [](const Operand& one) { return one.tensor; });
    if (large) {
      Part whole;
      whole.take(tensors, static_cast<std::size_t>(of.inputs) + 1);  // this succeeds, because the inputs were broadcast
      code = whole.run([&](const anydml_tensor* part) { return of.run(part); });
    } else {
      code = of.run(tensors);
    }
    if (code == ANYDML_OK && is_float_type(type)) {
      faults = faults_of(of.faults, operands, of.inputs);
    }
  };
  if (count >= kFewElements) {
    const GilReleased released;
    run();
  } else {
    run();
  }
  if (code != ANYDML_OK) {
    if (large || code == ANYDML_INTERRUPTED) {
      raise_last(code);  // an operand may already be partly overwritten
    }
    return not_implemented();  // the ufunc reports the error as NumPy would
  }
  if (given) {
    const nb::handle written = result;
    tell_written(library_of(result.ptr()), &written, 1);
  }
  of.warn(faults);
  return result;
}

// Handles a call in which at least one input is an array of NumPy's own type.
nb::object try_numpy(const Ufunc& of, const nb::handle* inputs, nb::handle out) {
  Operand operands[kMaxOperands + 1];
  PyArrayObject* first = nullptr;
  for (int i = 0; i < of.inputs; ++i) {
    if (PyArray_CheckExact(inputs[i].ptr())) {
      PyArrayObject* const array = as_array(inputs[i].ptr());
      if (!operands[i].take(array) || (first != nullptr && PyArray_TYPE(array) != PyArray_TYPE(first))) {
        return not_implemented();
      }
      first = first == nullptr ? array : first;
    }
  }
  const int numpy_type = PyArray_TYPE(first);
  const DataType type = type_of(numpy_type);
  if (!of.takes(type)) {
    return not_implemented();
  }
  for (int i = 0; i < of.inputs; ++i) {
    if (!PyArray_CheckExact(inputs[i].ptr()) && (!numpy_two || !operands[i].take_number(inputs[i].ptr(), type))) {
      return not_implemented();
    }
  }
  int rank = 0;
  npy_intp sizes[kMaxDimensions];
  if (!broadcast(operands, of.inputs, rank, sizes) || rank == 0) {
    return not_implemented();
  }
  nb::object result;
  if (out.is_none()) {
    // The result is packed in the order of the first operand with the same number of dimensions, or else in C order.
    int like = 0;
    while (like < of.inputs - 1 && operands[like].tensor.rank != rank) {
      ++like;
    }
    PyArrayObject* const array = as_array(inputs[like].ptr());  // numbers have no dimensions
    const bool same = PyArray_CompareLists(PyArray_DIMS(array), sizes, rank);
    const bool fortran = same && PyArray_IS_F_CONTIGUOUS(array) && !PyArray_IS_C_CONTIGUOUS(array);
    result = nb::steal(PyArray_EMPTY(rank, sizes, numpy_type, fortran ? 1 : 0));
    if (!result.is_valid()) {
      throw nb::python_error();
    }
  } else {
    PyArrayObject* given = as_array(out.ptr());
    if (!PyArray_CheckExact(out.ptr()) || PyArray_TYPE(given) != numpy_type || PyArray_NDIM(given) != rank ||
        !PyArray_CompareLists(PyArray_DIMS(given), sizes, rank) || !PyArray_ISWRITEABLE(given)) {
      return not_implemented();
    }
    result = nb::borrow(out);
  }
  if (!operands[of.inputs].take(as_array(result.ptr()))) {
    return not_implemented();
  }
  return run_whole(of, operands, PyArray_SIZE(as_array(result.ptr())), result, !out.is_none());
}

// Accepts a tensor of PyTorch's own type whose values are stored unchanged in CPU memory (no lazy negation) and that
// needs no gradient. Other tensors take the slow path, which reports errors.
bool take_tensor(DeviceOperand& one) {
  if (one.library == nullptr || !one.library->is_torch || one.library->is_subclass || !one.viewed ||
      one.device.type != dlpack::kCpu || dlpack::type_of(one.view.type) == DataType::unknown ||
      one.view.rank > kMaxDimensions || !(one.fresh || one.is_plain_torch())) {
    return false;
  }
  one.read_plain();
  return true;
}

// Handles a call without NumPy arrays. Its operands (the inputs, then out) have been located already.
nb::object try_torch(const Ufunc& of, DeviceCall& call) {
  bool is_tensor[kMaxOperands] = {};
  const DeviceOperand* first = nullptr;
  DataType type = DataType::unknown;
  for (int i = 0; i < of.inputs; ++i) {
    DeviceOperand& one = call.operand(static_cast<std::size_t>(i));
    is_tensor[i] = take_tensor(one);
    if (is_tensor[i]) {
      const auto its = static_cast<DataType>(one.operand.tensor.type);
      if (first != nullptr && its != type) {
        return not_implemented();
      }
      type = its;
      first = first == nullptr ? &one : first;
    }
  }
  if (first == nullptr || !of.takes(type)) {
    return not_implemented();
  }
  Operand operands[kMaxOperands + 1];
  for (int i = 0; i < of.inputs; ++i) {
    DeviceOperand& one = call.operand(static_cast<std::size_t>(i));
    if (!is_tensor[i] && (!numpy_two || !one.operand.take_number(one.given.ptr(), type))) {
      return not_implemented();
    }
    operands[i] = one.operand;
  }
  int rank = 0;
  npy_intp sizes[kMaxDimensions];
  if (!broadcast(operands, of.inputs, rank, sizes)) {
    return not_implemented();
  }
  const auto has_shape = [&](const DeviceOperand& one) {
    return one.operand.tensor.rank == rank && std::equal(sizes, sizes + rank, one.operand.sizes);
  };
  DeviceOperand& out = call.operand(static_cast<std::size_t>(of.inputs));
  nb::object result = nb::borrow(out.given);
  const bool given = !out.given.is_none();
  if (!given) {
    const DeviceOperand* like = first;
    for (int i = of.inputs - 1; i >= 0; --i) {
      const DeviceOperand& one = call.operand(static_cast<std::size_t>(i));
      like = is_tensor[i] && has_shape(one) ? &one : like;
    }
    result = has_shape(*like) ? in_python([&] { return like->library->empty_like(like->given); })
                              : call.new_array(*like, type, rank, sizes);
    out.fresh = true;
    out.locate(result);
  }
  if (!take_tensor(out) || static_cast<DataType>(out.operand.tensor.type) != type || !has_shape(out)) {
    return not_implemented();
  }
  operands[of.inputs] = out.operand;
  npy_intp count = 1;
  for (int i = 0; i < rank; ++i) {
    count *= sizes[i];
  }
  for (int i = 0; i <= of.inputs; ++i) {  // the copied tensors must point into these operands
    Operand& one = operands[i];
    one.tensor.sizes = one.sizes;
    one.tensor.strides = one.strides;
    one.tensor.data = i < of.inputs && !is_tensor[i] ? one.scalar : one.tensor.data;
  }
  return run_whole(of, operands, count, result, given);
}

// Returns the result of a cached call, or null if try_uncached must handle it.
nb::object run_cached(const Ufunc& of, const CachedCall& cached, const CallArguments& args) {
  int faults = 0;
  const nb::object result = cached.run_by(args, [&](void* const* memory) -> int {
    Operand operands[kMaxOperands + 1];
    for (int i = 0; i <= of.inputs; ++i) {
      operands[i] = cached.operands[static_cast<std::size_t>(i)];
      operands[i].tensor.sizes = operands[i].sizes;
      operands[i].tensor.strides = operands[i].strides;
      operands[i].tensor.data = memory[i];
    }
    const bool is_float = is_float_type(static_cast<DataType>(operands[of.inputs].tensor.type));
    const auto over = [&](const Operand& one) { return share_memory(operands[of.inputs], one); };
    if (is_float && cached.outputs[0].kind == CachedCall::Kind::given &&
        std::any_of(operands, operands + of.inputs, over)) {
      return ANYDML_INVALID_ARGUMENT;  // the output would overwrite the operands' NaNs
    }
    const auto run = [&] {
      if (of.faults == Faults::modulus && !is_float && any_zero(operands[1])) {
        faults = FE_DIVBYZERO;
      }
      const int code = cached.execute(memory);
      if (code == ANYDML_OK && is_float) {
        faults = faults_of(of.faults, operands, of.inputs);
      }
      return code;
    };
    if (cached.releases) {
      const GilReleased released;
      return run();
    }
    return run();
  });
  if (result.is_valid()) {
    of.warn(faults);
  }
  return result;
}

// Compiles and caches a call that succeeded.
[[gnu::noinline]] void add_to_cache(const Ufunc& of, const CallArguments& args, nb::handle result) {
  static const std::vector<std::vector<std::size_t>> all_inputs = {{0, 1}};
  auto cached = std::make_shared<CachedCall>();
  if (cached->compile(of.op.c_str(), Attributes(), args, result, all_inputs) && !cached->several &&
      std::ranges::all_of(cached->operands, [](const Operand& one) {
        return one.tensor.rank > 0 ? element_count(one.tensor) > 0 : true;
      })) {
    of.cache.add(args.key, std::move(cached));
  }
}

nb::object try_uncached(const Ufunc& of, const nb::handle* inputs, nb::handle out);

// Returns the result, or NotImplemented if the ufunc must handle the call.
nb::object try_fast(const Ufunc& of, const nb::handle* inputs, nb::handle out) {
  CallArguments args;
  const bool has_key = std::all_of(inputs, inputs + of.inputs,
                                   [&](nb::handle one) { return one.ptr() != Py_None && args.add_input(one.ptr()); }) &&
                       args.add_outs(out.ptr()) && args.count == static_cast<std::size_t>(of.inputs) + 1;
  if (has_key) {
    if (const CallCache::Entry cached = of.cache.find(args.key)) {
      if (nb::object result = run_cached(of, *cached, args); result.is_valid()) {
        return result;
      }
      return try_uncached(of, inputs, out);
    }
  }
  nb::object result = try_uncached(of, inputs, out);
  if (has_key && result.ptr() != Py_NotImplemented && of.cache.is_worth_caching(args.key)) {
    try_to_cache([&] { add_to_cache(of, args, result); });
  }
  return result;
}

bool requires_gradient(nb::handle tensor) {
  const nb::object answer = nb::steal(PyObject_GetAttr(tensor.ptr(), names().requires_grad));
  if (!answer.is_valid()) {
    PyErr_Clear();
  }
  return answer.ptr() == Py_True;
}

bool is_bfloat_tensor(nb::handle array) {
  const Library* library = library_of(array.ptr());
  const nb::object type =
      library != nullptr && library->is_torch ? nb::getattr(array, "dtype", nb::none()) : nb::none();
  return nb::cast<std::string>(nb::str(type)) == "torch.bfloat16";
}

// Handles a call that is not cached.
nb::object try_uncached(const Ufunc& of, const nb::handle* inputs, nb::handle out) {
  const nb::handle* const end = inputs + of.inputs;
  if (std::any_of(inputs, end, [](nb::handle one) { return PyArray_CheckExact(one.ptr()); })) {
    return try_numpy(of, inputs, out);
  }
  const auto is_for_torch = [](nb::handle array) {  // whether PyTorch must intercept the call
    const Library* library = library_of(array.ptr());
    return library != nullptr && library->is_torch &&
           (library->is_subclass || library->is_watched() || requires_gradient(array));
  };
  if (std::any_of(inputs, end, is_for_torch) || is_for_torch(out)) {
    return not_implemented();
  }
  DeviceCall call;
  if (!call.locate(inputs, static_cast<std::size_t>(of.inputs), &out, 1)) {
    return try_torch(of, call);
  }
  try {
    return call.run(of.op.c_str(), Attributes(), nb::none())[0];
  } catch (const nb::python_error&) {
    if (std::any_of(inputs, end, is_bfloat_tensor)) {
      return not_implemented();  // the slow path computes bfloat16 in float32
    }
    throw;
  }
}

// The arguments are the inputs, out, and the options of a ufunc: where, casting, order, dtype, subok, signature,
// device. If all options have their default values, the call does not need NumPy.
class FastUfunc final : public FastFunction {
 public:
  FastUfunc(const Ufunc& of, nb::object casting, nb::object order, nb::object slow_path)
      : FastFunction(std::move(slow_path)), of_(of), casting_(std::move(casting)), order_(std::move(order)) {}

  nb::object call(PyObject* const* values, std::size_t count) override {
    constexpr std::size_t kOptions = 7;
    const auto inputs = static_cast<std::size_t>(of_.inputs);
    check_count(of_.name, count, inputs + 1 + kOptions);
    PyObject* const* const options = values + inputs + 1;
    PyObject* const usual[kOptions] = {Py_True, casting_.ptr(), order_.ptr(), Py_None, Py_True, Py_None, Py_None};
    if (std::equal(usual, usual + kOptions, options)) {
      const nb::handle given[kMaxOperands] = {values[0], values[inputs - 1]};
      if (nb::object result = try_fast(of_, given, values[inputs]); result.ptr() != Py_NotImplemented) {
        return result;
      }
    }
    return call_slow_path(values, count);
  }

 private:
  const Ufunc& of_;
  nb::object casting_;
  nb::object order_;
};

}  // namespace

nb::object make_fast_ufunc(const Ufunc& of, nb::object casting, nb::object order, nb::object slow_path) {
  return make_callable(std::make_unique<FastUfunc>(of, std::move(casting), std::move(order), std::move(slow_path)));
}

}  // namespace anydml::python
