// SPDX-License-Identifier: MIT
// Tests device memory: its handle, address and host pointer, its contents, and its limits.
#include <sys/mman.h>

#include <algorithm>
#include <thread>

#include "device/device.h"

namespace anydml::device {
namespace {

constexpr std::uint64_t kSizes[] = {0, 1, 4, 63, 4096, kBufferAlignment - 1, kBufferAlignment, 1'000'003};

bool is_for_the_cpu(MemoryKind kind) {
  return kind == MemoryKind::upload_buffer || kind == MemoryKind::readback_buffer;
}

TEST(DeviceMemory, HasItsNames) {
  for (const MemoryKind kind : kAllKinds) {
    for (const std::uint64_t bytes : kSizes) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << " of " << bytes << " bytes");
      const Block block(kind, bytes);
      const std::uint64_t alignment = kind == MemoryKind::temporary ? kTemporaryAlignment : kBufferAlignment;
      EXPECT_NE(block.get().handle, nullptr) << "expected a handle, even for 0 bytes";
      EXPECT_NE(block.address(), 0U) << "expected an address for programs";
      EXPECT_EQ(block.address() % alignment, 0U) << "expected a multiple of " << alignment;
      if (is_for_the_cpu(kind)) {
        EXPECT_NE(block.host(), nullptr) << "expected a host pointer, because the CPU maps these buffers";
      }
      if (g_device.info.unified_memory != 0) {
        EXPECT_NE(block.host(), nullptr) << "unified_memory is 1; expected a host pointer for all memory";
      }
    }
  }
}

TEST(DeviceMemory, BuffersHoldZeros) {
  const Queue queue;
  for (const MemoryKind kind : kBufferKinds) {
    for (int round = 0; round < 3; ++round) {  // the second and third rounds may reuse the memory of the first
      SCOPED_TRACE(testing::Message() << name_of(kind) << ", round " << round);
      const Block block(kind, 300'001);
      EXPECT_TRUE(same(queue.read(block), Bytes(block.bytes())));
      queue.write(block, 0, some_bytes(block.bytes()));
    }
  }
}

TEST(DeviceMemory, IsTheSameByEveryName) {
  const Queue queue;
  for (const MemoryKind kind : kAllKinds) {
    const Block block(kind, 10'007);
    if (block.host() == nullptr) {
      continue;
    }
    SCOPED_TRACE(name_of(kind));
    const Bytes first = some_bytes(block.bytes(), 2);
    queue.write(block, 0, first);
    EXPECT_TRUE(same(Bytes(block.host(), block.host() + block.bytes()), first)) << "the CPU reads the bytes of a copy";
    const Bytes second = some_bytes(block.bytes(), 3);
    std::ranges::copy(second, block.host());
    EXPECT_TRUE(same(queue.read(block), second)) << "a copy reads the CPU's bytes";
  }
}

TEST(DeviceMemory, BlocksAreDistinct) {
  const Queue queue;
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < 48; ++i) {
    blocks.emplace_back(kAllKinds[i % 4], 1000 + 977 * i);
    queue.write(blocks.back(), 0, some_bytes(blocks.back().bytes(), i));
  }
  for (std::uint64_t i = 0; i < blocks.size(); ++i) {
    EXPECT_TRUE(same(queue.read(blocks[i]), some_bytes(blocks[i].bytes(), i))) << "block " << i;
    for (std::uint64_t j = 0; j < i; ++j) {
      EXPECT_NE(blocks[i].get().handle, blocks[j].get().handle);
      const bool apart = blocks[i].address() + blocks[i].bytes() <= blocks[j].address() ||
                         blocks[j].address() + blocks[j].bytes() <= blocks[i].address();
      EXPECT_TRUE(apart) << "the addresses of blocks " << i << " and " << j << " overlap";
    }
  }
}

TEST(DeviceMemory, IsUsedAgainAfterItsRelease) {
  // Allocates more in total than the device has, so memory must be reused.
  const std::uint64_t part = std::min<std::uint64_t>(g_device.info.memory_bytes / 16, std::uint64_t{64} << 20);
  const std::uint64_t rounds = std::min<std::uint64_t>(g_device.info.memory_bytes / part * 2, 200);
  for (std::uint64_t i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
    const Block block(i % 2 == 0 ? MemoryKind::device_buffer : MemoryKind::temporary, part);
  }
}

TEST(DeviceMemory, BufferBytesGoUpAndDown) {
  const auto bytes = [] { return g_device.table->buffer_bytes(g_device.handle); };
  const std::uint64_t before = bytes();
  {
    const Block first(MemoryKind::device_buffer, 100);
    EXPECT_EQ(bytes() - before, whole_units(100)) << "expected the buffer's bytes, rounded up to whole units";
    {
      const Block second(MemoryKind::device_buffer, 200'000);
      EXPECT_EQ(bytes() - before, whole_units(100) + whole_units(200'000));
      const Block temporary(MemoryKind::temporary, 1'000'000);
      EXPECT_EQ(bytes() - before, whole_units(100) + whole_units(200'000)) << "temporaries do not count as buffers";
    }
    EXPECT_EQ(bytes() - before, whole_units(100));
  }
  EXPECT_EQ(bytes(), before) << "expected as many bytes as before the buffers";
}

TEST(DeviceMemory, MoreThanThereIsFailsAndHarmsNothing) {
  const std::uint64_t before = g_device.table->buffer_bytes(g_device.handle);
  for (const MemoryKind kind : kAllKinds) {
    // `twice` applies only to device buffers, because other kinds may use CPU memory. No machine has the last two
    // sizes.
    const std::uint64_t twice = g_device.info.memory_bytes * 2;
    for (const std::uint64_t bytes : {twice, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
      if (bytes == twice && kind != MemoryKind::device_buffer) {
        continue;
      }
      SCOPED_TRACE(testing::Message() << name_of(kind) << " of " << bytes << " bytes");
      std::byte poison{};
      MemoryBlock block{.handle = nullptr, .address = 1, .host = &poison};
      EXPECT_TRUE(returns(BackendCode::out_of_memory, g_device.table->allocate(g_device.handle, kind, bytes, &block)));
      EXPECT_EQ(block.handle, nullptr) << "expected an empty block";
      EXPECT_EQ(block.address, 0U);
      EXPECT_EQ(block.host, nullptr);
    }
  }
  EXPECT_EQ(g_device.table->buffer_bytes(g_device.handle), before) << "expected a failed request not to count";
  // The device must still work.
  const Queue queue;
  const Block block(MemoryKind::device_buffer, 5000);
  queue.write(block, 0, some_bytes(5000));
  EXPECT_TRUE(same(queue.read(block), some_bytes(5000)));
}

TEST(DeviceMemory, GivesAsMuchAsItHasAndThenRefuses) {
  // Exhausting a device that uses CPU memory would take that memory from all other processes.
  constexpr std::uint64_t kMax = std::uint64_t{4} << 30;
  if (g_device.info.unified_memory != 0 || g_device.info.memory_bytes > kMax) {
    GTEST_SKIP() << "the device has more memory than a test should allocate";
  }
  const std::uint64_t part = g_device.info.memory_bytes / 8;
  std::vector<MemoryBlock> blocks;
  BackendStatus status{};
  while (blocks.size() < 16 && status.code == BackendCode::ok) {
    MemoryBlock block{};
    status = g_device.table->allocate(g_device.handle, MemoryKind::device_buffer, part, &block);
    if (status.code == BackendCode::ok) {
      blocks.push_back(block);
    }
  }
  EXPECT_TRUE(returns(BackendCode::out_of_memory, status)) << "after " << blocks.size() << " eighths of the memory";
  EXPECT_GE(blocks.size(), 4U) << "expected at least half of memory_bytes";
  for (const MemoryBlock& block : blocks) {
    g_device.table->release(g_device.handle, MemoryKind::device_buffer, part, block.handle);
  }
  const Block again(MemoryKind::device_buffer, part);
}

TEST(DeviceMemory, MayBeTakenByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const Queue queue;
      for (std::uint64_t i = 0; i < 20; ++i) {
        const Block block(kAllKinds[(t + i) % 4], 1 + 3001 * i);
        const Bytes bytes = some_bytes(block.bytes(), t * 100 + i);
        queue.write(block, 0, bytes);
        EXPECT_TRUE(same(queue.read(block), bytes)) << "thread " << t << ", block " << i;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Whole pages of CPU memory, because devices may refuse to import anything smaller.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes), start_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(start_, MAP_FAILED);
  }
  ~Pages() { munmap(start_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* get() const { return static_cast<std::byte*>(start_); }

 private:
  std::size_t bytes_;
  void* start_;
};

TEST(DeviceMemory, TheCpusMayBeImported) {
  ASSERT_EQ(g_device.table->import_host == nullptr, g_device.table->forget_host == nullptr)
      << "expected both import_host and forget_host, or neither";
  if (g_device.table->import_host == nullptr) {
    GTEST_SKIP() << "the device imports no memory (import_host is null)";
  }
  const Queue queue;
  constexpr std::uint64_t kBytes = 1 << 18;
  const Pages pages(kBytes);
  for (int round = 0; round < 2; ++round) {  // forgotten memory may be imported again
    MemoryBlock block{};
    ASSERT_TRUE(is_ok(g_device.table->import_host(g_device.handle, pages.get(), kBytes, &block)));
    ASSERT_NE(block.handle, nullptr);
    EXPECT_NE(block.address, 0U);
    EXPECT_EQ(block.host, pages.get()) << "expected the imported pointer";
    const Bytes bytes = some_bytes(kBytes, static_cast<std::uint64_t>(round) + 5);
    std::ranges::copy(bytes, pages.get());
    const Block copied(MemoryKind::device_buffer, kBytes);
    queue.copy(copied.at(), {block.handle, 0}, kBytes);
    EXPECT_TRUE(same(queue.read(copied), bytes)) << "a copy from imported memory";
    queue.fill({block.handle, 4096}, 4096, {0x01020304});
    queue.finish();
    EXPECT_TRUE(same(Bytes(pages.get(), pages.get() + 4096), Bytes(bytes.begin(), bytes.begin() + 4096)));
    EXPECT_EQ(as<std::uint32_t>(Bytes(pages.get() + 4096, pages.get() + 8192)),
              std::vector<std::uint32_t>(1024, 0x01020304))
        << "the CPU reads the device's bytes";
    g_device.table->forget_host(g_device.handle, block.handle);
  }
}

TEST(DeviceMemory, PointersMeanWhatAccessSays) {
  ASSERT_EQ(g_device.info.shares_addresses != 0, g_device.table->access != nullptr)
      << "expected `access` if and only if shares_addresses is 1";
  if (g_device.table->access == nullptr) {
    GTEST_SKIP() << "the device does not share addresses (access is null)";
  }
  const auto access = [](const void* address) { return g_device.table->access(g_device.handle, address); };
  for (const MemoryKind kind : kAllKinds) {
    const Block block(kind, 4096);
    const auto* const pointer = reinterpret_cast<const std::byte*>(block.address());
    EXPECT_EQ(access(pointer), Access::direct)
        << name_of(kind) << ": expected direct access to the device's own memory";
    EXPECT_EQ(access(pointer + 100), Access::direct) << name_of(kind) << ", inside the block";
    const Queue queue;
    const Bytes bytes = some_bytes(4096, 9);
    queue.copy(location_at(pointer), location_at(bytes.data()), 4096);
    queue.finish();
    EXPECT_TRUE(same(queue.read(block), bytes)) << name_of(kind) << ": an address also identifies the block in a copy";
  }
  const Bytes own(64);
  EXPECT_NE(access(own.data()), Access::none) << "the CPU's memory: expected direct or by_copy";
  if (g_device.info.unified_memory != 0) {
    EXPECT_EQ(access(own.data()), Access::direct) << "unified_memory is 1; expected direct access to the CPU's memory";
  }
}

}  // namespace
}  // namespace anydml::device
