// SPDX-License-Identifier: MIT
#include "values.h"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/ascii.h"
#include "base/float_bits.h"
#include "echo.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

template <class T>
using bits_t =
    std::conditional_t<sizeof(T) == 1, u8,
                       std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>>;

template <class T>
ElementBits to_element(T value) {
  return std::bit_cast<bits_t<T>>(value);
}

template <class T>
T from_element(ElementBits element) {
  return std::bit_cast<T>(static_cast<bits_t<T>>(element));
}

struct TypeAlias {
  std::string_view name;
  DataType type;
};

// NumPy's names count bytes: i8 is INT64.
constexpr TypeAlias kNumpyNames[] = {
    {"half", DataType::FLOAT16}, {"single", DataType::FLOAT32}, {"double", DataType::FLOAT64},
    {"f2", DataType::FLOAT16},   {"f4", DataType::FLOAT32},     {"f8", DataType::FLOAT64},
    {"i1", DataType::INT8},      {"i2", DataType::INT16},       {"i4", DataType::INT32},
    {"i8", DataType::INT64},     {"u1", DataType::UINT8},       {"u2", DataType::UINT16},
    {"u4", DataType::UINT32},    {"u8", DataType::UINT64},
};

enum class Form { other, whole, real };

// How JSON classifies the text: a number without point or exponent, any other number, or something else.
Form form_of(std::string_view text) {
  std::size_t at = 0;
  const auto take = [&](std::string_view any) {
    const bool found = at < text.size() && any.find(text[at]) != std::string_view::npos;
    at += found ? 1 : 0;
    return found;
  };
  const auto take_digits = [&] {
    const std::size_t first = at;
    while (take("0123456789")) {
    }
    return at - first;
  };
  take("-");
  const std::size_t first = at;
  const std::size_t digits = take_digits();
  if (digits == 0 || (digits > 1 && text[first] == '0')) {
    return Form::other;
  }
  Form form = Form::whole;
  if (take(".")) {
    form = Form::real;
    if (take_digits() == 0) {
      return Form::other;
    }
  }
  if (take("eE")) {
    form = Form::real;
    take("+-");
    if (take_digits() == 0) {
      return Form::other;
    }
  }
  return at == text.size() ? form : Form::other;
}

Error not_a_number(std::string_view text) {
  const bool nearly = text.find_first_of("0123456789") != std::string_view::npos &&
                      text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  return invalid(nearly
                     ? format_text("'{}' is not a JSON number; expected a number such as -12, 0.5 or 1e-3", echo(text))
                     : format_text("'{}' is not a number", echo(text)));
}

enum class Special { none, nan, infinity };

Special special_of(std::string_view text) {
  const std::string_view word = text.substr(text.starts_with('-') || text.starts_with('+') ? 1 : 0);
  if (same_in_any_case(word, "nan")) {
    return Special::nan;
  }
  return same_in_any_case(word, "inf") || same_in_any_case(word, "infinity") ? Special::infinity : Special::none;
}

template <class T>
Result<ElementBits> parse_integer(std::string_view text) {
  constexpr DataType kType = kDataTypeOf<T>;
  constexpr T kLowest = std::numeric_limits<T>::lowest();
  constexpr T kLargest = std::numeric_limits<T>::max();
  const Form form = form_of(text);
  if (form == Form::other && special_of(text) == Special::none) {
    return not_a_number(text);
  }
  if (form != Form::whole) {
    return invalid(format_text("{} is not a whole number; {} accepts {} to {}, written without point or exponent",
                               echo(text), type_name(kType), +kLowest, +kLargest));
  }
  // from_chars accepts no sign for unsigned types, and -0 is a valid number.
  const std::string_view digits = text == "-0" ? text.substr(1) : text;
  T value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
    return invalid(format_text("{} is not {} {} ({} to {})", echo(text), std::is_signed_v<T> ? "an" : "a",
                               type_name(kType), +kLowest, +kLargest));
  }
  return to_element(value);
}

class Rounding {
 public:
  explicit Rounding(int mode) { std::fesetround(mode); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
  ~Rounding() { std::fesetround(before_); }

 private:
  int before_ = std::fegetround();
};

// strtod and strtof round correctly in the current rounding mode, however long the text is.
template <class T>
T read_decimal(const char* text, int mode) {
  static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);  // built in, so creating it cannot fail
  const Rounding rounding(mode);
  if constexpr (std::is_same_v<T, f32>) {
    return strtof_l(text, nullptr, locale);
  } else {
    return strtod_l(text, nullptr, locale);
  }
}

// A decimal number rounded once, to nearest even.
template <class T>
T round_decimal(const char* text) {
  if constexpr (std::is_same_v<T, f16>) {
    // Picks the odd one of the two FLOAT64 values around the number: it is neither a FLOAT16 nor halfway between two of
    // them, so it rounds in the same direction as the number itself.
    const f64 below = read_decimal<f64>(text, FE_DOWNWARD);
    const f64 above = read_decimal<f64>(text, FE_UPWARD);
    return round_to<f16>((to_bits(below) & 1) != 0 ? below : above);
  } else {
    return read_decimal<T>(text, FE_TONEAREST);
  }
}

template <class T>
std::string float_text(T value) {
  if (is_nan(value)) {
    return "nan";
  }
  f64 wide = 0;
  if constexpr (std::is_same_v<T, f64>) {
    wide = value;
  } else {
    wide = widen_to<f64>(value);
  }
  for (int digits = 6;; ++digits) {
    char text[32] = {};  // -1.2345678901234567e-308 has 24 characters
    std::to_chars(text, text + sizeof(text) - 1, wide, std::chars_format::general, digits);
    // 17 digits distinguish any two numbers of the widest type, so the loop always ends.
    if (digits == 17 || to_bits(round_decimal<T>(text)) == to_bits(value)) {
      return text;
    }
  }
}

template <class T>
Result<ElementBits> parse_float(std::string_view text) {
  using Parts = FloatParts<T>;
  const bool negative = text.starts_with('-');
  const ElementBits sign = negative ? Parts::kSign : 0;
  switch (special_of(text)) {
    case Special::nan:
      return sign | Parts::kQuietNan;
    case Special::infinity:
      return sign | Parts::kInfinity;
    case Special::none:
      break;
  }
  if (form_of(text) == Form::other) {
    return not_a_number(text);
  }
  const ElementBits bits = to_bits(round_decimal<T>(std::string(text).c_str()));
  if ((bits & Parts::kMagnitude) == Parts::kInfinity) {
    const T largest = from_bits<T>(static_cast<float_bits_t<T>>(Parts::kInfinity - 1));
    return invalid(format_text("{} is too large for {}, whose largest number is {}; write {}inf for infinity",
                               echo(text), type_name(kDataTypeOf<T>), float_text(largest), negative ? "-" : ""));
  }
  return bits;
}

template <class T>
T add(T a, T b) {
  if constexpr (is_float<T>) {
    const T sum = narrow<T>(widen(a) + widen(b));
    return is_nan(sum) ? quiet_nan<T>() : sum;  // machines produce different NaNs
  } else {
    using Wrapping = wrapping_t<T>;
    return static_cast<T>(static_cast<Wrapping>(a) + static_cast<Wrapping>(b));
  }
}

}  // namespace

std::optional<DataType> parse_type(std::string_view name, bool any_case) {
  constexpr std::string_view kPrefix = "DML_TENSOR_DATA_TYPE_";
  const auto same = [any_case](std::string_view a, std::string_view b) {
    return any_case ? same_in_any_case(a, b) : a == b;
  };
  const bool prefixed = same(name.substr(0, kPrefix.size()), kPrefix);
  const std::string_view bare = name.substr(prefixed ? kPrefix.size() : 0);
#define ANYDML_MATCH(T, type, value) \
  if (same(bare, #type)) {           \
    return DataType::type;           \
  }
  ANYDML_FOR_EACH_TYPE(ANYDML_MATCH)
#undef ANYDML_MATCH
  if (any_case && !prefixed) {
    for (const TypeAlias& alias : kNumpyNames) {
      if (same_in_any_case(name, alias.name)) {
        return alias.type;
      }
    }
  }
  return std::nullopt;
}

Result<ElementBits> parse_element(std::string_view text, DataType type) {
  return visit_type(type, [text]<class T>() -> Result<ElementBits> {
    if constexpr (is_float<T>) {
      return parse_float<T>(text);
    } else {
      return parse_integer<T>(text);
    }
  });
}

std::string element_text(ElementBits element, DataType type) {
  return visit_type(type, [element]<class T>() -> std::string {
    const T value = from_element<T>(element);
    if constexpr (is_float<T>) {
      return float_text(value);
    } else {
      return std::to_string(value);
    }
  });
}

std::string element_hex(ElementBits element, DataType type) {
  return visit_type(type, [element]<class T>() {
    return format_text("0x{:0{}X}", static_cast<u64>(static_cast<bits_t<T>>(element)), 2 * sizeof(T));
  });
}

ElementBits add_elements(ElementBits a, ElementBits b, DataType type) {
  return visit_type(type, [a, b]<class T>() { return to_element(add(from_element<T>(a), from_element<T>(b))); });
}

ElementBits load_element(const std::byte* from, DataType type) {
  return visit_type(type, [from]<class T>() -> ElementBits {
    bits_t<T> bits = 0;
    std::memcpy(&bits, from, sizeof(bits));
    return bits;
  });
}

void store_element(ElementBits element, DataType type, std::byte* to) {
  visit_type(type, [element, to]<class T>() {
    const auto bits = static_cast<bits_t<T>>(element);
    std::memcpy(to, &bits, sizeof(bits));
  });
}

void fill_constant(std::span<std::byte> to, ElementBits value, DataType type) {
  const std::size_t size = element_size(type);
  for (std::size_t at = 0; at + size <= to.size(); at += size) {
    store_element(value, type, to.data() + at);
  }
}

void fill_sequence(std::span<std::byte> to, ElementBits first, ElementBits step, DataType type) {
  visit_type(type, [to, first, step]<class T>() {
    T value = from_element<T>(first);
    const T added = from_element<T>(step);
    for (std::size_t at = 0; to.size() - at >= sizeof(T); at += sizeof(T)) {
      std::memcpy(to.data() + at, &value, sizeof(T));
      value = add(value, added);
    }
  });
}

}  // namespace anydml::dmlrun
