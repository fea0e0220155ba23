// SPDX-License-Identifier: MIT
#include "ops/dynamic_scale.h"

#include <limits>
#include <vector>

namespace anydml {
namespace {

Scalar enum_value(std::string_view type, std::string_view name) {
  return Scalar(static_cast<u64>(*facts::find_enum_value(*facts::find_enum(type), name)));
}

}  // namespace

// Splits the range of the elements, extended to include 0, into 255 parts. Every step is computed and rounded in
// FLOAT32, as ONNX specifies.
DynamicScale add_dynamic_scale(DecompositionBuilder& list, std::uint32_t value, DataType type, const TensorDesc& one) {
  constexpr f64 kInfinity = std::numeric_limits<f64>::infinity();
  const TensorDesc input = list.tensor(value);
  const bool is_half = input.type == DataType::FLOAT16;
  const f64 minimum = type == DataType::UINT8 ? 0 : -128;
  const f64 maximum = type == DataType::UINT8 ? 255 : 127;
  const auto widened = [&](std::uint32_t narrow, const TensorDesc& like) {
    return is_half ? list.add("CAST", {narrow}, DataType::FLOAT32, like) : narrow;
  };
  const auto compute = [&](std::string_view op, const std::vector<std::uint32_t>& sources,
                           const std::vector<OpAttribute>& attributes = {}) {
    return list.add(op, sources, DataType::FLOAT32, one, attributes);
  };
  const auto clipped = [&](std::uint32_t number, f64 low, f64 high) {
    return compute("ELEMENT_WISE_CLIP", {number},
                   {{.field = "Min", .numbers = {Scalar(low)}}, {.field = "Max", .numbers = {Scalar(high)}}});
  };
  const auto constant = [&](f64 number) {
    return compute("FILL_VALUE_CONSTANT", {},
                   {{.field = "ValueDataType", .numbers = {enum_value("DML_TENSOR_DATA_TYPE", "FLOAT32")}},
                    {.field = "Value", .numbers = {Scalar(number)}}});
  };
  const auto extreme = [&](std::string_view function) {
    OpAttribute axes{.field = "Axes", .numbers = {}};
    for (u64 axis = 0; axis < input.rank; ++axis) {
      axes.numbers.emplace_back(axis);
    }
    const std::uint32_t found =
        list.add("REDUCE", {value}, input.type, one,
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
  return {.input = widened(value, input), .scale = scale, .zero_point = zero_point};
}

}  // namespace anydml
