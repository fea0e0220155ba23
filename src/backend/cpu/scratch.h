// SPDX-License-Identifier: MIT
// Memory that a kernel uses while it runs a piece. The contents of a block are undefined between two pieces, so each
// thread needs only one block, no matter how many programs it runs:
//
// Workers  Each worker has one block, indexed by the worker's number. A worker runs one piece at a time.
// Callers  Any number of callers may run at the same time. Each caller uses one block for the duration of its run. The
//          first block always exists. More blocks are allocated when several callers run at the same time, and they
//          are kept. If memory runs out, the caller has no block and reports this before its run begins.
// Others   A run on the threads of a caller's parallel loop uses a caller's block for each of these threads, because
//          their numbers mean different threads in different runs.
//
// A program owns a reference to the set that it was compiled for. Programs share a set that is large enough for all of
// them (ThreadPool::scratch). Therefore no set is freed while a thread uses it, and all memory is freed with the last
// program.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>

namespace anydml {

class Scratch {
 public:
  static constexpr std::size_t kAlignment = 64;

  // Creates blocks of this many bytes, rounded up to a power of two. Throws std::bad_alloc.
  Scratch(std::size_t bytes, unsigned workers);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // The size of a block.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // The block of a worker. Worker numbers start at 1.
  [[nodiscard]] std::byte* of_worker(unsigned number) const { return workers_.get() + (number - 1) * bytes_; }

 private:
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{kAlignment}); }
  };
  using Memory = std::unique_ptr<std::byte, Delete>;

  struct CallerBlock {
    std::atomic<bool> is_taken{true};
    Memory memory;
    CallerBlock* next = nullptr;
  };

  static Memory allocate(std::size_t blocks, std::size_t bytes) noexcept;
  CallerBlock* take() noexcept;
  CallerBlock* add() noexcept;

  const std::size_t bytes_;
  const Memory workers_;
  // The list never shrinks. It has no lock, because a fork could leave the lock held in the child.
  std::atomic<CallerBlock*> callers_{nullptr};

 public:
  // The block of a thread that runs a program, for the duration of the run.
  class OfCaller {
   public:
    // `set` is null if the program needs no scratch memory.
    explicit OfCaller(Scratch* set) noexcept : block_(set == nullptr ? nullptr : set->take()) {}
    ~OfCaller() {
      if (block_ != nullptr) {
        block_->is_taken.store(false, std::memory_order_release);
      }
    }
    OfCaller(const OfCaller&) = delete;
    OfCaller& operator=(const OfCaller&) = delete;

    // Null if out of memory, or if no memory was needed.
    [[nodiscard]] std::byte* memory() const { return block_ == nullptr ? nullptr : block_->memory.get(); }

   private:
    CallerBlock* const block_;
  };

  // The blocks of the threads of a caller's parallel loop, for the duration of a run.
  class OfOthers {
   public:
    // Takes blocks for the threads 1 to `count`.
    OfOthers(Scratch& set, unsigned count) noexcept;
    ~OfOthers();
    OfOthers(const OfOthers&) = delete;
    OfOthers& operator=(const OfOthers&) = delete;

    // Whether there was enough memory for all blocks.
    [[nodiscard]] bool is_complete() const { return taken_ == count_; }
    [[nodiscard]] std::byte* of_thread(unsigned number) const { return blocks_[number - 1]->memory.get(); }

   private:
    const unsigned count_;
    unsigned taken_ = 0;
    const std::unique_ptr<CallerBlock*[]> blocks_;
  };
};

}  // namespace anydml
