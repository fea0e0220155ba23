// SPDX-License-Identifier: MIT
// Checks both modulus operators through the public API against the oracle, for all 2^32 pairs of each 16-bit type. Also
// tests the largest tensor.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <fstream>
#include <string>
#include <thread>

#include "support/oracle.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

constexpr u64 kValues = 1 << 16;

// Compiled for a contiguous divisor and for a broadcast one, so that both kinds of kernels see every pair.
struct Handles {
  anydml_compiled* compiled[2][2] = {};  // [floor, truncate][contiguous, broadcast]

  explicit Handles(anydml_type type) {
    static const int64_t sizes[] = {kValues};
    static const int64_t repeat[] = {0};
    const char* names[] = {"ELEMENT_WISE_MODULUS_FLOOR", "ELEMENT_WISE_MODULUS_TRUNCATE"};
    for (int op = 0; op < 2; ++op) {
      for (int layout = 0; layout < 2; ++layout) {
        const anydml_tensor whole = {type, 1, sizes, nullptr, nullptr};
        const anydml_tensor inputs[] = {whole, {type, 1, sizes, layout == 0 ? nullptr : repeat, nullptr}};
        EXPECT_EQ(anydml_compile(nullptr, names[op], inputs, 2, &whole, 1, nullptr, 0, &compiled[op][layout]),
                  ANYDML_OK)
            << anydml_last_error();
      }
    }
  }
  ~Handles() {
    for (auto& row : compiled) {
      for (anydml_compiled* handle : row) {
        anydml_compiled_release(handle);
      }
    }
  }
};

template <class T>
void check_all_pairs() {
  const auto start = std::chrono::steady_clock::now();
  const Handles handles(static_cast<anydml_type>(kDataTypeOf<T>));
  std::atomic<u64> next{0};
  std::atomic<u64> pairs{0};
  std::atomic<u64> different{0};
  const auto work = [&] {
    std::vector<T> a(kValues);
    std::vector<T> b(kValues);
    std::vector<T> results[2][2];  // [floor, truncate][contiguous, broadcast]
    for (auto& op : results) {
      for (auto& layout : op) {
        layout.resize(kValues);
      }
    }
    for (u64 i = 0; i < kValues; ++i) {
      a[i] = from_raw<T>(i);
    }
    const void* inputs[] = {a.data(), b.data()};
    const auto run = [&](int op, int layout) {
      void* output = results[op][layout].data();
      return anydml_compiled_run(handles.compiled[op][layout], inputs, 2, &output, 1) == ANYDML_OK;
    };
    for (u64 turn = next++; turn < kValues; turn = next++) {
      u64 wrong = 0;
      const auto report = [&](u64 i, const char* what, T actual, T expected) {
        if (different.load() + wrong++ == 0) {
          ADD_FAILURE() << what << ": " << show(a[i]) << " mod " << show(b[i]) << " is " << show(actual)
                        << ", expected " << show(expected);
        }
      };
      // Compares two full tensors with the oracle, with a different divisor for each element. Together, the rounds
      // cover every pair.
      for (u64 i = 0; i < kValues; ++i) {
        b[i] = from_raw<T>(i ^ turn);
      }
      if (!run(0, 0) || !run(1, 0)) {
        ++different;
        return;
      }
      const auto compare = [&](u64 i, const Expected<T>& expected) {
        if (!same(results[0][0][i], expected.floor)) {
          report(i, "floor", results[0][0][i], expected.floor);
        }
        if (!same(results[1][0][i], expected.truncate)) {
          report(i, "truncate", results[1][0][i], expected.truncate);
        }
      };
      if constexpr (is_float<T>) {
        // The C library's fmod dominates the run time, so one call covers a pair and the same pair with both signs
        // flipped.
        constexpr u64 kSign = FloatParts<T>::kSign;
        for (u64 i = 0; i < kSign; ++i) {
          const Expected<T> expected = oracle(a[i], b[i]);
          compare(i, expected);
          compare(i | kSign,
                  {from_raw<T>(to_bits(expected.floor) ^ kSign), from_raw<T>(to_bits(expected.truncate) ^ kSign)});
        }
      } else {
        for (u64 i = 0; i < kValues; ++i) {
          compare(i, oracle(a[i], b[i]));
        }
      }
      // Compares a broadcast divisor with two full tensors. The code above has compared these with the oracle for every
      // pair.
      std::fill(b.begin(), b.end(), from_raw<T>(turn));
      if (!run(0, 0) || !run(1, 0) || !run(0, 1) || !run(1, 1)) {
        ++different;
        return;
      }
      for (int op = 0; op < 2; ++op) {
        for (u64 i = 0; i < kValues; ++i) {
          if (!same(results[op][1][i], results[op][0][i])) {
            report(i, op == 0 ? "floor, broadcast" : "truncate, broadcast", results[op][1][i], results[op][0][i]);
          }
        }
      }
      pairs += kValues;
      different += wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(work);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(pairs.load(), u64{1} << 32);
  EXPECT_EQ(different.load(), 0U);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("  %-8s %" PRIu64 " pairs, both operators, %" PRIu64 " different (%.0f s)\n",
              anydml_type_name(static_cast<anydml_type>(kDataTypeOf<T>)), pairs.load(), different.load(),
              seconds.count());
}

// All pairs of an 8-bit type in one tensor, in each of the layouts that have kernels.
template <class T>
void check_all_pairs_of_eight_bits() {
  constexpr i64 kSide = 256;
  std::vector<T> values(kSide);
  for (u64 i = 0; i < kSide; ++i) {
    values[i] = from_raw<T>(i);
  }
  const auto type = static_cast<anydml_type>(kDataTypeOf<T>);
  const int64_t sizes[] = {kSide, kSide};
  const int64_t by_row[] = {1, 0};
  const int64_t by_column[] = {0, 1};
  const int64_t transposed[] = {1, kSide};
  std::vector<T> full_a(kSide * kSide);
  std::vector<T> full_b(kSide * kSide);
  for (u64 i = 0; i < full_a.size(); ++i) {
    full_a[i] = values[i / kSide];
    full_b[i] = values[i % kSide];
  }
  const struct {
    const char* what;
    anydml_tensor a, b;
    const int64_t* out_strides;
    bool swapped;  // the output is traversed column by column
  } layouts[] = {
      {"contiguous",
       {type, 2, sizes, nullptr, full_a.data()},
       {type, 2, sizes, nullptr, full_b.data()},
       nullptr,
       false},
      {"dividend broadcast",
       {type, 2, sizes, by_row, values.data()},
       {type, 2, sizes, by_column, values.data()},
       nullptr,
       false},
      {"divisor broadcast",
       {type, 2, sizes, by_row, values.data()},
       {type, 2, sizes, by_column, values.data()},
       transposed,
       true},
      {"strided", {type, 2, sizes, nullptr, full_a.data()}, {type, 2, sizes, nullptr, full_b.data()}, transposed, true},
  };
  u64 elements = 0;
  for (const auto& layout : layouts) {
    std::vector<T> floor(full_a.size());
    std::vector<T> truncate(full_a.size());
    const anydml_tensor tf = {type, 2, sizes, layout.out_strides, floor.data()};
    const anydml_tensor tt = {type, 2, sizes, layout.out_strides, truncate.data()};
    ASSERT_EQ(anydml_modulus_floor(&layout.a, &layout.b, &tf), ANYDML_OK) << anydml_last_error();
    ASSERT_EQ(anydml_modulus_truncate(&layout.a, &layout.b, &tt), ANYDML_OK) << anydml_last_error();
    for (u64 i = 0; i < full_a.size(); ++i) {
      const u64 offset = layout.swapped ? i % kSide * kSide + i / kSide : i;
      const Expected<T> expected = oracle(full_a[i], full_b[i]);
      ASSERT_EQ(floor[offset], expected.floor) << layout.what << ": " << show(full_a[i]) << " mod " << show(full_b[i]);
      ASSERT_EQ(truncate[offset], expected.truncate) << layout.what;
      ++elements;
    }
  }
  std::printf("  %-8s 65536 pairs in 4 layouts, both operators, %" PRIu64 " elements, none different\n",
              anydml_type_name(type), 2 * elements);
}

TEST(AllPairs, Int8) { check_all_pairs_of_eight_bits<i8>(); }
TEST(AllPairs, Uint8) { check_all_pairs_of_eight_bits<u8>(); }
TEST(AllPairs, Float16) { check_all_pairs<f16>(); }
TEST(AllPairs, Int16) { check_all_pairs<i16>(); }
TEST(AllPairs, Uint16) { check_all_pairs<u16>(); }

// The memory that is still available, page cache included; 0 if unknown.
u64 available_memory() {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("MemAvailable:")) {
      return std::stoull(line.substr(13)) * 1024;
    }
  }
  return 0;
}

// 2^32 - 1 elements, the maximum: more than a signed 32-bit index can count.
TEST(LargestTensor, IsWrittenWhole) {
  constexpr i64 kCount = 0xffff'ffff;
  if (available_memory() < u64{6} << 30) {
    GTEST_SKIP() << "needs 6 GiB of memory";
  }
  std::vector<u8> output(static_cast<std::size_t>(kCount), 0xee);
  u8 a = 200;
  u8 b = 7;
  const int64_t sizes[] = {kCount};
  const anydml_tensor ta = {ANYDML_UINT8, 0, nullptr, nullptr, &a};
  const anydml_tensor tb = {ANYDML_UINT8, 0, nullptr, nullptr, &b};
  const anydml_tensor to = {ANYDML_UINT8, 1, sizes, nullptr, output.data()};
  ASSERT_EQ(anydml_modulus_floor(&ta, &tb, &to), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(std::count(output.begin(), output.end(), 200 % 7), kCount);
}

}  // namespace
}  // namespace anydml::test
