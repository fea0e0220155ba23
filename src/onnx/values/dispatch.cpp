// SPDX-License-Identifier: MIT
#include "onnx/values/dispatch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "onnx/values/call.h"
#include "onnx/values/few.h"
#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

Recorder* recorder_of(const Arrays& inputs) {
  for (const Array& one : inputs) {
    if (one && one.is_symbol()) {
      return Recorder::of(one);
    }
  }
  return nullptr;
}

// Inputs as DirectML's operators accept them.
Arrays plain_inputs(const Arrays& inputs) {
  Arrays result;
  result.reserve(inputs.size());
  for (const Array& one : inputs) {
    if (one && one.rank() > kMaxRank) {
      fail("a tensor has {} dimensions; anydml supports up to {}", one.rank(), kMaxRank);
    }
    result.push_back(one ? one.plain() : Array());
  }
  return result;
}

Arrays run_now(const char* op, const Arrays& inputs, const Options& options, const std::vector<Out>& outs) {
  Call call(op, inputs, options);
  const anydml_operator_info* const info = anydml_find_operator(op);
  const bool keeps_elements = info != nullptr && info->keeps_elements != 0;
  Arrays results;
  std::vector<anydml_tensor> tensors;
  for (const OutputForm& form : call.infer(outs)) {
    if (form.kind == Kind::kUndefined) {
      results.emplace_back();
      tensors.push_back({ANYDML_NONE, 0, nullptr, nullptr, nullptr});
      continue;
    }
    results.push_back(keeps_elements ? Array::zeros(form.kind, form.shape) : Array::empty(form.kind, form.shape));
    tensors.push_back(tensor_of(results.back()));
  }
  check_status(anydml_run(nullptr, op, call.tensors().data(), call.tensors().size(), tensors.data(), tensors.size(),
                          call.attributes().data(), call.attributes().size()));
  return results;
}

}  // namespace

Arrays dispatch_all(const char* op, const Arrays& inputs, const Options& options, const std::vector<Out>& outs) {
  const Arrays plain = plain_inputs(inputs);
  if (Recorder* const recorder = recorder_of(plain); recorder != nullptr) {
    return recorder->add(op, plain, options, outs);
  }
  return run_now(op, plain, options, outs);
}

Array dispatch(const char* op, const Arrays& inputs, const Options& options, const Out& out) {
  if (auto few = computed_from_few(op, inputs, options, out); few.has_value()) {
    return *std::move(few);
  }
  return std::move(dispatch_all(op, inputs, options, {out}).front());
}

void dispatch_into(const char* op, const Arrays& inputs, const Options& options, const Array& out) {
  const Arrays plain = plain_inputs(inputs);
  if (recorder_of(plain) != nullptr || out.is_symbol()) {
    throw NotRecordable("a graph cannot write into a part of a value");
  }
  const Call call(op, plain, options);
  const Array target = out.plain();
  const anydml_tensor tensor = tensor_of(target);
  check_status(anydml_run(nullptr, op, call.tensors().data(), call.tensors().size(), &tensor, 1,
                          call.attributes().data(), call.attributes().size()));
}

Array cast(const Array& x, Kind kind) {
  return x.kind() == kind ? x : dispatch("CAST", {x}, {}, {.shape = x.shape(), .kind = kind});
}

Array reduce(const char* function, const Array& x, const std::vector<std::int64_t>& axes) {
  return dispatch("REDUCE", {x}, {{"Function", function}, {"Axes", axes}});
}

Array fill(double value, const Sizes& shape, Kind kind) {
  const Array number = Array::scalar(kind, value);
  Array result = Array::empty(kind, shape);
  const std::size_t item = item_size(kind);
  auto* const to = static_cast<std::byte*>(result.writable());
  for (std::size_t i = 0; i < static_cast<std::size_t>(result.count()); ++i) {
    std::memcpy(to + i * item, number.data(), item);
  }
  return result;
}

Array sequence(std::int64_t start, std::int64_t delta, std::int64_t count, Kind kind) {
  return dispatch("FILL_VALUE_SEQUENCE", {}, {{"ValueStart", start}, {"ValueDelta", delta}},
                  {.shape = Sizes{count}, .kind = kind});
}

Array sequence(double start, double delta, std::int64_t count, Kind kind) {
  return dispatch("FILL_VALUE_SEQUENCE", {}, {{"ValueStart", start}, {"ValueDelta", delta}},
                  {.shape = Sizes{count}, .kind = kind});
}

Array join(const Arrays& parts, int axis) {
  Sizes shape = parts.front().shape();
  std::int64_t& joined_size = shape[static_cast<std::size_t>(axis)];
  joined_size = 0;
  bool has_symbols = false;
  for (const Array& one : parts) {
    joined_size += one.size(axis);
    has_symbols = has_symbols || one.is_symbol();
  }
  const Kind kind = parts.front().kind();
  if (has_symbols) {
    return dispatch("JOIN", parts, {{"Axis", std::int64_t{axis}}},
                    {.shape = shape, .kind = kind == Kind::kBool ? Kind::kUint8 : kind});
  }
  Array result = Array::empty(kind, shape);
  const std::int64_t outer = product(std::span(shape).first(static_cast<std::size_t>(axis)));
  const auto inner = static_cast<std::size_t>(product(std::span(shape).subspan(static_cast<std::size_t>(axis) + 1)));
  auto* to = static_cast<std::byte*>(result.writable());
  Arrays packed;
  for (const Array& one : parts) {
    packed.push_back(one.packed());
  }
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const Array& one : packed) {
      const std::size_t bytes = static_cast<std::size_t>(one.size(axis)) * inner * item_size(kind);
      if (bytes != 0) {
        std::memcpy(to, static_cast<const std::byte*>(one.data()) + static_cast<std::size_t>(row) * bytes, bytes);
        to += bytes;
      }
    }
  }
  // The joined strings refer to characters of the parts.
  return kind == Kind::kString ? Array::strings(shape, result.elements<std::string_view>()) : result;
}

// ---- Products -------------------------------------------------------------------------------------------------------

namespace {

Array repeated_matrices(const Array& array, const Sizes& shape) {
  if (array.shape() == shape) {
    return array;
  }
  const std::size_t more = shape.size() - array.shape().size();
  const bool adds_ones = std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(more),
                                     [](std::int64_t size) { return size == 1; });
  if (adds_ones &&
      std::equal(array.shape().begin(), array.shape().end(), shape.begin() + static_cast<std::ptrdiff_t>(more))) {
    return array.reshape(shape);
  }
  return array.broadcast_to(shape);
}

Sizes without_last(const Sizes& shape, std::ptrdiff_t count) { return {shape.begin(), shape.end() - count}; }

}  // namespace

MatrixProduct matrix_product(const Array& a, const Array& b) {
  if (a.rank() == b.rank() && a.rank() > 1 && without_last(a.shape(), 2) == without_last(b.shape(), 2) &&
      a.shape().back() == b.size(b.rank() - 2)) {
    Sizes shape = without_last(a.shape(), 1);
    shape.push_back(b.shape().back());
    return {a, b, shape, shape};
  }
  if (a.rank() == 0 || b.rank() == 0) {
    fail("matmul: {} has no dimensions; expected a matrix or a vector", a.rank() == 0 ? "a" : "b");
  }
  const Array left = a.rank() == 1 ? a.reshape({1, a.count()}) : a;
  const Array right = b.rank() == 1 ? b.reshape({b.count(), 1}) : b;
  if (left.shape().back() != right.size(right.rank() - 2)) {
    fail("matmul: a has the shape {} and b {}; expected {} rows of b, as many as a has columns", listed(a.shape()),
         listed(b.shape()), left.shape().back());
  }
  const Sizes batch = broadcast_shapes(without_last(left.shape(), 2), without_last(right.shape(), 2));
  const auto extended = [&batch](const Array& x) {
    Sizes shape = batch;
    shape.insert(shape.end(), x.shape().end() - 2, x.shape().end());
    return repeated_matrices(x, shape);
  };
  MatrixProduct result{extended(left), extended(right), batch, batch};
  const std::int64_t rows = left.size(left.rank() - 2);
  const std::int64_t columns = right.shape().back();
  result.shape.insert(result.shape.end(), {rows, columns});
  if (a.rank() > 1) {
    result.result.push_back(rows);
  }
  if (b.rank() > 1) {
    result.result.push_back(columns);
  }
  return result;
}

Array gemm(const Array& left, const Array& right, const Sizes& shape) {
  return dispatch("GEMM", {left, right, Array()},
                  {{"TransA", "NONE"}, {"TransB", "NONE"}, {"Alpha", 1.0}, {"Beta", 1.0}},
                  {.shape = shape, .kind = left.kind()});
}

// ---- Axes and sizes -------------------------------------------------------------------------------------------------

int axis_of(std::int64_t axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank) {
    fail("{} is {}, but the tensor has {} dimensions", what, axis, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> axes_of(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<int> found;
  std::set<int> seen;
  for (const std::int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      fail("axes is {}: an axis is {}, but the tensor has {} dimensions", listed(axes), axis, rank);
    }
    found.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    if (!seen.insert(found.back()).second) {
      fail("axes is {}, but one of them occurs twice", listed(axes));
    }
  }
  return found;
}

std::vector<std::int64_t> as_int64(const std::vector<int>& numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<int> all_axes(int rank) {
  std::vector<int> axes;
  for (int axis = 0; axis < rank; ++axis) {
    axes.push_back(axis);
  }
  return axes;
}

std::vector<std::int64_t> list_of(const Array& array, const char* what) {
  if (array.rank() > 1) {
    fail("{} must be a list, but has the shape {}", what, listed(array.shape()));
  }
  return array.to_integers();
}

Sizes sizes_of(const Array& array, const char* what) {
  Sizes sizes = list_of(array, what);
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; })) {
    fail("{} is {}; expected sizes of 0 or more", what, listed(sizes));
  }
  return sizes;
}

}  // namespace anydml::onnx
