// SPDX-License-Identifier: MIT
// Operators that accept or return strings. Operators that only rearrange elements treat all types alike; shapes.cpp
// contains them.
#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

#include "onnx/rows/host/host.h"

namespace anydml::onnx {
namespace {

// ---- Cast -----------------------------------------------------------------------------------------------------------

// The shortest decimal number with the same value, as NumPy prints it.
template <class T>
std::string text_of_float(T value) {
  if (std::isnan(value) || std::isinf(value)) {
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  const T size = std::abs(value);
  const bool is_plain = size == 0 || (size >= T(1e-4) && size < T(1e16));
  char digits[64];
  const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value, format).ptr;
  std::string text(std::begin(digits), end);
  return is_plain && text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string text_of_element(f16 value) { return text_of_float(widen(value)); }
std::string text_of_element(float value) { return text_of_float(value); }
std::string text_of_element(double value) { return text_of_float(value); }
template <class T>
std::string text_of_element(T value) {
  return std::to_string(value);
}

Array texts_of(const Array& x) {
  const Array packed = x.packed();
  std::vector<std::string> texts;
  if (x.kind() == Kind::kBool) {
    for (const std::uint8_t one : packed.elements<std::uint8_t>()) {
      texts.emplace_back(one != 0 ? "True" : "False");
    }
  } else {
    with_element_type(x.kind(), [&](auto type) {
      for (const auto one : packed.elements<decltype(type)>()) {
        texts.push_back(text_of_element(one));
      }
    });
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return Array::strings(x.shape(), views);
}

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\r\f\v";
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

// Numbers are read in this locale, whatever the program's own is. It is created when the library is loaded, because a
// function-local static would be initialized under a lock that a fork can leave locked.
const locale_t g_plain_locale = ::newlocale(LC_ALL_MASK, "C", nullptr);

// A number in decimal digits, with an exponent for floats, or inf or nan in any case.
template <class T>
T number_of_text(std::string_view whole) {
  constexpr std::size_t kMaxShown = 100;
  std::string_view text = without_spaces(whole);
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) {
    text.remove_prefix(1);
  }
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    fail("an element is {}; expected a number", quoted(whole.substr(0, kMaxShown)));
  }
  if (error == std::errc::result_out_of_range) {
    if constexpr (std::is_floating_point_v<T>) {  // as large or as small as the text says
      const std::string copy(text);
      return static_cast<T>(g_plain_locale != nullptr ? ::strtod_l(copy.c_str(), nullptr, g_plain_locale)
                                                      : std::strtod(copy.c_str(), nullptr));
    } else {
      fail("an element is {}, which is out of range", quoted(whole.substr(0, kMaxShown)));
    }
  }
  return value;
}

Array numbers_of(const Array& x, Kind kind) {
  const Array packed = x.packed();
  const std::span<const std::string_view> texts = packed.elements<std::string_view>();
  Array result = Array::empty(kind, x.shape());
  with_element_type(kind, [&](auto type) {
    using T = decltype(type);
    const std::span<T> to = writable_elements<T>(result);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if constexpr (std::is_same_v<T, f16>) {
        to[i] = round_to<f16>(number_of_text<double>(texts[i]));
      } else {
        to[i] = number_of_text<T>(texts[i]);
      }
    }
  });
  return result;
}

Compute host_cast_strings(const Node& node) {
  const Kind from = node.kinds[0];
  const Kind to = node.results[0];
  if (from == Kind::kString && to == Kind::kString) {
    return [](std::span<const Array> inputs) { return one(inputs[0]); };
  }
  if (from == Kind::kString && to != Kind::kBool && kArrayKinds.contains(to)) {
    return [to](std::span<const Array> inputs) { return one(numbers_of(inputs[0], to)); };
  }
  if (to == Kind::kString) {
    return [](std::span<const Array> inputs) { return one(texts_of(inputs[0])); };
  }
  refuse(node, format_text("of {} to {}", kind_name(from), kind_name(to)), "neither operators nor the host have it");
}

std::vector<Kind> cast_strings_kinds(const Node& node) { return {node.named_kind("to")}; }

// ---- Others ---------------------------------------------------------------------------------------------------------

Compute host_identity_strings(const Node& /*node*/) {
  return [](std::span<const Array> inputs) { return one(inputs[0]); };
}

Compute host_gather_strings(const Node& node) {
  return [given = node.integer("axis")](std::span<const Array> inputs) {
    const Array x = inputs[0].packed();
    const int axis = axis_of(given, x.rank());
    const std::int64_t size = x.size(axis);
    const std::vector<std::int64_t> indices = inputs[1].to_integers();
    if (size == 0 && !indices.empty()) {
      fail("axis {} has no elements, but there are {} indices", axis, indices.size());
    }
    Sizes shape(x.shape().begin(), x.shape().begin() + axis);
    const std::int64_t outer = product(shape);
    shape.insert(shape.end(), inputs[1].shape().begin(), inputs[1].shape().end());
    const Sizes after(x.shape().begin() + axis + 1, x.shape().end());
    shape.insert(shape.end(), after.begin(), after.end());
    const std::int64_t inner = product(after);
    if (product(shape) == 0) {
      return one(Array::empty(Kind::kString, std::move(shape)));
    }
    const std::span<const std::string_view> from = x.elements<std::string_view>();
    std::vector<std::string_view> texts;
    texts.reserve(static_cast<std::size_t>(product(shape)));
    for (std::int64_t i = 0; i < outer; ++i) {
      for (std::int64_t index : indices) {
        index = std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size - 1);  // as GATHER does
        const auto begin = from.begin() + (i * size + index) * inner;
        texts.insert(texts.end(), begin, begin + inner);
      }
    }
    return one(Array::strings(shape, texts));
  };
}

Compute host_equal_strings(const Node& /*node*/) {
  return [](std::span<const Array> inputs) {
    const Sizes shape = broadcast_shapes(inputs[0].shape(), inputs[1].shape());
    const Array a = inputs[0].broadcast_to(shape).packed();
    const Array b = inputs[1].broadcast_to(shape).packed();
    Array result = Array::empty(Kind::kBool, shape);
    const std::span<const std::string_view> left = a.elements<std::string_view>();
    std::transform(left.begin(), left.end(), b.elements<std::string_view>().begin(),
                   writable_elements<std::uint8_t>(result).begin(),
                   [](std::string_view one, std::string_view other) { return one == other ? 1 : 0; });
    return one(result);
  };
}

constexpr Row string_row(std::string_view op, Make make, std::string_view uses, KindSet kinds = kStringKinds,
                         ResultKinds result = nullptr) {
  return {.op = op,
          .make = make,
          .uses = uses,
          .kinds = kinds,
          .result = result,
          .is_on_host = true,
          .takes_strings = true};
}

const Row kStringRows[] = {
    string_row("Cast", host_cast_strings, "strings", kArrayKinds | kStringKinds, cast_strings_kinds),
    string_row("Equal", host_equal_strings, "strings"),
    string_row("Gather", host_gather_strings, "strings"),
    string_row("Identity", host_identity_strings, "strings"),
};

}  // namespace

std::span<const Row> string_rows() { return kStringRows; }

}  // namespace anydml::onnx
