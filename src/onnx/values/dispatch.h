// SPDX-License-Identifier: MIT
// Runs operators over arrays, or records them in a graph if one of the inputs is a symbol.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "onnx/values/array.h"

namespace anydml::onnx {

// An activation that is a parameter of another operator: {"ACTIVATION_LINEAR", {{"Alpha", 1.0}, {"Beta", 0.0}}}.
struct Activation {
  const char* name;
  std::vector<std::pair<const char*, double>> numbers;
};

// An attribute of an operator, under its DirectML name. Texts must outlive the call.
struct Option {
  const char* name;
  std::variant<std::int64_t, double, const char*, std::vector<std::int64_t>, std::vector<double>,
               std::vector<Activation>, std::uint64_t>
      value;
};
using Options = std::vector<Option>;

// What the caller knows about an output; the rest is inferred. An optional output is created only if it is wanted.
struct Out {
  std::optional<Sizes> shape = std::nullopt;
  Kind kind = Kind::kUndefined;
  bool is_wanted = true;
};

// Runs or records an operator with one output: dispatch("REDUCE", {x}, {{"Function", "SUM"}, {"Axes", axes}}). An
// absent Array in the inputs is an absent tensor. bool arrays count as uint8, and the result is never bool.
[[nodiscard]] Array dispatch(const char* op, const Arrays& inputs, const Options& options = {}, const Out& out = {});
// The same for an operator with several outputs; one Out for each. Outputs that are not wanted are absent.
[[nodiscard]] Arrays dispatch_all(const char* op, const Arrays& inputs, const Options& options,
                                  const std::vector<Out>& outs);
// Runs an operator that writes into an array from Array::empty, or a view of it. It raises NotRecordable for symbols.
void dispatch_into(const char* op, const Arrays& inputs, const Options& options, const Array& out);

// ---- Common operators -----------------------------------------------------------------------------------------------

[[nodiscard]] inline Array add(const Array& a, const Array& b) { return dispatch("ELEMENT_WISE_ADD", {a, b}); }
[[nodiscard]] inline Array subtract(const Array& a, const Array& b) {
  return dispatch("ELEMENT_WISE_SUBTRACT", {a, b});
}
[[nodiscard]] inline Array multiply(const Array& a, const Array& b) {
  return dispatch("ELEMENT_WISE_MULTIPLY", {a, b});
}
[[nodiscard]] inline Array divide(const Array& a, const Array& b) { return dispatch("ELEMENT_WISE_DIVIDE", {a, b}); }
[[nodiscard]] inline Array identity(const Array& x) { return dispatch("ELEMENT_WISE_IDENTITY", {x}); }
// Converts as CAST does; returns the array itself if it has the type already.
[[nodiscard]] Array cast(const Array& x, Kind kind);
// Reduces axes, which stay with size 1.
[[nodiscard]] Array reduce(const char* function, const Array& x, const std::vector<std::int64_t>& axes);
// An array on the host with one value everywhere.
[[nodiscard]] Array fill(double value, const Sizes& shape, Kind kind);
// start + i * delta, as FILL_VALUE_SEQUENCE computes it, on the host.
[[nodiscard]] Array sequence(std::int64_t start, std::int64_t delta, std::int64_t count, Kind kind);
[[nodiscard]] Array sequence(double start, double delta, std::int64_t count, Kind kind);
// The elements of arrays, joined along an axis: on the host if none of them is a symbol.
[[nodiscard]] Array join(const Arrays& parts, int axis);
// Matrix products with the shapes of numpy.matmul. `multiply` receives matrices with equal leading dimensions and the
// shape of the result.
template <class Multiply>
[[nodiscard]] Array multiply_matrices(const Array& a, const Array& b, const Multiply& multiply);
// Prepares such a product: the operands with equal leading dimensions, the shape of their product, and the shape of the
// result, in which an added dimension of a vector is removed.
struct MatrixProduct {
  Array left, right;
  Sizes shape, result;
};
[[nodiscard]] MatrixProduct matrix_product(const Array& a, const Array& b);
template <class Multiply>
Array multiply_matrices(const Array& a, const Array& b, const Multiply& multiply) {
  const MatrixProduct product = matrix_product(a, b);
  const Array result = multiply(product.left, product.right, product.shape);
  return product.result == product.shape ? result : result.reshape(product.result);
}
// GEMM without transposition, alpha 1.
[[nodiscard]] Array gemm(const Array& left, const Array& right, const Sizes& shape);

// ---- Axes and sizes -------------------------------------------------------------------------------------------------

// Counts an axis from the front; raises Invalid if there is no such axis.
[[nodiscard]] int axis_of(std::int64_t axis, int rank, const char* what = "axis");
// The same for a list, in which no axis may occur twice.
[[nodiscard]] std::vector<int> axes_of(const std::vector<std::int64_t>& axes, int rank);
[[nodiscard]] std::vector<std::int64_t> as_int64(const std::vector<int>& numbers);
// 0, 1, ..., rank - 1.
[[nodiscard]] std::vector<int> all_axes(int rank);
// The numbers of a small integer tensor; a tensor without dimensions counts as a list of one. `what` is the name of the
// input in messages.
[[nodiscard]] std::vector<std::int64_t> list_of(const Array& array, const char* what);
// The same, and checks that they are sizes.
[[nodiscard]] Sizes sizes_of(const Array& array, const char* what);

}  // namespace anydml::onnx
