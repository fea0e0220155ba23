// SPDX-License-Identifier: MIT
// Element-wise nodes, except for quantization and for functions such as Exp.
#include <cmath>
#include <string>

#include "onnx/rows/single.h"

namespace anydml::onnx {
namespace {

constexpr int kLastClipByAttributes = 10;
constexpr int kLastModOfIntegers = 13;  // these versions require fmod=1 for floats
constexpr int kLastEqualShapes = 7;     // of the inputs of Max, Min, Sum and Mean
constexpr std::uint64_t kHalfOfUint64 = std::uint64_t{1} << 63;

constexpr SingleDispatch kElementDispatches[] = {
    {"Abs", "ELEMENT_WISE_ABS"},
    {"Add", "ELEMENT_WISE_ADD", {}, true},
    {"And", "ELEMENT_WISE_LOGICAL_AND", {}, true},
    {"BitwiseAnd", "ELEMENT_WISE_BIT_AND"},
    {"BitwiseNot", "ELEMENT_WISE_BIT_NOT"},
    {"BitwiseOr", "ELEMENT_WISE_BIT_OR"},
    {"BitwiseXor", "ELEMENT_WISE_BIT_XOR"},
    {"Ceil", "ELEMENT_WISE_CEIL"},
    {"Div", "ELEMENT_WISE_DIVIDE", {}, true},
    {"Equal", "ELEMENT_WISE_LOGICAL_EQUALS", {}, true},
    {"Floor", "ELEMENT_WISE_FLOOR"},
    {"Greater", "ELEMENT_WISE_LOGICAL_GREATER_THAN", {}, true},
    {"GreaterOrEqual", "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL"},
    {"HardSigmoid", "ACTIVATION_HARD_SIGMOID", {{{"Alpha", "alpha"}, {"Beta", "beta"}}}},
    {"HardSwish", "ACTIVATION_HARD_SWISH", {{{"Alpha", nullptr, 0.1666666716337204}, {"Beta", nullptr, 0.5}}}},
    {"Identity", "ELEMENT_WISE_IDENTITY"},
    {"IsNaN", "ELEMENT_WISE_IS_NAN"},
    {"LeakyRelu", "ACTIVATION_LEAKY_RELU", {{{"Alpha", "alpha"}}}},
    {"Less", "ELEMENT_WISE_LOGICAL_LESS_THAN", {}, true},
    {"LessOrEqual", "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL"},
    {"Mul", "ELEMENT_WISE_MULTIPLY", {}, true},
    {"Neg", "ELEMENT_WISE_NEGATE"},
    {"Not", "ELEMENT_WISE_LOGICAL_NOT"},
    {"Or", "ELEMENT_WISE_LOGICAL_OR", {}, true},
    {"Reciprocal", "ELEMENT_WISE_RECIP"},
    {"Relu", "ACTIVATION_RELU"},
    {"Sqrt", "ELEMENT_WISE_SQRT"},
    {"Sub", "ELEMENT_WISE_SUBTRACT", {}, true},
    {"ThresholdedRelu", "ACTIVATION_THRESHOLDED_RELU", {{{"Alpha", "alpha"}}}},
    {"Where", "ELEMENT_WISE_IF"},
    {"Xor", "ELEMENT_WISE_LOGICAL_XOR", {}, true},
};

const SingleDispatch& find_single(std::span<const SingleDispatch> table, std::string_view op) {
  for (const SingleDispatch& entry : table) {
    if (entry.op == op) {
      return entry;
    }
  }
  fail("{} is not in the table of single dispatches", op);
}

Compute make_element(const Node& node) { return single_dispatch(kElementDispatches, node); }
Compute make_old_element(const Node& node) { return old_broadcasting(kElementDispatches, node); }

Compute make_round(const Node&) {
  return [](std::span<const Array> inputs) {
    return one(dispatch("ELEMENT_WISE_ROUND", {inputs[0]}, {{"RoundingMode", "HALVES_TO_NEAREST_EVEN"}}));
  };
}

// ---- Cast -----------------------------------------------------------------------------------------------------------

Array is_cast_zero(const Array& x) {
  return dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {x, Array::scalar(x.plain().kind(), 0)});
}

Compute make_cast(const Node& node) {
  if (node.results[0] == Kind::kBool) {  // anything other than 0 is true
    return [](std::span<const Array> inputs) {
      return one(dispatch("ELEMENT_WISE_LOGICAL_NOT", {is_cast_zero(inputs[0])}));
    };
  }
  // A conversion to the same type is also a dispatch.
  return [kind = array_kind(node.results[0])](std::span<const Array> inputs) {
    return one(dispatch("CAST", {inputs[0]}, {}, {std::nullopt, kind}));
  };
}

std::vector<Kind> cast_result(const Node& node) {
  const Kind kind = node.named_kind("to");
  return {kind == Kind::kUndefined ? Kind::kNothing : kind};
}

// ---- Clip -----------------------------------------------------------------------------------------------------------

// In all forms, missing bounds are the type's smallest and largest numbers. If low > high, the result is high.
Array clipped_floats(const Array& x, std::optional<double> low, std::optional<double> high) {
  const double max = high.value_or(max_float(x.kind()));
  const double min = low.value_or(-max_float(x.kind()));
  return dispatch("ELEMENT_WISE_CLIP", {x}, {{"Min", min > max ? max : min}, {"Max", max}});
}

Array clipped_uint64(const Array& x, std::uint64_t low, std::uint64_t high) {
  low = low > high ? high : low;
  if (high < kHalfOfUint64) {
    return dispatch("ELEMENT_WISE_CLIP", {x},
                    {{"Min", static_cast<std::int64_t>(low)}, {"Max", static_cast<std::int64_t>(high)}});
  }
  // Attributes are int64, so everything is shifted down by half the range.
  const Array half = Array::scalar(Kind::kUint64, static_cast<std::int64_t>(kHalfOfUint64));
  const Array moved = subtract(x, half).view_as(Kind::kInt64);
  const Array clipped = dispatch("ELEMENT_WISE_CLIP", {moved},
                                 {{"Min", static_cast<std::int64_t>(low - kHalfOfUint64)},
                                  {"Max", static_cast<std::int64_t>(high - kHalfOfUint64)}});
  return add(clipped.view_as(Kind::kUint64), half);
}

Array clipped_integers(const Array& x, const Array& low, const Array& high) {
  const IntegerLimits limits = integer_limits(x.kind());
  const std::int64_t min = low ? low.integer() : limits.min;
  const std::int64_t max = high ? high.integer() : static_cast<std::int64_t>(limits.max);
  if (x.kind() == Kind::kUint64) {  // the same bits
    return clipped_uint64(x, static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max));
  }
  return dispatch("ELEMENT_WISE_CLIP", {x}, {{"Min", min > max ? max : min}, {"Max", max}});
}

Array clip_limit(Kind kind, bool is_max) {
  if (is_float(kind)) {
    return Array::scalar(kind, is_max ? max_float(kind) : -max_float(kind));
  }
  const IntegerLimits limits = integer_limits(kind);
  return Array::scalar(kind, is_max ? static_cast<std::int64_t>(limits.max) : limits.min);
}

void check_bound(const Array& bound, const char* name) {
  if (bound && bound.rank() != 0) {
    fail("{} must be a scalar, but has the shape {}", name, listed(bound.shape()));
  }
}

Array clipped_by_inputs(const Array& x, const Array& low, const Array& high) {
  check_bound(low, "min");
  check_bound(high, "max");
  if ((low && low.is_symbol()) || (high && high.is_symbol())) {  // bounds that only a run knows
    const Array raised = dispatch("ELEMENT_WISE_MAX", {x, low ? low : clip_limit(x.kind(), false)});
    return dispatch("ELEMENT_WISE_MIN", {raised, high ? high : clip_limit(x.kind(), true)});
  }
  if (!is_float(x.kind())) {
    return clipped_integers(x, low, high);
  }
  const auto number = [](const Array& bound) { return bound ? std::optional<double>(bound.number()) : std::nullopt; };
  return clipped_floats(x, number(low), number(high));
}

Compute make_clip(const Node&) {
  return [](std::span<const Array> inputs) {
    return one(clipped_by_inputs(inputs[0], input(inputs, 1), input(inputs, 2)));
  };
}

Compute make_old_clip(const Node& node) {
  std::optional<double> low, high;
  if (node.has("min")) {
    low = node.number("min");
  }
  if (node.has("max")) {
    high = node.number("max");
  }
  return [low, high](std::span<const Array> inputs) { return one(clipped_floats(inputs[0], low, high)); };
}

// ---- Other nodes whose attributes or types determine the operators --------------------------------------------------

Compute mod_of(const Node& node) {
  const bool is_truncated = node.integer("fmod") != 0;
  return [is_truncated](std::span<const Array> inputs) {
    return one(dispatch(is_truncated ? "ELEMENT_WISE_MODULUS_TRUNCATE" : "ELEMENT_WISE_MODULUS_FLOOR",
                        {inputs[0], inputs[1]}));
  };
}

Compute make_mod(const Node& node) {
  const std::int64_t fmod = node.integer("fmod");
  if (fmod != 0 && fmod != 1) {
    wrong(node, "fmod", "0 or 1");
  }
  return mod_of(node);
}

Compute make_old_mod(const Node& node) {
  Compute made = make_mod(node);
  if (node.integer("fmod") == 0 && is_float(node.kinds[0])) {
    fail("{}: floats need fmod=1 in ONNX's Mod of opset {}", node.label, node.since);
  }
  return made;
}

// DirectML's sign of a NaN is 0, but ONNX's reference returns NaN.
Array sign_or_nan(const Array& x) {
  const Array is_nan = dispatch("ELEMENT_WISE_IS_NAN", {x});
  return dispatch("ELEMENT_WISE_IF", {is_nan, x, dispatch("ELEMENT_WISE_SIGN", {x})});
}

Compute make_sign(const Node& node) {
  if (is_float(node.kinds[0])) {
    return [](std::span<const Array> inputs) { return one(sign_or_nan(inputs[0])); };
  }
  return [](std::span<const Array> inputs) { return one(dispatch("ELEMENT_WISE_SIGN", {inputs[0]})); };
}

Compute make_is_infinite(const Node& node) {
  const bool positive = node.integer("detect_positive") != 0;
  const bool negative = node.integer("detect_negative") != 0;
  if (!positive && !negative) {
    return [](std::span<const Array> inputs) { return one(fill(0, inputs[0].shape(), Kind::kBool)); };
  }
  const char* mode = positive && negative ? "EITHER" : positive ? "POSITIVE" : "NEGATIVE";
  return [mode](std::span<const Array> inputs) {
    return one(dispatch("ELEMENT_WISE_IS_INFINITY", {inputs[0]}, {{"InfinityMode", mode}}));
  };
}

Array sloped(const Array& x, const Array& slope, const Array& aligned) {
  if (broadcast_shapes(x.shape(), aligned.shape()) != x.shape()) {
    fail("slope has the shape {}, which does not broadcast to {}", listed(slope.shape()), listed(x.shape()));
  }
  if (is_unsigned(x.kind())) {  // the elements are never below 0
    return identity(x);
  }
  return dispatch("ACTIVATION_PARAMETERIZED_RELU", {x, aligned});
}

Compute make_prelu(const Node&) {
  return [](std::span<const Array> inputs) { return one(sloped(inputs[0], inputs[1], inputs[1])); };
}

// Before opset 7, the slope was one number, or one for each channel.
Compute make_old_prelu(const Node&) {
  return [](std::span<const Array> inputs) {
    const Array &x = inputs[0], &slope = inputs[1];
    if (slope.rank() != 1 || x.rank() <= 1) {
      return one(sloped(x, slope, slope));
    }
    Sizes shape(static_cast<std::size_t>(x.rank() - 1), 1);
    shape[0] = slope.count();
    return one(sloped(x, slope, slope.reshape(shape)));
  };
}

Compute make_shrink(const Node& node) {
  const double bias = node.number("bias");
  const double threshold = node.number("lambd");
  if (!is_float(node.kinds[0])) {
    const IntegerLimits limits = integer_limits(node.kinds[0]);
    const bool is_valid = std::trunc(bias) == bias && bias >= static_cast<double>(limits.min) &&
                          bias < static_cast<double>(limits.max) + 1 && threshold >= 0;
    if (!is_valid) {
      refuse(node, format_text("of {} with bias {:g} and lambd {:g}", kind_name(node.kinds[0]), bias, threshold),
             "for integers, bias must be a value of the type, and lambd must be 0 or more");
    }
  }
  return [bias, threshold](std::span<const Array> inputs) {
    return one(dispatch("ACTIVATION_SHRINK", {inputs[0]}, {{"Bias", bias}, {"Threshold", threshold}}));
  };
}

// Signed integers are shifted as unsigned integers. For a shift to the right, the bits of a negative number are
// inverted before and after, so that ones are shifted in.
Array shifted_bits(const char* shift, bool is_left, const Array& x, const Array& by) {
  if (is_unsigned(x.kind())) {
    return dispatch(shift, {x, by});
  }
  const Kind kind = unsigned_of(x.kind());
  const Array bits = x.view_as(kind);
  const Array distance = by.view_as(kind);  // a negative shift becomes larger than any width
  if (is_left) {
    return dispatch(shift, {bits, distance}).view_as(x.kind());
  }
  const Array is_negative = dispatch("ELEMENT_WISE_LOGICAL_LESS_THAN", {x, Array::scalar(x.kind(), 0)});
  const Array ones = dispatch("ELEMENT_WISE_IF", {is_negative, clip_limit(kind, true), Array::scalar(kind, 0)});
  const Array turned = dispatch(shift, {dispatch("ELEMENT_WISE_BIT_XOR", {bits, ones}), distance});
  return dispatch("ELEMENT_WISE_BIT_XOR", {turned, ones}).view_as(x.kind());
}

Compute make_bit_shift(const Node& node) {
  const std::string direction = node.text("direction");
  if (direction != "LEFT" && direction != "RIGHT") {
    wrong(node, "direction", "'LEFT' or 'RIGHT'");
  }
  const bool is_left = direction == "LEFT";
  const char* shift = is_left ? "ELEMENT_WISE_BIT_SHIFT_LEFT" : "ELEMENT_WISE_BIT_SHIFT_RIGHT";
  return [shift, is_left](std::span<const Array> inputs) {
    return one(shifted_bits(shift, is_left, inputs[0], inputs[1]));
  };
}

// ---- Nodes with any number of inputs, which are combined from left to right -----------------------------------------

constexpr SingleDispatch kSeveral[] = {
    {"Max", "ELEMENT_WISE_MAX"},
    {"Mean", "ELEMENT_WISE_ADD"},
    {"Min", "ELEMENT_WISE_MIN"},
    {"Sum", "ELEMENT_WISE_ADD"},
};

Compute make_several(const Node& node) {
  const char* dispatched = find_single(kSeveral, node.op).dispatched;
  const bool is_mean = node.op == "Mean";
  return [dispatched, is_mean](std::span<const Array> inputs) {
    if (inputs.size() == 1) {
      return one(identity(inputs[0]));
    }
    Array result = inputs[0];
    for (const Array& other : inputs.subspan(1)) {
      result = dispatch(dispatched, {result, other});
    }
    if (is_mean) {
      result = divide(result, Array::scalar(inputs[0].kind(), static_cast<std::int64_t>(inputs.size())));
    }
    return one(result);
  };
}

void check_equal_shapes(std::span<const Array> inputs) {
  std::vector<std::string> shapes;
  bool are_equal = true;
  for (const Array& each : inputs) {
    are_equal = are_equal && each.shape() == inputs[0].shape();
    shapes.push_back(listed(each.shape()));
  }
  if (!are_equal) {
    fail("before opset 8 the inputs must have one shape, but have {}", joined(shapes));
  }
}

Compute make_old_several(const Node& node) {
  return [compute = make_several(node)](std::span<const Array> inputs) {
    check_equal_shapes(inputs);
    return compute(inputs);
  };
}

constexpr Row kOtherElementRows[] = {
    {"BitShift", 1, 0, make_bit_shift, "BIT_SHIFT_LEFT BIT_SHIFT_RIGHT BIT_XOR IF LOGICAL_LESS_THAN"},
    {"Cast", 1, 0, make_cast, "CAST LOGICAL_EQUALS LOGICAL_NOT", {}, cast_result},
    {"CastLike", 1, 0, make_cast, "CAST LOGICAL_EQUALS LOGICAL_NOT"},
    {"Clip", 1, kLastClipByAttributes, make_old_clip, "CLIP ADD SUBTRACT MAX MIN"},
    {"Clip", kLastClipByAttributes + 1, 0, make_clip, "CLIP ADD SUBTRACT MAX MIN"},
    {"IsInf", 1, 0, make_is_infinite, "IS_INFINITY FILL_VALUE_CONSTANT"},
    {"Max", 1, kLastEqualShapes, make_old_several, "MAX IDENTITY"},
    {"Max", kLastEqualShapes + 1, 0, make_several, "MAX IDENTITY"},
    {"Mean", 1, kLastEqualShapes, make_old_several, "ADD IDENTITY DIVIDE"},
    {"Mean", kLastEqualShapes + 1, 0, make_several, "ADD IDENTITY DIVIDE"},
    {"Min", 1, kLastEqualShapes, make_old_several, "MIN IDENTITY"},
    {"Min", kLastEqualShapes + 1, 0, make_several, "MIN IDENTITY"},
    {"Mod", 1, kLastModOfIntegers, make_old_mod, "MODULUS_FLOOR MODULUS_TRUNCATE"},
    {"Mod", kLastModOfIntegers + 1, 0, make_mod, "MODULUS_FLOOR MODULUS_TRUNCATE"},
    {"PRelu", 1, kLastOldBroadcasting, make_old_prelu, "PARAMETERIZED_RELU IDENTITY"},
    {"PRelu", kLastOldBroadcasting + 1, 0, make_prelu, "PARAMETERIZED_RELU IDENTITY"},
    {"Round", 1, 0, make_round, "ROUND"},
    {"Shrink", 1, 0, make_shrink, "SHRINK"},
    {"Sign", 1, 0, make_sign, "SIGN IS_NAN IF"},
    {"Sum", 1, kLastEqualShapes, make_old_several, "ADD IDENTITY"},
    {"Sum", kLastEqualShapes + 1, 0, make_several, "ADD IDENTITY"},
};

}  // namespace

Compute single_dispatch(std::span<const SingleDispatch> table, const Node& node) {
  const SingleDispatch& entry = find_single(table, node.op);
  Options options;
  for (const SingleField& field : entry.fields) {
    if (field.name != nullptr) {
      options.push_back({field.name, field.attribute != nullptr ? node.number(field.attribute) : field.number});
    }
  }
  return [dispatched = entry.dispatched, options](std::span<const Array> inputs) {
    return one(dispatch(dispatched, Arrays(inputs.begin(), inputs.end()), options));
  };
}

Compute old_broadcasting(const char* dispatched, const Node& node) {
  const bool may_broadcast = node.integer("broadcast") != 0;
  std::optional<std::int64_t> axis;
  if (may_broadcast && node.has("axis")) {
    axis = node.integer("axis");
  }
  return [dispatched, may_broadcast, axis](std::span<const Array> inputs) {
    const Array &a = inputs[0], &b = inputs[1];
    Array aligned = b;
    if (axis) {
      Sizes shape = b.shape();
      for (int i = axis_of(*axis, a.rank()) + b.rank(); i < a.rank(); ++i) {
        shape.push_back(1);
      }
      aligned = b.reshape(shape);
    }
    const Sizes broadcast = may_broadcast ? broadcast_shapes(a.shape(), aligned.shape()) : aligned.shape();
    if (broadcast != a.shape()) {
      fail("shape {} does not match {} by the rules before opset 7", listed(b.shape()), listed(a.shape()));
    }
    return one(dispatch(dispatched, {a, aligned}));
  };
}

Compute old_broadcasting(std::span<const SingleDispatch> table, const Node& node) {
  return old_broadcasting(find_single(table, node.op).dispatched, node);
}

std::span<const Row> element_rows() {
  static constexpr auto kRows = with_rows<row_count(kOtherElementRows, kElementDispatches)>(
      kOtherElementRows, kElementDispatches, {}, make_element, make_old_element);
  return kRows;
}

}  // namespace anydml::onnx
