// SPDX-License-Identifier: MIT
// Ring 3: tests only the public API, with random shapes, strides, broadcasts and aliases, and with guard bytes
// everywhere. Expected values come from the oracle, so this ring depends on no other code of ours than the library
// under test.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdlib>
#include <thread>

#include "support/oracle.h"
#include "support/sanitizers.h"
#include "support/tensor.h"

namespace anydml::test {
namespace {

constexpr int kRounds = kThreadSanitizer ? 30 : kSanitized ? 100 : 600;

using Function = int (*)(const anydml_tensor*, const anydml_tensor*, const anydml_tensor*);

struct Operator {
  const char* name;
  Function function;
  bool is_floor;
};
constexpr Operator kOperators[] = {
    {"ELEMENT_WISE_MODULUS_FLOOR", anydml_modulus_floor, true},
    {"DML_OPERATOR_ELEMENT_WISE_MODULUS_TRUNCATE", anydml_modulus_truncate, false},
};

// The three ways to run an operator.
int run(const Operator& op, u64 way, const anydml_tensor& a, const anydml_tensor& b, const anydml_tensor& out) {
  const anydml_tensor inputs[] = {a, b};
  switch (way % 3) {
    case 0:
      return op.function(&a, &b, &out);
    case 1:
      return anydml_run(nullptr, op.name, inputs, 2, &out, 1, nullptr, 0);
    default:
      break;
  }
  anydml_compiled* compiled = nullptr;
  int code = anydml_compile(nullptr, op.name, inputs, 2, &out, 1, nullptr, 0, &compiled);
  if (code == ANYDML_OK) {
    const void* addresses[] = {a.data, b.data};
    code = anydml_compiled_run(compiled, addresses, 2, &out.data, 1);
  }
  anydml_compiled_release(compiled);
  return code;
}

// Returns sizes that broadcast to `sizes`. Some leading dimensions are dropped, and some other dimensions get size 1.
std::vector<i64> broadcastable(const std::vector<i64>& sizes, Random& random) {
  std::vector<i64> result = sizes;
  if (random() % 3 == 0) {
    result.erase(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(random() % (result.size() + 1)));
  }
  for (i64& size : result) {
    if (random() % 6 == 0) {
      size = 1;
    }
  }
  return result;
}

// Broadcasts the input to the output's sizes, to look up values.
Layout broadcast(const Layout& input, const std::vector<i64>& sizes) {
  Layout wide{sizes, std::vector<i64>(sizes.size())};
  const std::size_t missing = sizes.size() - input.sizes.size();
  for (std::size_t i = missing; i < sizes.size(); ++i) {
    wide.strides[i] = input.sizes[i - missing] == sizes[i] ? input.strides[i - missing] : 0;
  }
  return wide;
}

template <class T>
class Api : public testing::Test {};
using AllTypes = testing::Types<f32, f16, f64, i8, i16, i32, i64, u8, u16, u32, u64>;
TYPED_TEST_SUITE(Api, AllTypes);

TYPED_TEST(Api, SeparateTensors) {
  using T = TypeParam;
  Random random(kSeed + 10);
  u64 elements = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto sizes = random_sizes(random, 8, random() % 20 == 0 ? 40'000 : 400);
    const Layout out_layout = random_layout(sizes, random, false);
    const Layout a_layout = random_layout(broadcastable(sizes, random), random, true);
    const Layout b_layout = random_layout(broadcastable(sizes, random), random, true);
    Memory<T> a(a_layout, random);
    Memory<T> b(b_layout, random);
    Memory<T> out(out_layout, random);
    const Memory<T> a_before = a;
    const Memory<T> b_before = b;
    const Operator& op = kOperators[random() % 2];
    Memory<T> expected = out;
    const Layout a_wide = broadcast(a_layout, sizes);
    const Layout b_wide = broadcast(b_layout, sizes);
    for (i64 n = 0; n < out_layout.count(); ++n) {
      const auto both = oracle(a.load(a_wide.offset(n)), b.load(b_wide.offset(n)));
      expected.store(out_layout.offset(n), op.is_floor ? both.floor : both.truncate);
      ++elements;
    }
    ASSERT_EQ(run(op, random(), tensor_of<T>(a_layout, a.data()), tensor_of<T>(b_layout, b.data()),
                  tensor_of<T>(out_layout, out.data())),
              ANYDML_OK)
        << anydml_last_error();
    ASSERT_TRUE(out.equals(expected, out_layout, 0)) << "round " << round << " seed " << kSeed + 10;
    ASSERT_EQ(a, a_before) << "an input was written";
    ASSERT_EQ(b, b_before) << "an input was written";
  }
  std::printf("  %-8s %9" PRIu64 " elements, all equal\n", anydml_type_name(static_cast<u32>(kDataTypeOf<T>)),
              elements);
}

// All three tensors in one block of memory: in place over a or b, shifted, reversed, transposed, repeated.
TYPED_TEST(Api, SharedMemory) {
  using T = TypeParam;
  Random random(kSeed + 20);
  u64 elements = 0;
  int in_place = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto sizes = random_sizes(random, 4, random() % 20 == 0 ? 40'000 : 200);
    const Layout out_layout = random_layout(sizes, random, false);
    const auto alias = [&](i64& base) {
      switch (random() % 3) {
        case 0:
          base = 0;
          ++in_place;
          return out_layout;
        case 1:
          base = static_cast<i64>(random() % 7) - 3;
          return out_layout;
        default:
          base = static_cast<i64>(random() % 40) - 20;
          return random_layout(sizes, random, true);
      }
    };
    i64 a_base = 0;
    i64 b_base = 0;
    const Layout a_layout = alias(a_base);
    const Layout b_layout = alias(b_base);
    Memory<T> memory(std::min({out_layout.lowest(), a_base + a_layout.lowest(), b_base + b_layout.lowest()}),
                     std::max({out_layout.highest(), a_base + a_layout.highest(), b_base + b_layout.highest()}),
                     random);
    const Operator& op = kOperators[random() % 2];
    Memory<T> expected = memory;
    for (i64 n = 0; n < out_layout.count(); ++n) {
      const auto both = oracle(memory.load(a_base + a_layout.offset(n)), memory.load(b_base + b_layout.offset(n)));
      expected.store(out_layout.offset(n), op.is_floor ? both.floor : both.truncate);
      ++elements;
    }
    ASSERT_EQ(run(op, random(), tensor_of<T>(a_layout, memory.data(a_base)),
                  tensor_of<T>(b_layout, memory.data(b_base)), tensor_of<T>(out_layout, memory.data())),
              ANYDML_OK)
        << anydml_last_error();
    ASSERT_TRUE(memory.equals(expected, out_layout, 0)) << "round " << round << " seed " << kSeed + 20;
  }
  EXPECT_GT(in_place, kRounds / 10);
  std::printf("  %-8s %9" PRIu64 " elements, all equal\n", anydml_type_name(static_cast<u32>(kDataTypeOf<T>)),
              elements);
}

// A column of a matrix, shifted over itself. The library copies the elements first, without reading the gaps between
// them or allocating memory for the gaps, which are unreadable here.
TEST(ApiSharedMemory, GapsBetweenElementsAreNotTouched) {
  constexpr i64 kRows = 9;
  constexpr std::size_t kRowBytes = std::size_t{1} << 20;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const mapped = mmap(nullptr, kRows * kRowBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const matrix = static_cast<std::byte*>(mapped);
  const auto element = [&](i64 row, std::size_t column) {
    return reinterpret_cast<float*>(matrix + static_cast<std::size_t>(row) * kRowBytes) + column;
  };
  for (i64 row = 0; row < kRows; ++row) {
    ASSERT_EQ(mprotect(element(row, 0), page, PROT_READ | PROT_WRITE), 0);
  }
  constexpr i64 kStride = kRowBytes / sizeof(float);
  const i64 sizes[] = {kRows - 1, 2};
  const i64 down[] = {kStride, 1};
  const i64 up[] = {-kStride, 0};  // a column from the bottom up, which is repeated
  float seven = 7;
  const i64 none[] = {0, 0};
  const anydml_tensor divisor{ANYDML_FLOAT32, 2, sizes, none, &seven};
  for (const bool reversed : {false, true}) {
    for (u64 way = 0; way < 3; ++way) {
      for (i64 row = 0; row < kRows; ++row) {
        *element(row, 0) = static_cast<float>(10 * row);
        *element(row, 1) = static_cast<float>(10 * row + 5);
      }
      const anydml_tensor a = reversed ? anydml_tensor{ANYDML_FLOAT32, 2, sizes, up, element(kRows - 2, 0)}
                                       : anydml_tensor{ANYDML_FLOAT32, 2, sizes, down, element(0, 0)};
      ASSERT_EQ(run(kOperators[0], way, a, divisor, {ANYDML_FLOAT32, 2, sizes, down, element(1, 0)}), ANYDML_OK)
          << anydml_last_error();
      for (i64 row = 1; row < kRows; ++row) {
        const i64 from = reversed ? kRows - 1 - row : row - 1;
        EXPECT_EQ(*element(row, 0), static_cast<float>(10 * from % 7)) << row;
        EXPECT_EQ(*element(row, 1), static_cast<float>((10 * from + (reversed ? 0 : 5)) % 7)) << row;
      }
    }
  }
  munmap(mapped, kRows * kRowBytes);
}

TEST(ApiScalars, RankZeroIsASingleElement) {
  i32 a = -7;
  i32 b = 3;
  i32 out = 0;
  const anydml_tensor ta = {ANYDML_INT32, 0, nullptr, nullptr, &a};
  const anydml_tensor tb = {ANYDML_INT32, 0, nullptr, nullptr, &b};
  const anydml_tensor to = {ANYDML_INT32, 0, nullptr, nullptr, &out};
  ASSERT_EQ(anydml_modulus_floor(&ta, &tb, &to), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, 2);
  ASSERT_EQ(anydml_modulus_truncate(&ta, &tb, &to), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(out, -1);
}

TEST(ApiEmpty, NothingIsReadOrWritten) {
  const int64_t empty[] = {3, 0};
  const int64_t one[] = {1};
  const anydml_tensor none = {ANYDML_FLOAT32, 2, empty, nullptr, nullptr};
  const anydml_tensor single = {ANYDML_FLOAT32, 1, one, nullptr, nullptr};
  EXPECT_EQ(anydml_modulus_floor(&none, &none, &none), ANYDML_OK);
  EXPECT_EQ(anydml_modulus_floor(&none, &single, &none), ANYDML_OK);
  anydml_compiled* compiled = nullptr;
  const anydml_tensor inputs[] = {none, none};
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &none, 1, nullptr, 0, &compiled),
            ANYDML_OK);
  const void* addresses[] = {nullptr, nullptr};
  void* nothing = nullptr;
  EXPECT_EQ(anydml_compiled_run(compiled, addresses, 2, &nothing, 1), ANYDML_OK);
  anydml_compiled_release(compiled);
}

// One handle, many threads, each with its own results and errors.
TEST(ApiThreads, CompiledHandleRunsFromManyAtOnce) {
  constexpr i64 kCount = 30'000;
  const int64_t sizes[] = {kCount};
  const anydml_tensor shape = {ANYDML_INT32, 1, sizes, nullptr, nullptr};
  const anydml_tensor inputs[] = {shape, shape};
  anydml_compiled* compiled = nullptr;
  ASSERT_EQ(anydml_compile(nullptr, "ELEMENT_WISE_MODULUS_FLOOR", inputs, 2, &shape, 1, nullptr, 0, &compiled),
            ANYDML_OK)
      << anydml_last_error();
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 1);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      Random random(kSeed + t);
      std::vector<i32> a(kCount);
      std::vector<i32> b(kCount);
      std::vector<i32> out(kCount);
      void* output = out.data();
      int bad = 0;
      for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < a.size(); ++i) {
          a[i] = any_value<i32>(random);
          b[i] = any_value<i32>(random);
        }
        const void* addresses[] = {a.data(), b.data()};
        bad += anydml_compiled_run(compiled, addresses, 2, &output, 1) != ANYDML_OK;
        for (std::size_t i = 0; i < a.size(); ++i) {
          bad += out[i] != oracle(a[i], b[i]).floor;
        }
        // Errors belong to the thread that caused them. Only odd threads cause one here.
        if (t % 2 == 1) {
          bad += anydml_compiled_run(compiled, nullptr, 2, &output, 1) == ANYDML_OK;
        }
        bad += (anydml_last_error()[0] != '\0') != (t % 2 == 1);
      }
      wrong[t] = bad;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const int count : wrong) {
    EXPECT_EQ(count, 0);
  }
  anydml_compiled_release(compiled);
}

// Threads that are canceled during a call exit at the end of the call, and the process continues.
TEST(ApiThreads, CancellationWaitsForTheEndOfACall) {
  if (kThreadSanitizer) {
    GTEST_SKIP() << "ThreadSanitizer does not support thread cancellation";
  }
  float one = 7.0F;
  const int64_t single[] = {1};
  const anydml_tensor first = {ANYDML_FLOAT32, 1, single, nullptr, &one};
  ASSERT_EQ(anydml_modulus_floor(&first, &first, &first), ANYDML_OK) << anydml_last_error();
  for (int round = 0; round < 20; ++round) {
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    for (;;) {
                      std::vector<f32> a(40'000, 7.0F);
                      const int64_t sizes[] = {static_cast<int64_t>(a.size())};
                      const anydml_tensor tensor = {ANYDML_FLOAT32, 1, sizes, nullptr, a.data()};
                      int state = 0;
                      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
                      anydml_modulus_floor(&tensor, &tensor, &tensor);
                      pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
                      if (a[0] != 0.0F) {
                        std::abort();
                      }
                      a = {};
                      pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
                      pthread_testcancel();
                    }
                  },
                  nullptr),
              0);
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
    pthread_cancel(thread);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
  }
}

TEST(ApiListing, KnowsEveryOperator) {
  EXPECT_EQ(anydml_operator_count(), 177U);
  u32 built = 0;
  for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info& info = *anydml_operator_at(i);
    EXPECT_GT(std::strlen(info.name), 2U);
    EXPECT_EQ(std::strlen(info.feature_level), 3U);
    if (std::string_view(info.name) == "ELEMENT_WISE_MODULUS_FLOOR") {
      EXPECT_EQ(info.directml_value, 102U);
      EXPECT_EQ(info.is_built, 1);
      EXPECT_EQ(info.input_count, 2U);
      EXPECT_EQ(info.types, 0xffeU);
      EXPECT_EQ(info.directml_types, 0xffeU & ~(1U << ANYDML_FLOAT64));
      EXPECT_STREQ(info.feature_level, "2_1");
    }
    built += info.is_built != 0 ? 1 : 0;
  }
  EXPECT_GE(built, 2U);
}

TEST(ApiDevices, OffersTheDefaultFirst) {
  ASSERT_GE(anydml_device_count(), 1U);
  const anydml_device* first = anydml_device_at(0);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(anydml_find_device(nullptr), first);
  EXPECT_EQ(anydml_find_device(""), nullptr);
  ASSERT_NE(anydml_device_get_info(first), nullptr);
  EXPECT_EQ(anydml_device_get_info(nullptr), anydml_device_get_info(first));
}

TEST(ApiDevices, OffersTheCpuAlways) {
  const anydml_device* cpu = anydml_find_device("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(anydml_find_device("CPU"), cpu);
  const anydml_device_info& info = *anydml_device_get_info(cpu);
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_GT(info.memory_bytes, 0U);
  EXPECT_GE(info.threads, 1U);
  EXPECT_EQ(anydml_find_device(info.description), cpu);
  EXPECT_EQ(anydml_find_device("THREAD"), cpu) << "part of the description, case-insensitively";
  if (std::getenv("ANYDML_ADAPTER") == nullptr) {
    EXPECT_EQ(anydml_device_at(0), cpu);
  }
}

TEST(ApiTypes, HaveNamesAndSizes) {
  EXPECT_STREQ(anydml_type_name(ANYDML_FLOAT16), "FLOAT16");
  EXPECT_STREQ(anydml_type_name(99), "UNKNOWN");
  EXPECT_EQ(anydml_type_size(ANYDML_INT64), 8U);
  EXPECT_EQ(anydml_type_size(0), 0U);
  EXPECT_STREQ(anydml_version(), ANYDML_EXPECTED_VERSION);
}

}  // namespace
}  // namespace anydml::test
