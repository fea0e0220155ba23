// SPDX-License-Identifier: MIT
// Proves that functions are correctly rounded for every input. The oracle is glibc's FLOAT64 function if its result is
// so far from a midpoint of two FLOAT32 numbers that its error cannot matter, and MPFR otherwise.
//
//   prove NAME...                      every FLOAT32 and every FLOAT16
//   prove --write-hard FILE NAME       the same, and saves the inputs that needed MPFR
//   prove --read-hard FILE NAME        only those inputs: a quick check after changing a coefficient
//   prove --near BITS ...              uses MPFR when a midpoint is within 2^-BITS of the value
//   prove --write-hardest FILE ...     also saves the inputs that are nearest to a midpoint
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "oracles.h"

namespace {

using namespace anydml;
using functions::Oracle;

constexpr std::size_t kBlock = 1 << 16;
constexpr int kShown = 8;
constexpr std::size_t kHardest = 20;

bool same(f32 a, f32 b) { return (a != a && b != b) || to_bits(a) == to_bits(b); }

struct Findings {
  std::mutex mutex;
  std::uint64_t wrong = 0;
  std::uint64_t asked = 0;
  std::vector<std::uint32_t> hard;
  // The inputs whose results are nearest to a midpoint, in units in the last place. Subnormal results are listed
  // separately, because functions that halve a tiny argument give ties or near-ties.
  std::vector<std::pair<double, std::uint32_t>> nearest[2];
};
struct Options {
  const char* read_hard = nullptr;
  const char* write_hard = nullptr;
  const char* write_hardest = nullptr;
  int near_bits = 99;
};

// A format's range in MPFR: `precision` bits, the smallest exponent of a subnormal, the largest exponent.
struct Format {
  mpfr_prec_t precision;
  mpfr_exp_t minimum;
  mpfr_exp_t maximum;
};
constexpr Format kSingle{24, -148, 128};
constexpr Format kHalf{11, -23, 16};

double exact(const Oracle& oracle, double x, const Format& format) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_t from;
  mpfr_t to;
  mpfr_init2(from, 53);
  mpfr_init2(to, format.precision);
  mpfr_set_d(from, x, MPFR_RNDN);
  int ternary = oracle.exact(to, from, MPFR_RNDN);
  // The range is limited only now, because the intermediate results of a composed function may be outside of it.
  mpfr_set_emin(format.minimum);
  mpfr_set_emax(format.maximum);
  ternary = mpfr_check_range(to, ternary, MPFR_RNDN);
  mpfr_subnormalize(to, ternary, MPFR_RNDN);
  const double result = mpfr_get_d(to, MPFR_RNDN);
  mpfr_clear(from);
  mpfr_clear(to);
  return result;
}

// The distance of the true value from a midpoint, in units in the last place of its FLOAT32 rounding.
double distance_to_midpoint(const Oracle& oracle, double x) {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_t from;
  mpfr_t value;
  mpfr_init2(from, 53);
  mpfr_init2(value, 200);
  mpfr_set_d(from, x, MPFR_RNDN);
  oracle.exact(value, from, MPFR_RNDN);
  double distance = 1;
  if (mpfr_regular_p(value) != 0) {
    const mpfr_exp_t unit = std::max<mpfr_exp_t>(mpfr_get_exp(value) - 24, -149);
    mpfr_mul_2si(value, value, 1 - unit, MPFR_RNDN);  // midpoints are the odd numbers
    mpfr_t whole;
    mpfr_init2(whole, 200);
    mpfr_rint(whole, value, MPFR_RNDN);
    if (mpfr_fits_slong_p(whole, MPFR_RNDN) != 0 && (mpfr_get_si(whole, MPFR_RNDN) & 1) != 0) {
      mpfr_sub(value, value, whole, MPFR_RNDN);
      distance = std::abs(mpfr_get_d(value, MPFR_RNDN)) / 2;
    }
    mpfr_clear(whole);
  }
  mpfr_clear(from);
  mpfr_clear(value);
  return distance;
}

void report(const Oracle& oracle, Findings& findings, f32 x, f32 ours, f32 right) {
  const std::scoped_lock lock(findings.mutex);
  if (++findings.wrong <= kShown) {
    std::printf(
        "%.*s(%a = %08x) is %a (%08x), not %a; the true value is %.3g units in the last place from a midpoint\n",
        static_cast<int>(oracle.name.size()), oracle.name.data(), static_cast<double>(x), to_bits(x),
        static_cast<double>(ours), to_bits(ours), static_cast<double>(right),
        distance_to_midpoint(oracle, static_cast<double>(x)));
  }
}

void ask(const Oracle& oracle, f32 x, f32 ours, Findings& findings) {
  const f32 right = static_cast<f32>(exact(oracle, static_cast<double>(x), kSingle));
  if (!same(ours, right)) {
    report(oracle, findings, x, ours, right);
  }
  const double distance = distance_to_midpoint(oracle, static_cast<double>(x));
  const std::scoped_lock lock(findings.mutex);
  ++findings.asked;
  findings.hard.push_back(to_bits(x));
  auto& nearest = findings.nearest[magnitude_of(right) < 0x1p-126f ? 1 : 0];
  const std::pair<double, std::uint32_t> one(distance, to_bits(x));
  if (nearest.size() < kHardest || one < nearest.back()) {
    // Near zero, many functions are proportional to their argument, so one input is kept for all that share its
    // significand.
    const auto alike =
        std::ranges::find_if(nearest, [&](const auto& other) { return ((other.second ^ one.second) & 0x7fffff) == 0; });
    if (alike != nearest.end()) {
      if (*alike < one) {
        return;
      }
      nearest.erase(alike);
    }
    nearest.insert(std::ranges::upper_bound(nearest, one), one);
    nearest.resize(std::min(nearest.size(), kHardest));
  }
}

void prove_block(const Oracle& oracle, int near_bits, std::uint32_t block, Findings& findings) {
  std::vector<f32> from(kBlock);
  std::vector<f32> ours(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    from[i] = from_bits<f32>(static_cast<std::uint32_t>(block * kBlock + i));
  }
  oracle.ours(from.data(), ours.data(), kBlock);
  const double less = 1 - std::ldexp(1.0, -near_bits);
  const double more = 1 + std::ldexp(1.0, -near_bits);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double near = oracle.near(static_cast<double>(from[i]));
    const f32 below = static_cast<f32>(near * less);
    const f32 above = static_cast<f32>(near * more);
    if (same(below, above)) {
      if (!same(below, ours[i])) {
        report(oracle, findings, from[i], ours[i], below);
      }
    } else {
      ask(oracle, from[i], ours[i], findings);
    }
  }
  mpfr_free_cache();
}

void prove_halves(const Oracle& oracle, Findings& findings) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const f16 x = from_bits<f16>(static_cast<std::uint16_t>(bits));
    const auto right = static_cast<f32>(exact(oracle, static_cast<double>(widen(x)), kHalf));
    const f32 ours = widen(oracle.ours_half(x));
    if (!same(ours, right)) {
      report(oracle, findings, widen(x), ours, right);
    }
  }
}

// Replaces the file's lines for this function.
void write_hardest(const Oracle& oracle, const Findings& findings, const char* path) {
  std::vector<std::string> lines;
  std::ifstream old(path);
  for (std::string line; std::getline(old, line);) {
    if (!line.starts_with('#') && !line.starts_with(std::string(oracle.name) + " ")) {
      lines.push_back(line);
    }
  }
  for (const auto& nearest : findings.nearest) {
    for (const auto& [distance, bits] : nearest) {
      const auto right = static_cast<f32>(exact(oracle, static_cast<double>(from_bits<f32>(bits)), kSingle));
      char line[80];
      std::snprintf(line, sizeof(line), "%.*s %08x %08x %.3g", static_cast<int>(oracle.name.size()), oracle.name.data(),
                    bits, to_bits(right), distance);
      lines.emplace_back(line);
    }
  }
  std::ranges::stable_sort(lines, {}, [](const std::string& line) { return line.substr(0, line.find(' ')); });
  std::ofstream file(path);
  file << "# SPDX-License-Identifier: MIT\n# function, input, result, distance to a midpoint in units of the last "
          "place; "
          "made by tests/functions/prove --write-hardest\n";
  for (const std::string& line : lines) {
    file << line << '\n';
  }
}

int prove(const Oracle& oracle, const Options& options) {
  Findings findings;
  // The nearest twenty are found only if MPFR is used often enough.
  const int near_bits = std::min({options.near_bits, oracle.near_bits, options.write_hardest != nullptr ? 46 : 99});
  if (options.read_hard != nullptr) {
    std::vector<std::uint32_t> hard;
    if (std::FILE* const file = std::fopen(options.read_hard, "rb")) {
      std::uint32_t bits = 0;
      while (std::fread(&bits, sizeof(bits), 1, file) == 1) {
        hard.push_back(bits);
      }
      std::fclose(file);
    }
    for (const std::uint32_t bits : hard) {
      const f32 x = from_bits<f32>(bits);
      f32 ours = 0;
      oracle.ours(&x, &ours, 1);
      ask(oracle, x, ours, findings);
    }
  } else {
    std::atomic<std::uint32_t> next{0};
    const auto work = [&] {
      for (std::uint32_t block = next++; block < 65536; block = next++) {
        prove_block(oracle, near_bits, block, findings);
        if (block % 8192 == 0) {
          std::fprintf(stderr, "%.*s: %u %%\n", static_cast<int>(oracle.name.size()), oracle.name.data(),
                       block * 100 / 65536);
        }
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  const std::uint64_t wrong_singles = findings.wrong;
  prove_halves(oracle, findings);
  if (options.write_hard != nullptr) {
    std::ranges::sort(findings.hard);
    if (std::FILE* const file = std::fopen(options.write_hard, "wb")) {
      std::fwrite(findings.hard.data(), sizeof(std::uint32_t), findings.hard.size(), file);
      std::fclose(file);
    }
  }
  if (options.write_hardest != nullptr) {
    write_hardest(oracle, findings, options.write_hardest);
  }
  std::pair<double, std::uint32_t> nearest(1, 0);
  for (const auto& some : findings.nearest) {
    nearest = some.empty() ? nearest : std::min(nearest, some.front());
  }
  std::printf(
      "%-12.*s FLOAT32: %llu wrong, FLOAT16: %llu wrong; MPFR was used %llu times; nearest to a midpoint: %.3g "
      "units in the last place at %a (%08x)\n",
      static_cast<int>(oracle.name.size()), oracle.name.data(), static_cast<unsigned long long>(wrong_singles),
      static_cast<unsigned long long>(findings.wrong - wrong_singles), static_cast<unsigned long long>(findings.asked),
      nearest.first, static_cast<double>(from_bits<f32>(nearest.second)), nearest.second);
  std::fflush(stdout);
  return findings.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Options options;
  int status = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("--") && i + 1 < count) {
      const char* const value = arguments[++i];
      if (argument == "--read-hard") {
        options.read_hard = value;
      } else if (argument == "--write-hard") {
        options.write_hard = value;
      } else if (argument == "--near") {
        options.near_bits = std::atoi(value);
      } else if (argument == "--write-hardest") {
        options.write_hardest = value;
      } else {
        std::fprintf(stderr, "%s %s is invalid\n", arguments[i - 1], value);
        return 2;
      }
      continue;
    }
    bool known = false;
    for (const Oracle& oracle : functions::kOracles) {
      if (argument == "all" || argument == oracle.name) {
        known = true;
        status |= prove(oracle, options);
      }
    }
    if (!known) {
      std::fprintf(stderr, "there is no function %s\n", arguments[i]);
      return 2;
    }
  }
  return status;
}
