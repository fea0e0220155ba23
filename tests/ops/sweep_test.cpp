// SPDX-License-Identifier: MIT
// The 32-bit and 64-bit types have too many pairs to test them all. This test draws pairs from named distributions, for
// both modulus operators, with full tensors and with one divisor, through the public API. Every result is compared with
// the oracle, and with the scalar definition, which names the wrong one of the two. ANYDML_SWEEP_PAIRS sets the number
// of pairs of each type and ANYDML_SWEEP_SEED the seed; both are printed. For a thousand million pairs,
// ANYDML_SWEEP_ORACLE_EVERY=16 compares only every sixteenth round of the distributions with the oracle, because fmod
// is slow.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdlib>
#include <limits>
#include <thread>

#include "ops/scalar/modulus_floor.h"
#include "support/oracle.h"
#include "support/setting.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

constexpr u64 kBatch = 8192;     // pairs of full tensors
constexpr u64 kOfDivisor = 512;  // additional pairs for each of the first divisors
constexpr u64 kDivisors = 16;

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 bits() {  // a splitmix64 step: visits each of 2^64 states once
    u64 z = state_ += 0x9E37'79B9'7F4A'7C15U;
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBU;
    return z ^ (z >> 31);
  }
  u64 below(u64 limit) { return bits() % limit; }

 private:
  u64 state_;
};

template <class T>
struct Pair {
  T a;
  T b;
};

template <class T>
Pair<T> random_bits(Random& random) {
  return {from_raw<T>(random.bits()), from_raw<T>(random.bits())};
}

// Floats: any two exponents, with significands that are all zeros, all ones, or random. Integers: any two lengths.
template <class T>
T of_any_magnitude(Random& random) {
  if constexpr (is_float<T>) {
    using F = FloatParts<T>;
    const u64 exponents = u64{F::kInfinity >> F::kFractionBits} + 1;
    const u64 fraction = random.below(4) == 0 ? 0 : random.below(4) == 0 ? F::kFraction : random.bits() & F::kFraction;
    return from_raw<T>((random.bits() & F::kSign) | random.below(exponents) << F::kFractionBits | fraction);
  } else {
    const u64 magnitude = (random.bits() | u64{1} << 63) >> random.below(64) >> (64 - sizeof(T) * 8);
    return from_raw<T>(random.below(2) == 0 ? magnitude : u64{0} - magnitude);
  }
}

template <class T>
Pair<T> exponent_grid(Random& random) {
  return {of_any_magnitude<T>(random), of_any_magnitude<T>(random)};
}

// Dividends that are a multiple of the divisor, or adjacent to one.
template <class T>
Pair<T> near_multiples(Random& random) {
  const T b = of_any_magnitude<T>(random);
  if constexpr (is_float<T>) {
    const T q = static_cast<T>(random.bits() >> random.below(64));
    const T product = q * b;
    return {from_raw<T>(to_bits(product) + random.below(5) - 2), b};
  } else {
    const u64 q = random.bits() >> random.below(64);
    return {from_raw<T>(q * static_cast<u64>(b) + random.below(5) - 2), b};
  }
}

template <class T>
T special(Random& random) {
  if constexpr (is_float<T>) {
    using L = std::numeric_limits<T>;
    static constexpr std::array<T, 16> kValues = {
        T(0),   L::denorm_min(), L::min(), L::max(),    L::epsilon(),    L::infinity(),   L::quiet_NaN(),
        T(1),   T(0.5),          T(3),     T(1) / T(3), L::min() * T(3), L::max() / T(2), T(10),
        T(0.1), T(16777216)};
    const T value = kValues[random.below(kValues.size())];
    const u64 moved = to_bits(value) + random.below(3) - 1;
    return from_raw<T>((random.below(2) == 0 ? to_bits(value) : moved) ^ (random.bits() & FloatParts<T>::kSign));
  } else {
    // Near a power of two, or near zero, including the extremes.
    const u64 power = random.below(8) == 0 ? 0 : u64{1} << random.below(sizeof(T) * 8);
    return from_raw<T>(power + random.below(7) - 3);
  }
}

template <class T>
Pair<T> special_values(Random& random) {
  return {special<T>(random), special<T>(random)};
}

// Typical program data: quotients in the tens or hundreds.
template <class T>
Pair<T> everyday(Random& random) {
  if constexpr (is_float<T>) {
    const auto uniform = [&] { return static_cast<T>(static_cast<i64>(random.bits())) / static_cast<T>(0x1p63); };
    return {uniform() * 200, uniform() * 6};
  } else {
    return {from_raw<T>(random.bits()), from_raw<T>(random.below(2001) - 1000)};
  }
}

template <class T>
struct Distribution {
  const char* name;
  Pair<T> (*draw)(Random&);
};

template <class T>
constexpr Distribution<T> kDistributions[] = {{"random bits", random_bits<T>},
                                              {"exponent grid", exponent_grid<T>},
                                              {"near multiples", near_multiples<T>},
                                              {"special values", special_values<T>},
                                              {"everyday", everyday<T>}};

struct Compiled {
  anydml_compiled* handle = nullptr;
  Compiled(anydml_type type, const char* op, i64 count, bool one_divisor) {
    const int64_t sizes[] = {count};
    const int64_t repeat[] = {0};
    const anydml_tensor whole = {type, 1, sizes, nullptr, nullptr};
    const anydml_tensor inputs[] = {whole, {type, 1, sizes, one_divisor ? repeat : nullptr, nullptr}};
    EXPECT_EQ(anydml_compile(nullptr, op, inputs, 2, &whole, 1, nullptr, 0, &handle), ANYDML_OK) << anydml_last_error();
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { anydml_compiled_release(handle); }
  bool run(const void* a, const void* b, void* out) const {
    const void* inputs[] = {a, b};
    return anydml_compiled_run(handle, inputs, 2, &out, 1) == ANYDML_OK;
  }
};

template <class T>
void sweep() {
  const auto start = std::chrono::steady_clock::now();
  const auto type = static_cast<anydml_type>(kDataTypeOf<T>);
  const u64 seed = setting("ANYDML_SWEEP_SEED", 20211);
  const u64 oracle_every = setting("ANYDML_SWEEP_ORACLE_EVERY", 1);
  const u64 batches = (setting("ANYDML_SWEEP_PAIRS", u64{1} << 22) + kBatch - 1) / kBatch;
  const Compiled floor(type, "ELEMENT_WISE_MODULUS_FLOOR", kBatch, false);
  const Compiled truncate(type, "ELEMENT_WISE_MODULUS_TRUNCATE", kBatch, false);
  const Compiled floor_one(type, "ELEMENT_WISE_MODULUS_FLOOR", kOfDivisor, true);
  const Compiled truncate_one(type, "ELEMENT_WISE_MODULUS_TRUNCATE", kOfDivisor, true);
  std::atomic<u64> next{0};
  std::atomic<u64> pairs{0};
  std::atomic<u64> of_one_divisor{0};
  std::atomic<u64> by_oracle{0};
  std::atomic<u64> different{0};
  const auto work = [&] {
    std::vector<T> a(kBatch);
    std::vector<T> b(kBatch);
    std::vector<T> down(kBatch);
    std::vector<T> zero(kBatch);
    const auto check = [&](const char* what, const char* which, T x, T y, T actual, T expected) {
      if (!same(actual, expected) && different++ == 0) {
        ADD_FAILURE() << which << ", " << what << ": " << show(x) << " mod " << show(y) << " is " << show(actual)
                      << ", expected " << show(expected);
      }
    };
    for (u64 batch = next++; batch < batches; batch = next++) {
      Random random(seed ^ (batch + 1) * 0xD134'2543'DE82'EF95U);
      const Distribution<T>& distribution = kDistributions<T>[batch % std::size(kDistributions<T>)];
      for (u64 i = 0; i < kBatch; ++i) {
        const Pair<T> pair = distribution.draw(random);
        a[i] = pair.a;
        b[i] = pair.b;
      }
      const bool against_oracle = batch / std::size(kDistributions<T>) % oracle_every == 0;
      if (!floor.run(a.data(), b.data(), down.data()) || !truncate.run(a.data(), b.data(), zero.data())) {
        ++different;
        return;
      }
      for (u64 i = 0; i < kBatch; ++i) {
        check("floor", distribution.name, a[i], b[i], down[i], ModulusFloor<T>{}(a[i], b[i]));
        check("truncate", distribution.name, a[i], b[i], zero[i], ModulusTruncate<T>{}(a[i], b[i]));
        if (against_oracle) {
          const Expected<T> expected = oracle(a[i], b[i]);
          check("floor, oracle", distribution.name, a[i], b[i], down[i], expected.floor);
          check("truncate, oracle", distribution.name, a[i], b[i], zero[i], expected.truncate);
        }
      }
      for (u64 divisor = 0; divisor < kDivisors; ++divisor) {
        const T* dividends = a.data() + divisor * kOfDivisor;
        if (!floor_one.run(dividends, &b[divisor], down.data()) ||
            !truncate_one.run(dividends, &b[divisor], zero.data())) {
          ++different;
          return;
        }
        for (u64 i = 0; i < kOfDivisor; ++i) {
          check("floor, one divisor", distribution.name, dividends[i], b[divisor], down[i],
                ModulusFloor<T>{}(dividends[i], b[divisor]));
          check("truncate, one divisor", distribution.name, dividends[i], b[divisor], zero[i],
                ModulusTruncate<T>{}(dividends[i], b[divisor]));
          if (against_oracle) {
            const Expected<T> expected = oracle(dividends[i], b[divisor]);
            check("floor, one divisor, oracle", distribution.name, dividends[i], b[divisor], down[i], expected.floor);
            check("truncate, one divisor, oracle", distribution.name, dividends[i], b[divisor], zero[i],
                  expected.truncate);
          }
        }
      }
      pairs += kBatch;
      of_one_divisor += kDivisors * kOfDivisor;
      by_oracle += against_oracle ? kBatch + kDivisors * kOfDivisor : 0;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(different.load(), 0U);
  EXPECT_GE(by_oracle.load() * oracle_every, batches * kBatch);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("  %-8s %" PRIu64 " pairs and %" PRIu64 " with one divisor, both operators, %" PRIu64
              " against the oracle, seed %" PRIu64 ", %" PRIu64 " different (%.0f s)\n",
              anydml_type_name(type), pairs.load(), of_one_divisor.load(), by_oracle.load(), seed, different.load(),
              seconds.count());
}

TEST(Sweep, Float32) { sweep<f32>(); }
TEST(Sweep, Float64) { sweep<f64>(); }
TEST(Sweep, Int32) { sweep<i32>(); }
TEST(Sweep, Uint32) { sweep<u32>(); }
TEST(Sweep, Int64) { sweep<i64>(); }
TEST(Sweep, Uint64) { sweep<u64>(); }

}  // namespace
}  // namespace anydml::test
