// SPDX-License-Identifier: MIT
// Tests that buffer memory is aligned, non-overlapping and zeroed, and that it is returned to the system even if the
// kernel refuses to unmap it.
#include "base/buffer_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "support/process_counts.h"
#include "support/sanitizers.h"

namespace anydml::test {
namespace {

bool all_zero(const std::byte* data, std::uint64_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte value) { return value == std::byte{0}; });
}

std::uint64_t some_size(std::mt19937_64& random) {
  constexpr std::uint64_t kEdges[] = {1,      4096,    4097,    65535,   65536,   65537,         131072,
                                      131073, 1048575, 1048576, 1048577, 2 << 20, (2 << 20) + 1, 5 << 20};
  return random() % 2 == 0 ? kEdges[random() % std::size(kEdges)] : 1 + random() % (1 << 18);
}

// Allocates and frees buffers at random. Each buffer is filled and must keep its contents.
void churn(BufferMemory& memory, int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  struct Buffer {
    std::uint64_t bytes;
    std::byte mark;
  };
  std::map<std::byte*, Buffer> live;
  const auto release = [&](std::map<std::byte*, Buffer>::iterator at) {
    const auto [data, buffer] = *at;
    ASSERT_TRUE(std::all_of(data, data + buffer.bytes, [&](std::byte value) { return value == buffer.mark; }));
    memory.release(data, buffer.bytes);
    live.erase(at);
  };
  for (int i = 0; i < rounds; ++i) {
    if (!live.empty() && (live.size() > 200 || random() % 3 == 0)) {
      auto at = live.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random() % live.size()));
      ASSERT_NO_FATAL_FAILURE(release(at));
      continue;
    }
    const std::uint64_t bytes = some_size(random);
    auto* data = static_cast<std::byte*>(memory.allocate(bytes));
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(data) % kBufferAlignment, 0U);
    ASSERT_TRUE(all_zero(data, bytes));
    const auto mark = static_cast<std::byte>(1 + random() % 255);
    std::fill_n(data, bytes, mark);
    const auto [at, is_new] = live.emplace(data, Buffer{bytes, mark});
    ASSERT_TRUE(is_new);
    if (at != live.begin()) {
      const auto before = std::prev(at);
      ASSERT_LE(before->first + before->second.bytes, data);
    }
    if (const auto after = std::next(at); after != live.end()) {
      ASSERT_LE(data + bytes, after->first);
    }
  }
  while (!live.empty()) {
    ASSERT_NO_FATAL_FAILURE(release(live.begin()));
  }
}

TEST(BufferMemory, ComesAndGoes) {
  BufferMemory memory;
  const auto before = process_counts();
  for (std::uint64_t seed = 0; seed < (kSanitized ? 1 : 4); ++seed) {
    ASSERT_NO_FATAL_FAILURE(churn(memory, 1000, seed));
  }
  EXPECT_LE(process_counts().mappings, before.mappings + 16) << "an empty block of each kind may stay";
}

TEST(BufferMemory, SmallOnesShareMappings) {
  BufferMemory memory;
  const auto before = process_counts();
  std::vector<void*> all;
  for (int i = 0; i < 20'000; ++i) {
    all.push_back(memory.allocate(100));
    ASSERT_NE(all.back(), nullptr);
  }
  EXPECT_LT(process_counts().mappings, before.mappings + 200);
  for (void* one : all) {
    memory.release(one, 100);
  }
}

// Hooks like those for a driver that pins pages. They count the ranges that are prepared and forgotten. g_refuse makes
// prepare() fail.
int g_prepared = 0;
int g_forgotten = 0;
bool g_refuse = false;
constexpr PageHooks kCounting{.prepare =
                                  [](void*, std::uint64_t) noexcept {
                                    g_prepared += g_refuse ? 0 : 1;
                                    return !g_refuse;
                                  },
                              .forget = [](void*, std::uint64_t) noexcept { ++g_forgotten; }};

TEST(BufferMemory, TellsItsHooks) {
  {
    BufferMemory memory(&kCounting, 4 << 20);
    ASSERT_NO_FATAL_FAILURE(churn(memory, kSanitized ? 400 : 1000, 7));
    g_refuse = true;
    EXPECT_EQ(memory.allocate(8 << 20), nullptr);
    g_refuse = false;
    EXPECT_GT(g_prepared, 10);
  }
  EXPECT_EQ(g_prepared, g_forgotten);
}

// Maps every other page until the kernel allows no more mappings. The kernel then cannot split a mapping either, and
// unmapping the middle of merged mappings requires a split.
class NoMappingsLeft {
 public:
  NoMappingsLeft() {
    constexpr std::size_t kPages = 1 << 18;
    bytes_ = kPages * 4096;
    start_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t i = 0; i < kPages && mprotect(start_ + i * 4096, 4096, PROT_READ) == 0; i += 2) {
    }
  }
  ~NoMappingsLeft() { munmap(start_, bytes_); }
  NoMappingsLeft(const NoMappingsLeft&) = delete;
  NoMappingsLeft& operator=(const NoMappingsLeft&) = delete;

 private:
  char* start_ = nullptr;
  std::size_t bytes_ = 0;
};

TEST(BufferMemory, WhatCannotBeUnmappedIsUsedAgain) {
  if (kSanitized) {
    GTEST_SKIP() << "sanitizers need their own mappings";
  }
  BufferMemory memory;
  constexpr std::uint64_t kBytes = 3 << 20;
  std::vector<std::byte*> all;
  for (int i = 0; i < 60; ++i) {
    all.push_back(static_cast<std::byte*>(memory.allocate(kBytes)));
    ASSERT_NE(all.back(), nullptr);
    std::fill_n(all.back(), kBytes, std::byte{0xff});
  }
  {
    const NoMappingsLeft full;
    const auto before = process_counts();
    for (std::size_t i = 1; i < all.size(); i += 2) {
      memory.release(all[i], kBytes);
    }
    const auto after = process_counts();
    EXPECT_LT(after.resident_bytes, before.resident_bytes - (60 << 20))
        << "expected the memory to be freed even if the mapping stays";
    for (std::size_t i = 1; i < all.size(); i += 2) {
      all[i] = static_cast<std::byte*>(memory.allocate(kBytes));
      ASSERT_NE(all[i], nullptr) << i;
      ASSERT_TRUE(all_zero(all[i], kBytes));
    }
    for (std::size_t i = 1; i < all.size(); i += 2) {
      memory.release(all[i], kBytes);
    }
  }
  const auto before = process_counts();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    memory.release(all[i], kBytes);
  }
  EXPECT_LE(process_counts().mappings, before.mappings);
  ASSERT_NO_FATAL_FAILURE(churn(memory, 500, 11));
}

}  // namespace
}  // namespace anydml::test
