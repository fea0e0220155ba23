// SPDX-License-Identifier: MIT
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <algorithm>

#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

// Which scale belongs to which elements.
struct QuantizationAxis {
  bool is_declared;  // whether this opset has scales along an axis
  std::int64_t axis;
  std::int64_t block;  // the number of elements that share a scale; 0: there are no blocks
};

QuantizationAxis quantization_axis(const Node& node) {
  check_minimum(node, "block_size", 0);
  return {node.declares("axis"), node.integer("axis", 1), node.integer("block_size")};
}

[[noreturn]] void fail_alignment(const Array& value, const Array& x, const char* what) {
  fail("{} has the shape {}, which does not match {}", what, listed(value.shape()), listed(x.shape()));
}

// One value for each block becomes one for each element. Like numpy.repeat, this copies the elements.
Array aligned_blocks(const QuantizationAxis& along, const Array& value, const Array& x, const char* what) {
  const int axis = axis_of(along.axis, x.rank());
  const auto position = static_cast<std::size_t>(axis);
  const std::int64_t size = x.size(axis);
  Sizes expected = x.shape();
  expected[position] = size / along.block + (size % along.block != 0 ? 1 : 0);
  if (value.shape() != expected) {
    fail("block_size is {}, but {} has the shape {}, which does not match {}", along.block, what, listed(value.shape()),
         listed(x.shape()));
  }
  const std::int64_t times = std::min(along.block, size);
  Sizes rows(expected.begin(), expected.begin() + axis + 1);
  rows.push_back(1);
  rows.push_back(product(std::span(expected).subspan(position + 1)));
  Sizes repeated = rows;
  repeated[position + 1] = times;
  Sizes joined = expected;
  joined[position] *= times;
  const Array result = value.reshape(rows).broadcast_to(repeated).reshape(joined);
  const Array packed = result.is_packed() ? result : result.is_symbol() ? identity(result) : result.packed();
  return packed.slice(axis, 0, size);
}

// Returns a scale or zero point in a form that broadcasts to x: one number, one for each index of the axis, or one for
// each block. An absent one stays absent.
Array aligned_to(const QuantizationAxis& along, const Array& value, const Array& x, const char* what) {
  if (!value) {
    return value;
  }
  if (value.count() == 1 && value.rank() <= 1) {
    return value.reshape({});
  }
  if (along.block != 0) {
    if (value.rank() != x.rank()) {
      fail_alignment(value, x, what);
    }
    return aligned_blocks(along, value, x, what);
  }
  if (value.rank() != 1 || !along.is_declared) {
    fail_alignment(value, x, what);
  }
  const int axis = axis_of(along.axis, x.rank());
  if (value.count() != x.size(axis)) {
    fail_alignment(value, x, what);
  }
  Sizes shape(static_cast<std::size_t>(x.rank() - axis), 1);
  shape[0] = value.count();
  return value.reshape(shape);
}

// Whether QUANTIZE and DEQUANTIZE accept the blocks directly: blocks must divide the axis evenly.
bool has_whole_blocks(const QuantizationAxis& along, const Array& x, const Array& scale, const Array& zero) {
  if (along.block == 0 || scale.rank() != x.rank() || (zero && zero.shape() != scale.shape())) {
    return false;
  }
  const int axis = axis_of(along.axis, x.rank());
  if (x.count() == 0 || x.size(axis) % along.block != 0) {
    return false;
  }
  Sizes expected = x.shape();
  expected[static_cast<std::size_t>(axis)] /= along.block;
  return scale.shape() == expected;
}

// ---- QuantizeLinear -------------------------------------------------------------------------------------------------

struct Quantization {
  QuantizationAxis along;
  Kind divide_in;  // the type in which x is divided by the scale
  Kind result;     // ONNX's type, which may have four bits
};

// Four-bit results are eight-bit results that are clamped further.
Array bounded_codes(const Array& codes, Kind result) {
  if (!kFourBitKinds.contains(result)) {
    return codes;
  }
  const bool is_negative = result == Kind::kInt4;
  const std::int64_t min = is_negative ? -8 : 0;
  const std::int64_t max = is_negative ? 7 : 15;
  return dispatch("ELEMENT_WISE_CLIP", {codes}, {{"Min", min}, {"Max", max}});
}

// Divides, rounds and adds in steps, for the types that QUANTIZE_LINEAR does not accept.
Array quantized_in_steps(const Quantization& how, const Array& x, const Array& scale, const Array& zero) {
  const Kind kind = array_kind(how.result);
  const Array quotient = divide(cast(x, how.divide_in), scale);
  const Array nearest = dispatch("ELEMENT_WISE_ROUND", {quotient}, {{"RoundingMode", "HALVES_TO_NEAREST_EVEN"}});
  const Array near = dispatch("ELEMENT_WISE_CLIP", {cast(nearest, Kind::kDouble)},
                              {{"Min", -1048576.0}, {"Max", 1048576.0}});  // a range that int32 certainly contains
  Array whole = cast(near, Kind::kInt32);
  if (zero) {
    whole = add(whole, cast(zero, Kind::kInt32));
  }
  const IntegerLimits limits = integer_limits(kind);
  const Array codes =
      dispatch("ELEMENT_WISE_CLIP", {whole}, {{"Min", limits.min}, {"Max", static_cast<std::int64_t>(limits.max)}});
  return bounded_codes(cast(codes, kind), how.result);
}

// QUANTIZE_LINEAR and, for blocks, QUANTIZE divide in FLOAT32 and return 8-bit results. Other precisions and 16-bit
// results need more operators.
Array quantized(const Quantization& how, const Array& x, const Array& scale, const Array& zero) {
  const Kind kind = array_kind(how.result);
  const bool is_direct = how.divide_in == Kind::kFloat && item_size(kind) == 1;
  if (is_direct && has_whole_blocks(how.along, x, scale, zero)) {
    const Array zeros = zero ? zero : Array::zeros(kind, scale.shape());
    return bounded_codes(dispatch("QUANTIZE", {cast(x, how.divide_in), cast(scale, how.divide_in), zeros},
                                  {{"QuantizationType", "SCALE_ZERO_POINT"}}),
                         how.result);
  }
  const Array given_scale = aligned_to(how.along, scale, x, "the scale");
  const Array aligned_zero = aligned_to(how.along, zero, x, "the zero point");
  const Array aligned_scale = cast(given_scale, how.divide_in);
  if (!is_direct) {
    return quantized_in_steps(how, x, aligned_scale, aligned_zero);
  }
  const Array offset = aligned_zero ? aligned_zero : Array::scalar(kind, 0);
  return bounded_codes(dispatch("ELEMENT_WISE_QUANTIZE_LINEAR", {cast(x, how.divide_in), aligned_scale, offset}),
                       how.result);
}

// The type in which a node divides; kUndefined if the number is not a precision that anydml supports.
Kind division_kind(std::int64_t precision, Kind scale) {
  switch (precision) {
    case 0:
      return scale;
    case static_cast<std::int64_t>(Kind::kFloat):
      return Kind::kFloat;
    case static_cast<std::int64_t>(Kind::kFloat16):
      return Kind::kFloat16;
    case static_cast<std::int64_t>(Kind::kDouble):
      return Kind::kDouble;
    default:
      return Kind::kUndefined;
  }
}

Compute make_quantize(const Node& node) {
  const std::int64_t precision = node.integer("precision");
  const Kind divide_in = division_kind(precision, node.kinds[1]);
  if (!is_float(divide_in)) {
    refuse(node, format_text("with a scale of {} and precision {}", kind_name(node.kinds[1]), precision),
           "it divides floats");
  }
  if (precision == 0 && node.kinds[1] == Kind::kFloat16 && node.kinds[0] != Kind::kFloat16) {
    refuse(node, format_text("of {} with a scale of float16", kind_name(node.kinds[0])),
           "ONNX's text and its reference divide differently here, unless precision is given");
  }
  const Quantization how{quantization_axis(node), divide_in, node.results[0]};
  return [how](std::span<const Array> inputs) { return one(quantized(how, inputs[0], inputs[1], input(inputs, 2))); };
}

// The zero point's type, or output_dtype, or uint8.
std::vector<Kind> quantized_kinds(const Node& node) {
  const Kind zero = node.takes(2) ? node.kinds[2] : Kind::kUndefined;
  const Kind asked = node.named_kind("output_dtype");
  if (zero != Kind::kUndefined && asked != Kind::kUndefined && asked != zero) {
    throw WrongType(format_text("output_dtype is {}, but the zero point is {}", kind_name(asked), kind_name(zero)));
  }
  return {zero != Kind::kUndefined ? zero : asked != Kind::kUndefined ? asked : Kind::kUint8};
}

// ---- DequantizeLinear -----------------------------------------------------------------------------------------------

struct Dequantization {
  QuantizationAxis along;
  Kind multiply_in;  // the type in which x is multiplied with the scale
  Kind result;
};

// The scales of weights in four bits (four_bits.h), one for each block.
Array blocks_of(const Dequantization& how, const Array& scale, const Array& x) {
  if (how.along.block != 0) {
    return scale;
  }
  Sizes shape(static_cast<std::size_t>(x.rank()), 1);
  if (scale.count() != 1) {
    shape[static_cast<std::size_t>(axis_of(how.along.axis, x.rank()))] = scale.count();
  }
  return scale.reshape(shape);
}

// Zero points for DEQUANTIZE that are 0. They are one element, so that graphs recognize them by its value and share the
// weights that they pack with them.
Array no_zeros(Kind kind, const Sizes& shape) { return Array::zeros(kind, Sizes(shape.size(), 1)).broadcast_to(shape); }

Array dequantized(const Dequantization& how, const Array& x, const Array& scale, const Array& zero) {
  if (kFourBitKinds.contains(x.kind())) {
    const Array scales = blocks_of(how, scale, x);
    const Out out{x.shape(), how.result};
    if (!zero && x.kind() == Kind::kInt4) {
      return dispatch("DEQUANTIZE", {x, scales}, {{"QuantizationType", "SCALE"}}, out);
    }
    // Without zero points, DEQUANTIZE would subtract 8 from unsigned numbers.
    const Array zeros = zero ? blocks_of(how, zero, x) : no_zeros(x.kind(), scales.shape());
    return dispatch("DEQUANTIZE", {x, scales, zeros}, {{"QuantizationType", "SCALE_ZERO_POINT"}}, out);
  }
  if (item_size(x.kind()) == 1 && item_size(how.multiply_in) < 8 && has_whole_blocks(how.along, x, scale, zero)) {
    const Array zeros = zero ? zero : no_zeros(x.kind(), scale.shape());
    return dispatch("DEQUANTIZE", {x, scale, zeros}, {{"QuantizationType", "SCALE_ZERO_POINT"}},
                    {std::nullopt, how.result});
  }
  const Array given_scale = aligned_to(how.along, scale, x, "the scale");
  const Array aligned_zero = aligned_to(how.along, zero, x, "the zero point");
  const Array aligned_scale = cast(given_scale, how.multiply_in);
  return cast(dispatch("ELEMENT_WISE_DEQUANTIZE_LINEAR", {x, aligned_scale, aligned_zero}), how.result);
}

Compute make_dequantize(const Node& node) {
  const Kind given = array_kind(node.kinds[1]);
  const Kind result = array_kind(node.results[0]);
  const Dequantization how{quantization_axis(node), item_size(result) > item_size(given) ? result : given, result};
  return [how](std::span<const Array> inputs) { return one(dequantized(how, inputs[0], inputs[1], input(inputs, 2))); };
}

std::vector<Kind> dequantized_kinds(const Node& node) {
  const Kind asked = node.named_kind("output_dtype");
  return {asked != Kind::kUndefined ? asked : node.kinds[1]};
}

// ---- DynamicQuantizeLinear ------------------------------------------------------------------------------------------

Compute make_dynamic_quantize(const Node&) {
  return [](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.count() == 0) {
      fail("x has the shape {}; expected an element to quantize", listed(x.shape()));
    }
    const Arrays results =
        dispatch_all("DYNAMIC_QUANTIZE_LINEAR", {x.flatten()}, {},
                     {{std::nullopt, Kind::kUint8}, {std::nullopt, Kind::kFloat}, {std::nullopt, Kind::kUint8}});
    return Arrays{results[0].reshape(x.shape()), results[1].reshape({}), results[2].reshape({})};
  };
}

constexpr Row kQuantizationRows[] = {
    {"DequantizeLinear", 1, 0, make_dequantize, "DEQUANTIZE_LINEAR DEQUANTIZE CAST", {}, dequantized_kinds},
    {"DynamicQuantizeLinear", 1, 0, make_dynamic_quantize, "DYNAMIC_QUANTIZE_LINEAR"},
    {"QuantizeLinear", 1, 0, make_quantize, "QUANTIZE_LINEAR QUANTIZE CAST DIVIDE ROUND CLIP ADD", {}, quantized_kinds},
};

}  // namespace

std::span<const Row> quantization_rows() { return kQuantizationRows; }

}  // namespace anydml::onnx
