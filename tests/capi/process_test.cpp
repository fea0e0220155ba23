// SPDX-License-Identifier: MIT
// Tests process-wide settings: the number of threads, which must be set first, and the destination of the log.
#include <anydml/anydml.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

const int64_t kSizes[] = {4};

int add_four() {
  float a[4] = {1, 2, 3, 4};
  const anydml_tensor tensor = {ANYDML_FLOAT32, 1, kSizes, nullptr, a};
  const anydml_tensor both[] = {tensor, tensor};
  return anydml_run(nullptr, "ELEMENT_WISE_ADD", both, 2, &tensor, 1, nullptr, 0);
}

// This test comes first, before anything has used a device.
TEST(Threads, AreSetBeforeTheFirstUse) {
  ASSERT_EQ(anydml_set_threads(2), ANYDML_OK) << anydml_last_error();
  ASSERT_EQ(anydml_set_threads(3), ANYDML_OK) << anydml_last_error();
  EXPECT_EQ(anydml_set_threads(1025), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(anydml_last_error(), "anydml_set_threads: count is 1025; expected 1 to 1024");
  const anydml_device* cpu = anydml_find_device("cpu");
  ASSERT_NE(cpu, nullptr) << anydml_last_error();
  EXPECT_EQ(anydml_device_get_info(cpu)->threads, 3U);
  EXPECT_EQ(anydml_set_threads(3), ANYDML_OK);  // unchanged
  EXPECT_EQ(anydml_set_threads(2), ANYDML_INVALID_ARGUMENT);
  EXPECT_STREQ(
      anydml_last_error(),
      "anydml_set_threads: count is 2, but the CPU device already runs with 3; expected the call before the first "
      "one that uses a device");
  EXPECT_EQ(anydml_device_get_info(cpu)->threads, 3U);
  EXPECT_EQ(add_four(), ANYDML_OK);
}

struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;

  static void take(void* context, int level, const char* line) {
    auto& log = *static_cast<Log*>(context);
    const std::scoped_lock lock(log.mutex);
    log.lines.push_back(std::to_string(level) + " " + line);
  }
};

bool log_is_unset() {
  const char* setting = std::getenv("ANYDML_LOG");
  return setting == nullptr || *setting == '\0';
}

TEST(Log, GoesToAFunction) {
  if (!log_is_unset()) {
    GTEST_SKIP() << "ANYDML_LOG is set";
  }
  Log log;
  ASSERT_EQ(anydml_set_log(Log::take, &log, ANYDML_LOG_ERROR), ANYDML_OK);
  EXPECT_EQ(anydml_find_operator("NOTHING_OF_THE_KIND"), nullptr);
  const std::string message = anydml_last_error();
  EXPECT_EQ(add_four(), ANYDML_OK);  // nothing is logged at this level
  ASSERT_EQ(anydml_set_log(Log::take, &log, ANYDML_LOG_DISPATCH), ANYDML_OK);
  EXPECT_EQ(add_four(), ANYDML_OK);
  ASSERT_EQ(anydml_set_log(nullptr, nullptr, -1), ANYDML_OK);
  EXPECT_EQ(add_four(), ANYDML_OK);
  ASSERT_EQ(log.lines.size(), 2U);
  EXPECT_EQ(log.lines[0], "1 " + message);
  EXPECT_EQ(log.lines[1].rfind("4 dispatch ELEMENT_WISE_ADD", 0), 0U) << log.lines[1];
}

// The three values are always consistent, even while other threads change them.
TEST(Log, ChangesWhileOthersUseIt) {
  static std::atomic<int> wrong = 0;
  static int first = 1;
  static int second = 2;
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        EXPECT_EQ(anydml_find_operator("NOTHING_OF_THE_KIND"), nullptr);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(
        anydml_set_log([](void* context, int, const char*) { wrong += context != &first; }, &first, ANYDML_LOG_ERROR),
        ANYDML_OK);
    EXPECT_EQ(
        anydml_set_log([](void* context, int, const char*) { wrong += context != &second; }, &second, ANYDML_LOG_ERROR),
        ANYDML_OK);
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(anydml_set_log(nullptr, nullptr, ANYDML_LOG_NONE), ANYDML_OK);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
