// SPDX-License-Identifier: MIT
// Re-proves the library's functions in seconds, on whatever target and device it uses. For every FLOAT32 and FLOAT16
// number or, for functions of two arguments, every FLOAT16 pair, computes a digest of the results in 256 parts, and
// compares it with the digest of the definitions that `prove`, `prove_pairs` and `prove_powers` proved.
//
//   digests [NAME...]                 operators of the library; missing ones are skipped unless named
//   digests --some [NAME...]          eight of FLOAT32's parts, the hardest ones for functions
//   digests --definitions [NAME...]   the scalar definitions, vectorized for this machine
//   digests --write [NAME...]         writes the digests of the definitions into the table
//
// ANYDML_ADAPTER and ANYDML_CPU_TARGET work as usual. The table is data/digests/function_digests.txt, or --table FILE.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "oracles.h"
#include "rows.h"

namespace {

using namespace anydml;
using functions::Oracle;
using functions::Row;

constexpr std::size_t kParts = 256;
constexpr std::size_t kSingles = std::size_t{1} << 24;  // per part
constexpr std::size_t kHalves = 256;
constexpr std::size_t kStretch = std::size_t{1} << 16;  // one task of a thread

// A selection of parts, identified by the highest eight bits of their inputs. Each part has one sign and two exponents.
// Four of the 256 parts contain zeros or infinities; three of these are selected.
constexpr std::size_t kSome[] = {0x00, 0x3b, 0x3e, 0x3f, 0x41, 0x7f, 0x80, 0xbf};

using Digests = std::array<u64, kParts>;
using Table = std::map<std::string, Digests>;  // keyed by the names of the function and the type

constexpr u64 kFactor = 0x9E37'79B9'7F4A'7C15U;

// Computes eight sums in parallel, since each step depends on the previous product. Each step is invertible, so no
// single change is lost. `count` is a multiple of eight words.
u64 digest(const u64* words, std::size_t count) {
  u64 sums[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t i = 0; i < count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) {
      sums[j] = std::rotl(sums[j] ^ words[i + j], 29) * kFactor;
    }
  }
  u64 all = count;
  for (const u64 sum : sums) {
    all = std::rotl(all ^ sum, 29) * kFactor;
  }
  return all;
}
// All NaN results count as equal.
template <class T>
u64 digest_of(const T* results, std::size_t count) {
  using Bits = float_bits_t<T>;
  alignas(64) u64 words[kStretch * sizeof(T) / sizeof(u64)];
  auto* const bits = reinterpret_cast<Bits*>(words);
  for (std::size_t i = 0; i < count; ++i) {
    const Bits one = to_bits(results[i]);
    bits[i] = select((one & FloatParts<T>::kMagnitude) > FloatParts<T>::kInfinity, FloatParts<T>::kQuietNan, one);
  }
  return digest(words, count * sizeof(T) / sizeof(u64));
}

void in_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
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

u64 digest_of_stretches(const std::vector<u64>& stretches) {
  u64 all = stretches.size();
  for (const u64 one : stretches) {
    all = std::rotl(all ^ one, 29) * kFactor;
  }
  return all;
}

// Returns the digest of a part. All threads compute digests of its stretches. make(first, count, to) returns the
// results of a stretch, for which `to` is a buffer.
template <class T, class Make>
u64 digest_of_part(std::size_t elements, const Make& make) {
  const std::size_t stretch = std::min(elements, kStretch);
  std::vector<u64> stretches(elements / stretch);
  const auto work = [&](std::size_t i) {
    thread_local std::vector<T> own(kStretch);
    stretches[i] = digest_of(make(i * stretch, stretch, own.data()), stretch);
  };
  if (stretches.size() == 1) {
    work(0);
  } else {
    in_threads(stretches.size(), work);
  }
  return digest_of_stretches(stretches);
}

void digest_definition(const Oracle& oracle, const std::vector<std::size_t>& parts, Digests& singles, Digests& halves) {
  for (const std::size_t part : parts) {
    singles[part] = digest_of_part<f32>(kSingles, [&](std::size_t first, std::size_t count, f32* to) {
      thread_local std::vector<f32> from(kStretch);
      for (std::size_t i = 0; i < count; ++i) {
        from[i] = from_bits<f32>(static_cast<u32>(part * kSingles + first + i));
      }
      oracle.ours(from.data(), to, count);
      return to;
    });
  }
  for (std::size_t part = 0; part < kParts; ++part) {
    halves[part] = digest_of_part<f16>(kHalves, [&](std::size_t first, std::size_t count, f16* to) {
      for (std::size_t i = 0; i < count; ++i) {
        to[i] = oracle.ours_half(from_bits<f16>(static_cast<u16>(part * kHalves + first + i)));
      }
      return to;
    });
  }
}

bool digest_row(const Row& row, const std::vector<std::size_t>& parts, Digests& singles, Digests& halves) {
  if (functions::is_built(row, ANYDML_FLOAT32)) {
    std::vector<f32> from(kSingles);
    std::vector<f32> to(kSingles);
    for (const std::size_t part : parts) {
      in_threads(kSingles / kStretch, [&](std::size_t stretch) {
        for (std::size_t i = stretch * kStretch; i < (stretch + 1) * kStretch; ++i) {
          from[i] = from_bits<f32>(static_cast<u32>(part * kSingles + i));
        }
      });
      if (!functions::run_row(row, ANYDML_FLOAT32, to.data(), kSingles, from.data())) {
        return false;
      }
      singles[part] = digest_of_part<f32>(kSingles, [&](std::size_t first, std::size_t, f32*) { return &to[first]; });
    }
  }
  if (functions::is_built(row, ANYDML_FLOAT16)) {
    std::vector<f16> from(kParts * kHalves);
    std::vector<f16> to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = from_bits<f16>(static_cast<u16>(i));
    }
    if (!functions::run_row(row, ANYDML_FLOAT16, to.data(), from.size(), from.data())) {
      return false;
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      halves[part] = digest_of_part<f16>(
          kHalves, [&](std::size_t first, std::size_t, f16*) { return &to[part * kHalves + first]; });
    }
  }
  return true;
}

// A part has every FLOAT16 pair whose first element begins with the part's eight bits. Each stretch combines one first
// element with every possible second element.
static_assert(kStretch == 65536 && kSingles == 256 * kStretch);
f16 first_of_pair(std::size_t part, std::size_t i) {
  return from_bits<f16>(static_cast<u16>(part * 256 + i / kStretch));
}

bool digest_pairs(const Row& row, bool definition, const std::vector<std::size_t>& parts, Digests& digests) {
  std::vector<f16> seconds(kSingles);
  for (std::size_t i = 0; i < kSingles; ++i) {
    seconds[i] = from_bits<f16>(static_cast<u16>(i));
  }
  std::vector<f16> firsts(definition ? 0 : kSingles);
  std::vector<f16> results(firsts.size());
  for (const std::size_t part : parts) {
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      firsts[i] = first_of_pair(part, i);
    }
    if (!definition &&
        !functions::run_row(row, ANYDML_FLOAT16, results.data(), kSingles, firsts.data(), seconds.data())) {
      return false;
    }
    digests[part] = digest_of_part<f16>(kSingles, [&](std::size_t first, std::size_t count, f16* to) {
      if (!definition) {
        return &results[first];
      }
      const bool is_pow = row.name == "pow";
      for (std::size_t i = first; i < first + count; ++i) {
        const f16 one = first_of_pair(part, i);
        to[i - first] = is_pow ? Pow<f16, f16>{}(one, seconds[i]) : AtanYx<f16>{}(one, seconds[i]);
      }
      return to;
    });
  }
  return true;
}

constexpr const char* kHead =
    "# SPDX-License-Identifier: MIT\n"
    "# function, type, digests of its results in 256 parts; made by tests/functions/digests --write\n";

Table read_table(const std::string& path) {
  Table table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::string type;
    if (line.starts_with('#') || !(words >> name >> type)) {
      continue;
    }
    Digests& digests = table[name + " " + type];
    for (u64& one : digests) {
      words >> std::hex >> one;
    }
  }
  return table;
}

void write_table(const std::string& path, const Table& table) {
  std::ofstream file(path);
  file << kHead;
  for (const auto& [name, digests] : table) {
    file << name;
    for (const u64 one : digests) {
      char text[20];
      std::snprintf(text, sizeof(text), " %016llx", static_cast<unsigned long long>(one));
      file << text;
    }
    file << '\n';
  }
}

// Prints the parts that differ. The inputs of a part begin with the same eight bits.
int compare(const std::string& what, const std::string& key, const Table& table, const Digests& digests,
            const std::vector<std::size_t>& parts) {
  const auto right = table.find(key);
  if (right == table.end()) {
    std::printf("%s: the table has no %s\n", what.c_str(), key.c_str());
    return 1;
  }
  const auto differ =
      std::ranges::count_if(parts, [&](std::size_t part) { return digests[part] != right->second[part]; });
  for (const std::size_t part : parts) {
    if (digests[part] != right->second[part] && differ <= 16) {
      std::printf("%s: part %02x of %s differs\n", what.c_str(), static_cast<unsigned>(part), key.c_str());
    }
  }
  std::printf("%-28s %-20s %zu parts, %td differ\n", what.c_str(), key.c_str(), parts.size(), differ);
  return differ == 0 ? 0 : 1;
}

struct Choice {
  bool some = false;
  bool definitions = false;
  bool write = false;
  std::string table = ANYDML_DIGESTS;
  std::vector<std::string> names;
  [[nodiscard]] bool wants(std::string_view name) const {
    return names.empty() || std::ranges::find(names, name) != names.end();
  }
};

int run(const Choice& choice) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < kParts; ++i) {
    all.push_back(i);
  }
  const std::vector<std::size_t> parts =
      choice.some ? std::vector<std::size_t>(std::begin(kSome), std::end(kSome)) : all;
  Table table = read_table(choice.table);
  int status = 0;
  for (const Oracle& oracle : functions::kOracles) {
    if (!choice.wants(oracle.name)) {
      continue;
    }
    const std::string single = std::string(oracle.name) + " FLOAT32";
    const std::string half = std::string(oracle.name) + " FLOAT16";
    Digests singles{};
    Digests halves{};
    if (choice.write || choice.definitions) {
      digest_definition(oracle, parts, singles, halves);
      if (choice.write) {
        table[single] = singles;
        table[half] = halves;
        write_table(choice.table, table);
      } else {
        status |= compare("definition", single, table, singles, parts);
        status |= compare("definition", half, table, halves, all);
      }
      continue;
    }
    for (const Row& row : functions::kRows) {
      if (row.name != oracle.name) {
        continue;
      }
      const bool has_singles = functions::is_built(row, ANYDML_FLOAT32);
      const bool has_halves = functions::is_built(row, ANYDML_FLOAT16);
      if (!has_singles && !has_halves) {
        std::printf("%s: the library does not implement it\n", row.op);
        status |= choice.names.empty() ? 0 : 1;
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      if (!digest_row(row, parts, singles, halves)) {
        std::printf("%s: %s\n", row.op, anydml_last_error());
        status = 1;
        continue;
      }
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      status |= has_singles ? compare(row.op, single, table, singles, parts) : 0;
      status |= has_halves ? compare(row.op, half, table, halves, all) : 0;
      std::printf("%-28s %.1f s\n", row.op, seconds);
    }
    std::fflush(stdout);
  }
  for (const Row& row : functions::kPairRows) {
    if (!choice.wants(row.name) || !(choice.write || choice.definitions || functions::is_built(row, ANYDML_FLOAT16))) {
      continue;
    }
    const std::string key = std::string(row.name) + " FLOAT16_PAIRS";
    Digests digests{};
    const auto start = std::chrono::steady_clock::now();
    if (!digest_pairs(row, choice.write || choice.definitions, parts, digests)) {
      std::printf("%s: %s\n", row.op, anydml_last_error());
      status = 1;
    } else if (choice.write) {
      table[key] = digests;
      write_table(choice.table, table);
    } else {
      status |= compare(choice.definitions ? "definition" : row.op, key, table, digests, parts);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::printf("%-28s %.1f s\n", row.op, seconds);
    }
  }
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  Choice choice;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--some") {
      choice.some = true;
    } else if (argument == "--definitions") {
      choice.definitions = true;
    } else if (argument == "--write") {
      choice.write = true;
    } else if (argument == "--table" && i + 1 < count) {
      choice.table = arguments[++i];
    } else if (std::ranges::any_of(functions::kOracles, [&](const Oracle& one) { return one.name == argument; }) ||
               std::ranges::any_of(functions::kPairRows, [&](const Row& row) { return row.name == argument; })) {
      choice.names.push_back(argument);
    } else {
      std::fprintf(stderr, "%s is neither an option nor a function\n", arguments[i]);
      return 2;
    }
  }
  if (choice.write && choice.some) {
    std::fputs("--write requires all parts\n", stderr);
    return 2;
  }
  return run(choice);
}
