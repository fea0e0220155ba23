// SPDX-License-Identifier: MIT
// Powers, matrix products and determinants of types that DirectML's operators do not support. Products of integers
// wrap.
#include <algorithm>
#include <cmath>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

// ---- Powers ---------------------------------------------------------------------------------------------------------

template <class T>
T integer_power(T base, T exponent) {
  using Unsigned = std::make_unsigned_t<T>;
  if (exponent < 0) {
    fail("Integers to negative integer powers are not allowed.");
  }
  auto factor = static_cast<Unsigned>(base);
  Unsigned result = 1;
  for (auto left = static_cast<Unsigned>(exponent); left != 0; left >>= 1U) {
    if ((left & 1U) != 0) {
      result *= factor;
    }
    factor *= factor;
  }
  return static_cast<T>(result);
}

template <class T>
Array integer_powers(const Array& x, const Array& exponent) {
  Array result = Array::empty(x.kind(), x.shape());
  const auto to = writable_elements<T>(result);
  const auto from = x.elements<T>();
  const std::vector<std::int64_t> exponents = exponent.to_integers();
  const bool is_negative = exponent.kind() != Kind::kUint64 &&
                           std::any_of(exponents.begin(), exponents.end(), [](std::int64_t one) { return one < 0; });
  // Negative and fractional powers are computed in double, and truncated.
  if (is_float(exponent.kind()) || is_negative) {
    const std::vector<double> numbers = exponent.to_numbers();
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = truncated<T>(std::pow(static_cast<double>(from[i]), numbers[i]));
    }
    return result;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = integer_power<T>(from[i], static_cast<T>(exponents[i]));
  }
  return result;
}

Array double_powers(const Array& x, const Array& exponent) {
  Array result = Array::empty(Kind::kDouble, x.shape());
  const auto to = writable_elements<double>(result);
  const auto from = x.elements<double>();
  const std::vector<double> exponents = exponent.to_numbers();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = std::pow(from[i], exponents[i]);
  }
  return result;
}

// ---- Matrix products ------------------------------------------------------------------------------------------------

constexpr std::int64_t kProductRows = 4;        // rows that share each row of the right matrix
constexpr std::int64_t kProductColumns = 1024;  // columns that stay in the first-level cache

// A few rows and columns of a product. Each element is a sum in the order of the left matrix's columns.
template <class T>
void multiply_block(const T* left, const T* right, T* result, std::int64_t rows, std::int64_t inner,
                    std::int64_t columns, std::int64_t stride) {
  for (std::int64_t k = 0; k < inner; ++k) {
    const T* line = right + k * stride;
    for (std::int64_t i = 0; i < rows; ++i) {
      const T factor = left[i * inner + k];
      T* to = result + i * stride;
      for (std::int64_t j = 0; j < columns; ++j) {
        to[j] += factor * line[j];
      }
    }
  }
}

template <class T>
Array product_of(const Array& a, const Array& b) {
  // Unsigned arithmetic wraps.
  using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::common_type<T>>::type;
  return multiply_matrices(a, b, [](const Array& left, const Array& right, const Sizes& shape) {
    Array result = Array::zeros(left.kind(), shape);
    const std::int64_t rows = shape[shape.size() - 2];
    const std::int64_t columns = shape.back();
    const std::int64_t inner = left.shape().back();
    const Array packed_left = left.packed();
    const Array packed_right = right.packed();
    const auto* x = static_cast<const Wrapping*>(packed_left.data());
    const auto* y = static_cast<const Wrapping*>(packed_right.data());
    auto* to = static_cast<Wrapping*>(result.writable());
    const std::int64_t matrices = result.count() == 0 ? 0 : result.count() / (rows * columns);
    for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
      for (std::int64_t j = 0; j < columns; j += kProductColumns) {
        const std::int64_t width = std::min(kProductColumns, columns - j);
        for (std::int64_t i = 0; i < rows; i += kProductRows) {
          multiply_block(x + (matrix * rows + i) * inner, y + matrix * inner * columns + j,
                         to + (matrix * rows + i) * columns + j, std::min(kProductRows, rows - i), inner, width,
                         columns);
        }
      }
    }
    return result;
  });
}

// Calls a function with a value of the C++ type: use(T{}).
template <class Use>
Array with_product_type(Kind kind, const Use& use) {
  switch (kind) {
    case Kind::kDouble:
      return use(double{});
    case Kind::kInt32:
      return use(std::int32_t{});
    case Kind::kInt64:
      return use(std::int64_t{});
    case Kind::kUint32:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

// A multiple of an array. Integers are multiplied in double, and truncated.
template <class T>
Array scaled_product(const Array& x, double factor) {
  if (factor == 1) {
    return x;
  }
  const Array packed = x.packed();
  Array result = Array::empty(x.kind(), x.shape());
  const auto from = packed.elements<T>();
  const auto to = writable_elements<T>(result);
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double number = factor * static_cast<double>(from[i]);
    if constexpr (std::is_integral_v<T>) {
      to[i] = truncated<T>(number);
    } else {
      to[i] = number;
    }
  }
  return result;
}

template <class T>
Array sum_of(const Array& a, const Array& b) {
  using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::common_type<T>>::type;
  const Sizes shape = broadcast_shapes(a.shape(), b.shape());
  const Array left = a.broadcast_to(shape).packed();
  const Array right = b.broadcast_to(shape).packed();
  Array result = Array::empty(a.kind(), shape);
  const auto to = writable_elements<T>(result);
  const auto x = left.elements<T>();
  const auto y = right.elements<T>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<T>(static_cast<Wrapping>(x[i]) + static_cast<Wrapping>(y[i]));
  }
  return result;
}

// ---- Determinants ---------------------------------------------------------------------------------------------------

// The determinant of a square matrix, by elimination with the largest pivot of each column. It overwrites the matrix.
double determinant_of(std::span<double> matrix, std::size_t size) {
  double result = 1;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < size; ++i) {
      best = std::abs(matrix[i * size + k]) > std::abs(matrix[best * size + k]) ? i : best;
    }
    if (best != k) {
      std::swap_ranges(matrix.begin() + static_cast<std::ptrdiff_t>(k * size),
                       matrix.begin() + static_cast<std::ptrdiff_t>((k + 1) * size),
                       matrix.begin() + static_cast<std::ptrdiff_t>(best * size));
      result = -result;
    }
    const double pivot = matrix[k * size + k];
    result *= pivot;
    if (pivot == 0) {
      return 0;
    }
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = matrix[i * size + k] / pivot;
      for (std::size_t j = k + 1; j < size; ++j) {
        matrix[i * size + j] -= factor * matrix[k * size + j];
      }
    }
  }
  return result;
}

}  // namespace

Compute host_power(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    const Sizes shape = broadcast_shapes(inputs[0].shape(), inputs[1].shape());
    const Array x = inputs[0].broadcast_to(shape).packed();
    const Array exponent = inputs[1].broadcast_to(shape);
    return one(x.kind() == Kind::kDouble  ? double_powers(x, exponent)
               : x.kind() == Kind::kInt32 ? integer_powers<std::int32_t>(x, exponent)
                                          : integer_powers<std::int64_t>(x, exponent));
  };
}

Compute host_matmul(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    return one(with_product_type(inputs[0].kind(),
                                 [&](auto type) { return product_of<decltype(type)>(inputs[0], inputs[1]); }));
  };
}

Compute host_gemm(const Node& node) {
  return [alpha = node.number("alpha", 1), beta = node.number("beta", 1), turns_a = node.integer("transA") != 0,
          turns_b = node.integer("transB") != 0](std::span<const Array> inputs) {
    const Array a = turns_a ? inputs[0].transpose() : inputs[0];
    const Array b = turns_b ? inputs[1].transpose() : inputs[1];
    const Array c = input(inputs, 2);
    return one(with_product_type(a.kind(), [&](auto type) {
      using T = decltype(type);
      const Array y = scaled_product<T>(product_of<T>(a, b), alpha);
      return c ? sum_of<T>(y, scaled_product<T>(c, beta)) : y;
    }));
  };
}

Compute host_det(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() < 2 || x.size(x.rank() - 1) != x.size(x.rank() - 2)) {
      fail("the tensor has the shape {}; expected square matrices", listed(x.shape()));
    }
    const auto size = static_cast<std::size_t>(x.size(x.rank() - 1));
    const Sizes shape(x.shape().begin(), x.shape().end() - 2);
    Array result = Array::empty(x.kind(), shape);
    std::vector<double> numbers = x.to_numbers();
    with_element_type(x.kind(), [&](auto type) {
      using T = decltype(type);
      const auto to = writable_elements<T>(result);
      for (std::size_t i = 0; i < to.size(); ++i) {
        const double found = determinant_of(std::span(numbers).subspan(i * size * size, size * size), size);
        to[i] = rounded_number<T>(found);
      }
    });
    return one(result);
  };
}

}  // namespace anydml::onnx
