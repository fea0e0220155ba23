// SPDX-License-Identifier: MIT
// Checks the scalar definitions of both modulus operators against independent oracles.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cinttypes>

#include "ops/scalar/modulus_floor.h"
#include "ops/scalar/modulus_truncate.h"
#include "support/distributions.h"
#include "support/oracle.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

template <class T>
class ModulusScalar : public testing::Test {
 protected:
  u64 checked_ = 0;

  void check(T a, T b, const Expected<T>& expected) {
    ++checked_;
    const T floor = ModulusFloor<T>{}(a, b);
    const T truncate = ModulusTruncate<T>{}(a, b);
    if (!same(floor, expected.floor)) {
      FAIL() << show(a) << " floor-mod " << show(b) << " is " << show(floor) << ", expected " << show(expected.floor);
    }
    if (!same(truncate, expected.truncate)) {
      FAIL() << show(a) << " truncate-mod " << show(b) << " is " << show(truncate) << ", expected "
             << show(expected.truncate);
    }
  }

  void report(const char* what) const {
    std::printf("  %-8s %-24s %12" PRIu64 " pairs, both operators, none different\n",
                std::string(type_name(kDataTypeOf<T>)).c_str(), what, checked_);
  }
};

using AllTypes = testing::Types<f32, f16, f64, i8, i16, i32, i64, u8, u16, u32, u64>;
TYPED_TEST_SUITE(ModulusScalar, AllTypes);

TYPED_TEST(ModulusScalar, SpecialValuesCrossed) {
  const auto values = special_values<TypeParam>();
  for (const TypeParam a : values) {
    for (const TypeParam b : values) {
      this->check(a, b, oracle(a, b));
      if (this->HasFatalFailure()) {
        return;
      }
    }
  }
  this->report("special values crossed");
}

TYPED_TEST(ModulusScalar, NamedDistributions) {
  constexpr int kDraws = kSanitized ? 50'000 : 2'000'000;
  for (const Distribution distribution : kDistributions) {
    Random random(kSeed);
    this->checked_ = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto [a, b] = draw<TypeParam>(distribution, random);
      this->check(a, b, oracle(a, b));
      if (this->HasFatalFailure()) {
        std::printf("seed %" PRIu64 "\n", kSeed);
        return;
      }
    }
    this->report(name_of(distribution));
  }
}

template <class T>
using ModulusScalarOfEightBits = ModulusScalar<T>;
using EightBitTypes = testing::Types<i8, u8>;
TYPED_TEST_SUITE(ModulusScalarOfEightBits, EightBitTypes);

TYPED_TEST(ModulusScalarOfEightBits, EveryPair) {
  for (u64 pair = 0; pair <= 0xffff; ++pair) {
    const auto a = from_raw<TypeParam>(pair >> 8);
    const auto b = from_raw<TypeParam>(pair);
    this->check(a, b, oracle(a, b));
    if (this->HasFatalFailure()) {
      return;
    }
  }
  this->report("every pair");
}

// Cases that other implementations are known to get wrong (docs/numerics.md), with the right answers.
TEST(PublishedWrongAnswers, AreRightHereInFloat32) {
  const f32 nan = quiet_nan<f32>();
  const struct {
    const char* where;
    f32 a, b, floor, truncate;
  } cases[] = {
      {"the formula in floats: 0, or -7e-8 when fused", 5.0F, 0.1F, 0.09999993F, 0.09999993F},
      {"SLEEF 3.5.1: NaN", 3e38F, 1e-45F, 0.0F, 0.0F},
      {"XNNPACK: 0", 1.0F, 0.0F, nan, nan},
      {"compiled PyTorch: 0", 1e20F, 3.0F, 2.0F, 2.0F},
      {"an infinite divisor in the formula: NaN", -1.0F, INFINITY, INFINITY, -1.0F},
      {"an infinite divisor in the formula: NaN", 1.0F, INFINITY, 1.0F, 1.0F},
      {"flush to zero: 0", 7e-45F, 3e-45F, 1e-45F, 1e-45F},
      {"ONNX's reference: 0", nan, 1.0F, nan, nan},
      {"ONNX's reference: 0", INFINITY, 1.0F, nan, nan},
      {"signs of zero lost", -6.0F, 3.0F, 0.0F, -0.0F},
      {"signs of zero lost", 6.0F, -3.0F, -0.0F, 0.0F},
      {"the quotient rounds up to 1", 16777215.0F, 16777216.0F, 16777215.0F, 16777215.0F},
  };
  for (const auto& row : cases) {
    EXPECT_TRUE(same(ModulusFloor<f32>{}(row.a, row.b), row.floor)) << row.where << ": " << show(row.a);
    EXPECT_TRUE(same(ModulusTruncate<f32>{}(row.a, row.b), row.truncate)) << row.where << ": " << show(row.a);
    EXPECT_TRUE(same(oracle(row.a, row.b).floor, row.floor)) << row.where;
    EXPECT_TRUE(same(oracle(row.a, row.b).truncate, row.truncate)) << row.where;
  }
}

TEST(PublishedWrongAnswers, AreRightHereInIntegers) {
  constexpr i64 kMin = std::numeric_limits<i64>::min();
  EXPECT_EQ(ModulusFloor<i64>{}(kMin, -1), 0);  // traps on x86 if left to the processor
  EXPECT_EQ(ModulusTruncate<i32>{}(std::numeric_limits<i32>::min(), -1), 0);
  EXPECT_EQ(ModulusFloor<i32>{}(5, 0), 0);                                      // also traps on x86
  EXPECT_EQ(ModulusFloor<i64>{}(5'000'000'000, 3'000'000'000), 2'000'000'000);  // wrong if cast to 32 bits
  EXPECT_EQ(ModulusFloor<i64>{}(kMin, 3), 1);                                   // inexact if computed in floats
  EXPECT_EQ(ModulusFloor<i64>{}(9007199254740993, 2), 1);                       // 2^53 + 1: 0 if computed in FLOAT64
  EXPECT_EQ(ModulusFloor<u64>{}(~u64{0}, u64{1} << 63), ~u64{0} >> 1);
  EXPECT_EQ(ModulusFloor<i8>{}(-128, 127), 126);
}

// The definitions can be evaluated at compile time.
static_assert(ModulusFloor<i32>{}(-7, 3) == 2);
static_assert(ModulusTruncate<i32>{}(-7, 3) == -1);
static_assert(ModulusFloor<f32>{}(-7.0F, 3.0F) == 2.0F);
static_assert(ModulusTruncate<f64>{}(-7.5, 2.0) == -1.5);

// FLOAT64 against MPFR, which shares no code with the C library's fmod.
TEST(ModulusAgainstMpfr, Float64) {
  constexpr int kDraws = kSanitized ? 5'000 : 100'000;
  mpfr_t a, b, m, sum;
  mpfr_inits2(53, a, b, m, sum, nullptr);
  u64 checked = 0;
  const auto check = [&](f64 x, f64 y) {
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_fmod(m, a, b, MPFR_RNDN);  // exact: the remainder always fits
    const f64 truncate = mpfr_get_d(m, MPFR_RNDN);
    f64 floor = truncate;
    if (mpfr_zero_p(m) != 0) {
      floor = std::copysign(0.0, y);
    } else if (mpfr_number_p(m) != 0 && (mpfr_sgn(m) < 0) != std::signbit(y)) {
      mpfr_add(sum, m, b, MPFR_RNDN);
      floor = mpfr_get_d(sum, MPFR_RNDN);
    }
    ++checked;
    ASSERT_TRUE(same(ModulusTruncate<f64>{}(x, y), truncate)) << show(x) << " mod " << show(y);
    ASSERT_TRUE(same(ModulusFloor<f64>{}(x, y), floor)) << show(x) << " mod " << show(y);
  };
  for (const Distribution distribution : kDistributions) {
    Random random(kSeed + 1);
    for (int i = 0; i < kDraws && !testing::Test::HasFatalFailure(); ++i) {
      const auto [x, y] = draw<f64>(distribution, random);
      check(x, y);
    }
  }
  for (const f64 x : special_values<f64>()) {
    for (const f64 y : special_values<f64>()) {
      check(x, y);
    }
  }
  mpfr_clears(a, b, m, sum, nullptr);
  mpfr_free_cache();
  ASSERT_FALSE(testing::Test::HasFailure());
  std::printf("  FLOAT64  MPFR %35" PRIu64 " pairs, both operators, none different\n", checked);
}

}  // namespace
}  // namespace anydml::test
