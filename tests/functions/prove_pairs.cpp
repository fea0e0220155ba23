// SPDX-License-Identifier: MIT
// Like prove.cpp, for functions of two arguments: every FLOAT16 pair, and any number of FLOAT32 pairs of the kinds that
// are known to be difficult.
//
//   prove_pairs halves NAME            every FLOAT16 pair (a few minutes)
//   prove_pairs singles NAME COUNT     COUNT FLOAT32 pairs of each kind
//   prove_pairs hard NAME COUNT        the same for `hard` alone, which must be right everywhere
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "pair_oracles.h"

namespace {

using namespace anydml;
using functions::PairOracle;

constexpr std::size_t kBlock = 1 << 14;
constexpr int kShown = 8;

struct Findings {
  std::mutex mutex;
  std::uint64_t wrong = 0;
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> hard{0};
};

bool same(f32 a, f32 b) { return (a != a && b != b) || to_bits(a) == to_bits(b); }
bool same(f16 a, f16 b) { return same(widen(a), widen(b)); }

// The exact result, computed by MPFR, in T's range.
template <class T>
T exact(const PairOracle& oracle, double a, double b) {
  using Parts = FloatParts<T>;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_t first;
  mpfr_t second;
  mpfr_t to;
  mpfr_init2(first, 53);
  mpfr_init2(second, 53);
  mpfr_init2(to, Parts::kFractionBits + 1);
  mpfr_set_d(first, a, MPFR_RNDN);
  mpfr_set_d(second, b, MPFR_RNDN);
  int ternary = oracle.exact(to, first, second, MPFR_RNDN);
  mpfr_set_emin(2 - Parts::kBias - Parts::kFractionBits);
  mpfr_set_emax(Parts::kBias + 1);
  ternary = mpfr_check_range(to, ternary, MPFR_RNDN);
  mpfr_subnormalize(to, ternary, MPFR_RNDN);
  const double result = mpfr_get_d(to, MPFR_RNDN);
  mpfr_clear(first);
  mpfr_clear(second);
  mpfr_clear(to);
  return narrow<T>(static_cast<f32>(result));
}

template <class T>
void check(const PairOracle& oracle, T a, T b, T ours, Findings& findings) {
  const double first = static_cast<double>(widen(a));
  const double second = static_cast<double>(widen(b));
  const double near = oracle.near(first, second);
  T right = narrow_once<T>(near * (1 - std::ldexp(1.0, -oracle.near_bits)));
  if (!same(right, narrow_once<T>(near * (1 + std::ldexp(1.0, -oracle.near_bits))))) {
    ++findings.asked;
    right = exact<T>(oracle, first, second);
  }
  if (!same(ours, right)) {
    const std::scoped_lock lock(findings.mutex);
    if (++findings.wrong <= kShown) {
      std::printf("%.*s(%a, %a) is %a, not %a\n", static_cast<int>(oracle.name.size()), oracle.name.data(), first,
                  second, static_cast<double>(widen(ours)), static_cast<double>(widen(right)));
    }
  }
}

// Runs work for blocks 0 to count - 1, on all cores.
template <class Work>
void share(std::uint64_t count, const Work& work) {
  std::atomic<std::uint64_t> next{0};
  const auto run = [&] {
    for (std::uint64_t block = next++; block < count; block = next++) {
      work(block);
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

void prove_halves(const PairOracle& oracle, Findings& findings) {
  share(65536, [&](std::uint64_t block) {
    const f16 a = from_bits<f16>(static_cast<u16>(block));
    for (u32 bits = 0; bits < 65536; ++bits) {
      const f16 b = from_bits<f16>(static_cast<u16>(bits));
      check(oracle, a, b, oracle.ours_half(a, b), findings);
    }
  });
}

// xorshift64*
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  u32 bits() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<u32>((state_ * 0x2545f4914f6cdd1dU) >> 32);
  }
  f32 any() { return from_bits<f32>(bits()); }
  // Returns a number whose exponent is within `range` of that of 1.
  f32 moderate(u32 range) {
    return from_bits<f32>((bits() & 0x807fffffU) | ((127 - range + bits() % (2 * range + 1)) << 23));
  }

 private:
  std::uint64_t state_;
};

using Pair = std::array<f32, 2>;
Pair any_bits(Random& random) { return {random.any(), random.any()}; }
Pair near_one(Random& random) { return {random.moderate(2), random.moderate(2)}; }
Pair not_far(Random& random) { return {random.moderate(13), random.moderate(13)}; }
// The operands have few bits, so that quotients, products and powers are exact or halfway.
Pair few_bits(Random& random) {
  const u32 keep = ~0U << (8 + random.bits() % 16);
  return {from_bits<f32>(to_bits(random.moderate(60)) & keep), from_bits<f32>(to_bits(random.moderate(60)) & keep)};
}
// Quotients that are subnormal or next to midpoints of subnormals.
Pair tiny_quotients(Random& random) {
  const f32 divisor = std::ldexp(1.0F, static_cast<int>(random.bits() % 128));
  const u32 scale = random.bits() % 4 == 0 ? random.bits() & 0x7fffffU : 0;
  return {from_bits<f32>((random.bits() & 0x80000000U) | (random.bits() >> (4 + random.bits() % 28))),
          from_bits<f32>(to_bits(divisor) | scale)};
}
constexpr f32 kSpecial[] = {0.0F,
                            1.0F,
                            2.0F,
                            3.0F,
                            0.5F,
                            1.5F,
                            0x1p-149F,
                            0x1.8p-148F,
                            0x1p-126F,
                            0x1.fffffcp-127F,
                            0x1.000002p0F,
                            0x1.fffffep-1F,
                            0x1p23F,
                            0x1p24F,
                            0x1.fffffep23F,
                            0x1.fffffep127F,
                            std::numeric_limits<f32>::infinity(),
                            std::numeric_limits<f32>::quiet_NaN()};
Pair specials(Random& random) {
  const auto pick = [&] {
    const f32 value = kSpecial[random.bits() % std::size(kSpecial)];
    return from_bits<f32>(to_bits(value) ^ (random.bits() & 0x80000000U));
  };
  return random.bits() % 4 == 0 ? Pair{pick(), random.any()} : Pair{pick(), pick()};
}
constexpr Pair (*kKinds[])(Random&) = {any_bits, near_one, not_far, few_bits, tiny_quotients, specials};

void prove_singles(const PairOracle& oracle, std::uint64_t count, bool hard_alone, Findings& findings) {
  share((count / kBlock + 1) * std::size(kKinds), [&](std::uint64_t block) {
    Random random(block + 1);
    std::vector<f32> a(kBlock);
    std::vector<f32> b(kBlock);
    std::vector<f32> ours(kBlock);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const Pair pair = kKinds[block % std::size(kKinds)](random);
      a[i] = pair[0];
      b[i] = pair[1];
    }
    if (hard_alone) {
      oracle.ours_hard(a.data(), b.data(), ours.data(), kBlock);
    } else {
      findings.hard += oracle.ours(a.data(), b.data(), ours.data(), kBlock);
    }
    for (std::size_t i = 0; i < kBlock; ++i) {
      check(oracle, a[i], b[i], ours[i], findings);
    }
  });
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view what = count > 2 ? arguments[1] : "";
  for (const PairOracle& oracle : functions::kPairOracles) {
    if (count > 2 && oracle.name == arguments[2]) {
      Findings findings;
      if (what == "halves") {
        prove_halves(oracle, findings);
      } else {
        const std::uint64_t pairs = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 1000000;
        prove_singles(oracle, pairs, what == "hard", findings);
      }
      std::printf("%s %s: %llu wrong; MPFR was used %llu times; %llu took the hard path\n", arguments[1], arguments[2],
                  static_cast<unsigned long long>(findings.wrong), static_cast<unsigned long long>(findings.asked),
                  static_cast<unsigned long long>(findings.hard));
      return findings.wrong == 0 ? 0 : 1;
    }
  }
  std::fprintf(stderr, "usage: prove_pairs halves|singles|hard NAME [COUNT]\n");
  return 2;
}
