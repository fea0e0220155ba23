// SPDX-License-Identifier: MIT
// Operators of ai.onnx.ml that change or select features.
#include <algorithm>
#include <cmath>
#include <memory>

#include "onnx/rows/ml/ml.h"
#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

// A number for each feature, or one for all.
double for_feature(std::span<const double> numbers, std::size_t feature) {
  return numbers[numbers.size() == 1 ? 0 : feature];
}

void check_feature_list(const char* what, std::size_t count, std::int64_t width) {
  if (count != 1 && static_cast<std::int64_t>(count) != width) {
    fail("{} has {} numbers, but X has {} features; expected 1 or {}", what, count, width, width);
  }
}

std::int64_t last_size(const Array& x) { return x.rank() == 0 ? 1 : x.shape().back(); }

enum class Norm : std::uint8_t { kMax, kL1, kL2 };

double norm_of(Norm norm, std::span<const double> row) {
  double result = 0;
  for (const double one : row) {
    result =
        norm == Norm::kMax ? larger(result, std::abs(one)) : result + (norm == Norm::kL1 ? std::abs(one) : one * one);
  }
  return norm == Norm::kL2 ? std::sqrt(result) : result;
}

// Replaces the elements that equal a value. T: the type of the elements; NaN replaces NaN.
template <class T>
Array imputed(const Array& x, T replaced, const std::vector<T>& values) {
  const std::int64_t width = last_size(x);
  check_feature_list("the list of imputed values", values.size(), width);
  Array result = copy_of(x);
  const std::span<T> elements = writable_elements<T>(result);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool is_missing = elements[i] == replaced || (elements[i] != elements[i] && replaced != replaced);
    if (is_missing) {
      elements[i] = values[values.size() == 1 ? 0 : i % static_cast<std::size_t>(width)];
    }
  }
  return result;
}

template <class T, class Given>
Compute imputer_of(const Node& node, const Given& replaced, const std::vector<Given>& given, const char* attribute) {
  std::vector<T> values;
  for (const Given one : given) {
    if constexpr (std::is_integral_v<T>) {
      if (one < std::numeric_limits<T>::min() || one > std::numeric_limits<T>::max()) {
        wrong(node, attribute, "numbers that fit in the type of X");
      }
    }
    values.push_back(static_cast<T>(one));
  }
  if constexpr (std::is_integral_v<T>) {
    if (replaced < std::numeric_limits<T>::min() || replaced > std::numeric_limits<T>::max()) {
      return [](std::span<const Array> inputs) { return one(copy_of(inputs[0])); };  // no element can equal it
    }
  }
  return [replaced = static_cast<T>(replaced), values = std::move(values)](std::span<const Array> inputs) {
    return one(imputed<T>(inputs[0], replaced, values));
  };
}

// The elements of the last axis at these indices.
Array extracted(const Array& x, const std::vector<std::int64_t>& indices) {
  const std::int64_t width = x.shape().back();
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= width) {
      fail("Y has the index {}, but X has {} elements along its last axis", index, width);
    }
  }
  Sizes shape = x.rank() == 1 ? Sizes{1} : Sizes(x.shape().begin(), x.shape().end() - 1);
  const std::int64_t count = product(shape);
  shape.push_back(static_cast<std::int64_t>(indices.size()));
  const Array packed = x.packed();
  Array result = Array::empty(x.kind(), shape);
  if (result.count() == 0) {
    return result;
  }
  const std::size_t item = item_size(x.kind());
  const auto* const from = static_cast<const std::byte*>(packed.data());
  auto* to = static_cast<std::byte*>(result.writable());
  for (std::int64_t row = 0; row < count; ++row) {
    for (const std::int64_t index : indices) {
      std::memcpy(to, from + static_cast<std::size_t>(row * width + index) * item, item);
      to += item;
    }
  }
  return x.kind() == Kind::kString ? Array::strings(shape, result.elements<std::string_view>()) : result;
}

}  // namespace

Compute ml_scaler(const Node& node) {
  const std::vector<double> offset = node.numbers("offset");
  const std::vector<double> scale = node.numbers("scale");
  if (offset.empty() || offset.size() != scale.size()) {
    fail("{}: offset has {} numbers and scale has {}; expected equally many, 1 or more", node.label, offset.size(),
         scale.size());
  }
  return [offset, scale](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::int64_t width = last_size(x);
    check_feature_list("offset", offset.size(), width);
    std::vector<double> numbers = x.to_numbers();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t feature = i % static_cast<std::size_t>(width);
      numbers[i] = (numbers[i] - for_feature(offset, feature)) * for_feature(scale, feature);
    }
    return one(floats_of(Kind::kFloat, x.shape(), numbers));
  };
}

Compute ml_normalizer(const Node& node) {
  check_choice(node, "norm", {"MAX", "L1", "L2"});
  const std::string name = node.text("norm");
  return [norm = name == "MAX"  ? Norm::kMax
                 : name == "L1" ? Norm::kL1
                                : Norm::kL2](std::span<const Array> inputs) {
    FeatureRows x = feature_rows(inputs[0]);
    const std::int64_t rows = x.width == 0 ? 0 : x.count;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::span<double> features =
          std::span(x.numbers).subspan(static_cast<std::size_t>(row * x.width), static_cast<std::size_t>(x.width));
      const double divisor = norm_of(norm, features);
      if (divisor != 0) {  // a row of zeros stays as it is
        std::transform(features.begin(), features.end(), features.begin(),
                       [divisor](double one) { return one / divisor; });
      }
    }
    return one(floats_of(Kind::kFloat, inputs[0].shape(), x.numbers));
  };
}

Compute ml_imputer(const Node& node) {
  const std::vector<double> floats = node.numbers("imputed_value_floats");
  const std::vector<std::int64_t> integers = node.integers("imputed_value_int64s");
  const bool needs_floats = is_float(node.kinds[0]);
  if (needs_floats ? floats.empty() || !integers.empty() : integers.empty() || !floats.empty()) {
    fail("{}: X is {}, so imputed_value_{} must have values, and the other attribute none", node.label,
         kind_name(node.kinds[0]), needs_floats ? "floats" : "int64s");
  }
  const double replaced = node.number("replaced_value_float");
  const std::int64_t replaced_integer = node.integer("replaced_value_int64");
  switch (node.kinds[0]) {
    case Kind::kFloat:
      return imputer_of<float>(node, replaced, floats, "imputed_value_floats");
    case Kind::kDouble:
      return imputer_of<double>(node, replaced, floats, "imputed_value_floats");
    case Kind::kInt32:
      return imputer_of<std::int32_t>(node, replaced_integer, integers, "imputed_value_int64s");
    default:
      return imputer_of<std::int64_t>(node, replaced_integer, integers, "imputed_value_int64s");
  }
}

Compute ml_binarizer(const Node& node) {
  return [threshold = node.number("threshold")](std::span<const Array> inputs) {
    const Array x = inputs[0].packed();
    Array result = Array::empty(x.kind(), x.shape());
    with_element_type(x.kind(), [&](auto type) {
      using T = decltype(type);
      if constexpr (!std::is_same_v<T, f16>) {
        const std::span<const T> from = x.elements<T>();
        std::transform(from.begin(), from.end(), writable_elements<T>(result).begin(),
                       [threshold](T one) { return static_cast<double>(one) > threshold ? T{1} : T{0}; });
      }
    });
    return one(result);
  };
}

Compute ml_feature_vectorizer(const Node& node) {
  const std::vector<std::int64_t> sizes = node.integers("inputdimensions");
  if (sizes.size() != node.kinds.size()) {
    wrong(node, "inputdimensions", format_text("{} sizes, one for each input", node.kinds.size()));
  }
  check_minimum(node, "inputdimensions", 0);
  return [sizes](std::span<const Array> inputs) {
    std::int64_t width = 0;
    for (const std::int64_t size : sizes) {
      width = added_sizes(width, size);
    }
    check_features(inputs[0]);
    const std::int64_t rows = inputs[0].rank() == 1 ? 1 : inputs[0].shape().front();
    Array result = Array::zeros(Kind::kFloat, {rows, width});
    const std::span<float> to = writable_elements<float>(result);
    const std::int64_t written = width == 0 ? 0 : rows;  // a tensor without elements may have any number of rows
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const FeatureRows part = feature_rows(inputs[i]);
      if (part.count != rows) {
        fail("input {} has {} rows, but the first one has {}", i, part.count, rows);
      }
      const std::int64_t taken = std::min(part.width, sizes[i]);  // missing features are 0, and others are left out
      for (std::int64_t row = 0; row < written; ++row) {
        for (std::int64_t k = 0; k < taken; ++k) {
          to[static_cast<std::size_t>(row * width + begin + k)] =
              static_cast<float>(part.row(row)[static_cast<std::size_t>(k)]);
        }
      }
      begin += sizes[i];
    }
    return one(result);
  };
}

Compute ml_array_feature_extractor(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    if (inputs[0].rank() == 0) {
      fail("X has no dimensions; expected 1 or more");
    }
    return one(extracted(inputs[0], inputs[1].to_integers()));
  };
}

}  // namespace anydml::onnx
