// SPDX-License-Identifier: MIT
// How small tasks are gathered, without a GPU: what would be launched is recorded here. What runs at once must not
// touch what another of it writes; every task is launched once, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "backend/cuda/small_tasks.h"
#include "base/element.h"

namespace anydml::cuda {
namespace {

// Tasks that may run at the same time.
using Wave = std::vector<SmallTask>;
std::vector<Wave> g_waves;
std::size_t g_launches = 0;

cudaError_t launch_at_once(const SmallTask* tasks, std::uint32_t count, cudaStream_t) noexcept {
  g_waves.emplace_back(tasks, tasks + count);
  ++g_launches;
  return cudaSuccess;
}

cudaError_t launch_in_waves(const SmallTask* tasks, std::uint32_t count, cudaStream_t) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == 0 || tasks[i].begins_wave != 0) {
      g_waves.emplace_back();
    }
    g_waves.back().push_back(tasks[i]);
  }
  ++g_launches;
  return cudaSuccess;
}

constexpr Family kFamily = {.prepare = nullptr,
                            .prepare_inlined = nullptr,
                            .launch_at_once = launch_at_once,
                            .launch_in_waves = launch_in_waves};
constexpr Family kOther = {.prepare = nullptr,
                           .prepare_inlined = nullptr,
                           .launch_at_once = launch_at_once,
                           .launch_in_waves = launch_in_waves};

struct Range {
  std::uintptr_t first;
  std::uintptr_t end;
};

Range range_of(const SmallTask& task, int operand) {
  const bool stays = operand < 3 && (task.broadcast >> operand & 1) != 0;
  const auto first = reinterpret_cast<std::uintptr_t>(task.operands[operand]);
  return {first, first + (stays ? 1 : task.count) * element_size(static_cast<DataType>(task.type))};
}

bool meet(Range a, Range b) { return a.first < b.end && b.first < a.end; }

bool depend(const SmallTask& a, const SmallTask& b) {
  for (const int operand : {0, 1, 3}) {
    if (meet(range_of(a, 3), range_of(b, operand)) || meet(range_of(b, 3), range_of(a, operand))) {
      return true;
    }
  }
  return false;
}

class SmallTasksTest : public testing::Test {
 protected:
  SmallTasksTest() {
    g_waves.clear();
    g_launches = 0;
  }

  // task.code numbers them: nothing here looks at it.
  void add(SmallTask task, const Family& family = kFamily) {
    task.code = static_cast<std::uint16_t>(added_++);
    if (!tasks_.add(family, task)) {
      ASSERT_EQ(tasks_.launch(nullptr), cudaSuccess);
      ASSERT_TRUE(tasks_.add(family, task));
    }
  }

  void check() {
    ASSERT_EQ(tasks_.launch(nullptr), cudaSuccess);
    std::size_t next = 0;
    for (const Wave& wave : g_waves) {
      for (std::size_t i = 0; i < wave.size(); ++i) {
        ASSERT_EQ(wave[i].code, next++);
        for (std::size_t j = 0; j < i; ++j) {
          ASSERT_FALSE(depend(wave[i], wave[j])) << wave[i].code << " and " << wave[j].code;
        }
      }
    }
    EXPECT_EQ(next, added_);
  }

  static SmallTask make(std::size_t a, std::size_t b, std::size_t out, std::uint32_t count = 1024) {
    SmallTask task{};
    task.type = static_cast<std::uint8_t>(DataType::FLOAT32);
    task.broadcast = 4;
    task.count = count;
    const auto at = [](std::size_t place) { return reinterpret_cast<std::byte*>(0x7000'0000'0000 + place); };
    task.operands[0] = at(a);
    task.operands[1] = at(b);
    task.operands[3] = at(out);
    return task;
  }

  SmallTasks tasks_;
  std::size_t added_ = 0;
};

TEST_F(SmallTasksTest, IndependentOnesShareALaunch) {
  for (std::size_t i = 0; i < kMaxSmallTasks; ++i) {
    add(make(0, 65536, (2 + i) * 65536));
  }
  check();
  EXPECT_EQ(g_launches, 1U);
  EXPECT_EQ(g_waves.size(), 1U);
}

TEST_F(SmallTasksTest, EachThatReadsTheLastIsAWaveInOneLaunch) {
  for (std::size_t i = 0; i < kMaxSmallTasks; ++i) {
    add(make(i * 65536, 1U << 30, (i + 1) * 65536));
  }
  check();
  EXPECT_EQ(g_launches, 1U);
  EXPECT_EQ(g_waves.size(), kMaxSmallTasks);
}

TEST_F(SmallTasksTest, WritingWhatAnotherReadsOrWritesWaits) {
  add(make(0, 65536, 131072));
  add(make(0, 65536, 131072));        // writes it too
  add(make(131072, 65536, 0));        // writes what the one before read, reads what it wrote
  add(make(0, 65536, 0));             // in place
  add(make(200000, 300000, 400000));  // nobody's
  check();
  EXPECT_EQ(g_waves.size(), 4U);
}

TEST_F(SmallTasksTest, FamiliesShareNoLaunch) {
  for (std::size_t i = 0; i < 10; ++i) {
    add(make(0, 65536, (2 + i) * 65536), i < 4 ? kFamily : kOther);
  }
  check();
  EXPECT_EQ(g_launches, 2U);
}

TEST_F(SmallTasksTest, AnyMixture) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t places = 1 + random() % 40;
    const auto place = [&] { return random() % places * 4096 + random() % 8 * 512; };
    SmallTask task = make(place(), place(), place(), static_cast<std::uint32_t>(1 + random() % kMaxSmallElements));
    task.broadcast = static_cast<std::uint8_t>((4 | random() % 4) & 7);
    add(task);
    if (HasFatalFailure()) {
      return;
    }
    if (random() % 100 == 0) {
      ASSERT_EQ(tasks_.launch(nullptr), cudaSuccess);
    }
  }
  check();
}

}  // namespace
}  // namespace anydml::cuda
