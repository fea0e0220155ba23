// SPDX-License-Identifier: MIT
#include "ops/reduce/dynamic_quantize.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/shape.h"
#include "plan/tensor.h"
#include "text/format.h"

namespace anydml {
namespace {

Scalar enum_value(std::string_view type, std::string_view name) {
  return Scalar(static_cast<u64>(*facts::find_enum_value(*facts::find_enum(type), name)));
}

}  // namespace

TypeSet dynamic_quantize_types(std::size_t position) {
  switch (position) {
    case 0:
      return type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT16);
    case 2:
      return type_bit(DataType::FLOAT32);
    default:
      return type_bit(DataType::UINT8) | type_bit(DataType::INT8);
  }
}

// The documented rules already require the same type for output and zero point, and one element each for scale and zero
// point.
Status check_dynamic_quantize(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  const TensorDesc& from = input.tensor;
  const TensorDesc& to = desc.output().tensor;
  if (to.rank != from.rank || !std::equal(from.sizes, from.sizes + from.rank, to.sizes)) {
    return invalid(desc, desc.output(),
                   format_text("sizes are {}; expected {}, the sizes of {}", shape_text(to.sizes, to.rank),
                               shape_text(from.sizes, from.rank), input.name));
  }
  if (element_count(from) == 0) {
    return invalid(desc, input,
                   format_text("sizes are {}; expected an element to quantize", shape_text(from.sizes, from.rank)));
  }
  return {};
}

// Splits the range of the elements, extended to include 0, into 255 parts. Every step is computed and rounded in
// FLOAT32, as ONNX specifies.
Result<Decomposition> decompose_dynamic_quantize(const OpDesc& desc) {
  constexpr f64 kInfinity = std::numeric_limits<f64>::infinity();
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& one = desc.outputs()[1].tensor;
  const bool is_half = input.type == DataType::FLOAT16;
  const DataType type = desc.output().tensor.type;
  const f64 minimum = type == DataType::UINT8 ? 0 : -128;
  const f64 maximum = type == DataType::UINT8 ? 255 : 127;
  DecompositionBuilder list(desc);
  const auto widened = [&](std::uint32_t value, const TensorDesc& like) {
    return is_half ? list.add("CAST", {value}, DataType::FLOAT32, like) : value;
  };
  const auto compute = [&](std::string_view op, const std::vector<std::uint32_t>& sources,
                           const std::vector<OpAttribute>& attributes = {}) {
    return list.add(op, sources, DataType::FLOAT32, one, attributes);
  };
  const auto clipped = [&](std::uint32_t value, f64 low, f64 high) {
    return compute("ELEMENT_WISE_CLIP", {value},
                   {{.field = "Min", .numbers = {Scalar(low)}}, {.field = "Max", .numbers = {Scalar(high)}}});
  };
  const auto constant = [&](f64 value) {
    return compute("FILL_VALUE_CONSTANT", {},
                   {{.field = "ValueDataType", .numbers = {enum_value("DML_TENSOR_DATA_TYPE", "FLOAT32")}},
                    {.field = "Value", .numbers = {Scalar(value)}}});
  };
  const auto extreme = [&](std::string_view function) {
    OpAttribute axes{.field = "Axes", .numbers = {}};
    for (u64 axis = 0; axis < input.rank; ++axis) {
      axes.numbers.emplace_back(axis);
    }
    const std::uint32_t found =
        list.add("REDUCE", {0}, input.type, one,
                 {{.field = "Function", .numbers = {enum_value("DML_REDUCE_FUNCTION", function)}}, axes});
    return widened(found, one);
  };
  const std::uint32_t low = clipped(extreme("MIN"), -kInfinity, 0);
  const std::uint32_t high = clipped(extreme("MAX"), 0, kInfinity);
  const std::uint32_t range = compute("ELEMENT_WISE_SUBTRACT", {high, low});
  const std::uint32_t scale = compute("ELEMENT_WISE_DIVIDE", {range, constant(maximum - minimum)});
  const std::uint32_t below = compute("ELEMENT_WISE_DIVIDE", {low, scale});
  const std::uint32_t zero = clipped(compute("ELEMENT_WISE_SUBTRACT", {constant(minimum), below}), minimum, maximum);
  const std::uint32_t rounded =
      compute("ELEMENT_WISE_ROUND", {zero},
              {{.field = "RoundingMode", .numbers = {enum_value("DML_ROUNDING_MODE", "HALVES_TO_NEAREST_EVEN")}}});
  const std::uint32_t zero_point = list.add("CAST", {rounded}, type, one);
  list.add_output("ELEMENT_WISE_IDENTITY", {scale}, 1);
  list.add_output("ELEMENT_WISE_IDENTITY", {zero_point}, 2);
  list.add_output("ELEMENT_WISE_QUANTIZE_LINEAR", {widened(0, input), scale, zero_point}, 0);
  return list.finish();
}

}  // namespace anydml
