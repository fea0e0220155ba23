// SPDX-License-Identifier: MIT
// Nodes that are matrix products.
#include <algorithm>
#include <set>

#include "onnx/rows/einsum.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr KindSet kByteKinds{Kind::kInt8, Kind::kUint8};

// ---- Gemm -----------------------------------------------------------------------------------------------------------

struct GemmOptions {
  bool is_a_transposed, is_b_transposed;
  double alpha, beta;
};

// The rows and columns of a matrix.
std::pair<std::int64_t, std::int64_t> gemm_sizes(const Array& matrix, const char* name, bool is_transposed) {
  if (matrix.rank() != 2) {
    fail("{} has the sizes {}; expected a matrix", name, listed(matrix.shape()));
  }
  return is_transposed ? std::pair(matrix.size(1), matrix.size(0)) : std::pair(matrix.size(0), matrix.size(1));
}

// alpha * A * B + beta * C. A and B may be transposed, and C is broadcast to the result.
Array gemm_node(const GemmOptions& options, const Array& a, const Array& b, const Array& c) {
  const auto [rows, depth] = gemm_sizes(a, "A", options.is_a_transposed);
  const auto [other_depth, columns] = gemm_sizes(b, "B", options.is_b_transposed);
  if (depth != other_depth) {
    fail("A has the sizes {} and B {}; expected {} rows of B, as many as A has columns", listed(a.shape()),
         listed(b.shape()), depth);
  }
  const Sizes shape{rows, columns};
  return dispatch("GEMM", {a, b, c ? c.broadcast_to(shape) : c},
                  {{"TransA", options.is_a_transposed ? "TRANSPOSE" : "NONE"},
                   {"TransB", options.is_b_transposed ? "TRANSPOSE" : "NONE"},
                   {"Alpha", options.alpha},
                   {"Beta", options.beta}},
                  {shape});
}

Compute make_gemm(const Node& node) {
  check_choice(node, "transA", {std::int64_t{0}, std::int64_t{1}});
  check_choice(node, "transB", {std::int64_t{0}, std::int64_t{1}});
  const GemmOptions options{node.integer("transA") != 0, node.integer("transB") != 0, node.number("alpha"),
                            node.number("beta")};
  return [options](std::span<const Array> inputs) {
    return one(gemm_node(options, inputs[0], inputs[1], input(inputs, 2)));
  };
}

Compute make_matmul(const Node&) {
  return [](std::span<const Array> inputs) {
    return one(multiply_matrices(inputs[0], inputs[1], [](const Array& left, const Array& right, const Sizes& shape) {
      return gemm(left, right, shape);
    }));
  };
}

// ---- Quantized products ---------------------------------------------------------------------------------------------

// A scale or a zero point in the form that the operators accept: one number, or one for each row or column. `side` is
// [rows, 1] or [1, columns].
Array for_side(const Array& value, const Sizes& side, const char* what) {
  if (!value) {
    return value;
  }
  if (value.count() == 1) {
    return value.reshape({1, 1});
  }
  const std::int64_t count = std::max(side[0], side[1]);
  const bool ends_with_side = value.rank() >= 2 && Sizes(value.shape().end() - 2, value.shape().end()) == side;
  if (value.shape() == Sizes{count} || (ends_with_side && value.count() == count)) {
    return value.reshape(side);
  }
  fail("{} has the shape {}; expected one number, or {}", what, listed(value.shape()), listed(side));
}

Array for_rows(const Array& value, const Sizes& shape, const char* what) {
  return for_side(value, {shape[shape.size() - 2], 1}, what);
}

Array for_columns(const Array& value, const Sizes& shape, const char* what) {
  return for_side(value, {1, shape.back()}, what);
}

// Sums the products of the differences from the zero points. The sums wrap in int32.
Compute make_matmul_integer(const Node&) {
  return [](std::span<const Array> inputs) {
    const Array a_zero = input(inputs, 2);
    const Array b_zero = input(inputs, 3);
    return one(multiply_matrices(inputs[0], inputs[1], [&](const Array& left, const Array& right, const Sizes& shape) {
      return dispatch(
          "MATRIX_MULTIPLY_INTEGER",
          {left, for_rows(a_zero, shape, "a_zero_point"), right, for_columns(b_zero, shape, "b_zero_point")}, {},
          {shape, Kind::kInt32});
    }));
  };
}

Compute make_quantized_matmul(const Node& node) {
  std::set<std::string> scales;  // sorted by name
  for (const std::size_t position : {1U, 4U, 6U}) {
    scales.emplace(kind_name(node.kinds[position]));
  }
  if (scales != std::set<std::string>{"float"}) {
    refuse(node, "with scales of " + joined({scales.begin(), scales.end()}), "DirectML's scales are float");
  }
  return [](std::span<const Array> inputs) {
    const Array &a_scale = inputs[1], &a_zero = inputs[2], &b = inputs[3], &b_scale = inputs[4], &b_zero = inputs[5];
    const Array &y_scale = inputs[6], &y_zero = inputs[7];
    return one(multiply_matrices(inputs[0], b, [&](const Array& left, const Array& right, const Sizes& shape) {
      return dispatch("QUANTIZED_LINEAR_MATRIX_MULTIPLY",
                      {left, for_rows(a_scale, shape, "a_scale"), for_rows(a_zero, shape, "a_zero_point"), right,
                       for_columns(b_scale, shape, "b_scale"), for_columns(b_zero, shape, "b_zero_point"),
                       for_rows(y_scale, shape, "y_scale"), for_rows(y_zero, shape, "y_zero_point")},
                      {}, {shape});
    }));
  };
}

constexpr Row kProductRows[] = {
    {"Einsum", 1, 0, make_einsum, "GEMM REDUCE IDENTITY", kRoundedKinds},
    {"Gemm", 1, 0, make_gemm, "GEMM", kRoundedKinds},
    {"MatMul", 1, 0, make_matmul, "GEMM", kRoundedKinds},
    {"MatMulInteger", 1, 0, make_matmul_integer, "MATRIX_MULTIPLY_INTEGER", kByteKinds},
    {"QLinearMatMul", 1, 0, make_quantized_matmul, "QUANTIZED_LINEAR_MATRIX_MULTIPLY", kByteKinds},
};

}  // namespace

std::span<const Row> product_rows() { return kProductRows; }

}  // namespace anydml::onnx
