// SPDX-License-Identifier: MIT
// Memory for buffers: zeroed pages from the kernel, at multiples of kBufferAlignment. Small buffers share blocks,
// because a process may have only some tens of thousands of mappings (vm.max_map_count); large ones have a mapping
// each. Memory that cannot be unmapped because that limit is reached is kept and reused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/buffer_units.h"

namespace anydml {

// Actions on new pages before they are used, and before they are released: a GPU's driver pins them.
struct PageHooks {
  bool (*prepare)(void* start, std::uint64_t bytes) noexcept;  // false: there is no memory for it
  void (*forget)(void* start, std::uint64_t bytes) noexcept;
};

class BufferMemory {
 public:
  // hooks: null if none are needed.
  explicit BufferMemory(const PageHooks* hooks = nullptr, std::uint64_t block_bytes = std::uint64_t{16} << 20)
      : hooks_(hooks), block_bytes_(block_bytes) {}
  ~BufferMemory();
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  // Returns zeroed memory, or null if there is none. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  // Takes the same arguments as allocate.
  void release(void* address, std::uint64_t bytes) noexcept;

  static constexpr std::uint64_t kMostOfSmall = std::uint64_t{1} << 20;

 private:
  // Larger than the part in use, whose ends are left alone: unmapping them would create two more mappings.
  struct Mapping {
    void* start = nullptr;
    std::uint64_t bytes = 0;
    std::byte* aligned = nullptr;  // the first address in it that is a multiple of kBufferAlignment
  };
  // Slots of one size.
  struct Block {
    Mapping mapping;
    std::uint32_t kind = 0;
    std::uint32_t slots = 0;
    std::vector<std::uint32_t> free;  // with capacity for all
  };
  struct Large {
    Mapping mapping;
    bool is_idle = false;  // it was released but could not be unmapped
  };

  static constexpr std::size_t kKinds = 5;  // one unit, two, four, eight and sixteen
  static_assert((kBufferAlignment << (kKinds - 1)) == kMostOfSmall);

  [[nodiscard]] Mapping map(std::uint64_t bytes, bool huge_pages) const noexcept;
  // False: it could not be unmapped, and is unchanged.
  [[nodiscard]] bool unmap(const Mapping& mapping) const noexcept;
  void give_back(void* address, std::uint64_t bytes) const noexcept;
  [[nodiscard]] static std::uint64_t slot_bytes(std::uint32_t kind) { return kBufferAlignment << kind; }

  // With the mutex held.
  Block* add_block(std::uint32_t kind);
  void drop_block(Block& block) noexcept;
  void* allocate_small(std::uint64_t bytes);
  void release_small(void* address, std::uint64_t bytes) noexcept;
  void* take_idle(std::uint64_t whole) noexcept;
  // These take the mutex themselves, because mapping or unmapping much memory may take long.
  void* allocate_large(std::uint64_t bytes);
  void release_large(void* address) noexcept;

  const PageHooks* const hooks_;
  const std::uint64_t block_bytes_;
  std::mutex mutex_;
  std::map<std::byte*, std::unique_ptr<Block>> blocks_;  // by their first slot
  std::array<std::vector<Block*>, kKinds> open_;         // blocks with a free slot, with capacity for all of a kind
  std::array<std::size_t, kKinds> block_counts_{};
  std::map<void*, Large> large_;
  std::size_t idle_ = 0;  // the number of idle large ones
};

}  // namespace anydml
