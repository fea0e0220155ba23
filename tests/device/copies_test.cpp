// SPDX-License-Identifier: MIT
// Tests a device's copies, fills and timestamps.
#include <algorithm>
#include <chrono>
#include <thread>

#include "device/device.h"
#include "support/sanitizers.h"

namespace anydml::device {
namespace {

constexpr std::uint64_t kRoom = 70'000;

struct Piece {
  std::uint64_t to;
  std::uint64_t from;
  std::uint64_t bytes;
};
constexpr Piece kPieces[] = {{0, 0, kRoom}, {0, 0, 1},     {1, 0, 1},      {0, 3, 5},       {7, 13, 1001},
                             {4, 8, 4096},  {5, 9, 65536}, {1, 1, 65'537}, {64, 128, 3000}, {333, 4444, 17}};

// Copies ranges of `from` to `to`, which has known contents, and compares the whole block.
void check_pieces(const Queue& queue, const Block& to, const Block& from) {
  for (const Piece& piece : kPieces) {
    SCOPED_TRACE(testing::Message() << piece.bytes << " bytes from offset " << piece.from << " to offset " << piece.to);
    const Bytes source = some_bytes(kRoom, 1);
    Bytes expected = some_bytes(kRoom, 2);
    queue.write(from, 0, source);
    queue.write(to, 0, expected);
    queue.copy(to.at(piece.to), from.at(piece.from), piece.bytes);
    std::copy_n(source.data() + piece.from, piece.bytes, expected.data() + piece.to);
    EXPECT_TRUE(same(queue.read(to), expected));
    EXPECT_TRUE(same(queue.read(from), source)) << "expected the source to be unchanged";
  }
}

TEST(DeviceCopies, FromEveryKindOfMemoryToEveryOther) {
  const Queue queue;
  for (const MemoryKind from : kAllKinds) {
    for (const MemoryKind to : kAllKinds) {
      SCOPED_TRACE(testing::Message() << "from " << name_of(from) << " to " << name_of(to));
      check_pieces(queue, Block(to, kRoom), Block(from, kRoom));
    }
  }
}

TEST(DeviceCopies, BetweenTheCpusMemoryAndEveryKind) {
  const Queue queue;
  for (const MemoryKind kind : kAllKinds) {
    const Block block(kind, kRoom);
    for (const Piece& piece : kPieces) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << ": " << piece.bytes << " bytes from offset " << piece.from
                                      << " to offset " << piece.to);
      const Bytes source = some_bytes(kRoom, 3);
      Bytes expected = some_bytes(kRoom, 4);
      queue.write(block, 0, expected);
      queue.copy(block.at(piece.to), location_at(source.data() + piece.from), piece.bytes);
      std::copy_n(source.data() + piece.from, piece.bytes, expected.data() + piece.to);
      Bytes got(kRoom);
      queue.copy(location_at(got.data()), block.at(), kRoom);
      queue.finish();
      EXPECT_TRUE(same(got, expected)) << "to the device, and the whole block back";
      Bytes part = some_bytes(kRoom, 5);
      Bytes expected_part = part;
      queue.copy(location_at(part.data() + piece.to), block.at(piece.from), piece.bytes);
      queue.finish();
      std::copy_n(expected.data() + piece.from, piece.bytes, expected_part.data() + piece.to);
      EXPECT_TRUE(same(part, expected_part)) << "part of the block back";
    }
  }
}

TEST(DeviceCopies, WithinOneBlock) {
  const Queue queue;
  for (const MemoryKind kind : kAllKinds) {
    const Block block(kind, kRoom);
    // These are adjacent ranges, in both directions, and ranges with a gap.
    for (const Piece& piece : {Piece{1000, 0, 1000}, Piece{0, 1000, 1000}, Piece{33'333, 1, 33'332},
                               Piece{1, 33'334, 33'333}, Piece{60'000, 5, 77}, Piece{0, 0, 0}}) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << ": " << piece.bytes << " bytes from offset " << piece.from
                                      << " to offset " << piece.to);
      const Bytes before = some_bytes(kRoom, 6);
      Bytes expected = before;
      queue.write(block, 0, before);
      queue.copy(block.at(piece.to), block.at(piece.from), piece.bytes);
      std::copy_n(before.data() + piece.from, piece.bytes, expected.data() + piece.to);
      EXPECT_TRUE(same(queue.read(block), expected));
    }
  }
}

TEST(DeviceCopies, OfNothingTouchNothing) {
  const Queue queue;
  const Block block(MemoryKind::device_buffer, 64);
  const Block empty(MemoryKind::device_buffer, 0);
  queue.write(block, 0, some_bytes(64));
  queue.copy(block.at(), empty.at(), 0);
  queue.copy(empty.at(), block.at(), 0);
  queue.copy(block.at(64), block.at(64), 0);
  queue.copy(block.at(), location_at(nullptr), 0);
  queue.copy(location_at(nullptr), block.at(), 0);
  queue.fill(block.at(64), 0, {1});
  EXPECT_TRUE(same(queue.read(block), some_bytes(64)));
}

TEST(DeviceCopies, ThatAreLarge) {
  constexpr std::uint64_t kLarge = (std::uint64_t{test::kSanitized ? 2 : 24} << 20) + 5;
  const Queue queue;
  const Bytes bytes = some_bytes(kLarge, 8);
  const Block first(MemoryKind::device_buffer, kLarge);
  const Block second(MemoryKind::device_buffer, kLarge + 3);
  queue.write(first, 0, bytes);
  queue.copy(second.at(3), first.at(), kLarge);
  EXPECT_TRUE(same(queue.read(second, 3, kLarge), bytes));
  EXPECT_TRUE(same(queue.read(second, 0, 3), Bytes(3)));
}

TEST(DeviceCopies, OnSeveralQueuesAtOnceIntoOneBlock) {
  constexpr std::uint64_t kPart = 9999;
  constexpr std::uint64_t kQueues = 8;
  const Block from(MemoryKind::upload_buffer, kPart * kQueues);
  const Block to(MemoryKind::device_buffer, kPart * kQueues);
  const Bytes bytes = some_bytes(kPart * kQueues, 9);
  std::ranges::copy(bytes, from.host());
  std::vector<std::unique_ptr<Queue>> queues;
  for (std::uint64_t i = 0; i < kQueues; ++i) {
    queues.push_back(std::make_unique<Queue>());
    queues.back()->copy(to.at(i * kPart), from.at(i * kPart), kPart);
  }
  for (const auto& queue : queues) {
    queue->finish();
  }
  EXPECT_TRUE(same(queues[0]->read(to), bytes));
}

TEST(DeviceFills, RepeatTheirPattern) {
  const Queue queue;
  const std::vector<std::uint32_t> patterns[] = {
      {0}, {0x01020304}, {0x0f0e0d0c, 0x0b0a0908, 0x07060504, 0x03020100}, {1, 0, 0, 0xffffffff}};
  for (const MemoryKind kind : kAllKinds) {
    const Block block(kind, kRoom);
    for (const std::vector<std::uint32_t>& pattern : patterns) {
      for (const Piece& piece : {Piece{0, 0, kRoom}, Piece{4, 0, 4}, Piece{8, 0, 12}, Piece{12, 0, 20},
                                 Piece{20, 0, 65'540}, Piece{16, 0, 16}, Piece{4096, 0, 8192}, Piece{69'996, 0, 4}}) {
        SCOPED_TRACE(testing::Message() << name_of(kind) << ": a pattern of " << pattern.size() * 4 << " bytes over "
                                        << piece.bytes << " from offset " << piece.to);
        Bytes expected = some_bytes(kRoom, 7);
        queue.write(block, 0, expected);
        std::vector<std::uint32_t> given = pattern;
        queue.fill(block.at(piece.to), piece.bytes, given);
        std::ranges::fill(given, 0xdeadbeef);  // the pattern has been read by now
        for (std::uint64_t i = 0; i < piece.bytes; ++i) {
          expected[piece.to + i] = static_cast<std::byte>(pattern[i / 4 % pattern.size()] >> (i % 4 * 8));
        }
        EXPECT_TRUE(same(queue.read(block), expected));
      }
    }
  }
}

std::uint64_t time_at(const Block& memory, std::uint64_t number) {
  std::uint64_t time = 0;
  std::memcpy(&time, memory.host() + number * 8, 8);
  return time;
}

TEST(DeviceTimestamps, AreNanosecondsAndNeverGoBack) {
  constexpr std::uint64_t kCount = 40;
  const Queue queue;
  const Block times(MemoryKind::readback_buffer, (kCount + 2) * 8);
  const Block memory(MemoryKind::device_buffer, 1 << 20);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    queue.fill(memory.at(), memory.bytes(), {i});
    queue.timestamp(times.at(i * std::uint64_t{8}));
  }
  queue.finish();
  for (std::uint64_t i = 0; i < kCount; ++i) {
    EXPECT_NE(time_at(times, i), 0U) << "timestamp " << i << ": expected a time";
    EXPECT_GE(time_at(times, i), time_at(times, i == 0 ? 0 : i - 1)) << "timestamp " << i << " is before the last one";
  }
  EXPECT_EQ(time_at(times, kCount), 0U) << "expected exactly 8 bytes to be written";
}

TEST(DeviceTimestamps, PassAsTheCpusTimeDoes) {
  constexpr auto kPause = std::chrono::milliseconds(60);
  const Queue queue;
  const Block times(MemoryKind::readback_buffer, 16);
  const auto begin = std::chrono::steady_clock::now();
  queue.timestamp(times.at(0));
  queue.finish();
  std::this_thread::sleep_for(kPause);
  queue.timestamp(times.at(8));
  queue.finish();
  const std::chrono::nanoseconds maximum = std::chrono::steady_clock::now() - begin;
  const std::uint64_t passed = time_at(times, 1) - time_at(times, 0);
  // A clock in the wrong unit would be off by a large factor, but the clocks of two chips differ only by parts per
  // million.
  EXPECT_GE(passed, static_cast<std::uint64_t>(std::chrono::nanoseconds(kPause).count()) * 9 / 10)
      << "60 ms passed between the two; expected nanoseconds";
  EXPECT_LE(passed, static_cast<std::uint64_t>(maximum.count()) * 11 / 10) << "expected nanoseconds";
}

}  // namespace
}  // namespace anydml::device
