// SPDX-License-Identifier: MIT
// Tests queues and marks: the order of work, work that waits for other queues, and the meaning of a mark.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "device/device.h"
#include "support/sanitizers.h"

namespace anydml::device {
namespace {

constexpr std::uint64_t kBytes = test::kSanitized ? 1 << 16 : 1 << 20;

// Expects every word to have the value written by one fill.
void expect_filled(const Bytes& bytes, std::uint32_t word, const std::string& when) {
  const std::vector<std::uint32_t> words = as<std::uint32_t>(bytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(words[i], word) << when << ": word " << i << " of " << words.size();
  }
}

TEST(DeviceQueues, DoTheirWorkInOrder) {
  const Queue queue;
  const Block first(MemoryKind::device_buffer, kBytes);
  const Block second(MemoryKind::device_buffer, kBytes);
  const Block result(MemoryKind::readback_buffer, kBytes);
  // Each piece of work reads the output of the previous one and overwrites the input of an earlier one.
  for (std::uint32_t i = 1; i <= 50; ++i) {
    queue.fill(first.at(), kBytes, {i});
    queue.copy(second.at(), first.at(), kBytes);
    queue.fill(first.at(), kBytes, {~i});
    queue.copy(result.at(), second.at(), kBytes);
  }
  queue.finish();
  expect_filled(Bytes(result.host(), result.host() + kBytes), 50, "after 200 pieces of work");
}

TEST(DeviceQueues, WorkIsDoneWhenItsMarkIsPassed) {
  const Queue queue;
  const Block memory(MemoryKind::readback_buffer, kBytes);
  for (std::uint32_t i = 1; i <= 50; ++i) {
    queue.fill(memory.at(), kBytes, {i});
    const Mark mark = queue.mark();
    if (i % 2 == 0) {
      ASSERT_TRUE(is_ok(mark.wait()));
    } else {
      while (!mark.is_passed()) {
        std::this_thread::yield();
      }
    }
    ASSERT_TRUE(mark.is_passed()) << "a mark that was passed, or waited for, stays passed";
    expect_filled(Bytes(memory.host(), memory.host() + kBytes), i, "when the mark is passed");
    ASSERT_TRUE(is_ok(mark.wait())) << "a second wait";
  }
}

TEST(DeviceQueues, WithoutWorkTheirMarksArePassed) {
  const Queue queue;
  for (int i = 0; i < 3; ++i) {
    const Mark mark = queue.mark();
    EXPECT_TRUE(is_ok(mark.wait()));
    EXPECT_TRUE(mark.is_passed());
  }
}

TEST(DeviceQueues, MarksArePassedInOrderAndNeverGoBack) {
  const Queue queue;
  const Block memory(MemoryKind::device_buffer, kBytes);
  std::vector<Mark> marks;
  for (std::uint32_t i = 0; i < 40; ++i) {
    queue.fill(memory.at(), kBytes, {i});
    marks.push_back(queue.mark());
  }
  std::vector<bool> passed(marks.size());
  for (bool all = false; !all;) {
    all = true;
    bool later = false;  // whether a later mark was passed
    for (std::size_t i = marks.size(); i-- > 0;) {
      const bool is = marks[i].is_passed();
      ASSERT_TRUE(is || !passed[i]) << "mark " << i << " was passed, but no longer is";
      ASSERT_TRUE(is || !later) << "mark " << i << " is not passed, but a later one is";
      passed[i] = is;
      later = later || is;
      all = all && is;
    }
  }
}

TEST(DeviceQueues, MarksEndBeforeTheyArePassed) {
  const Queue queue;
  const Queue other;
  const Block from(MemoryKind::device_buffer, kBytes);
  const Block to(MemoryKind::readback_buffer, kBytes);
  for (std::uint32_t i = 1; i <= 30; ++i) {
    queue.fill(from.at(), kBytes, {i});
    {
      const Mark mark = queue.mark();
      other.follow(mark);
    }  // the mark is destroyed, perhaps before it is passed, but the other queue still waits
    static_cast<void>(queue.mark());
    other.copy(to.at(), from.at(), kBytes);
    queue.follow(other.mark());
    other.finish();
    expect_filled(Bytes(to.host(), to.host() + kBytes), i, "round " + std::to_string(i));
  }
}

TEST(DeviceQueues, FollowOneAnother) {
  constexpr std::uint32_t kQueues = 4;
  const Queue queues[kQueues];
  const Block result(MemoryKind::readback_buffer, kBytes);
  std::vector<Block> blocks;
  for (std::uint32_t i = 0; i <= kQueues; ++i) {
    blocks.emplace_back(MemoryKind::device_buffer, kBytes);
  }
  for (std::uint32_t round = 1; round <= 20; ++round) {
    // Each queue waits for the previous one, and the host waits only for the last.
    queues[0].fill(blocks[0].at(), kBytes, {round, round, round, round});
    for (std::uint32_t i = 0; i < kQueues; ++i) {
      if (i != 0) {
        queues[i].follow(queues[i - 1].mark());
      }
      queues[i].copy(blocks[i + 1].at(), blocks[i].at(), kBytes);
    }
    queues[kQueues - 1].copy(result.at(), blocks[kQueues].at(), kBytes);
    queues[0].follow(queues[kQueues - 1].mark());
    queues[kQueues - 1].finish();
    expect_filled(Bytes(result.host(), result.host() + kBytes), round, "round " + std::to_string(round));
  }
}

TEST(DeviceQueues, FollowMarksThatWerePassedAndTheirOwn) {
  const Queue queue;
  const Queue other;
  const Block memory(MemoryKind::readback_buffer, 4096);
  queue.fill(memory.at(), 4096, {1});
  const Mark passed = queue.mark();
  ASSERT_TRUE(is_ok(passed.wait()));
  other.follow(passed);
  other.follow(passed);
  other.fill(memory.at(), 4096, {2});
  other.follow(other.mark());
  other.copy(memory.at(1024), memory.at(), 16);
  other.finish();
  expect_filled(Bytes(memory.host(), memory.host() + 4096), 2, "after marks that were passed");
}

TEST(DeviceQueues, WorkAtTheSameTimeOnManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (std::uint32_t t = 0; t < 6; ++t) {
    threads.emplace_back([t, &wrong] {
      const Queue queue;
      const Block from(MemoryKind::upload_buffer, 40'000);
      const Block between(MemoryKind::device_buffer, 40'000);
      const Block to(MemoryKind::readback_buffer, 40'000);
      for (std::uint32_t i = 0; i < 25; ++i) {
        const Bytes bytes = some_bytes(40'000, t * 1000 + i);
        std::ranges::copy(bytes, from.host());
        queue.copy(between.at(), from.at(), 40'000);
        queue.copy(to.at(), between.at(), 40'000);
        queue.finish();
        wrong += same(Bytes(to.host(), to.host() + 40'000), bytes) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0) << "of 150 rounds on 6 queues";
}

TEST(DeviceQueues, AreWaitedForByManyThreads) {
  const Queue queue;
  const Block memory(MemoryKind::device_buffer, kBytes);
  for (std::uint32_t i = 0; i < 20; ++i) {
    queue.fill(memory.at(), kBytes, {i});
    queue.fill(memory.at(), kBytes, {i + 1});
    const Mark mark = queue.mark();
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&mark] {
        EXPECT_TRUE(is_ok(mark.wait()));
        EXPECT_TRUE(mark.is_passed());
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
}

TEST(DeviceQueues, ThatAreManyWork) {
  const Block memory(MemoryKind::readback_buffer, 64 * 4096);
  std::vector<std::unique_ptr<Queue>> queues;
  for (std::uint32_t i = 0; i < 64; ++i) {
    queues.push_back(std::make_unique<Queue>());
    queues.back()->fill(memory.at(std::uint64_t{i} * 4096), 4096, {i + 1});
  }
  for (std::uint32_t i = 0; i < 64; ++i) {
    queues[i]->finish();
    const std::byte* const part = memory.host() + std::uint64_t{i} * 4096;
    expect_filled(Bytes(part, part + 4096), i + 1, "queue " + std::to_string(i));
  }
}

TEST(DeviceQueues, MayBeOnAStreamOfTheCaller) {
  if (g_device.table->create_queue_on == nullptr) {
    GTEST_SKIP() << "the device does not accept callers' streams (create_queue_on is null)";
  }
  BackendQueue* built = nullptr;
  ASSERT_TRUE(is_ok(g_device.table->create_queue_on(g_device.handle, nullptr, &built)));
  const Queue stream(g_device, built);
  const Queue queue;
  const Block memory(MemoryKind::device_buffer, kBytes);
  queue.fill(memory.at(), kBytes, {7});
  stream.follow(queue.mark());
  const Bytes got = stream.read(memory);
  expect_filled(got, 7, "on the default stream");
}

TEST(DeviceQueues, ADeviceMayBeOpenedAgain) {
  Device another = g_device;
  another.handle = open_another();
  ASSERT_NE(another.handle, nullptr);
  {
    const Queue queue(another);
    const Block block(MemoryKind::device_buffer, 5000, another);
    queue.write(block, 0, some_bytes(5000));
    EXPECT_TRUE(same(queue.read(block), some_bytes(5000)));
  }
  g_device.table->close(another.handle);
  const Queue queue;  // the first device is still open
  const Block block(MemoryKind::device_buffer, 16);
  EXPECT_TRUE(same(queue.read(block), Bytes(16)));
}

}  // namespace
}  // namespace anydml::device
