// SPDX-License-Identifier: MIT
// All 2^32 pairs of the 16-bit types, both operators, through the public API, against the oracle. And the largest
// tensor.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <thread>

#include "support/oracle.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

constexpr u64 kValues = 1 << 16;

// Compiled for a contiguous divisor and for one that is broadcast, so that kernels for either meet the pairs.
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
        EXPECT_EQ(anydml_compile(nullptr, names[op], inputs, 2, &whole, nullptr, 0, &compiled[op][layout]), ANYDML_OK)
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
    std::vector<T> floor(kValues);
    std::vector<T> truncate(kValues);
    for (u64 i = 0; i < kValues; ++i) {
      a[i] = from_raw<T>(i);
    }
    for (u64 divisor = next++; divisor < kValues; divisor = next++) {
      const T value = from_raw<T>(divisor);
      // The divisor's parity decides which operator sees it repeated and which sees a full tensor of it.
      const auto layout = static_cast<int>(divisor & 1);
      std::fill(b.begin(), b.end(), value);
      const void* inputs[] = {a.data(), b.data()};
      if (anydml_compiled_run(handles.compiled[0][layout], inputs, 2, floor.data()) != ANYDML_OK ||
          anydml_compiled_run(handles.compiled[1][1 - layout], inputs, 2, truncate.data()) != ANYDML_OK) {
        ++different;
        return;
      }
      u64 wrong = 0;
      for (u64 i = 0; i < kValues; ++i) {
        const Expected<T> expected = oracle(a[i], value);
        if (!same(floor[i], expected.floor) || !same(truncate[i], expected.truncate)) {
          if (different.load() + wrong++ == 0) {
            ADD_FAILURE() << show(a[i]) << " mod " << show(value) << ": floor " << show(floor[i]) << ", expected "
                          << show(expected.floor) << "; truncate " << show(truncate[i]) << ", expected "
                          << show(expected.truncate);
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

TEST(AllPairs, Float16) { check_all_pairs<f16>(); }
TEST(AllPairs, Int16) { check_all_pairs<i16>(); }
TEST(AllPairs, Uint16) { check_all_pairs<u16>(); }

// 2^32 - 1 elements, the most there may be: a count that no 32-bit signed index holds.
TEST(LargestTensor, IsWrittenWhole) {
  constexpr i64 kCount = 0xffff'ffff;
  const auto available = static_cast<u64>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGE_SIZE));
  if (available < u64{6} << 30) {
    GTEST_SKIP() << "needs 6 GiB of free memory";
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
