// SPDX-License-Identifier: MIT
// Functions of double, for which DirectML has no operators, and the table of everything that is computed on the host.
#include <cmath>
#include <numbers>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

double host_acos(double x) { return std::acos(x); }
double host_acosh(double x) { return std::acosh(x); }
double host_asin(double x) { return std::asin(x); }
double host_asinh(double x) { return std::asinh(x); }
double host_atan(double x) { return std::atan(x); }
double host_atanh(double x) { return std::atanh(x); }
double host_cos(double x) { return std::cos(x); }
double host_cosh(double x) { return std::cosh(x); }
double host_erf(double x) { return std::erf(x); }
double host_exp(double x) { return std::exp(x); }
double host_log(double x) { return std::log(x); }
double host_sin(double x) { return std::sin(x); }
double host_sinh(double x) { return std::sinh(x); }
double host_tan(double x) { return std::tan(x); }
double host_tanh(double x) { return std::tanh(x); }

double host_sigmoid(double x) {
  const double small = std::exp(-std::abs(x));  // the exponent is never positive, so nothing overflows
  return x < 0 ? small / (1 + small) : 1 / (1 + small);
}

// log(1 + exp(x)). The exponent is never positive here either.
double host_softplus(double x) {
  if (x == 0) {
    return std::numbers::ln2;
  }
  return larger(0.0, x) + std::log1p(std::exp(-std::abs(x)));
}

// Computes a function of each element.
template <class Function>
Array host_mapped(const Array& x, const Function& function) {
  const Array packed = x.packed();
  const auto from = packed.elements<double>();
  Array result = Array::empty(Kind::kDouble, x.shape());
  const auto to = writable_elements<double>(result);
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = function(from[i]);
  }
  return result;
}

template <class Function>
Compute host_mapping(const Function& function) {
  return [function](std::span<const Array> inputs) { return one(host_mapped(inputs[0], function)); };
}

template <double (*kFunction)(double)>
Compute host_function(const Node& /*node*/) {
  return host_mapping(kFunction);
}

Compute host_celu(const Node& node) {
  return host_mapping([alpha = node.number("alpha")](double x) {
    return larger(0.0, x) + smaller(0.0, alpha * std::expm1(x / alpha));
  });
}

Compute host_elu(const Node& node) {
  return host_mapping(
      [alpha = node.number("alpha")](double x) { return x < 0 ? alpha * std::expm1(smaller(x, 0.0)) : x; });
}

Compute host_selu(const Node& node) {
  return host_mapping([alpha = node.number("alpha"), gamma = node.number("gamma")](double x) {
    return gamma * (x > 0 ? x : alpha * std::expm1(smaller(x, 0.0)));
  });
}

Compute host_swish(const Node& node) {
  return host_mapping([alpha = node.number("alpha")](double x) { return x * host_sigmoid(alpha * x); });
}

Compute host_gelu(const Node& node) {
  if (node.text("approximate") == "tanh") {
    return host_mapping([](double x) {
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
    });
  }
  return host_mapping([](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
}

// ---- Along axes -----------------------------------------------------------------------------------------------------

// The softmax of `count` numbers, or its logarithm.
void host_softmax_of(const double* from, double* to, std::int64_t count, std::int64_t stride, bool is_logarithm) {
  double largest = from[0];
  for (std::int64_t i = 1; i < count; ++i) {
    largest = larger(largest, from[i * stride]);
  }
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i * stride] = std::exp(from[i * stride] - largest);
    total += to[i * stride];
  }
  const double logarithm = is_logarithm ? std::log(total) : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i * stride] = is_logarithm ? from[i * stride] - largest - logarithm : to[i * stride] / total;
  }
}

template <bool kIsLogarithm>
Compute host_softmax(const Node& node) {
  // Before opset 13, all axes from the given one count as one axis.
  return [given = node.integer("axis"), joins = node.since < 13](std::span<const Array> inputs) {
    const Array x = inputs[0].packed();
    const int axis = axis_of(given, x.rank());
    Array result = Array::empty(Kind::kDouble, x.shape());
    if (x.count() == 0) {
      if (!joins && x.size(axis) == 0) {
        fail("zero-size array to reduction operation maximum which has no identity");
      }
      return one(result);
    }
    std::int64_t inner = 1;
    for (int i = axis + 1; i < x.rank(); ++i) {
      inner *= x.size(i);
    }
    const std::int64_t count = joins ? x.size(axis) * inner : x.size(axis);
    const std::int64_t stride = joins ? 1 : inner;
    const double* from = x.elements<double>().data();
    double* to = writable_elements<double>(result).data();
    for (std::int64_t start = 0; start < x.count(); start += count * stride) {
      for (std::int64_t i = 0; i < stride; ++i) {
        host_softmax_of(from + start + i, to + start + i, count, stride, kIsLogarithm);
      }
    }
    return one(result);
  };
}

// Combines all elements that differ only in the given axes: result = combine(result, element).
template <class Combine>
std::vector<double> host_reduced(const Array& x, const Sizes& strides, std::size_t count, double initial,
                                 const Combine& combine) {
  std::vector<double> result(count, initial);
  Sizes index(x.shape().size(), 0);
  for (const double value : x.elements<double>()) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) {
      at += index[axis] * strides[axis];
    }
    double& total = result[static_cast<std::size_t>(at)];
    total = combine(total, value, static_cast<std::size_t>(at));
    advance(index, x.shape());
  }
  return result;
}

// The logarithm of a sum, or of a sum of exponentials.
Array host_log_sum(const Array& x, const std::vector<int>& axes, bool keeps, bool exponentiates) {
  Sizes kept = x.shape();
  for (const int axis : axes) {
    kept[static_cast<std::size_t>(axis)] = 1;
  }
  Sizes strides = packed_strides(kept);
  Sizes shape;
  std::vector<bool> is_reduced(kept.size(), false);
  for (const int axis : axes) {
    strides[static_cast<std::size_t>(axis)] = 0;
    is_reduced[static_cast<std::size_t>(axis)] = true;
  }
  for (std::size_t axis = 0; axis < kept.size(); ++axis) {
    if (keeps || !is_reduced[axis]) {
      shape.push_back(kept[axis]);
    }
  }
  Array result = Array::empty(Kind::kDouble, shape);
  const auto to = writable_elements<double>(result);
  const Array packed = x.packed();
  std::vector<double> largest(to.size(), 0);
  if (exponentiates) {
    largest = host_reduced(packed, strides, to.size(), -std::numeric_limits<double>::infinity(),
                           [](double total, double value, std::size_t) { return larger(total, value); });
    for (double& number : largest) {
      number = std::isfinite(number) ? number : 0;
    }
  }
  const std::vector<double> totals =
      host_reduced(packed, strides, to.size(), 0, [&](double total, double value, std::size_t at) {
        return total + (exponentiates ? std::exp(value - largest[at]) : value);
      });
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = exponentiates ? std::log(totals[i]) + largest[i] : std::log(totals[i]);
  }
  return result;
}

template <bool kExponentiates>
Compute host_log_sums(const Node& node) {
  return [given = node.integers("axes"), keeps = node.integer("keepdims", 1) != 0,
          is_noop = node.integer("noop_with_empty_axes") != 0](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array list = input(inputs, 1);
    const std::vector<std::int64_t> axes = list ? list.to_integers() : given;
    if (axes.empty() && is_noop) {
      return one(kExponentiates ? copy_of(x) : host_mapped(x, host_log));
    }
    const std::vector<int> found = axes.empty() ? all_axes(x.rank()) : axes_of(axes, x.rank());
    return one(host_log_sum(x, found, keeps, kExponentiates));
  };
}

std::vector<Kind> mel_weight_kinds(const Node& /*node*/) { return {Kind::kFloat}; }

// ---- The table ------------------------------------------------------------------------------------------------------

constexpr Row host_row(std::string_view op, Make make, std::string_view uses, KindSet kinds,
                       ResultKinds result = nullptr) {
  return {.op = op, .make = make, .uses = uses, .kinds = kinds, .result = result, .is_on_host = true};
}

constexpr Row doubles_row(std::string_view op, Make make) {
  return host_row(op, make, "a function of double", KindSet{Kind::kDouble});
}

constexpr KindSet kWideKinds{Kind::kDouble, Kind::kInt32, Kind::kInt64};
constexpr KindSet kProductKinds = kWideKinds | KindSet{Kind::kUint32, Kind::kUint64};

const Row kHostRows[] = {
    doubles_row("Acos", host_function<host_acos>),
    doubles_row("Acosh", host_function<host_acosh>),
    doubles_row("Asin", host_function<host_asin>),
    doubles_row("Asinh", host_function<host_asinh>),
    doubles_row("Atan", host_function<host_atan>),
    doubles_row("Atanh", host_function<host_atanh>),
    doubles_row("Celu", host_celu),
    doubles_row("Cos", host_function<host_cos>),
    doubles_row("Cosh", host_function<host_cosh>),
    host_row("DFT", host_dft, "a Fourier transform", kFloatKinds),
    host_row("Det", host_det, "a determinant", kFloatKinds),
    host_row("Einsum", host_einsum, "a sum of products", kNumberKinds),
    doubles_row("Elu", host_elu),
    doubles_row("Erf", host_function<host_erf>),
    doubles_row("Exp", host_function<host_exp>),
    doubles_row("Gelu", host_gelu),
    host_row("Gemm", host_gemm, "a product of double or of integers", kProductKinds),
    host_row("GridSample", host_grid_sample, "samples at positions given by data", KindSet{Kind::kDouble}),
    doubles_row("Log", host_function<host_log>),
    doubles_row("LogSoftmax", host_softmax<true>),
    host_row("MatMul", host_matmul, "a product of double or of integers", kProductKinds),
    host_row("MelWeightMatrix", host_mel_weights, "weights of mel bands", {}, mel_weight_kinds),
    host_row("NonMaxSuppression", host_non_max_suppression, "a selection of boxes", {}),
    host_row("Pow", host_power, "a power of double or of integers", kWideKinds),
    doubles_row("ReduceLogSum", host_log_sums<false>),
    doubles_row("ReduceLogSumExp", host_log_sums<true>),
    host_row("STFT", host_stft, "a Fourier transform of frames", kFloatKinds),
    host_row("ScatterElements", host_scatter_elements, "a scatter with a reduction", kNumberKinds),
    host_row("ScatterND", host_scatter_nd, "a scatter with a reduction", kNumberKinds),
    doubles_row("Selu", host_selu),
    doubles_row("Sigmoid", host_function<host_sigmoid>),
    doubles_row("Sin", host_function<host_sin>),
    doubles_row("Sinh", host_function<host_sinh>),
    doubles_row("Softmax", host_softmax<false>),
    doubles_row("Softplus", host_function<host_softplus>),
    doubles_row("Swish", host_swish),
    doubles_row("Tan", host_function<host_tan>),
    doubles_row("Tanh", host_function<host_tanh>),
    host_row("Unique", host_unique, "a set of elements", kNumberKinds),
};

}  // namespace

std::span<const Row> host_rows() { return kHostRows; }

Array floats_of(Kind kind, const Sizes& shape, std::span<const double> numbers) {
  Array result = Array::empty(kind, shape);
  const auto fill_with = [&](auto type) {
    using T = decltype(type);
    const auto to = writable_elements<T>(result);
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = rounded_number<T>(numbers[i]);
    }
  };
  if (kind == Kind::kFloat16) {
    fill_with(f16{});
  } else if (kind == Kind::kFloat) {
    fill_with(float{});
  } else {
    fill_with(double{});
  }
  return result;
}

}  // namespace anydml::onnx
