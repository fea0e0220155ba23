// SPDX-License-Identifier: MIT
// Memory for buffers: zeroed pages from the kernel, aligned to kBufferAlignment. Small buffers share blocks, because a
// process may have only some tens of thousands of mappings (vm.max_map_count). Each large buffer has its own mapping.
// Memory that cannot be unmapped because the process has reached that limit is kept and reused.
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

// Called for new pages before they are used, and again before they are released, for example so that a GPU driver can
// pin them.
struct PageHooks {
  bool (*prepare)(void* start, std::uint64_t bytes) noexcept;  // returns false if out of memory
  void (*forget)(void* start, std::uint64_t bytes) noexcept;
};

class BufferMemory {
 public:
  // hooks may be null.
  explicit BufferMemory(const PageHooks* hooks = nullptr, std::uint64_t block_bytes = std::uint64_t{16} << 20)
      : hooks_(hooks), block_bytes_(block_bytes) {}
  ~BufferMemory();
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  // Returns zeroed memory, or null if the kernel has no memory left. Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  // bytes: the number that was passed to allocate.
  void release(void* address, std::uint64_t bytes) noexcept;

  static constexpr std::uint64_t kMaxOfSmall = std::uint64_t{1} << 20;

 private:
  // A mapping is larger than the part in use. The unused ends stay mapped, because unmapping them would create two more
  // mappings.
  struct Mapping {
    void* start = nullptr;
    std::uint64_t bytes = 0;
    std::byte* aligned = nullptr;  // the first address in the mapping that is a multiple of kBufferAlignment
  };
  // A block of slots that all have the same size.
  struct Block {
    Mapping mapping;
    std::uint32_t kind = 0;
    std::uint32_t slots = 0;
    std::vector<std::uint32_t> free;  // has capacity for every slot
  };
  struct Large {
    Mapping mapping;
    bool is_idle = false;  // released, but could not be unmapped
  };

  static constexpr std::size_t kKinds = 5;  // slots of 1, 2, 4, 8 and 16 units
  static_assert((kBufferAlignment << (kKinds - 1)) == kMaxOfSmall);

  [[nodiscard]] Mapping map(std::uint64_t bytes, bool huge_pages) const noexcept;
  // Returns false, and changes nothing, if the memory cannot be unmapped.
  [[nodiscard]] bool unmap(const Mapping& mapping) const noexcept;
  void give_back(void* address, std::uint64_t bytes) const noexcept;
  [[nodiscard]] static std::uint64_t slot_bytes(std::uint32_t kind) { return kBufferAlignment << kind; }

  // The caller must hold the mutex.
  Block* add_block(std::uint32_t kind);
  void drop_block(Block& block) noexcept;
  void* allocate_small(std::uint64_t bytes);
  void release_small(void* address, std::uint64_t bytes) noexcept;
  void* take_idle(std::uint64_t whole) noexcept;
  // These functions lock the mutex only where necessary, because mapping or unmapping a large region can take a long
  // time.
  void* allocate_large(std::uint64_t bytes);
  void release_large(void* address) noexcept;

  const PageHooks* const hooks_;
  const std::uint64_t block_bytes_;
  std::mutex mutex_;
  std::map<std::byte*, std::unique_ptr<Block>> blocks_;  // by the address of their first slot
  std::array<std::vector<Block*>, kKinds> open_;  // blocks with a free slot; the vectors have capacity for all blocks
  std::array<std::size_t, kKinds> block_counts_{};
  std::map<void*, Large> large_;
  std::size_t idle_ = 0;  // the number of idle large mappings
};

}  // namespace anydml
