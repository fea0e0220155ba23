// SPDX-License-Identifier: MIT
#include "data.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "elements.h"

namespace anydml::bench {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t kPeriod = std::size_t{1} << 20;

template <class T>
struct Format;
template <>
struct Format<Half> {
  using Bits = std::uint16_t;
  static constexpr int kFraction = 10;
  static constexpr int kMaxExponent = 30;
};
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int kFraction = 23;
  static constexpr int kMaxExponent = 254;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int kFraction = 52;
  static constexpr int kMaxExponent = 2046;
};

template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(value);
  } else {
    return static_cast<T>(value);
  }
}

// The biased exponents of two floats that are `gap` binades apart, around the middle of the range.
template <class T>
int exponent_of(int gap, Operand operand) {
  using F = Format<T>;
  const int dividend = std::clamp((F::kMaxExponent + 1) / 2 + (gap + 1) / 2, 1 + gap, F::kMaxExponent);
  return operand == Operand::dividend ? dividend : dividend - gap;
}

template <class T>
T with_exponent(int exponent, std::uint64_t random) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  const auto kept = static_cast<Bits>(random) & static_cast<Bits>(static_cast<Bits>(Bits{1} << F::kFraction) - 1);
  const auto sign = static_cast<Bits>(static_cast<Bits>(random >> 63) << (sizeof(Bits) * 8 - 1));
  return std::bit_cast<T>(static_cast<Bits>(kept | sign | static_cast<Bits>(Bits(exponent) << F::kFraction)));
}

// Fills operands whose values do not depend on the data. Returns false for any other operand.
template <class T>
bool draw_special(std::vector<T>& values, Operand operand, Random& random) {
  if constexpr (is_float<T>) {
    if (operand == Operand::scale) {
      std::ranges::fill(values, from_double<T>(0.1));
      return true;
    }
  } else if (operand == Operand::zero_point) {
    std::ranges::fill(values, static_cast<T>(3));
    return true;
  } else if (operand == Operand::condition || operand == Operand::shift) {
    const std::uint64_t maximum = operand == Operand::condition ? 2 : sizeof(T) * 8;
    std::generate(values.begin(), values.end(), [&] { return static_cast<T>((random() >> 8) % maximum); });
    return true;
  }
  return false;
}

// Finds the range of a function's argument. Returns false if the operand is not an argument.
bool find_range(Operand operand, double& lowest, double& maximum) {
  switch (operand) {
    case Operand::argument:
      lowest = -4, maximum = 4;
      return true;
    case Operand::positive:
      lowest = 0.01, maximum = 100;
      return true;
    case Operand::above_one:
      lowest = 1, maximum = 100;
      return true;
    case Operand::below_one:
      lowest = -0.99, maximum = 0.99;
      return true;
    default:
      return false;
  }
}

template <class T>
std::vector<T> draw(std::size_t count, const Data& data, Operand operand, Random& random) {
  std::vector<T> values(count);
  if (draw_special(values, operand, random)) {
    return values;
  }
  double lowest = 0;
  double maximum = 0;
  if (find_range(operand, lowest, maximum)) {
    if constexpr (is_float<T>) {
      if (data.kind == Data::Kind::ordinary) {
        std::uniform_real_distribution<double> uniform(lowest, maximum);
        std::generate(values.begin(), values.end(), [&] { return from_double<T>(uniform(random)); });
        return values;
      }
    }
    operand = Operand::dividend;
  }
  if (operand == Operand::magnitude) {
    values = draw<T>(count, data, Operand::dividend, random);
    for (T& value : values) {
      if constexpr (is_float<T>) {
        using Bits = typename Format<T>::Bits;
        value = std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(value) & (static_cast<Bits>(~Bits{0}) >> 1)));
      }
    }
    return values;
  }
  if (data.kind == Data::Kind::hard) {
    for (T& value : values) {
      const std::uint64_t bits = random();
      std::memcpy(&value, &bits, sizeof(T));
    }
    return values;
  }
  if constexpr (is_float<T>) {
    if (data.kind == Data::Kind::gap) {
      const int exponent = exponent_of<T>(data.gap, operand);
      std::generate(values.begin(), values.end(), [&] { return with_exponent<T>(exponent, random()); });
      return values;
    }
    std::normal_distribution<double> normal(0, operand == Operand::dividend ? 100 : 3);
    std::generate(values.begin(), values.end(), [&] { return from_double<T>(normal(random)); });
  } else if (operand == Operand::dividend) {
    std::generate(values.begin(), values.end(), [&] { return static_cast<T>(random()); });
  } else {
    constexpr std::uint64_t kMax =
        std::min<std::uint64_t>(1000, static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    std::generate(values.begin(), values.end(), [&] {
      const std::uint64_t bits = random();
      const auto magnitude = static_cast<std::int64_t>(1 + (bits >> 1) % kMax);
      return static_cast<T>(std::is_signed_v<T> && (bits & 1) != 0 ? -magnitude : magnitude);
    });
  }
  return values;
}

}  // namespace

void fill(void* to, std::size_t elements, anydml_type type, const Data& data, Operand operand, Team& team) {
  with_type(type, [&]<class T>() {
    Random random(kSeed + (operand == Operand::divisor ? 1 : 0));
    const std::size_t period = std::min(elements, operand == Operand::divisor ? kPeriod - 3 : kPeriod);
    const std::vector<T> values = draw<T>(period, data, operand, random);
    // The team fills the memory, so that each page is first touched by the thread that will use it.
    team.share(elements, 4096, [&](std::size_t begin, std::size_t end) {
      while (begin < end) {
        const std::size_t from = begin % period;
        const std::size_t count = std::min(end - begin, period - from);
        std::memcpy(static_cast<T*>(to) + begin, values.data() + from, count * sizeof(T));
        begin += count;
      }
    });
  });
}

void fill_single(void* to, anydml_type type, const Data& data, Operand operand) {
  with_type(type, [&]<class T>() {
    T value{};
    std::vector<T> special(1);
    if (Random random(kSeed); draw_special(special, operand, random)) {
      value = special.front();
    } else if constexpr (is_float<T>) {
      constexpr int kMiddle = (Format<T>::kMaxExponent + 1) / 2;
      switch (data.kind) {
        case Data::Kind::ordinary:
          value = from_double<T>(operand == Operand::dividend ? 271.828182845904523536 : 2.71828182845904523536);
          break;
        case Data::Kind::hard:  // the exponents are as far apart as those of random bits on average
          value = with_exponent<T>(operand == Operand::dividend ? kMiddle * 3 / 2 : kMiddle / 2, 0x2b7e151628aed2a6);
          break;
        default:
          value = with_exponent<T>(exponent_of<T>(data.gap, operand), 0x2b7e151628aed2a6);
      }
    } else if (data.kind == Data::Kind::hard) {
      value = static_cast<T>(operand == Operand::dividend ? 0x3243f6a8885a308d
                                                          : 0x2b7e151628aed2a6 >> (64 - sizeof(T) * 8));
    } else {
      value =
          operand == Operand::dividend ? static_cast<T>(std::numeric_limits<T>::max() / 10 * 9) : static_cast<T>(97);
    }
    std::memcpy(to, &value, sizeof(T));
  });
}

bool has_data(const Row& row, anydml_type type, const Data& data) {
  if (data.kind == Data::Kind::gap && row.tensors().size() < 2) {
    return false;
  }
  return with_type(type, [&]<class T>() {
    if constexpr (is_float<T>) {
      return data.kind != Data::Kind::gap || data.gap < Format<T>::kMaxExponent;
    } else {
      return data.kind != Data::Kind::gap;
    }
  });
}

}  // namespace anydml::bench
