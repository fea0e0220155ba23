// SPDX-License-Identifier: MIT
// Normalizations. DirectML's operators accept float16 and float; for double, nodes use arithmetic and reductions.
//
// Operators are recorded in the order of the statements, so no call has two arguments that dispatch.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/definitions.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

// The smallest number above 0: Lp normalization divides by it if the norm is 0.
constexpr double kMinFloat = 0x1p-149;

// Adds leading dimensions of size 1, up to the rank of x.
Array as_dimensions(const Array& value, const Array& x) {
  return value.rank() < x.rank() ? value.with_rank(x.rank()) : value;
}

// A number for each channel of x, in a shape that broadcasts to x.
Array by_channel(const Array& value, const Array& x, const char* what) {
  const Sizes channels = x.rank() > 1 ? Sizes{x.size(1)} : Sizes{};
  if (value.shape() != channels) {
    fail("{} has the shape {}, but x has {} channels", what, listed(value.shape()), listed(channels));
  }
  Sizes shape(static_cast<std::size_t>(std::max(1, x.rank() - 1)), 1);
  shape[0] = value.count();
  return as_dimensions(value.reshape(shape), x);
}

Array normalize_moments(const Array& x, const std::vector<std::int64_t>& axes, const Array& scale, const Array& bias,
                        double epsilon) {
  return dispatch("MEAN_VARIANCE_NORMALIZATION1", {x, scale, bias},
                  {{"Axes", axes}, {"NormalizeVariance", 1}, {"Epsilon", epsilon}},
                  {.shape = x.shape(), .kind = x.kind()});
}

// The coefficients of a batch or instance normalization.
struct NormalizationNumbers {
  Array scale, bias, mean, variance;
};

// scale * (x - mean) / sqrt(variance + epsilon) + bias, one operation at a time.
Array normalize_stepwise(const Array& x, const NormalizationNumbers& numbers, double epsilon) {
  const Array sum = add(numbers.variance, Array::scalar(numbers.variance.kind(), epsilon));
  const Array root = dispatch("ELEMENT_WISE_SQRT", {sum});
  const Array distance = subtract(x, numbers.mean);
  const Array scaled = multiply(numbers.scale, distance);
  return add(divide(scaled, root), numbers.bias);
}

// Sets the mean and the variance of x over some axes, by reductions.
void measure_moments(const Array& x, const std::vector<std::int64_t>& axes, NormalizationNumbers& numbers) {
  numbers.mean = reduce("AVERAGE", x, axes);
  numbers.variance = reduce("AVERAGE", dispatch("ELEMENT_WISE_DIFFERENCE_SQUARE", {x, numbers.mean}), axes);
}

std::vector<std::int64_t> axes_from(int first, int rank) {
  std::vector<std::int64_t> axes;
  for (int axis = first; axis < rank; ++axis) {
    axes.push_back(axis);
  }
  return axes;
}

// The type with the largest elements.
Kind widest_kind(std::span<const Array> arrays) {
  Kind widest = arrays[0].kind();
  for (const Array& array : arrays) {
    widest = item_size(array.kind()) > item_size(widest) ? array.kind() : widest;
  }
  return widest;
}

// ---- BatchNormalization ---------------------------------------------------------------------------------------------

// The scale, bias, mean and variance, for each channel of x.
NormalizationNumbers batch_numbers(std::span<const Array> given, const Array& x) {
  NormalizationNumbers numbers;
  numbers.scale = by_channel(given[0], x, "the scale");
  numbers.bias = by_channel(given[1], x, "the bias");
  numbers.mean = by_channel(given[2], x, "the mean");
  numbers.variance = by_channel(given[3], x, "the variance");
  return numbers;
}

Arrays normalize_batch(std::span<const Array> inputs, double epsilon) {
  const Array& x = inputs[0];
  NormalizationNumbers numbers = batch_numbers(inputs.subspan(1), x);
  const Kind wide = widest_kind(inputs.first(5));
  Array y = cast(x, wide);
  for (Array* number : {&numbers.scale, &numbers.bias, &numbers.mean, &numbers.variance}) {
    *number = cast(*number, wide);
  }
  if (wide == Kind::kDouble) {
    y = normalize_stepwise(y, numbers, epsilon);
  } else {
    y = dispatch("BATCH_NORMALIZATION", {y, numbers.mean, numbers.variance, numbers.scale, numbers.bias},
                 {{"Spatial", 1}, {"Epsilon", epsilon}});
  }
  return one(cast(y, x.kind()));
}

// The running mean or variance, moved towards the batch's own.
Array moved_average(const Array& given, const Array& own, double momentum) {
  const Array kept = multiply(given, Array::scalar(given.kind(), momentum));
  const Array added = multiply(own, Array::scalar(own.kind(), 1 - momentum));
  return add(kept, added);
}

// Normalizes by the mean and the variance of the batch, and updates the running mean and variance with them.
Arrays train_batch(std::span<const Array> inputs, double epsilon, double momentum, std::size_t count) {
  const Array& x = inputs[0];
  if (x.rank() < 2 || x.count() == 0) {
    fail("the tensor has the shape {}, so there is nothing to average", listed(x.shape()));
  }
  const Kind wide = widest_kind(inputs.first(5));
  Arrays given;
  for (const Array& array : inputs.first(5)) {
    given.push_back(cast(array, wide));
  }
  const NormalizationNumbers numbers = batch_numbers(std::span<const Array>(given).subspan(1), x);
  Array y = given[0];
  NormalizationNumbers own = numbers;
  if (wide == Kind::kDouble) {
    std::vector<std::int64_t> axes = axes_from(1, x.rank());
    axes[0] = 0;  // all axes except the channels
    measure_moments(y, axes, own);
    y = normalize_stepwise(y, own, epsilon);
  } else {
    const Arrays computed = dispatch_all("BATCH_NORMALIZATION_TRAINING", {y, numbers.scale, numbers.bias, Array()},
                                         {{"Epsilon", epsilon}}, {Out{}, Out{}, Out{}});
    y = computed[0];
    own.mean = computed[1];
    own.variance = computed[2];
  }
  Arrays results = one(cast(y, x.kind()));
  results.push_back(cast(moved_average(numbers.mean, own.mean, momentum).flatten(), inputs[3].kind()));
  results.push_back(cast(moved_average(numbers.variance, own.variance, momentum).flatten(), inputs[4].kind()));
  results.resize(std::min(results.size(), std::max<std::size_t>(1, count)));
  return results;
}

Compute make_batch_normalization(const Node& node) {
  const double epsilon = node.number("epsilon");
  if (node.integer("training_mode") != 0) {
    return [epsilon, momentum = node.number("momentum"), count = node.results.size()](std::span<const Array> inputs) {
      return train_batch(inputs, epsilon, momentum, count);
    };
  }
  const bool trains = node.integer("is_test", 1) == 0 || node.results.size() > 1;
  if (trains || node.integer("spatial", 1) != 1) {
    refuse(node,
           !trains           ? "with spatial 0"
           : node.since < 14 ? "in training before opset 14"
                             : "with further results and training_mode 0",
           "it normalizes channels by the given mean");
  }
  return [epsilon](std::span<const Array> inputs) { return normalize_batch(inputs, epsilon); };
}

// ---- Other normalizations over given axes ---------------------------------------------------------------------------

Compute make_instance_normalization(const Node& node) {
  return [epsilon = node.number("epsilon")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() < 3 || x.count() == 0) {
      fail("the tensor has the shape {}, so there is nothing to average", listed(x.shape()));
    }
    NormalizationNumbers numbers;
    numbers.scale = by_channel(inputs[1], x, "the scale");
    numbers.bias = by_channel(inputs[2], x, "the bias");
    const std::vector<std::int64_t> axes = axes_from(2, x.rank());
    if (x.kind() != Kind::kDouble) {
      return one(normalize_moments(x, axes, numbers.scale, numbers.bias, epsilon));
    }
    measure_moments(x, axes, numbers);
    return one(normalize_stepwise(x, numbers, epsilon));
  };
}

// (x - mean) / (sqrt(mean of squares - square of the mean) + 1e-9), as ONNX defines it.
Compute make_mean_variance_normalization(const Node& node) {
  return [given = node.integers("axes")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::vector<std::int64_t> axes = as_int64(axes_of(given, x.rank()));
    if (x.kind() != Kind::kDouble) {
      return one(normalize_moments(x, axes, Array(), Array(), 1e-18));
    }
    const Array mean = reduce("AVERAGE", x, axes);
    const Array mean_of_squares = reduce("AVERAGE", multiply(x, x), axes);
    const Array square_of_mean = multiply(mean, mean);
    const Array variance = subtract(mean_of_squares, square_of_mean);
    const Array root = add(dispatch("ELEMENT_WISE_SQRT", {variance}), Array::scalar(x.kind(), 1e-9));
    const Array distance = subtract(x, mean);
    return one(divide(distance, root));
  };
}

Compute make_lp_normalization(const Node& node) {
  const std::int64_t p = node.integer("p");
  if (p != 1 && p != 2) {
    refuse(node, format_text("with p {}", p), "p must be 1 or 2");
  }
  return [p, given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::int64_t axis = axis_of(given, x.rank());
    if (x.count() == 0) {
      return one(Array::empty(x.kind(), x.shape()));
    }
    if (x.kind() != Kind::kDouble) {
      return one(dispatch("LP_NORMALIZATION", {x}, {{"Axis", axis}, {"Epsilon", kMinFloat}, {"P", p}}));
    }
    const Array norm = reduce(p == 1 ? "L1" : "L2", x, {axis});
    const Array zero = Array::scalar(x.kind(), 0);
    const Array is_zero = dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {norm, zero});
    const Array quotient = divide(x, norm);
    return one(dispatch("ELEMENT_WISE_IF", {is_zero, zero, quotient}));
  };
}

Compute make_local_response_normalization(const Node& node) {
  check_minimum(node, "size", 1);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() < 2) {
      fail("the tensor has the shape {}; expected a batch and channels", listed(x.shape()));
    }
    return one(dispatch("LOCAL_RESPONSE_NORMALIZATION", {x},
                        {{"CrossChannel", 1},
                         {"LocalSize", node.integer("size")},
                         {"Alpha", node.number("alpha")},
                         {"Beta", node.number("beta")},
                         {"Bias", node.number("bias")}}));
  };
}

// ---- Normalizations that ONNX also defines in terms of other operators ----------------------------------------------

// Whether DirectML's operators can compute the node. ONNX's definition allows more results and other types.
bool takes_normalization(const Node& node) {
  return kRoundedKinds.contains(node.kinds[0]) && node.results.size() == 1 && node.integer("stash_type", 1) == 1;
}

void check_along_last(const Array& other, const Array& x) {
  if (other && broadcast_shapes(other.shape(), x.shape()) != x.shape()) {
    fail("a scale or bias has the shape {}, which does not match {}", listed(other.shape()), listed(x.shape()));
  }
}

// A scale or bias with the type and the rank of x.
Array along_last(const Array& other, const Array& x) { return other ? as_dimensions(cast(other, x.kind()), x) : other; }

Compute make_layer_normalization(const Node& node) {
  if (!takes_normalization(node)) {
    return nullptr;
  }
  return [axis = node.integer("axis"), epsilon = node.number("epsilon")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::vector<std::int64_t> axes = axes_from(axis_of(axis, x.rank()), x.rank());
    const Array given_bias = input(inputs, 2);
    check_along_last(inputs[1], x);
    check_along_last(given_bias, x);
    const Array scale = along_last(inputs[1], x);
    const Array bias = along_last(given_bias, x);
    return one(normalize_moments(x, axes, scale, bias, epsilon));
  };
}

// Normalizes by the root of the mean of the squares.
Compute make_rms_normalization(const Node& node) {
  if (!takes_normalization(node)) {
    return nullptr;
  }
  return [axis = node.integer("axis"), epsilon = node.number("epsilon")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::vector<std::int64_t> axes = axes_from(axis_of(axis, x.rank()), x.rank());
    check_along_last(inputs[1], x);
    const Array scale = along_last(inputs[1], x);
    return one(dispatch("MEAN_VARIANCE_NORMALIZATION2", {x, scale, Array()},
                        {{"Axes", axes}, {"UseMean", 0}, {"UseVariance", 1}, {"Epsilon", epsilon}}));
  };
}

void check_groups(std::int64_t groups, const Array& x) {
  if (x.rank() < 2 || x.size(1) % groups != 0) {
    fail(
        "num_groups is {}, but the tensor has the shape {}; expected the number of channels, the second axis, to be a "
        "multiple of it",
        groups, listed(x.shape()));
  }
}

Array by_group(const Array& value, std::int64_t groups, std::int64_t expected, const char* what) {
  if (value.shape() != Sizes{expected}) {
    fail("{} has the shape {}; expected [{}]", what, listed(value.shape()), expected);
  }
  return value.reshape({1, groups, expected / groups, 1});
}

// Normalizes groups of channels. There is a scale and a bias for each group before opset 21, and for each channel since
// then.
Compute make_group_normalization(const Node& node) {
  if (!takes_normalization(node)) {
    return nullptr;
  }
  check_minimum(node, "num_groups", 1);
  return [groups = node.integer("num_groups"), epsilon = node.number("epsilon"),
          is_by_channel = node.since >= 21](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    check_groups(groups, x);
    const std::int64_t rest = product(std::span<const std::int64_t>(x.shape()).subspan(2));
    const Array seen = x.reshape({x.size(0), groups, x.size(1) / groups, rest});
    const std::int64_t expected = is_by_channel ? x.size(1) : groups;
    const Array scale = by_group(inputs[1], groups, expected, "the scale");
    const Array bias = by_group(inputs[2], groups, expected, "the bias");
    return one(normalize_moments(seen, {2, 3}, scale, bias, epsilon).reshape(x.shape()));
  };
}

// The checks for GroupNormalization. ONNX's definition accepts any number of groups that divides the elements.
Compute group_checks(const Node& node) {
  check_minimum(node, "num_groups", 1);
  return [groups = node.integer("num_groups")](std::span<const Array> inputs) {
    check_groups(groups, inputs[0]);
    return Arrays();
  };
}

// The checks for LayerNormalization and RMSNormalization.
Compute axis_checks(const Node& node) {
  return [axis = node.integer("axis")](std::span<const Array> inputs) {
    (void)axis_of(axis, inputs[0].rank());
    return Arrays();
  };
}

// The result, and the mean and the deviation.
std::vector<Kind> layer_normalization_kinds(const Node& node) { return {node.kinds[0], Kind::kFloat, Kind::kFloat}; }

constexpr std::array kNormalizationRows = {
    Row{.op = "BatchNormalization",
        .make = make_batch_normalization,
        .uses = "BATCH_NORMALIZATION BATCH_NORMALIZATION_TRAINING REDUCE DIFFERENCE_SQUARE ADD SUBTRACT MULTIPLY "
                "DIVIDE SQRT CAST",
        .kinds = {}},
    Row{.op = "GroupNormalization",
        .make = make_group_normalization,
        .uses = "MEAN_VARIANCE_NORMALIZATION1",
        .kinds = {},
        .expand = expand_group_normalization,
        .check = group_checks},
    Row{.op = "InstanceNormalization",
        .make = make_instance_normalization,
        .uses = "MEAN_VARIANCE_NORMALIZATION1 REDUCE DIFFERENCE_SQUARE ADD SUBTRACT MULTIPLY DIVIDE SQRT",
        .kinds = {}},
    Row{.op = "LRN",
        .make = make_local_response_normalization,
        .uses = "LOCAL_RESPONSE_NORMALIZATION",
        .kinds = kRoundedKinds},
    Row{.op = "LayerNormalization",
        .make = make_layer_normalization,
        .uses = "MEAN_VARIANCE_NORMALIZATION1 CAST",
        .kinds = {},
        .result = layer_normalization_kinds,
        .expand = expand_layer_normalization,
        .check = axis_checks},
    Row{.op = "LpNormalization",
        .make = make_lp_normalization,
        .uses = "LP_NORMALIZATION REDUCE DIVIDE LOGICAL_EQUALS IF",
        .kinds = {}},
    Row{.op = "MeanVarianceNormalization",
        .make = make_mean_variance_normalization,
        .uses = "MEAN_VARIANCE_NORMALIZATION1 REDUCE ADD SUBTRACT MULTIPLY DIVIDE SQRT",
        .kinds = {}},
    Row{.op = "RMSNormalization",
        .make = make_rms_normalization,
        .uses = "MEAN_VARIANCE_NORMALIZATION2 CAST",
        .kinds = {},
        .expand = expand_rms_normalization,
        .check = axis_checks},
};

}  // namespace

std::span<const Row> normalization_rows() { return kNormalizationRows; }

}  // namespace anydml::onnx
