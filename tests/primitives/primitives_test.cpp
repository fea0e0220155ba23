// SPDX-License-Identifier: MIT
// Checks that the scalar definitions compute the same bits no matter which primitives supply the floating-point
// arithmetic (base/primitives.h): once with the compiler's float and double, and once compiled for a device that only
// has integers. Also compares this integer-based arithmetic with the processor's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/element.h"
#include "base/float_bits.h"
#include "base/integer_floats.h"
#include "primitives/definitions.h"

namespace anydml {
namespace {

using primitives_test::Definition;
using Random = std::mt19937_64;

// Bit patterns near the limits of every class of numbers, and a few other patterns.
template <class Format>
const std::vector<u64>& edges() {
  static const std::vector<u64> bits = [] {
    using F = FormatParts<Format>;
    std::vector<u64> found;
    const u64 one = static_cast<u64>(F::kBias) << F::kFractionBits;
    const u64 unit = F::kHidden;
    for (const u64 near : {u64{0}, u64{F::kHidden}, u64{F::kInfinity}, one, one + unit, one - unit, one + unit / 2,
                           one + F::kFractionBits * unit, one + 31 * unit % u64{F::kInfinity}, u64{F::kQuietNan}}) {
      for (const u64 off : {u64{0}, u64{1}, ~u64{0}}) {
        const u64 magnitude = (near + off) & F::kMagnitude;
        found.push_back(magnitude);
        found.push_back(magnitude | F::kSign);
      }
    }
    return found;
  }();
  return bits;
}

// Half of the numbers have exponents so close that sums cancel; some have few digits, some are subnormal.
template <class Format>
u64 random_float(Random& random) {
  using F = FormatParts<Format>;
  const u64 bits = random();
  const u64 sign = bits & F::kSign;
  u64 fraction = random() & F::kFraction;
  switch (random() % 8) {
    case 0:
      return edges<Format>()[random() % edges<Format>().size()];
    case 1:
      return bits & (F::kSign | F::kMagnitude);
    case 2:
      return sign | (fraction >> (random() % F::kFractionBits));
    case 3:
    case 4:
      fraction &= ~u64{0} << (random() % F::kFractionBits);
      break;
    default:
      break;
  }
  const u64 exponent = static_cast<u64>(F::kBias) - 8 + random() % 16;
  return sign | (exponent << F::kFractionBits) | (fraction & F::kFraction);
}

template <class T>
using Integers = IntegerFloat<std::conditional_t<sizeof(T) == 4, Float32Format, Float64Format>, IntegerMachine>;

template <class T>
class IntegerFloats : public testing::Test {};
using Floats = testing::Types<f32, f64>;
TYPED_TEST_SUITE(IntegerFloats, Floats);

TYPED_TEST(IntegerFloats, ComputeTheProcessorsBits) {
  using T = TypeParam;
  using Of = Integers<T>;
  using Format = FloatFormat<T>;
  using Bits = float_bits_t<T>;
  using Other = std::conditional_t<sizeof(T) == 4, f64, f32>;
  Random random(44);
  std::size_t wrong = 0;
  const auto same = [&](const char* of, auto a, auto b, auto c, Bits found, T expected) {
    if (found != to_bits(expected) && !(is_nan(from_bits<T>(found)) && is_nan(expected)) && ++wrong < 20) {
      ADD_FAILURE() << of << std::hex << " of " << a << ", " << b << ", " << c << " is " << found << " instead of "
                    << to_bits(expected);
    }
  };
  const auto count = edges<Format>().size();
  for (std::size_t i = 0; i < 1'000'000 + count * count; ++i) {
    const bool edge = i < count * count;
    const auto a = static_cast<Bits>(edge ? edges<Format>()[i / count] : random_float<Format>(random));
    const auto b = static_cast<Bits>(edge ? edges<Format>()[i % count] : random_float<Format>(random));
    const T x = from_bits<T>(a);
    const T y = from_bits<T>(b);
    // An addend that nearly cancels the product, or a random one.
    const auto c = i % 3 == 0 ? static_cast<Bits>(to_bits(-(x * y)) + random() % 3)
                              : static_cast<Bits>(random_float<Format>(random));
    same("add", a, b, 0, Of::add(a, b), x + y);
    same("subtract", a, b, 0, Of::subtract(a, b), x - y);
    same("multiply", a, b, 0, Of::multiply(a, b), x * y);
    same("divide", a, b, 0, Of::divide(a, b), x / y);
    same("fused", a, b, c, Of::fused(a, b, c), std::fma(x, y, from_bits<T>(c)));
    same("square_root", a, 0, 0, Of::square_root(a), std::sqrt(x));
    same("round_down", a, 0, 0, Of::round_down(a), std::floor(x));
    same("round_up", a, 0, 0, Of::round_up(a), std::ceil(x));
    same("round_towards_zero", a, 0, 0, Of::round_towards_zero(a), std::trunc(x));
    same("round_away", a, 0, 0, Of::round_away(a), std::round(x));
    same("round_even", a, 0, 0, Of::round_even(a), std::rint(x));
    const auto other = static_cast<float_bits_t<Other>>(random_float<FloatFormat<Other>>(random));
    same("of_float", other, 0, 0, Of::of_float(other), static_cast<T>(from_bits<Other>(other)));
    const u64 integer = random() >> (random() % 64);
    same("of_u64", integer, 0, 0, Of::of_u64(integer), static_cast<T>(integer));
    same("of_i64", integer, 0, 0, Of::of_i64(static_cast<i64>(integer)), static_cast<T>(static_cast<i64>(integer)));
    same("of_u32", integer, 0, 0, Of::of_u32(static_cast<u32>(integer)), static_cast<T>(static_cast<u32>(integer)));
    same("of_i32", integer, 0, 0, Of::of_i32(static_cast<i32>(integer)), static_cast<T>(static_cast<i32>(integer)));
    const T number = static_cast<T>(static_cast<i64>(random()) >> (random() % 63));
    if (number < T{0x1p63}) {
      ASSERT_EQ(Of::to_i64(to_bits(number)), static_cast<i64>(number));
      ASSERT_EQ(Of::to_u64(to_bits(std::fabs(number))), static_cast<u64>(std::fabs(number)));
    }
    const T small = std::fmod(x, T{0x1p31});
    if (!is_nan(small)) {
      ASSERT_EQ(Of::to_i32(to_bits(small)), static_cast<i32>(small));
      ASSERT_EQ(Of::to_u32(to_bits(std::fabs(small))), static_cast<u32>(std::fabs(small)));
    }
    ASSERT_EQ(Of::equal(a, b), x == y) << x << " and " << y;
    ASSERT_EQ(Of::less(a, b), x < y) << x << " and " << y;
    ASSERT_EQ(Of::less_or_equal(a, b), x <= y) << x << " and " << y;
    ASSERT_EQ(IntegerMachine::leading_zeros(integer | 1), leading_zeros(integer | 1));
  }
  EXPECT_EQ(wrong, 0U);
}

// For all functions, the inputs whose results are hardest to round.
const std::vector<u64>& hardest() {
  static const std::vector<u64> inputs = [] {
    std::vector<u64> read;
    std::ifstream file(ANYDML_HARDEST);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      u64 input = 0;
      if (!line.starts_with('#') && words >> name >> std::hex >> input) {
        read.push_back(input);
      }
    }
    return read;
  }();
  return inputs;
}

class Elements {
 public:
  Elements(u32 type, std::size_t count)
      : type_(static_cast<DataType>(type)), size_(element_size(type_)), bytes_(size_ * count) {}

  void fill(Random& random, bool from_hardest, bool backwards) {
    const std::size_t count = bytes_.size() / size_;
    for (std::size_t i = 0; i < count; ++i) {
      u64 bits = random() >> (random() % 2 == 0 ? 64 - size_ * 8 : random() % 64);
      if (type_ == DataType::FLOAT16) {
        bits = random_float<Float16Format>(random);
      } else if (type_ == DataType::FLOAT32) {
        const auto& given = hardest();
        bits = from_hardest ? given[(backwards ? count - i : i) % given.size()] : random_float<Float32Format>(random);
      } else if (type_ == DataType::FLOAT64) {
        bits = random_float<Float64Format>(random);
      }
      std::memcpy(bytes_.data() + i * size_, &bits, size_);
    }
  }
  [[nodiscard]] u64 at(std::size_t i) const {
    u64 bits = 0;
    std::memcpy(&bits, bytes_.data() + i * size_, size_);
    return bits;
  }
  // All NaNs are equal.
  [[nodiscard]] bool same_at(std::size_t i, const Elements& other) const {
    const auto both_nan = [&](u64 magnitude, u64 infinity) {
      return (at(i) & magnitude) > infinity && (other.at(i) & magnitude) > infinity;
    };
    switch (type_) {
      case DataType::FLOAT16:
        return at(i) == other.at(i) || both_nan(FloatParts<f16>::kMagnitude, FloatParts<f16>::kInfinity);
      case DataType::FLOAT32:
        return at(i) == other.at(i) || both_nan(FloatParts<f32>::kMagnitude, FloatParts<f32>::kInfinity);
      case DataType::FLOAT64:
        return at(i) == other.at(i) || both_nan(FloatParts<f64>::kMagnitude, FloatParts<f64>::kInfinity);
      default:
        return at(i) == other.at(i);
    }
  }
  [[nodiscard]] void* data() { return bytes_.data(); }
  [[nodiscard]] bool is_float32() const { return type_ == DataType::FLOAT32; }

 private:
  DataType type_;
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

void expect_same_bits(const std::vector<Definition>& expected, const std::vector<Definition>& found) {
  ASSERT_EQ(expected.size(), found.size());
  ASSERT_FALSE(expected.empty());
  ASSERT_GE(hardest().size(), 500U) << ANYDML_HARDEST;
  constexpr f64 kNan = std::numeric_limits<f64>::quiet_NaN();
  const f64 attribute_sets[][4] = {{0.5, 0.25, 1, 2},       {1, 1, 1, 1}, {0, 2.5, -1, 0},        {-1.5, 3.25, 0.1, 7},
                                   {2, -0.0, 1e-40, 1e300}, {kNan, kNan}, {0x1.8p-140, -0x1p127}, {-3, 0.7, 0, 0}};
  Random random(4);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < expected.size(); ++at) {
    const Definition& native = expected[at];
    ASSERT_EQ(native.op, found[at].op);
    int round = 0;
    for (const auto& set : attribute_sets) {
      const std::size_t count = hardest().size();
      std::vector<Elements> inputs;
      const void* pointers[4] = {};
      for (std::size_t i = 0; i < native.inputs; ++i) {
        inputs.emplace_back(native.input_types[i], count);
        inputs.back().fill(random, round % 4 == 1, i % 2 != 0);
        pointers[i] = inputs.back().data();
      }
      ++round;
      u64 attributes[4];
      for (int i = 0; i < 4; ++i) {
        attributes[i] = to_bits(set[i]);
      }
      Elements right(native.output_type, count);
      Elements supplied(native.output_type, count);
      native.run(attributes, pointers, right.data(), count);
      found[at].run(attributes, pointers, supplied.data(), count);
      for (std::size_t i = 0; i < count; ++i) {
        if (!right.same_at(i, supplied) && ++wrong < 20) {
          ADD_FAILURE() << native.op << " with " << set[0] << ", " << set[1] << std::hex << " of " << inputs[0].at(i)
                        << (native.inputs > 1 ? " and " : "") << (native.inputs > 1 ? inputs[1].at(i) : 0) << " is "
                        << supplied.at(i) << " instead of " << right.at(i);
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
}

TEST(SuppliedPrimitives, GiveEveryDefinitionItsBits) {
  expect_same_bits(primitives_test::native_definitions(), primitives_test::supplied_definitions());
}

TEST(SuppliedPrimitives, GiveEveryFunctionItsBitsAsAGpuComputesIt) {
  expect_same_bits(primitives_test::native_functions_like_a_gpu(), primitives_test::supplied_functions_like_a_gpu());
}

}  // namespace
}  // namespace anydml
