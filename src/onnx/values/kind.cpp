// SPDX-License-Identifier: MIT
#include "onnx/values/kind.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace anydml::onnx {
namespace {

constexpr std::array kKindNames{
    std::pair{Kind::kUndefined, std::string_view("undefined")},
    std::pair{Kind::kFloat, std::string_view("float")},
    std::pair{Kind::kUint8, std::string_view("uint8")},
    std::pair{Kind::kInt8, std::string_view("int8")},
    std::pair{Kind::kUint16, std::string_view("uint16")},
    std::pair{Kind::kInt16, std::string_view("int16")},
    std::pair{Kind::kInt32, std::string_view("int32")},
    std::pair{Kind::kInt64, std::string_view("int64")},
    std::pair{Kind::kString, std::string_view("string")},
    std::pair{Kind::kBool, std::string_view("bool")},
    std::pair{Kind::kFloat16, std::string_view("float16")},
    std::pair{Kind::kDouble, std::string_view("double")},
    std::pair{Kind::kUint32, std::string_view("uint32")},
    std::pair{Kind::kUint64, std::string_view("uint64")},
    std::pair{Kind::kComplex64, std::string_view("complex64")},
    std::pair{Kind::kComplex128, std::string_view("complex128")},
    std::pair{Kind::kBfloat16, std::string_view("bfloat16")},
    std::pair{Kind::kFloat8e4m3fn, std::string_view("float8e4m3fn")},
    std::pair{Kind::kFloat8e4m3fnuz, std::string_view("float8e4m3fnuz")},
    std::pair{Kind::kFloat8e5m2, std::string_view("float8e5m2")},
    std::pair{Kind::kFloat8e5m2fnuz, std::string_view("float8e5m2fnuz")},
    std::pair{Kind::kUint4, std::string_view("uint4")},
    std::pair{Kind::kInt4, std::string_view("int4")},
    std::pair{Kind::kFloat4e2m1, std::string_view("float4e2m1")},
    std::pair{Kind::kFloat8e8m0, std::string_view("float8e8m0")},
    std::pair{Kind::kUint2, std::string_view("uint2")},
    std::pair{Kind::kInt2, std::string_view("int2")},
    std::pair{Kind::kFloat6e2m3, std::string_view("float6e2m3")},
    std::pair{Kind::kFloat6e3m2, std::string_view("float6e3m2")},
    std::pair{Kind::kSequence, std::string_view("sequence")},
    std::pair{Kind::kMap, std::string_view("map")},
    std::pair{Kind::kOptional, std::string_view("optional")},
    std::pair{Kind::kSparseTensor, std::string_view("sparse_tensor")},
    std::pair{Kind::kOpaque, std::string_view("opaque")},
    std::pair{Kind::kNothing, std::string_view("nothing")},
};

constexpr std::array kApiTypes{
    std::pair{Kind::kFloat, std::uint32_t{ANYDML_FLOAT32}},  std::pair{Kind::kFloat16, std::uint32_t{ANYDML_FLOAT16}},
    std::pair{Kind::kDouble, std::uint32_t{ANYDML_FLOAT64}}, std::pair{Kind::kUint8, std::uint32_t{ANYDML_UINT8}},
    std::pair{Kind::kUint16, std::uint32_t{ANYDML_UINT16}},  std::pair{Kind::kUint32, std::uint32_t{ANYDML_UINT32}},
    std::pair{Kind::kUint64, std::uint32_t{ANYDML_UINT64}},  std::pair{Kind::kInt8, std::uint32_t{ANYDML_INT8}},
    std::pair{Kind::kInt16, std::uint32_t{ANYDML_INT16}},    std::pair{Kind::kInt32, std::uint32_t{ANYDML_INT32}},
    std::pair{Kind::kInt64, std::uint32_t{ANYDML_INT64}},    std::pair{Kind::kBool, std::uint32_t{ANYDML_UINT8}},
    std::pair{Kind::kUint4, std::uint32_t{ANYDML_UINT4}},    std::pair{Kind::kInt4, std::uint32_t{ANYDML_INT4}},
};

}  // namespace

std::string_view kind_name(Kind kind) {
  const auto found =
      std::find_if(kKindNames.begin(), kKindNames.end(), [kind](const auto& one) { return one.first == kind; });
  return found == kKindNames.end() ? kKindNames.front().second : found->second;
}

Kind kind_named(std::string_view name) {
  const auto found =
      std::find_if(kKindNames.begin(), kKindNames.end(), [name](const auto& one) { return one.second == name; });
  return found == kKindNames.end() ? Kind::kUndefined : found->first;
}

anydml_type api_type(Kind kind) {
  const auto found =
      std::find_if(kApiTypes.begin(), kApiTypes.end(), [kind](const auto& one) { return one.first == kind; });
  return found == kApiTypes.end() ? anydml_type{ANYDML_NONE} : found->second;
}

Kind kind_of_api(anydml_type type) {
  const auto found =
      std::find_if(kApiTypes.begin(), kApiTypes.end(), [type](const auto& one) { return one.second == type; });
  return found == kApiTypes.end() ? Kind::kUndefined : found->first;
}

IntegerLimits integer_limits(Kind kind) {
  const auto bits = static_cast<unsigned>(8 * item_size(kind));
  if (kind == Kind::kBool) {
    return {0, 1};
  }
  if (is_signed(kind)) {
    const std::uint64_t max = (std::uint64_t{1} << (bits - 1)) - 1;
    return {-static_cast<std::int64_t>(max) - 1, max};
  }
  return {0, std::numeric_limits<std::uint64_t>::max() >> (64 - bits)};
}

double max_float(Kind kind) {
  switch (kind) {
    case Kind::kFloat16:
      return 65504;
    case Kind::kFloat:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace anydml::onnx
