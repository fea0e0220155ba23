// SPDX-License-Identifier: MIT
// Proves that POW is correctly rounded for every FLOAT16 pair, and tests FLOAT32 pairs: those whose power is exact or a
// midpoint, special values, and any number of random pairs. The oracle is glibc's FLOAT64 pow if its result is so far
// from a midpoint that its error cannot matter, and MPFR otherwise.
//
//   prove_powers halves      every FLOAT16 pair
//   prove_powers exact       FLOAT32 pairs that are special, exact or a midpoint, and the neighbors of those
//   prove_powers COUNT       random FLOAT32 pairs
//   prove_powers time        nanoseconds per element on one core
#include <mpfr.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "ops/scalar/scalars.h"

namespace {

using namespace anydml;

constexpr std::size_t kBlock = 4096;
constexpr int kShown = 8;
constexpr double kNear = 0x1p-50;  // the relative error of glibc's pow is less than 2^-52.9

std::mutex g_mutex;
std::uint64_t g_wrong = 0;
std::uint64_t g_asked = 0;
std::atomic<std::uint64_t> g_hard{0};
std::atomic<std::uint64_t> g_pairs{0};

// Computes in the same way as the library's loop over rows: first in vectors, then the elements that these left
// undecided.
template <class T>
__attribute__((flatten)) void ours(const f32* x, const f32* y, f32* to, std::size_t count) {
  const PowOf of{};
  using First = decltype(first_of<T>(of, f32{}, f32{}));
  First results[kBlock];
  u8 asks[kBlock];
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    results[i] = first_of<T>(of, x[i], y[i]);
  }
  u8 any = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    asks[i] = static_cast<u8>(asks_after<T>(of, results[i], x[i], y[i]));
    any = static_cast<u8>(any | asks[i]);
    to[i] = widen(rounded<T>(results[i]));
  }
  if (any != 0) {
    for (std::size_t i = 0; i < count; ++i) {
      if (asks[i] != 0) {
        to[i] = widen(after_all<T>(of, x[i], y[i]));
        ++g_hard;
      }
    }
  }
}

bool same(f32 a, f32 b) { return (a != a && b != b) || to_bits(a) == to_bits(b); }

bool has_no_power(double x, double y) { return x < 0 && std::rint(y) != y; }

template <class T>
f32 exact(double x, double y) {
  if (has_no_power(x, y)) {
    return std::numeric_limits<f32>::quiet_NaN();
  }
  constexpr bool kHalf = sizeof(T) == 2;
  mpfr_set_emin(kHalf ? -23 : -148);
  mpfr_set_emax(kHalf ? 16 : 128);
  mpfr_t a;
  mpfr_t b;
  mpfr_t to;
  mpfr_init2(a, 53);
  mpfr_init2(b, 53);
  mpfr_init2(to, kHalf ? 11 : 24);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  int ternary = mpfr_pow(to, a, b, MPFR_RNDN);
  mpfr_set_emin(kHalf ? -23 : -148);
  mpfr_set_emax(kHalf ? 16 : 128);
  ternary = mpfr_check_range(to, ternary, MPFR_RNDN);
  mpfr_subnormalize(to, ternary, MPFR_RNDN);
  const double result = mpfr_get_d(to, MPFR_RNDN);
  mpfr_clear(a);
  mpfr_clear(b);
  mpfr_clear(to);
  return static_cast<f32>(result);
}

template <class T>
void check(const f32* x, const f32* y, std::size_t count) {
  f32 results[kBlock];
  ours<T>(x, y, results, count);
  std::uint64_t asked = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto a = static_cast<double>(x[i]);
    const auto b = static_cast<double>(y[i]);
    const double near = has_no_power(a, b) ? std::numeric_limits<double>::quiet_NaN() : std::pow(a, b);
    f32 right = widen(narrow_once<T>(near * (1 - kNear)));
    if (!same(right, widen(narrow_once<T>(near * (1 + kNear))))) {
      right = exact<T>(a, b);
      ++asked;
    }
    if (!same(results[i], right)) {
      const std::scoped_lock lock(g_mutex);
      if (++g_wrong <= kShown) {
        std::printf("pow(%a, %a) is %a, not %a\n", a, b, static_cast<double>(results[i]), static_cast<double>(right));
      }
    }
  }
  g_pairs += count;
  const std::scoped_lock lock(g_mutex);
  g_asked += asked;
}

// Runs work(i) for every i below `count`, on all cores.
template <class Work>
void everywhere(std::uint64_t count, const Work& work) {
  std::atomic<std::uint64_t> next{0};
  const auto run = [&] {
    for (std::uint64_t i = next++; i < count; i = next++) {
      work(i);
    }
    mpfr_free_cache();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(run);
  }
  run();
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void prove_halves() {
  std::vector<f32> y(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    y[i] = widen(from_bits<f16>(static_cast<std::uint16_t>(i)));
  }
  everywhere(65536, [&](std::uint64_t i) {
    const std::vector<f32> x(kBlock, y[i]);
    for (std::size_t first = 0; first < y.size(); first += kBlock) {
      check<f16>(x.data(), y.data() + first, kBlock);
    }
  });
}

// FLOAT32 pairs, a block at a time.
class Pairs {
 public:
  void add(double x, double y) {
    if (static_cast<double>(static_cast<f32>(x)) == x && static_cast<double>(static_cast<f32>(y)) == y) {
      add_single(static_cast<f32>(x), static_cast<f32>(y));
    }
  }
  void add_single(f32 x, f32 y) {
    x_.push_back(x);
    y_.push_back(y);
    if (x_.size() == kBlock) {
      flush();
    }
  }
  void flush() {
    check<f32>(x_.data(), y_.data(), x_.size());
    x_.clear();
    y_.clear();
  }

 private:
  std::vector<f32> x_;
  std::vector<f32> y_;
};

void test_exact() {
  Pairs pairs;
  // All pairs of special values, with both signs.
  std::vector<f32> special = {0,
                              1,
                              2,
                              3,
                              0.5f,
                              1.5f,
                              0.25f,
                              150,
                              149,
                              128,
                              127,
                              126,
                              0x1p24f,
                              0x1p25f,
                              0x1.8p1f,
                              0x1.000002p0f,
                              16777215,
                              0x1p-126f,
                              0x1p-149f,
                              0x1.fffffcp-127f,
                              0x1.fffffep127f,
                              0x1.fffffep-1f,
                              2.5f,
                              1e30f,
                              std::numeric_limits<f32>::infinity(),
                              std::numeric_limits<f32>::quiet_NaN()};
  for (std::size_t i = special.size(); i-- > 0;) {
    special.push_back(-special[i]);
  }
  for (const f32 x : special) {
    for (const f32 y : special) {
      pairs.add_single(x, y);
    }
  }
  // Bases (odd * 2^e)^(2^j) with exponents n / 2^j: all pairs whose result has at most 26 bits, and their neighbors.
  for (int j = 0; j <= 3; ++j) {
    for (int odd = 1; odd < 8192; odd += 2) {
      const double base = std::pow(odd, 1 << j);
      if (base >= 0x1p24) {
        break;
      }
      for (int n = 1; n < 160 && (odd == 1 || std::pow(odd, n) < 0x1p26); ++n) {
        for (int e = -150; e <= 128; ++e) {
          const double x = std::ldexp(base, e);
          const double y = std::ldexp(n, -j);
          if (std::abs(std::log2(x) * y) > 152) {
            continue;
          }
          pairs.add(x, y);
          pairs.add(-x, y);
          pairs.add(x, -y);
          pairs.add(std::nextafter(static_cast<f32>(x), 0.0f), y);
          pairs.add(std::nextafter(static_cast<f32>(x), 1e38f), y);
          pairs.add(x, std::nextafter(static_cast<f32>(y), 0.0f));
          pairs.add(x, std::nextafter(static_cast<f32>(y), 1e38f));
        }
      }
    }
  }
  pairs.flush();
}

// x has any exponent, and y is such that most results are in range.
void random_block(std::uint64_t seed, std::vector<f32>& x, std::vector<f32>& y) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t bits = random();
    std::uint32_t from = static_cast<std::uint32_t>(bits) & 0x7fffffff;
    if ((bits >> 32 & 3) == 0) {  // near 1
      from = 0x3f800000 + static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> (bits >> 34 & 31));
      from &= 0x7fffffff;
    }
    x[i] = from_bits<f32>(from);
    const double log = std::abs(std::log2(static_cast<double>(x[i])));
    const double maximum = log > 0 && log < 1000 ? 152 / log : 1;
    const std::uint64_t more = random();
    const double share = std::ldexp(static_cast<double>(more >> 12), -52);
    y[i] = static_cast<f32>(std::ldexp(maximum * share, -static_cast<int>(more & 15)));
    if ((more >> 4 & 1) != 0) {
      y[i] = -y[i];
    }
    if ((more >> 5 & 15) == 0) {
      y[i] = std::rint(y[i]);
      x[i] = -x[i];
    }
  }
}

void measure() {
  std::vector<f32> x(kBlock);
  std::vector<f32> y(kBlock);
  std::vector<f32> to(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    x[i] = static_cast<f32>(static_cast<double>(i + 1) / 500.0);
    y[i] = static_cast<f32>(std::sin(static_cast<double>(i)) * 3);
  }
  double best = 1;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 30; ++i) {
      ours<f32>(x.data(), y.data(), to.data(), kBlock);
    }
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("pow %.2f ns per element\n", best / 30 / kBlock * 1e9);
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "time") {
      measure();
      continue;
    }
    if (argument == "halves") {
      prove_halves();
    } else if (argument == "exact") {
      test_exact();
    } else {
      everywhere(std::strtoull(arguments[i], nullptr, 10) / kBlock, [&](std::uint64_t block) {
        std::vector<f32> x(kBlock);
        std::vector<f32> y(kBlock);
        random_block(block, x, y);
        check<f32>(x.data(), y.data(), kBlock);
      });
    }
    std::printf("pow of %.*s: %llu pairs, %llu wrong; %llu took the hard path, MPFR was used %llu times\n",
                static_cast<int>(argument.size()), argument.data(), static_cast<unsigned long long>(g_pairs.load()),
                static_cast<unsigned long long>(g_wrong), static_cast<unsigned long long>(g_hard.load()),
                static_cast<unsigned long long>(g_asked));
  }
  return g_wrong == 0 ? 0 : 1;
}
