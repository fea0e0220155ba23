// SPDX-License-Identifier: MIT
#include "onnx/values/few.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace anydml::onnx {
namespace {

constexpr std::int64_t kMaxFew = 32;

// The types in which models compute sizes.
bool is_size_kind(Kind kind) { return kind == Kind::kInt64 || kind == Kind::kInt32; }

struct Numbers {
  std::array<std::int64_t, kMaxFew> at;
  std::int64_t count = 0;
};

template <class T>
void read_numbers(const Array& packed, Numbers& numbers) {
  const auto elements = packed.elements<T>();
  std::copy(elements.begin(), elements.end(), numbers.at.begin());
}

// Reads a few integers or bytes.
bool read(const Array& array, Numbers& numbers) {
  if (array.is_symbol() || array.count() > kMaxFew) {
    return false;
  }
  numbers.count = array.count();
  const Array packed = array.packed();
  switch (array.kind()) {
    case Kind::kInt64:
      read_numbers<std::int64_t>(packed, numbers);
      return true;
    case Kind::kInt32:
      read_numbers<std::int32_t>(packed, numbers);
      return true;
    case Kind::kUint8:
      read_numbers<std::uint8_t>(packed, numbers);
      return true;
    default:
      return false;
  }
}

template <class T>
void write_numbers(Array& array, const Numbers& numbers) {
  std::transform(numbers.at.begin(), numbers.at.begin() + numbers.count, static_cast<T*>(array.writable()),
                 [](std::int64_t one) { return static_cast<T>(one); });  // modulo 2^bits
}

Array written(Kind kind, const Sizes& shape, const Numbers& numbers) {
  Array array = Array::empty(kind, shape);
  switch (kind) {
    case Kind::kInt64:
      write_numbers<std::int64_t>(array, numbers);
      break;
    case Kind::kInt32:
      write_numbers<std::int32_t>(array, numbers);
      break;
    case Kind::kFloat:
      write_numbers<float>(array, numbers);  // rounds to nearest
      break;
    default:
      write_numbers<std::uint8_t>(array, numbers);
      break;
  }
  return array;
}

std::int64_t wrapped(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

using Combine = std::int64_t (*)(std::int64_t, std::int64_t);
struct Operation {
  std::string_view op;
  Combine combine;
  bool is_comparison = false;
};
constexpr Operation kOperations[] = {
    {"ELEMENT_WISE_ADD", [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) + bits(b)); }},
    {"ELEMENT_WISE_SUBTRACT", [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) - bits(b)); }},
    {"ELEMENT_WISE_MULTIPLY", [](std::int64_t a, std::int64_t b) { return wrapped(bits(a) * bits(b)); }},
    // A zero divisor gives 0; the smallest number divided by -1 is itself.
    {"ELEMENT_WISE_DIVIDE",
     [](std::int64_t a, std::int64_t b) { return b == 0    ? 0
                                                 : b == -1 ? wrapped(0 - bits(a))
                                                           : a / b; }},
    {"ELEMENT_WISE_MAX", [](std::int64_t a, std::int64_t b) { return std::max(a, b); }},
    {"ELEMENT_WISE_MIN", [](std::int64_t a, std::int64_t b) { return std::min(a, b); }},
    {"ELEMENT_WISE_LOGICAL_EQUALS", [](std::int64_t a, std::int64_t b) -> std::int64_t { return a == b; }, true},
    {"ELEMENT_WISE_LOGICAL_LESS_THAN", [](std::int64_t a, std::int64_t b) -> std::int64_t { return a < b; }, true},
    {"ELEMENT_WISE_LOGICAL_GREATER_THAN", [](std::int64_t a, std::int64_t b) -> std::int64_t { return a > b; }, true},
};

// Inputs broadcast only from a single element, which is all that the arithmetic of sizes needs.
bool broadcasts(const Array& input, const Sizes& shape) { return input.count() == 1 || input.shape() == shape; }

// The shape of the result, or null: the inputs have this shape or a single element without more dimensions.
const Sizes* common_shape(const Arrays& inputs) {
  const Array* widest = inputs.data();
  for (const Array& one : inputs) {
    if (one.count() > widest->count() || (one.count() == widest->count() && one.rank() > widest->rank())) {
      widest = &one;
    }
  }
  const bool matches = std::all_of(inputs.begin(), inputs.end(), [widest](const Array& one) {
    return broadcasts(one, widest->shape()) && one.rank() <= widest->rank();
  });
  return matches ? &widest->shape() : nullptr;
}

std::optional<Array> combined(const Operation& operation, const Arrays& inputs) {
  const Kind kind = inputs[0].kind();
  const Sizes* const shape = common_shape(inputs);
  Numbers a, b;
  if (shape == nullptr || !is_size_kind(kind) || inputs[1].kind() != kind || !read(inputs[0], a) ||
      !read(inputs[1], b)) {
    return std::nullopt;
  }
  Numbers result;
  result.count = product(*shape);
  for (std::int64_t i = 0; i < result.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    result.at[at] = operation.combine(a.at[a.count == 1 ? 0 : at], b.at[b.count == 1 ? 0 : at]);
  }
  return written(operation.is_comparison ? Kind::kUint8 : kind, *shape, result);
}

std::optional<Array> chosen(const Arrays& inputs) {
  const Sizes* const shape = common_shape(inputs);
  Numbers condition, a, b;
  if (shape == nullptr || inputs[0].kind() != Kind::kUint8 || !is_size_kind(inputs[1].kind()) ||
      inputs[2].kind() != inputs[1].kind() || !read(inputs[0], condition) || !read(inputs[1], a) ||
      !read(inputs[2], b)) {
    return std::nullopt;
  }
  Numbers result;
  result.count = product(*shape);
  for (std::int64_t i = 0; i < result.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_true = condition.at[condition.count == 1 ? 0 : at] != 0;
    result.at[at] = is_true ? a.at[a.count == 1 ? 0 : at] : b.at[b.count == 1 ? 0 : at];
  }
  return written(inputs[1].kind(), *shape, result);
}

std::optional<Array> converted(const Array& x, Kind kind) {
  Numbers numbers;
  if (!(is_size_kind(x.kind()) || x.kind() == Kind::kUint8) || !(is_size_kind(kind) || kind == Kind::kFloat) ||
      !read(x, numbers)) {
    return std::nullopt;
  }
  const bool fits = std::all_of(numbers.at.begin(), numbers.at.begin() + numbers.count, [](std::int64_t one) {
    return one >= std::numeric_limits<std::int32_t>::min() && one <= std::numeric_limits<std::int32_t>::max();
  });
  return fits || kind == Kind::kInt64 ? std::optional(written(kind, x.shape(), numbers)) : std::nullopt;
}

}  // namespace

std::optional<Array> computed_from_few(std::string_view op, const Arrays& inputs, const Options& options,
                                       const Out& out) {
  const bool are_present =
      std::all_of(inputs.begin(), inputs.end(), [](const Array& one) { return one && !one.is_symbol(); });
  if (inputs.empty() || !are_present || !options.empty()) {
    return std::nullopt;
  }
  if (op == "CAST" && out.kind != Kind::kUndefined) {
    return converted(inputs[0], out.kind);
  }
  if (op == "ELEMENT_WISE_IF" && inputs.size() == 3) {
    return chosen(inputs);
  }
  if (inputs.size() != 2) {
    return std::nullopt;
  }
  const auto* const found =
      std::find_if(std::begin(kOperations), std::end(kOperations), [op](const Operation& one) { return one.op == op; });
  return found != std::end(kOperations) ? combined(*found, inputs) : std::nullopt;
}

}  // namespace anydml::onnx
