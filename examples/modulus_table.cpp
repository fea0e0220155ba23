// SPDX-License-Identifier: MIT
// Both modulus operators over pairs that illustrate their definitions, in several types. `./run` shows this table.
#include <anydml/anydml.h>

#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

// Formats a float as the shortest text that reads back as the same number, and an integer as usual.
template <class T>
std::string text_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      return "nan";
    }
    char text[40];
    for (int digits = 1; digits <= 17; ++digits) {
      std::snprintf(text, sizeof(text), "%.*g", digits, static_cast<double>(value));
      if (static_cast<T>(std::strtod(text, nullptr)) == value) {
        break;
      }
    }
    return text;
  } else {
    return std::to_string(value);
  }
}

// FLOAT16 for the values of this table, all of which are exact in FLOAT16: sign, five exponent bits, ten fraction bits.
struct Half {
  std::uint16_t bits;
};

Half to_half(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  if ((bits & 0x7fffffffU) == 0) {
    return {sign};
  }
  return {static_cast<std::uint16_t>(sign | (((bits & 0x7fffffffU) - 0x38000000U) >> 13))};
}

float to_float(Half half) {
  const int exponent = half.bits >> 10 & 31;
  const float fraction = static_cast<float>(half.bits & 1023);
  const float magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                          : exponent == 0 ? std::ldexp(fraction, -24)
                                          : std::ldexp(fraction + 1024, exponent - 25);
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::string text_of(Half half) { return text_of(to_float(half)); }

template <class T>
struct Pair {
  T a, b;
  const char* note;
};

bool failed = false;

template <class T>
void show(const char* type_name, anydml_type type, const std::vector<Pair<T>>& pairs) {
  std::vector<T> a, b;
  for (const Pair<T>& pair : pairs) {
    a.push_back(pair.a);
    b.push_back(pair.b);
  }
  std::vector<T> floor(pairs.size()), truncate(pairs.size());
  const int64_t sizes[] = {static_cast<int64_t>(pairs.size())};
  const anydml_tensor ta = {type, 1, sizes, nullptr, a.data()};
  const anydml_tensor tb = {type, 1, sizes, nullptr, b.data()};
  const anydml_tensor tf = {type, 1, sizes, nullptr, floor.data()};
  const anydml_tensor tt = {type, 1, sizes, nullptr, truncate.data()};
  if (anydml_modulus_floor(&ta, &tb, &tf) != ANYDML_OK || anydml_modulus_truncate(&ta, &tb, &tt) != ANYDML_OK) {
    std::fprintf(stderr, "%s: %s\n", type_name, anydml_last_error());
    failed = true;
    return;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::printf("%-8s %21s %21s %21s %21s   %s\n", i == 0 ? type_name : "", text_of(a[i]).c_str(),
                text_of(b[i]).c_str(), text_of(floor[i]).c_str(), text_of(truncate[i]).c_str(), pairs[i].note);
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const anydml_device_info* device = anydml_device_get_info(nullptr);
  if (device == nullptr) {
    std::fprintf(stderr, "%s\n", anydml_last_error());
    return 1;
  }
  std::printf("anydml %s on %s (%s)\n\n", anydml_version(), device->name, device->description);
  std::printf(
      "floor is Python's %%: the result has b's sign.  truncate is C's %% and fmod: the result has a's sign.\n\n");
  std::printf("%-8s %21s %21s %21s %21s\n", "type", "a", "b", "floor", "truncate");
  std::printf("%-8s %21s %21s %21s %21s\n", "----", "-", "-", "-----", "--------");

  constexpr auto int_min = std::numeric_limits<std::int32_t>::min();
  constexpr auto long_min = std::numeric_limits<std::int64_t>::min();
  show<std::int32_t>("INT32", ANYDML_INT32,
                     {{7, 3, "the four signs"},
                      {-7, 3, ""},
                      {7, -3, ""},
                      {-7, -3, ""},
                      {7, 0, "a zero divisor gives 0"},
                      {int_min, -1, "the quotient overflows, the remainder is 0"}});
  show<float>("FLOAT32", ANYDML_FLOAT32,
              {{5.5F, 2.0F, "fractions"},
               {-5.5F, 2.0F, ""},
               {5.0F, 0.1F, "0.1f is a little more than 0.1: the quotient is 49.99..., not 50"},
               {-6.0F, 3.0F, "zeros have signs: b's for floor, a's for truncate"},
               {1.0F, 0.0F, "a zero divisor gives NaN"},
               {-1.0F, INFINITY, "an infinite divisor gives a; floor gives b if the signs differ"},
               {3e38F, 7e-45F, "a quotient of 2^274 still has an exact remainder"},
               {-1e-45F, 1.0F, "-1e-45 + 1, rounded once"}});
  show<Half>("FLOAT16", ANYDML_FLOAT16,
             {{to_half(2.5F), to_half(-1.0F), "halves"},
              {to_half(-65504.0F), to_half(0.0009765625F), "the largest number and a small one"},
              {to_half(-2048.0F), to_half(3.0F), ""}});
  show<double>(
      "FLOAT64", ANYDML_FLOAT64,
      {{1e20, 3.0, "10^20 = 3 * 33333333333333333333 + 1"}, {-1.0, 1e-17, "a divisor far below a's last bit"}});
  show<std::uint8_t>("UINT8", ANYDML_UINT8, {{255, 16, ""}, {255, 0, ""}});
  show<std::int64_t>(
      "INT64", ANYDML_INT64,
      {{long_min, 10, "extremes"}, {long_min, -1, ""}, {-1, std::numeric_limits<std::int64_t>::max(), ""}});
  show<std::uint64_t>("UINT64", ANYDML_UINT64, {{std::numeric_limits<std::uint64_t>::max(), 1000000007U, ""}});
  return failed ? 1 : 0;
}
