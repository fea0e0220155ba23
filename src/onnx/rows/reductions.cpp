// SPDX-License-Identifier: MIT
// Nodes that reduce axes or compute along an axis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr int kLastFlatRows = 12;     // Softmax and others: later opsets compute along one axis
constexpr int kLastKAsAttribute = 9;  // TopK: K is an input in later opsets

// ---- Reduce nodes ---------------------------------------------------------------------------------------------------

struct Reduction {
  std::string_view op;
  const char* function;  // of REDUCE
  // The result of reducing no elements, as ONNX defines it. Max and Min have other results for integers.
  double of_nothing;
};

constexpr double kReduceInfinity = std::numeric_limits<double>::infinity();
// ONNX leaves the mean of no elements undefined; it is NaN, as in NumPy.
constexpr double kReduceNan = std::numeric_limits<double>::quiet_NaN();

constexpr Reduction kReduceAverage{"ReduceMean", "AVERAGE", kReduceNan};
constexpr Reduction kReduceMax{"ReduceMax", "MAX", -kReduceInfinity};
constexpr Reduction kReductions[] = {
    {"ReduceL1", "L1", 0},
    {"ReduceL2", "L2", 0},
    {"ReduceLogSum", "LOG_SUM", -kReduceInfinity},
    {"ReduceLogSumExp", "LOG_SUM_EXP", -kReduceInfinity},
    kReduceMax,
    kReduceAverage,
    {"ReduceMin", "MIN", kReduceInfinity},
    {"ReduceProd", "MULTIPLY", 1},
    {"ReduceSum", "SUM", 0},
    {"ReduceSumSquare", "SUM_SQUARE", 0},
};

bool is_reduction(const Reduction& reduction, std::string_view function) { return reduction.function == function; }

// The result of reducing no elements: one number everywhere.
Array reduced_nothing(const Reduction& reduction, Kind kind, const Sizes& shape) {
  if (is_float(kind) || std::isfinite(reduction.of_nothing)) {
    return fill(reduction.of_nothing, shape, kind);
  }
  if (is_reduction(reduction, "AVERAGE")) {
    fail("the mean of no integers is undefined");
  }
  const bool is_max = is_reduction(reduction, "MAX");
  if (kind == Kind::kBool) {
    return fill(is_max ? 0 : 1, shape, kind);
  }
  const IntegerLimits limits = integer_limits(kind);
  const std::int64_t limit = is_max ? limits.min : static_cast<std::int64_t>(limits.max);
  return Array::scalar(kind, limit).broadcast_to(shape).packed();  // `fill` would round a limit of 64 bits
}

// Reduces axes, which stay with size 1. `shape` is the shape of the result.
Array reduced(const Reduction& reduction, const Array& x, const std::vector<std::int64_t>& axes, const Sizes& shape) {
  const std::int64_t results = product(shape);
  if (results == 0) {
    return Array::empty(x.kind(), shape);
  }
  if (x.count() == 0) {
    return reduced_nothing(reduction, x.kind(), shape);
  }
  if (!is_float(x.kind()) && is_reduction(reduction, "AVERAGE")) {  // the wrapped sum, divided with truncation
    const Array sum = reduce("SUM", x, axes);
    return divide(sum, Array::scalar(x.kind(), x.count() / results));
  }
  if (!is_float(x.kind()) && is_reduction(reduction, "L2")) {  // the root of the sum modulo 2^64, truncated
    const Array total = reduce("SUM_SQUARE", cast(x, Kind::kUint64), axes);
    return cast(dispatch("ELEMENT_WISE_SQRT", {cast(total, Kind::kDouble)}), x.kind());
  }
  return reduce(reduction.function, x, axes);
}

struct ReductionOptions {
  bool keeps_axes;                 // with size 1
  bool is_noop;                    // whether an empty list of axes means none instead of all
  std::vector<std::int64_t> axes;  // the attribute, before axes became an input
};

Array reduced_by_node(const Reduction& reduction, const ReductionOptions& options, const Array& x, const Array& given) {
  const std::vector<std::int64_t> listed_axes = given ? list_of(given, "axes") : options.axes;
  std::vector<int> axes;
  if (!listed_axes.empty()) {
    axes = axes_of(listed_axes, x.rank());
  } else if (!options.is_noop) {
    axes = all_axes(x.rank());
  }
  if (axes.empty()) {  // each element is reduced separately
    return reduced(reduction, x.reshape({x.count(), 1}), {1}, {x.count(), 1}).reshape(x.shape());
  }
  std::vector<bool> is_reduced(static_cast<std::size_t>(x.rank()), false);
  for (const int axis : axes) {
    is_reduced[static_cast<std::size_t>(axis)] = true;
  }
  Sizes kept, left;
  for (std::size_t i = 0; i < is_reduced.size(); ++i) {
    kept.push_back(is_reduced[i] ? 1 : x.shape()[i]);
    if (!is_reduced[i]) {
      left.push_back(x.shape()[i]);
    }
  }
  return reduced(reduction, x, as_int64(axes), kept).reshape(options.keeps_axes ? kept : left);
}

Compute make_reduction(const Node& node) {
  const auto* reduction = std::find_if(std::begin(kReductions), std::end(kReductions),
                                       [&node](const Reduction& each) { return each.op == node.op; });
  const ReductionOptions options{node.integer("keepdims") != 0, node.integer("noop_with_empty_axes") != 0,
                                 node.integers("axes")};
  return [reduction, options](std::span<const Array> inputs) {
    return one(reduced_by_node(*reduction, options, inputs[0], input(inputs, 1)));
  };
}

// ---- GlobalAveragePool and GlobalMaxPool ----------------------------------------------------------------------------

// Reduces all axes except the batch and channel axes.
Array pooled_globally(const Reduction& reduction, const Array& x) {
  if (x.rank() < 2) {
    fail("the tensor has {} dimensions; expected at least a batch and channels", x.rank());
  }
  if (x.rank() == 2) {
    return identity(x);
  }
  std::vector<std::int64_t> axes;
  Sizes shape = x.shape();
  for (int axis = 2; axis < x.rank(); ++axis) {
    axes.push_back(axis);
    shape[static_cast<std::size_t>(axis)] = 1;
  }
  return reduced(reduction, x, axes, shape);
}

Compute make_global_average_pool(const Node&) {
  return [](std::span<const Array> inputs) { return one(pooled_globally(kReduceAverage, inputs[0])); };
}

Compute make_global_max_pool(const Node&) {
  return [](std::span<const Array> inputs) { return one(pooled_globally(kReduceMax, inputs[0])); };
}

// ---- ArgMax, ArgMin and TopK ----------------------------------------------------------------------------------------

const char* reduction_direction(bool is_decreasing) { return is_decreasing ? "DECREASING" : "INCREASING"; }

Sizes without_reduced_axis(Sizes shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

Compute make_extreme_index(const Node& node) {
  const char* dispatched = node.op == "ArgMax" ? "ARGMAX" : "ARGMIN";
  const char* direction = reduction_direction(node.integer("select_last_index") != 0);
  const bool keeps_axis = node.integer("keepdims") != 0;
  return [dispatched, direction, keeps_axis, given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given, x.rank());
    if (x.size(axis) == 0) {
      fail("axis {} has no elements", axis);
    }
    const Array result =
        dispatch(dispatched, {x}, {{"Axes", std::vector<std::int64_t>{axis}}, {"AxisDirection", direction}},
                 {std::nullopt, Kind::kInt64});
    return one(keeps_axis ? result : result.reshape(without_reduced_axis(x.shape(), axis)));
  };
}

// The largest or smallest elements along an axis and their indices, sorted. Unsorted results may have any order, so
// they are also sorted.
Arrays top_k_of(const Array& x, std::int64_t given_axis, const std::vector<std::int64_t>& counts,
                const char* direction) {
  const int axis = axis_of(given_axis, x.rank());
  if (counts.size() != 1 || counts[0] < 0 || counts[0] > x.size(axis)) {
    fail("K is {}, but axis {} has {} elements", listed(counts), axis, x.size(axis));
  }
  Sizes shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = counts[0];
  if (product(shape) == 0) {
    return {Array::empty(x.kind(), shape), Array::empty(Kind::kInt64, shape)};
  }
  return dispatch_all("TOP_K1", {x}, {{"Axis", std::int64_t{axis}}, {"K", counts[0]}, {"AxisDirection", direction}},
                      {{}, {std::nullopt, Kind::kInt64}});
}

Compute make_old_top_k(const Node& node) {
  return [axis = node.integer("axis"), k = node.integer("k")](std::span<const Array> inputs) {
    return top_k_of(inputs[0], axis, {k}, reduction_direction(true));
  };
}

Compute make_top_k(const Node& node) {
  const char* direction = reduction_direction(node.integer("largest", 1) != 0);
  return [direction, axis = node.integer("axis")](std::span<const Array> inputs) {
    return top_k_of(inputs[0], axis, list_of(inputs[1], "K"), direction);
  };
}

// ---- Softmax, LogSoftmax and Hardmax --------------------------------------------------------------------------------

struct RowFunction {
  std::string_view op;
  const char* flat;   // computes along the second of two dimensions
  const char* along;  // computes along any axes
};
constexpr RowFunction kRowFunctions[] = {
    {"Hardmax", "ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1"},
    {"LogSoftmax", "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1"},
    {"Softmax", "ACTIVATION_SOFTMAX", "ACTIVATION_SOFTMAX1"},
};

const RowFunction& row_function(const Node& node) {
  return *std::find_if(std::begin(kRowFunctions), std::end(kRowFunctions),
                       [&node](const RowFunction& each) { return each.op == node.op; });
}

Sizes flat_rows(const Array& x, int axis) {
  const std::int64_t rows = product(std::span(x.shape()).first(static_cast<std::size_t>(axis)));
  return {rows, x.count() / rows};
}

// 1 at the first maximum along an axis, 0 elsewhere.
Array hardmax_by_index(const Array& x, int axis) {
  const Array first =
      dispatch("ARGMAX", {x}, {{"Axes", std::vector<std::int64_t>{axis}}, {"AxisDirection", "INCREASING"}},
               {std::nullopt, Kind::kInt64});
  Sizes shape(static_cast<std::size_t>(x.rank() - axis), 1);
  shape[0] = x.size(axis);
  const Array positions = sequence(std::int64_t{0}, std::int64_t{1}, x.size(axis), Kind::kInt64).reshape(shape);
  return cast(dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {first, positions}), x.kind());
}

bool needs_hardmax_by_index(const Node& node) {  // the operator does not accept double
  return node.op == "Hardmax" && node.kinds[0] == Kind::kDouble;
}

Compute make_along_axis(const Node& node) {
  const char* dispatched = needs_hardmax_by_index(node) ? nullptr : row_function(node).along;
  return [dispatched, given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given, x.rank());
    if (x.count() == 0) {
      return one(Array::empty(x.kind(), x.shape()));
    }
    return one(dispatched == nullptr ? hardmax_by_index(x, axis)
                                     : dispatch(dispatched, {x}, {{"Axes", std::vector<std::int64_t>{axis}}}));
  };
}

// Before opset 13, these nodes computed along the axis and all later axes together.
Compute make_along_rows(const Node& node) {
  const char* dispatched = needs_hardmax_by_index(node) ? nullptr : row_function(node).flat;
  return [dispatched, given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given, x.rank());
    if (x.count() == 0) {
      return one(Array::empty(x.kind(), x.shape()));
    }
    const Array rows = x.reshape(flat_rows(x, axis));
    const Array result = dispatched == nullptr ? hardmax_by_index(rows, 1) : dispatch(dispatched, {rows});
    return one(result.reshape(x.shape()));
  };
}

// ---- CumSum and CumProd ---------------------------------------------------------------------------------------------

Compute make_scan(const Node& node) {
  check_choice(node, "exclusive", {std::int64_t{0}, std::int64_t{1}});
  check_choice(node, "reverse", {std::int64_t{0}, std::int64_t{1}});
  const bool is_sum = node.op == "CumSum";
  const std::int64_t exclusive = node.integer("exclusive");
  const char* direction = reduction_direction(node.integer("reverse") != 0);
  return [is_sum, exclusive, direction](std::span<const Array> inputs) {
    const std::vector<std::int64_t> given = list_of(inputs[1], "axis");
    if (given.size() != 1) {
      fail("axis is {}; expected one number", listed(given));
    }
    const std::int64_t axis = axis_of(given[0], inputs[0].rank());
    return one(dispatch(is_sum ? "CUMULATIVE_SUMMATION" : "CUMULATIVE_PRODUCT", {inputs[0]},
                        {{is_sum ? "HasExclusiveSum" : "HasExclusiveProduct", exclusive},
                         {"AxisDirection", direction},
                         {"Axis", axis}}));
  };
}

constexpr std::string_view kReduceUses = "REDUCE FILL_VALUE_CONSTANT";
constexpr std::string_view kHardmaxUses = "HARDMAX HARDMAX1 ARGMAX FILL_VALUE_SEQUENCE LOGICAL_EQUALS CAST";
constexpr std::string_view kPoolUses = "REDUCE FILL_VALUE_CONSTANT IDENTITY";

constexpr Row kReductionRows[] = {
    {"ArgMax", 1, 0, make_extreme_index, "ARGMAX"},
    {"ArgMin", 1, 0, make_extreme_index, "ARGMIN"},
    {"CumProd", 1, 0, make_scan, "CUMULATIVE_PRODUCT"},
    {"CumSum", 1, 0, make_scan, "CUMULATIVE_SUMMATION"},
    {"GlobalAveragePool", 1, 0, make_global_average_pool, kPoolUses},
    {"GlobalMaxPool", 1, 0, make_global_max_pool, kPoolUses},
    {"Hardmax", 1, kLastFlatRows, make_along_rows, kHardmaxUses},
    {"Hardmax", kLastFlatRows + 1, 0, make_along_axis, kHardmaxUses},
    {"LogSoftmax", 1, kLastFlatRows, make_along_rows, "LOG_SOFTMAX LOG_SOFTMAX1", kRoundedKinds},
    {"LogSoftmax", kLastFlatRows + 1, 0, make_along_axis, "LOG_SOFTMAX LOG_SOFTMAX1", kRoundedKinds},
    {"ReduceL1", 1, 0, make_reduction, kReduceUses},
    {"ReduceL2", 1, 0, make_reduction, "REDUCE CAST SQRT FILL_VALUE_CONSTANT"},
    {"ReduceLogSum", 1, 0, make_reduction, kReduceUses, kRoundedKinds},
    {"ReduceLogSumExp", 1, 0, make_reduction, kReduceUses, kRoundedKinds},
    {"ReduceMax", 1, 0, make_reduction, kReduceUses},
    {"ReduceMean", 1, 0, make_reduction, "REDUCE DIVIDE FILL_VALUE_CONSTANT"},
    {"ReduceMin", 1, 0, make_reduction, kReduceUses},
    {"ReduceProd", 1, 0, make_reduction, kReduceUses},
    {"ReduceSum", 1, 0, make_reduction, kReduceUses},
    {"ReduceSumSquare", 1, 0, make_reduction, kReduceUses},
    {"Softmax", 1, kLastFlatRows, make_along_rows, "SOFTMAX SOFTMAX1", kRoundedKinds},
    {"Softmax", kLastFlatRows + 1, 0, make_along_axis, "SOFTMAX SOFTMAX1", kRoundedKinds},
    {"TopK", 1, kLastKAsAttribute, make_old_top_k, "TOP_K1"},
    {"TopK", kLastKAsAttribute + 1, 0, make_top_k, "TOP_K1"},
};

}  // namespace

std::span<const Row> reduction_rows() { return kReductionRows; }

}  // namespace anydml::onnx
