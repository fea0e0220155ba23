// SPDX-License-Identifier: MIT
// Tests the batching of small tasks without a device by recording the launches. A task must not access memory that a
// concurrent task writes, and every task must be launched once, in order.
#include "backend/small_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace anydml {
namespace {

constexpr SmallTaskLimits kLimits{.tasks = 200, .elements = 4096, .narrow_elements = 8192};
struct Family {};
using Batch = SmallTaskBatch<Family, kLimits>;
constexpr Family kFamily{};
constexpr Family kOther{};

struct Range {
  std::uint64_t first;
  std::uint64_t end;
};

Range range_of(const SmallTask& task, std::uint32_t operand) {
  const bool stays = operand < kSmallInputs && (task.broadcast >> operand & 1) != 0;
  const std::uint64_t first = task.operands[operand];
  return {first, first + (stays ? 1 : task.count) * element_size(static_cast<DataType>(task.type))};
}

bool meet(Range a, Range b) { return a.first < b.end && b.first < a.end; }

bool depend(const SmallTask& a, const SmallTask& b) {
  for (const std::uint32_t operand : {0U, 1U, 3U}) {
    if (meet(range_of(a, 3), range_of(b, operand)) || meet(range_of(b, 3), range_of(a, operand))) {
      return true;
    }
  }
  return false;
}

// The host cannot read this address.
constexpr std::uint64_t kMemory = 0xffff'8000'0000'0000;

class SmallTasksTest : public testing::Test {
 protected:
  // Numbers the tasks in task.code, which the code under test ignores.
  void add(SmallTask task, const Family& family = kFamily) {
    task.code = static_cast<std::uint16_t>(added_++);
    if (!tasks_.add(family, task)) {
      launch();
      ASSERT_TRUE(tasks_.add(family, task));
    }
  }

  void launch() {
    tasks_.launch([this](const Family& family, std::span<const SmallTask> tasks, bool in_waves) {
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (i == 0 || (in_waves && tasks[i].begins_wave != 0)) {
          waves_.emplace_back();
        }
        waves_.back().push_back(tasks[i]);
      }
      families_.push_back(&family);
      return true;
    });
  }

  void check() {
    launch();
    std::size_t next = 0;
    for (const Wave& wave : waves_) {
      for (std::size_t i = 0; i < wave.size(); ++i) {
        ASSERT_EQ(wave[i].code, static_cast<std::uint16_t>(next++));
        for (std::size_t j = 0; j < i; ++j) {
          ASSERT_FALSE(depend(wave[i], wave[j])) << wave[i].code << " and " << wave[j].code;
        }
      }
    }
    EXPECT_EQ(next, added_);
  }

  [[nodiscard]] std::size_t launches() const { return families_.size(); }

  static SmallTask make(std::uint64_t a, std::uint64_t b, std::uint64_t out, std::uint32_t count = 1024,
                        DataType type = DataType::FLOAT32) {
    SmallTask task{};
    task.type = static_cast<std::uint8_t>(type);
    task.broadcast = 4;
    task.count = count;
    task.operands[0] = kMemory + a;
    task.operands[1] = kMemory + b;
    task.operands[3] = kMemory + out;
    return task;
  }

  using Wave = std::vector<SmallTask>;  // the tasks of a wave may run at the same time
  Batch tasks_;
  std::vector<Wave> waves_;
  std::vector<const Family*> families_;  // the family of each launch
  std::size_t added_ = 0;
};

TEST_F(SmallTasksTest, IndependentOnesShareALaunch) {
  for (std::size_t i = 0; i < kLimits.tasks; ++i) {
    add(make(0, 65536, (2 + i) * 65536));
  }
  check();
  EXPECT_EQ(launches(), 1U);
  EXPECT_EQ(waves_.size(), 1U);
}

TEST_F(SmallTasksTest, EachThatReadsTheLastIsAWaveInOneLaunch) {
  for (std::size_t i = 0; i < kLimits.tasks; ++i) {
    add(make(i * 65536, 1U << 30, (i + 1) * 65536));
  }
  check();
  EXPECT_EQ(launches(), 1U);
  EXPECT_EQ(waves_.size(), kLimits.tasks);
}

TEST_F(SmallTasksTest, WritingWhatAnotherReadsOrWritesWaits) {
  add(make(0, 65536, 131072));
  add(make(0, 65536, 131072));        // this task writes the same output
  add(make(131072, 65536, 0));        // this task writes an input of the previous task and reads its output
  add(make(0, 65536, 0));             // in place
  add(make(200000, 300000, 400000));  // unrelated memory
  check();
  EXPECT_EQ(waves_.size(), 4U);
}

TEST_F(SmallTasksTest, WritingWhatAnotherOnlyReadsWaits) {
  add(make(0, 65536, 131072));
  add(make(200000, 300000, 0));
  check();
  EXPECT_EQ(waves_.size(), 2U);
}

// A broadcast input touches only its first element, and an absent input touches no memory.
TEST_F(SmallTasksTest, RepeatedInputsTouchOneElement) {
  SmallTask first = make(0, 65536, 1 << 20);
  first.broadcast = 6;
  add(first);
  add(make(1 << 21, 1 << 22, 65536 + 4096));  // next to the single element
  SmallTask absent = make(1 << 23, 1 << 23, 1 << 24);
  absent.operands[1] = 0;
  add(absent);
  launch();
  EXPECT_EQ(waves_.size(), 1U);
}

TEST_F(SmallTasksTest, FamiliesShareNoLaunch) {
  for (std::size_t i = 0; i < 10; ++i) {
    add(make(0, 65536, (2 + i) * 65536), i < 4 ? kFamily : kOther);
  }
  check();
  EXPECT_EQ(families_, (std::vector<const Family*>{&kFamily, &kOther}));
}

TEST_F(SmallTasksTest, NoMoreThanALaunchTakes) {
  for (std::size_t i = 0; i <= kLimits.tasks; ++i) {
    add(make(0, 65536, (2 + i) * 65536));
  }
  check();
  EXPECT_EQ(launches(), 2U);
  EXPECT_EQ(waves_.back().size(), 1U);
}

// Tasks that access the most memory fill the table of memory ranges before they fill a launch.
TEST_F(SmallTasksTest, TasksThatTouchMuchMemoryAreLaunchedEarlier) {
  constexpr std::uint64_t kApart = 1 << 20;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < 3 * kLimits.tasks; ++i) {
    const SmallTask task = make(3 * i * kApart + 8, (3 * i + 1) * kApart + 8, (3 * i + 2) * kApart + 8,
                                kLimits.elements, DataType::FLOAT64);
    const std::size_t before = launches();
    add(task);
    refused += launches() - before;
  }
  EXPECT_EQ(refused, 3U);  // two would suffice for the number of tasks alone
  for (const Wave& wave : waves_) {
    EXPECT_LT(wave.size(), kLimits.tasks);
  }
  check();
}

// A wave with many elements gets its own launch; the waves around it share launches.
TEST_F(SmallTasksTest, WideWavesHaveALaunchOfTheirOwn) {
  add(make(0, 65536, 1 << 20));
  add(make(1 << 20, 65536, 2 << 20));
  for (std::uint64_t i = 0; i < 20; ++i) {
    add(make(2 << 20, 65536, (10 + i) << 20));
  }
  add(make(10 << 20, 65536, 3 << 20));
  check();
  EXPECT_EQ(launches(), 3U);
  EXPECT_EQ(waves_.size(), 4U);
}

TEST_F(SmallTasksTest, NothingIsLaunchedAfterAFailure) {
  ASSERT_TRUE(tasks_.add(kFamily, make(0, 65536, 1 << 20)));
  ASSERT_TRUE(tasks_.add(kFamily, make(1 << 20, 65536, 2 << 20, 4096)));
  ASSERT_TRUE(tasks_.add(kFamily, make(3 << 20, 65536, 4 << 20, 4096)));
  ASSERT_TRUE(tasks_.add(kFamily, make(5 << 20, 65536, 6 << 20, 4096)));
  std::size_t started = 0;
  const auto fail = [&](const Family&, std::span<const SmallTask>, bool) {
    ++started;
    return false;
  };
  tasks_.launch(fail);
  EXPECT_EQ(started, 1U);
  tasks_.launch(fail);  // the tasks were dropped
  EXPECT_EQ(started, 1U);
}

TEST_F(SmallTasksTest, AnyMixture) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t positions = 1 + random() % 40;
    const auto offset = [&] { return random() % positions * 4096 + random() % 8 * 512; };
    const std::uint64_t a = offset();
    const std::uint64_t b = offset();
    SmallTask task = make(a, b, offset(), static_cast<std::uint32_t>(1 + random() % kLimits.elements));
    task.broadcast = static_cast<std::uint8_t>((4 | random() % 4) & 7);
    add(task);
    if (HasFatalFailure()) {
      return;
    }
    if (random() % 100 == 0) {
      launch();
    }
  }
  check();
}

}  // namespace
}  // namespace anydml
