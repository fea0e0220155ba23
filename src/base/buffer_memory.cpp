// SPDX-License-Identifier: MIT
#include "base/buffer_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/reserve.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) (static_cast<void>(address), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) (static_cast<void>(address), static_cast<void>(bytes))
#endif

namespace anydml {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

BufferMemory::~BufferMemory() {
  for (const auto& [first, block] : blocks_) {
    ASAN_UNPOISON_MEMORY_REGION(first, block_bytes_);
    static_cast<void>(unmap(block->mapping));
  }
  for (const auto& [address, large] : large_) {
    static_cast<void>(unmap(large.mapping));
  }
}

BufferMemory::Mapping BufferMemory::map(std::uint64_t bytes, bool huge_pages) const noexcept {
  Mapping mapping{.bytes = bytes + kBufferAlignment};
  mapping.start = mmap(nullptr, mapping.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping.start == MAP_FAILED) {
    return {};
  }
  if (!huge_pages) {
    static_cast<void>(madvise(mapping.start, mapping.bytes, MADV_NOHUGEPAGE));
  }
  if (hooks_ != nullptr && !hooks_->prepare(mapping.start, mapping.bytes)) {
    if (munmap(mapping.start, mapping.bytes) != 0) {  // at least release its memory
      static_cast<void>(madvise(mapping.start, mapping.bytes, MADV_DONTNEED));
    }
    return {};
  }
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(mapping.start) % kBufferAlignment;
  mapping.aligned = static_cast<std::byte*>(mapping.start) + (past == 0 ? 0 : kBufferAlignment - past);
  return mapping;
}

bool BufferMemory::unmap(const Mapping& mapping) const noexcept {
  if (hooks_ != nullptr) {
    hooks_->forget(mapping.start, mapping.bytes);
  }
  if (munmap(mapping.start, mapping.bytes) == 0) {
    return true;
  }
  if (hooks_ != nullptr && !hooks_->prepare(mapping.start, mapping.bytes)) {
    // The mapping now has no owner. A few pages of address space are lost, but the kernel gets the memory back.
    static_cast<void>(madvise(mapping.start, mapping.bytes, MADV_DONTNEED));
    return true;
  }
  return false;
}

// Zeroes the memory for its next user, and returns the pages to the kernel if that is worth a system call.
void BufferMemory::give_back(void* address, std::uint64_t bytes) const noexcept {
  // Pages that are registered with a device must stay mapped, and the kernel does not reclaim locked pages (mlockall).
  if (hooks_ != nullptr || bytes <= kPage || madvise(address, bytes, MADV_DONTNEED) != 0) {
    std::memset(address, 0, bytes);
  }
}

BufferMemory::Block* BufferMemory::add_block(std::uint32_t kind) {
  auto created = std::make_unique<Block>();
  created->kind = kind;
  created->slots = static_cast<std::uint32_t>(block_bytes_ / slot_bytes(kind));
  created->free.resize(created->slots);
  std::iota(created->free.rbegin(), created->free.rend(), 0U);  // so that the first slot is used first
  reserve_total(open_[kind], block_counts_[kind] + 1);
  created->mapping = map(block_bytes_, false);  // a huge page for the few bytes of one buffer would waste memory
  if (created->mapping.start == nullptr) {
    return nullptr;
  }
  ASAN_POISON_MEMORY_REGION(created->mapping.aligned, block_bytes_);
  Block* block = created.get();
  try {
    blocks_.emplace(block->mapping.aligned, std::move(created));
  } catch (...) {
    ASAN_UNPOISON_MEMORY_REGION(block->mapping.aligned, block_bytes_);
    static_cast<void>(unmap(block->mapping));
    throw;
  }
  ++block_counts_[kind];
  open_[kind].push_back(block);
  return block;
}

void BufferMemory::drop_block(Block& block) noexcept {
  ASAN_UNPOISON_MEMORY_REGION(block.mapping.aligned, block_bytes_);
  if (!unmap(block.mapping)) {  // keep using the block's slots, which contain zeros
    ASAN_POISON_MEMORY_REGION(block.mapping.aligned, block_bytes_);
    return;
  }
  std::erase(open_[block.kind], &block);
  --block_counts_[block.kind];
  blocks_.erase(block.mapping.aligned);
}

void* BufferMemory::allocate_small(std::uint64_t bytes) {
  const std::uint64_t units = std::max<std::uint64_t>(whole_units(bytes) / kBufferAlignment, 1);
  const auto kind = static_cast<std::uint32_t>(std::bit_width(units - 1));
  Block* block = open_[kind].empty() ? add_block(kind) : open_[kind].back();
  if (block == nullptr) {
    return nullptr;
  }
  std::byte* address = block->mapping.aligned + block->free.back() * slot_bytes(kind);
  block->free.pop_back();
  if (block->free.empty()) {
    open_[kind].pop_back();  // the block is full, and it was the last one in the list
  }
  ASAN_UNPOISON_MEMORY_REGION(address, bytes);
  return address;
}

void BufferMemory::release_small(void* address, std::uint64_t bytes) noexcept {
  auto* const first = static_cast<std::byte*>(address);
  const auto after = blocks_.upper_bound(first);
  Block& block = *std::prev(after)->second;
  block.free.push_back(
      static_cast<std::uint32_t>(static_cast<std::uint64_t>(first - block.mapping.aligned) / slot_bytes(block.kind)));
  give_back(address, bytes);
  ASAN_POISON_MEMORY_REGION(address, slot_bytes(block.kind));
  std::vector<Block*>& open = open_[block.kind];
  if (block.free.size() == 1) {
    open.push_back(&block);
  }
  // Keep one empty block, for programs that create and release one buffer after another.
  const auto is_empty = [](const Block* known) { return known->free.size() == known->slots; };
  if (is_empty(&block) && std::ranges::count_if(open, is_empty) > 1) {
    // Also try again to unmap blocks that could not be unmapped earlier: the process may be below its limit again.
    std::iter_swap(open.begin(), std::ranges::find_if(open, is_empty));
    for (std::size_t i = open.size(); i-- > 1;) {
      if (is_empty(open[i])) {
        drop_block(*open[i]);
      }
    }
  }
}

void* BufferMemory::take_idle(std::uint64_t whole) noexcept {
  for (auto& [address, large] : large_) {
    // Skip mappings that are much larger: their pages may be needed elsewhere.
    if (large.is_idle && large.mapping.bytes - kBufferAlignment >= whole && large.mapping.bytes / 2 <= whole) {
      large.is_idle = false;
      --idle_;
      return address;
    }
  }
  return nullptr;
}

void* BufferMemory::allocate_large(std::uint64_t bytes) {
  const std::uint64_t whole = whole_units(bytes);
  {
    const std::scoped_lock lock(mutex_);
    if (void* known = idle_ == 0 ? nullptr : take_idle(whole); known != nullptr) {
      return known;
    }
  }
  const Mapping mapping = map(whole, true);
  if (mapping.start == nullptr) {
    return nullptr;
  }
  try {
    const std::scoped_lock lock(mutex_);
    large_.emplace(mapping.aligned, Large{.mapping = mapping});
  } catch (...) {
    static_cast<void>(unmap(mapping));
    throw;
  }
  return mapping.aligned;
}

void BufferMemory::release_large(void* address) noexcept {
  std::unique_lock lock(mutex_);
  auto known = large_.extract(address);
  lock.unlock();
  // The mapping is removed from the list while it is being unmapped, because the kernel may return the same address to
  // another thread before this call ends.
  const bool gone = unmap(known.mapped().mapping);
  if (!gone) {
    give_back(address, known.mapped().mapping.bytes - kBufferAlignment);
  }
  lock.lock();
  if (!gone) {
    known.mapped().is_idle = true;
    large_.insert(std::move(known));
    ++idle_;
    return;
  }
  // Try again to unmap memory that could not be unmapped earlier: the process may be below its limit again.
  for (auto at = large_.begin(); idle_ != 0 && at != large_.end();) {
    if (at->second.is_idle && unmap(at->second.mapping)) {
      --idle_;
      at = large_.erase(at);
    } else {
      ++at;
    }
  }
}

void* BufferMemory::allocate(std::uint64_t bytes) {
  if (bytes > kMaxOfSmall) {
    return allocate_large(bytes);
  }
  const std::scoped_lock lock(mutex_);
  return allocate_small(bytes);
}

void BufferMemory::release(void* address, std::uint64_t bytes) noexcept {
  if (bytes > kMaxOfSmall) {
    release_large(address);
    return;
  }
  const std::scoped_lock lock(mutex_);
  release_small(address, bytes);
}

}  // namespace anydml
