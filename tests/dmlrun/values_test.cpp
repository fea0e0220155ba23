// SPDX-License-Identifier: MIT
#include "values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/float_bits.h"
#include "echo.h"

namespace anydml::dmlrun {
namespace {

ElementBits bits(std::string_view text, DataType type) {
  const auto element = parse_element(text, type);
  EXPECT_TRUE(element.ok()) << text << ": " << (element ? "" : element.error().message);
  return element ? element.value() : ~ElementBits{0};
}

std::string error(std::string_view text, DataType type) {
  const auto element = parse_element(text, type);
  EXPECT_FALSE(element.ok()) << text << " is accepted as " << element_hex(element ? element.value() : 0, type);
  return element ? "" : element.error().message;
}

TEST(ParseType, TakesDirectMLsNamesExactly) {
#define ANYDML_CHECK(T, name, value)                                          \
  EXPECT_EQ(parse_type(#name), DataType::name);                               \
  EXPECT_EQ(parse_type("DML_TENSOR_DATA_TYPE_" #name), DataType::name);       \
  EXPECT_EQ(parse_type("dml_tensor_data_type_" #name, true), DataType::name); \
  EXPECT_EQ(parse_type(#name, true), DataType::name);
  ANYDML_FOR_EACH_TYPE(ANYDML_CHECK)
#undef ANYDML_CHECK
  for (const char* name : {"", "UNKNOWN", "DML_TENSOR_DATA_TYPE_UNKNOWN", "DML_TENSOR_DATA_TYPE_", "float32", "f4",
                           "FLOAT3", "FLOAT322", " FLOAT32", "dml_tensor_data_type_FLOAT32"}) {
    EXPECT_EQ(parse_type(name), std::nullopt) << name;
  }
}

TEST(ParseType, TakesNumPysNamesInAnyCase) {
  EXPECT_EQ(parse_type("float16", true), DataType::FLOAT16);
  EXPECT_EQ(parse_type("Float64", true), DataType::FLOAT64);
  EXPECT_EQ(parse_type("uint8", true), DataType::UINT8);
  EXPECT_EQ(parse_type("half", true), DataType::FLOAT16);
  EXPECT_EQ(parse_type("single", true), DataType::FLOAT32);
  EXPECT_EQ(parse_type("double", true), DataType::FLOAT64);
  EXPECT_EQ(parse_type("f2", true), DataType::FLOAT16);
  EXPECT_EQ(parse_type("i8", true), DataType::INT64);
  EXPECT_EQ(parse_type("u8", true), DataType::UINT64);
  EXPECT_EQ(parse_type("i1", true), DataType::INT8);
  EXPECT_EQ(parse_type("u1", true), DataType::UINT8);
  for (const char* name : {"", "unknown", "bool", "f1", "f16", "DML_TENSOR_DATA_TYPE_f4", "float"}) {
    EXPECT_EQ(parse_type(name, true), std::nullopt) << name;
  }
}

template <class T>
void check_limits() {
  const DataType type = kDataTypeOf<T>;
  const std::string lowest = std::to_string(std::numeric_limits<T>::lowest());
  const std::string largest = std::to_string(std::numeric_limits<T>::max());
  const ElementBits all = ~ElementBits{0} >> (64 - 8 * sizeof(T));
  const ElementBits top = std::is_signed_v<T> ? all >> 1 : all;
  EXPECT_EQ(bits(lowest, type), ~top & all);
  EXPECT_EQ(bits(largest, type), top);
  EXPECT_EQ(element_text(bits(lowest, type), type), lowest);
  EXPECT_EQ(element_text(bits(largest, type), type), largest);
  EXPECT_EQ(bits("0", type), 0U);
  EXPECT_EQ(bits("-0", type), 0U);
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(bits("-1", type), all);
  }
  // Incrementing the last digit gives a number beyond the type's range, since no limit ends in 9.
  std::string beyond = largest;
  ++beyond.back();
  const std::string range = " (" + lowest + " to " + largest + ")";
  const std::string article = std::is_signed_v<T> ? " is not an " : " is not a ";
  EXPECT_EQ(error(beyond, type), beyond + article + std::string(type_name(type)) + range);
  beyond = std::is_signed_v<T> ? lowest : "-0";
  ++beyond.back();
  EXPECT_EQ(error(beyond, type), beyond + article + std::string(type_name(type)) + range);
}

TEST(ParseElement, TakesEveryIntegerTypeToItsLimits) {
  check_limits<i8>();
  check_limits<i16>();
  check_limits<i32>();
  check_limits<i64>();
  check_limits<u8>();
  check_limits<u16>();
  check_limits<u32>();
  check_limits<u64>();
}

TEST(ParseElement, SaysWhatIsWrongWithAnInteger) {
  EXPECT_EQ(error("300", DataType::UINT8), "300 is not a UINT8 (0 to 255)");
  for (const char* text : {"3.0", "1e3", "nan", "-inf"}) {
    EXPECT_EQ(error(text, DataType::INT32), std::string(text) +
                                                " is not a whole number; INT32 accepts -2147483648 to 2147483647, "
                                                "written without point or exponent");
  }
  for (const char* text : {"", "abc", " 1", "1 ", "0x10", "--", "1,5"}) {
    EXPECT_EQ(error(text, DataType::INT32), "'" + std::string(text) + "' is not a number");
  }
  for (const char* text : {"+1", "007", "-00", "1-1", ".5"}) {
    EXPECT_EQ(error(text, DataType::UINT64),
              "'" + std::string(text) + "' is not a JSON number; expected a number such as -12, 0.5 or 1e-3");
  }
  EXPECT_EQ(error(std::string(5000, '1'), DataType::INT64),
            std::string(40, '1') + "... is not an INT64 (-9223372036854775808 to 9223372036854775807)");
  EXPECT_EQ(error(std::string_view("1\0", 2), DataType::INT8), "'1\\x00' is not a number");
  EXPECT_EQ(error("\x1b[31m\n", DataType::FLOAT32), "'\\x1B[31m\\x0A' is not a number");
}

TEST(ParseElement, ReadsNoFurtherThanItsText) {
  const std::string digits = "123456";
  EXPECT_EQ(bits(std::string_view(digits).substr(0, 3), DataType::UINT8), 123U);
  EXPECT_EQ(bits(std::string_view(digits).substr(0, 1), DataType::FLOAT32), 0x3f800000U);
}

TEST(ParseElement, TakesTheSpecialFloats) {
  EXPECT_EQ(bits("nan", DataType::FLOAT16), 0x7e00U);
  EXPECT_EQ(bits("NaN", DataType::FLOAT32), 0x7fc00000U);
  EXPECT_EQ(bits("+NAN", DataType::FLOAT64), 0x7ff8000000000000U);
  EXPECT_EQ(bits("-nan", DataType::FLOAT32), 0xffc00000U);
  EXPECT_EQ(bits("inf", DataType::FLOAT16), 0x7c00U);
  EXPECT_EQ(bits("-Inf", DataType::FLOAT32), 0xff800000U);
  EXPECT_EQ(bits("+INFINITY", DataType::FLOAT64), 0x7ff0000000000000U);
  EXPECT_EQ(bits("-infinity", DataType::FLOAT16), 0xfc00U);
  EXPECT_EQ(bits("0", DataType::FLOAT32), 0U);
  EXPECT_EQ(bits("-0", DataType::FLOAT16), 0x8000U);
  EXPECT_EQ(bits("-0.0e5", DataType::FLOAT64), u64{1} << 63);
}

TEST(ParseElement, RefusesWhatIsNoDecimalFloat) {
  for (const char* text : {"", "abc", "0x1p3", "nan(1)", "in", "infin", "1.5f", "1 ", "--inf", "1_0", "1,5"}) {
    EXPECT_EQ(error(text, DataType::FLOAT32), "'" + std::string(text) + "' is not a number");
  }
  for (const char* text : {"+1", ".5", "5.", "1e", "1e+", "01", "1.e3", "1.5.5", "1-"}) {
    EXPECT_EQ(error(text, DataType::FLOAT16),
              "'" + std::string(text) + "' is not a JSON number; expected a number such as -12, 0.5 or 1e-3");
  }
}

TEST(ParseElement, RefusesFiniteTextThatWouldBeInfinite) {
  EXPECT_EQ(error("65520", DataType::FLOAT16),
            "65520 is too large for FLOAT16, whose largest number is 65504; write inf for infinity");
  EXPECT_EQ(bits("65519.99999999999999999999999999999", DataType::FLOAT16), 0x7bffU);
  EXPECT_EQ(bits("-65519.99999999999999999999999999999", DataType::FLOAT16), 0xfbffU);
  EXPECT_EQ(error("-1e39", DataType::FLOAT32),
            "-1e39 is too large for FLOAT32, whose largest number is 3.4028235e+38; write -inf for infinity");
  EXPECT_EQ(error("1e999999999999999999999999", DataType::FLOAT64),
            "1e999999999999999999999999 is too large for FLOAT64, whose largest number is 1.7976931348623157e+308; "
            "write inf for infinity");
  EXPECT_EQ(error("-1e400", DataType::FLOAT16).substr(0, 34), "-1e400 is too large for FLOAT16, w");
}

TEST(ParseElement, UnderflowsQuietly) {
  EXPECT_EQ(bits("1e-400", DataType::FLOAT64), 0U);
  EXPECT_EQ(bits("-1e-400", DataType::FLOAT32), 0x80000000U);
  EXPECT_EQ(bits("-1e-400", DataType::FLOAT16), 0x8000U);
  EXPECT_EQ(bits("5e-324", DataType::FLOAT64), 1U);
  EXPECT_EQ(bits("1e-45", DataType::FLOAT32), 1U);
  EXPECT_EQ(bits("6e-8", DataType::FLOAT16), 1U);
  EXPECT_EQ(bits("1e-99999999999999999999999", DataType::FLOAT16), 0U);
}

TEST(ParseElement, TakesThousandsOfDigits) {
  for (const DataType type : {DataType::FLOAT16, DataType::FLOAT32, DataType::FLOAT64}) {
    EXPECT_EQ(bits("0." + std::string(5000, '0') + "1e5001", type), bits("1", type));
    EXPECT_EQ(bits("1" + std::string(5000, '0') + "e-5000", type), bits("1", type));
    EXPECT_EQ(bits("1." + std::string(5000, '3'), type), bits("1.33333333333333333333", type));
  }
}

// This is enough decimal digits to write every FLOAT16, and every midpoint between two, exactly.
constexpr int kExactDigits = 30;

std::string exact_text(f64 value) {
  char text[64] = {};
  std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, kExactDigits);
  return text;
}

// Returns the decimal number minus one unit in its last digit. The number must be positive.
std::string one_less(std::string text) {
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == '.') {
      continue;
    }
    if (text[i] != '0') {
      --text[i];
      break;
    }
    text[i] = '9';
  }
  const std::size_t first = std::min(text.find_first_not_of('0'), text.find('.') - 1);
  return text.substr(first);
}

TEST(ParseElement, RoundsOnceToFloat16) {
  for (u16 low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<u16>(low + 1);
    const f64 middle = (widen_to<f64>(f16{low}) + widen_to<f64>(f16{high})) / 2;
    const std::string text = exact_text(middle);
    const std::string beyond = text + std::string(low % 64 == 0 ? 1000 : 10, '0') + "1";
    const u16 even = low % 2 == 0 ? low : high;
    ASSERT_EQ(bits(text, DataType::FLOAT16), even) << text;
    ASSERT_EQ(bits("-" + text, DataType::FLOAT16), even | 0x8000U) << text;
    ASSERT_EQ(bits(beyond, DataType::FLOAT16), high) << beyond;
    ASSERT_EQ(bits("-" + beyond, DataType::FLOAT16), high | 0x8000U) << beyond;
    ASSERT_EQ(bits(one_less(text), DataType::FLOAT16), low) << one_less(text);
    ASSERT_EQ(bits(exact_text(widen_to<f64>(f16{low})), DataType::FLOAT16), low);
  }
}

TEST(ParseElement, RoundsOnceToFloat32AndFloat64) {
  EXPECT_EQ(bits("1.000000178813934326171874999999999999", DataType::FLOAT32), 0x3f800001U);
  EXPECT_EQ(bits("1.000000178813934326171875", DataType::FLOAT32), 0x3f800002U);
  EXPECT_EQ(bits("1.000000059604644775390625", DataType::FLOAT32), 0x3f800000U);
  EXPECT_EQ(bits("1.000000059604644775390625000000000000000001", DataType::FLOAT32), 0x3f800001U);
  EXPECT_EQ(bits("9007199254740993", DataType::FLOAT64), std::bit_cast<u64>(9007199254740992.0));
  EXPECT_EQ(bits("9007199254740993.000000000000000000001", DataType::FLOAT64), std::bit_cast<u64>(9007199254740994.0));
  EXPECT_EQ(bits("2.2250738585072011e-308", DataType::FLOAT64), 0x000fffffffffffffU);
}

TEST(ParseElement, MindsNoRoundingModeAndLeavesIt) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const auto half = parse_element("0.1", DataType::FLOAT16);
    const auto single = parse_element("-0.1", DataType::FLOAT32);
    const auto wide = parse_element("0.3", DataType::FLOAT64);
    const std::string text = element_text(0x3dcccccd, DataType::FLOAT32);
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, mode);
    EXPECT_EQ(half.value(), 0x2e66U);
    EXPECT_EQ(single.value(), 0xbdcccccdU);
    EXPECT_EQ(wide.value(), std::bit_cast<u64>(0.3));
    EXPECT_EQ(text, "0.1");
  }
}

TEST(ParseElement, MindsNoLocale) {
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "de_DE", "fr_FR"}) {
    found = found == nullptr ? std::setlocale(LC_ALL, name) : found;
  }
  if (found == nullptr) {
    GTEST_SKIP() << "no locale with a decimal comma is installed";
  }
  const auto half = parse_element("0.5", DataType::FLOAT32);
  const std::string text = element_text(0x3f000000, DataType::FLOAT32);
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(half.value(), 0x3f000000U);
  EXPECT_EQ(text, "0.5");
}

TEST(ElementText, IsWhatAStreamPrintsWhereThatSaysItAll) {
  const auto text = [](f32 value) { return element_text(to_bits(value), DataType::FLOAT32); };
  EXPECT_EQ(text(0.5F), "0.5");
  EXPECT_EQ(text(1000000.F), "1e+06");
  EXPECT_EQ(text(0.1F), "0.1");
  EXPECT_EQ(text(-3.F), "-3");
  EXPECT_EQ(text(100000.F), "100000");
  EXPECT_EQ(text(0.0001F), "0.0001");
  EXPECT_EQ(text(0.00001F), "1e-05");
  EXPECT_EQ(text(0.F), "0");
  EXPECT_EQ(text(-0.F), "-0");
  EXPECT_EQ(text(1.F / 3), "0.33333334");
  EXPECT_EQ(text(16777216.F), "16777216");
  EXPECT_EQ(text(1e-45F), "1.4013e-45");
  EXPECT_EQ(element_text(0x7fc00000, DataType::FLOAT32), "nan");
  EXPECT_EQ(element_text(0xffc00001, DataType::FLOAT32), "nan");
  EXPECT_EQ(element_text(0xfe00, DataType::FLOAT16), "nan");
  EXPECT_EQ(element_text(0x7c00, DataType::FLOAT16), "inf");
  EXPECT_EQ(element_text(0xfff0000000000000, DataType::FLOAT64), "-inf");
  EXPECT_EQ(element_text(to_bits(0.1), DataType::FLOAT64), "0.1");
  EXPECT_EQ(element_text(to_bits(0.1 + 0.2), DataType::FLOAT64), "0.30000000000000004");
  EXPECT_EQ(element_text(0x000fffffffffffff, DataType::FLOAT64), "2.225073858507201e-308");
  EXPECT_EQ(element_text(65, DataType::UINT8), "65");
  EXPECT_EQ(element_text(0xff, DataType::INT8), "-1");
  EXPECT_EQ(element_text(~u64{0}, DataType::UINT64), "18446744073709551615");
  EXPECT_EQ(element_text(u64{1} << 63, DataType::INT64), "-9223372036854775808");
}

TEST(ElementText, ComesBackAsTheSameBits) {
  for (u32 half = 0; half <= 0xffff; ++half) {
    if (!is_nan(f16{static_cast<u16>(half)})) {
      const std::string text = element_text(half, DataType::FLOAT16);
      ASSERT_EQ(bits(text, DataType::FLOAT16), half) << text;
      char plain[32] = {};
      std::snprintf(plain, sizeof(plain), "%g", widen_to<f64>(f16{static_cast<u16>(half)}));
      ASSERT_EQ(text, plain);
    }
  }
  u64 state = 88172645463325252U;
  for (int i = 0; i < 20000; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (!is_nan(from_bits<f64>(state))) {
      ASSERT_EQ(bits(element_text(state, DataType::FLOAT64), DataType::FLOAT64), state);
    }
    const auto single = static_cast<u32>(state >> 20);
    if (!is_nan(from_bits<f32>(single))) {
      const std::string text = element_text(single, DataType::FLOAT32);
      ASSERT_EQ(bits(text, DataType::FLOAT32), single);
      ASSERT_LE(text.size(), std::strlen("-1.23456789e-38"));
    }
  }
  for (const u64 value : {u64{1}, FloatParts<f64>::kInfinity - 1, FloatParts<f64>::kHidden}) {
    EXPECT_EQ(bits(element_text(value, DataType::FLOAT64), DataType::FLOAT64), value);
  }
}

TEST(ElementHex, ShowsAllOfTheTypesBits) {
  EXPECT_EQ(element_hex(0x3c00, DataType::FLOAT16), "0x3C00");
  EXPECT_EQ(element_hex(0, DataType::FLOAT16), "0x0000");
  EXPECT_EQ(element_hex(0xff, DataType::INT8), "0xFF");
  EXPECT_EQ(element_hex(10, DataType::UINT8), "0x0A");
  EXPECT_EQ(element_hex(0x3f800000, DataType::FLOAT32), "0x3F800000");
  EXPECT_EQ(element_hex(0xabc, DataType::INT64), "0x0000000000000ABC");
}

TEST(AddElements, WrapsIntegersAndRoundsFloats) {
  EXPECT_EQ(add_elements(0xff, 1, DataType::UINT8), 0U);
  EXPECT_EQ(add_elements(0x7f, 1, DataType::INT8), 0x80U);
  EXPECT_EQ(add_elements(0xffff, 0xffff, DataType::INT16), 0xfffeU);
  EXPECT_EQ(add_elements(0x7fffffff, 1, DataType::INT32), 0x80000000U);
  EXPECT_EQ(add_elements(~u64{0}, 2, DataType::UINT64), 1U);
  EXPECT_EQ(add_elements(u64{1} << 63, u64{1} << 63, DataType::INT64), 0U);
  EXPECT_EQ(add_elements(bits("2048", DataType::FLOAT16), bits("1", DataType::FLOAT16), DataType::FLOAT16),
            bits("2048", DataType::FLOAT16));
  EXPECT_EQ(add_elements(bits("65504", DataType::FLOAT16), bits("32", DataType::FLOAT16), DataType::FLOAT16), 0x7c00U);
  EXPECT_EQ(add_elements(to_bits(0.1F), to_bits(0.2F), DataType::FLOAT32), to_bits(0.1F + 0.2F));
  EXPECT_EQ(add_elements(to_bits(0.1), to_bits(0.2), DataType::FLOAT64), to_bits(0.1 + 0.2));
  EXPECT_EQ(add_elements(0x7f800000, 0xff800000, DataType::FLOAT32), 0x7fc00000U);
  EXPECT_EQ(add_elements(0xfe01, 0, DataType::FLOAT16), 0x7e00U);
}

TEST(LoadAndStore, TakeTheTypesBytesAlone) {
  for (u32 value = 1; value < kDataTypeLimit; ++value) {
    const auto type = static_cast<DataType>(value);
    std::byte bytes[10];
    std::memset(bytes, 0x55, sizeof(bytes));
    store_element(0x8796a5b4c3d2e1f0, type, bytes + 1);  // unaligned
    const ElementBits kept = 0x8796a5b4c3d2e1f0 & ~u64{0} >> (64 - 8 * element_size(type));
    EXPECT_EQ(load_element(bytes + 1, type), kept);
    EXPECT_EQ(bytes[0], std::byte{0x55});
    EXPECT_EQ(bytes[1 + element_size(type)], std::byte{0x55});
  }
}

TEST(FillSequence, AddsInTheType) {
  std::byte bytes[8] = {};
  fill_sequence(bytes, 254, 1, DataType::UINT8);
  const u8 wrapped[] = {254, 255, 0, 1, 2, 3, 4, 5};
  EXPECT_EQ(std::memcmp(bytes, wrapped, sizeof(wrapped)), 0);

  std::vector<std::byte> halves(4098 * 2);
  fill_sequence(halves, 0, 0x3c00, DataType::FLOAT16);
  EXPECT_EQ(load_element(halves.data() + 2 * 2047, DataType::FLOAT16), bits("2047", DataType::FLOAT16));
  // 2048 + 1 rounds back to 2048.
  EXPECT_EQ(load_element(halves.data() + 2 * 4097, DataType::FLOAT16), bits("2048", DataType::FLOAT16));

  fill_sequence({}, 1, 1, DataType::FLOAT64);
}

TEST(Echo, ShortensAndEscapes) {
  EXPECT_EQ(echo("plain"), "plain");
  EXPECT_EQ(echo(std::string(40, 'a')), std::string(40, 'a'));
  EXPECT_EQ(echo(std::string(41, 'a')), std::string(40, 'a') + "...");
  EXPECT_EQ(echo("a\nb\x7f"), "a\\x0Ab\\x7F");
  EXPECT_EQ(echo("gr\xc3\xb6\xc3\x9f"
                 "e \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(echo("\xc2\x9b"), "\\xC2\\x9B");  // a terminal's control sequence introducer
  EXPECT_EQ(echo("\xff\xc3"), "\\xFF\\xC3");
  EXPECT_EQ(echo("\xc0\xaf \xed\xa0\x80"), "\\xC0\\xAF \\xED\\xA0\\x80");
  EXPECT_EQ(echo("ab\xe2\x82\xac", 4), "ab...");  // no partial characters
}

}  // namespace
}  // namespace anydml::dmlrun
