// SPDX-License-Identifier: MIT
#include "backend/cpu/scratch.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace anydml {
namespace {

// Sizes are powers of two, so that programs with similar sizes share a set. Untouched pages cost nothing.
std::size_t block_bytes(std::size_t bytes) {
  constexpr std::size_t kMin = 4096;
  constexpr std::size_t kMax = std::size_t{1} << 46;
  if (bytes > kMax) {
    throw std::bad_alloc();
  }
  return std::bit_ceil(std::max(bytes, kMin));
}

}  // namespace

// Returns null if out of memory.
Scratch::Memory Scratch::allocate(std::size_t blocks, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(blocks, bytes, &all)) {
    return nullptr;
  }
  return Memory(static_cast<std::byte*>(::operator new (all, std::align_val_t{kAlignment}, std::nothrow)));
}

Scratch::Scratch(std::size_t bytes, unsigned workers)
    : bytes_(block_bytes(bytes)), workers_(allocate(workers, bytes_)) {
  CallerBlock* const first = workers_ == nullptr ? nullptr : add();
  if (first == nullptr) {
    throw std::bad_alloc();
  }
  first->is_taken.store(false, std::memory_order_relaxed);
}

Scratch::~Scratch() {
  for (CallerBlock* block = callers_.load(std::memory_order_relaxed); block != nullptr;) {
    delete std::exchange(block, block->next);
  }
}

Scratch::CallerBlock* Scratch::take() noexcept {
  for (CallerBlock* block = callers_.load(std::memory_order_acquire); block != nullptr; block = block->next) {
    if (!block->is_taken.load(std::memory_order_relaxed) &&
        !block->is_taken.exchange(true, std::memory_order_acquire)) {
      return block;
    }
  }
  return add();
}

// Adds a block for the caller. Returns null if out of memory.
Scratch::CallerBlock* Scratch::add() noexcept {
  Memory memory = allocate(1, bytes_);
  auto* const block = memory == nullptr ? nullptr : new (std::nothrow) CallerBlock;
  if (block == nullptr) {
    return nullptr;
  }
  block->memory = std::move(memory);
  block->next = callers_.load(std::memory_order_relaxed);
  while (!callers_.compare_exchange_weak(block->next, block, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return block;
}

Scratch::OfOthers::OfOthers(Scratch& set, unsigned count) noexcept
    : count_(count), blocks_(new (std::nothrow) CallerBlock*[count]) {
  while (blocks_ != nullptr && taken_ < count_) {
    CallerBlock* const block = set.take();
    if (block == nullptr) {
      return;
    }
    blocks_[taken_++] = block;
  }
}

Scratch::OfOthers::~OfOthers() {
  for (unsigned i = 0; i < taken_; ++i) {
    blocks_[i]->is_taken.store(false, std::memory_order_release);
  }
}

}  // namespace anydml
