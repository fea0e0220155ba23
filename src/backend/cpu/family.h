// SPDX-License-Identifier: MIT
// The interface between the CPU backend and a family's kernels. A family prepares a step and divides it into pieces for
// threads. The backend owns the threads, the memory and the queues, and does not depend on any particular family.
//
// The contract, in addition to ops/family.h, whose statements on strides, overlaps and types also apply to kernels:
//
// Validation  Steps come from the family's own lowering in the same build. Kernels trust their parameters, and the
//             backend has checked the number of operands.
// Addresses   `run` receives an address for each operand of the step. It may have any alignment. It is null for absent
//             tensors, and for forwarded operands, because a neighbor produces or consumes their elements.
// Order       A step has one or more phases, which run one after another. Each piece of a phase runs once. The pieces
//             run in any order, and several threads may run them at the same time, so no two pieces may write the same
//             byte. The next phase or step begins after all of them have finished, and sees everything they wrote.
// Scratch     A step may request scratch memory. It is private to a piece while that piece runs. Its contents are
//             undefined when a piece begins, and it is aligned to 64 bytes.
// Modes       On every thread, rounding is to nearest, subnormals are kept, and traps are off. A kernel must not change
//             these modes.
// Errors      A prepared step cannot fail: `run` does not throw, allocate or block.
// Results     The bits do not depend on the number of threads or pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/cpu/target.h"
#include "backend/joined_steps.h"
#include "plan/plan.h"

namespace anydml::cpu {

// The information that a family needs to prepare a step.
struct StepContext {
  Target target = Target::generic;
  unsigned threads = 1;
};

// One part of a step's work.
struct Piece {
  std::uint64_t number;  // index within its phase
  std::uint32_t phase;
  std::byte* scratch;  // undefined if the step requests no scratch memory
};

// A prepared step. It is immutable, so many threads may run its pieces at the same time, on behalf of different runs.
class PreparedStep {
 public:
  explicit PreparedStep(std::uint64_t pieces, std::uint32_t phases = 1, std::size_t scratch_bytes = 0)
      : pieces_(pieces), phases_(phases), scratch_bytes_(scratch_bytes) {}
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  // The number of pieces in a phase. A piece should be large enough to be worth passing to another thread: it should
  // take at least ten microseconds, if the step has enough work.
  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
  // The number of pieces in one phase, for a step that has several phases. Called in each run.
  [[nodiscard]] virtual std::uint64_t pieces_in(std::uint32_t /*phase*/) const noexcept { return pieces_; }
  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  // The scratch memory that each thread needs, in bytes.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }

  // operands: the address of each of the step's operands.
  virtual void run(const Piece& piece, std::byte* const* operands) const noexcept = 0;
  // Writes a short null-terminated string that names the kernels, for the log.
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;

 private:
  std::uint64_t pieces_;
  std::uint32_t phases_;
  std::size_t scratch_bytes_;
};

// A tile of elements from an operand without a slot. Elements are numbered as if they were packed.
struct StreamTile {
  std::int64_t first;            // the number of the first element
  std::int64_t rows;             // rows in the tile
  std::int64_t columns;          // consecutive elements in each row
  std::int64_t row_step;         // distance between the starts of two rows, in elements of the operand
  std::int64_t buffer_row_step;  // distance between the starts of two rows in the buffer, in bytes
};

// A step that produces or consumes the elements of one operand without a slot, one tile at a time. It is immutable,
// like PreparedStep.
class JoinedStep {
 public:
  JoinedStep() = default;
  virtual ~JoinedStep() = default;
  JoinedStep(const JoinedStep&) = delete;
  JoinedStep& operator=(const JoinedStep&) = delete;

  // Processes one tile of that operand's elements, which are at `buffer`. Each element is requested once per run.
  virtual void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept = 0;
};

struct Neighbor : anydml::Neighbor<JoinedStep> {
  void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept {
    step->run(tile, buffer, operands + first_operand);
  }
  // Processes the elements [first, first + count).
  void run(std::int64_t first, std::int64_t count, std::byte* buffer, std::byte* const* operands) const noexcept {
    run({.first = first, .rows = 1, .columns = count, .row_step = 0, .buffer_row_step = 0}, buffer, operands);
  }
};
using Neighbors = anydml::Neighbors<Neighbor>;

struct FamilyKernels {
  // Called before the first step is prepared for this target, to create data that all of the family's steps need. May
  // be null. Only one thread at a time calls it, and never during a fork, so it needs no lock. May throw
  // std::bad_alloc.
  void (*open)(Target target);
  // Returns null if the family has no kernel for this step. Neighbors are passed only to families whose operators
  // declare that they can be joined with other steps (ops/family.h). May throw std::bad_alloc.
  std::unique_ptr<PreparedStep> (*prepare)(const Step& step, const StepContext& context, Neighbors neighbors);
  // Prepares a step that is joined with a step from a different family, as a prologue or an epilogue. Null if the
  // family has no such steps.
  std::unique_ptr<JoinedStep> (*prepare_joined)(const Step& step, const StepContext& context);
};

// In the order of ops/families.def, so that the family number in a step is an index. Defined where the backend is
// linked.
[[nodiscard]] std::span<const FamilyKernels* const> families();

}  // namespace anydml::cpu
