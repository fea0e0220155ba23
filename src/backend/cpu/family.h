// SPDX-License-Identifier: MIT
// A family's kernels, as the CPU backend sees them. A family prepares a step and cuts it into pieces for threads. The
// backend owns the threads, the memory and the queues, and names no family.
//
// The contract, in addition to ops/family.h, whose statements on strides, overlaps and types apply to kernels too:
//
// Validation  Steps come from the family's own lowering in the same build. Kernels trust their parameters, and the
//             backend has checked the number of operands.
// Addresses   `run` gets an address for each operand of the step. It may have any alignment. It is null for absent
//             tensors, and for forwarded operands, because their elements come from, or go to, a neighbor.
// Order       A step has one or more phases, which run one after another. The pieces of a phase run once each, in any
//             order and at once on several threads; no two may write the same byte. All of them finish before the next
//             phase or step begins, so that phase or step sees everything that they wrote.
// Scratch     A step may request scratch memory. No other piece uses it while a piece runs. Its contents are
//             undefined when a piece begins, and it is aligned to 64 bytes.
// Modes       Rounding to nearest, subnormals kept, traps off, on every thread. A kernel leaves the modes alone.
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

// The context for which a step is prepared.
struct StepContext {
  Target target = Target::generic;
  unsigned threads = 1;
};

// One part of a step's work.
struct Piece {
  std::uint64_t number;  // within its phase
  std::uint32_t phase;
  std::byte* scratch;  // undefined if the step needs no scratch memory
};

// A prepared step. It is immutable: many threads may run pieces of it at once, for many runs.
class PreparedStep {
 public:
  explicit PreparedStep(std::uint64_t pieces, std::uint32_t phases = 1, std::size_t scratch_bytes = 0)
      : pieces_(pieces), phases_(phases), scratch_bytes_(scratch_bytes) {}
  virtual ~PreparedStep() = default;
  PreparedStep(const PreparedStep&) = delete;
  PreparedStep& operator=(const PreparedStep&) = delete;

  // The number of pieces of a phase. A piece should be worth handing to another thread: ten microseconds of work or
  // more, if the step has that much.
  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
  // The number of pieces of one phase, for a step that has several phases. Called in each run.
  [[nodiscard]] virtual std::uint64_t pieces_in(std::uint32_t /*phase*/) const noexcept { return pieces_; }
  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  // Scratch memory that each thread needs.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }

  // operands: the address of each operand of the step.
  virtual void run(const Piece& piece, std::byte* const* operands) const noexcept = 0;
  // Writes a short text for the log that names the kernels, terminated within capacity.
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;

 private:
  std::uint64_t pieces_;
  std::uint32_t phases_;
  std::size_t scratch_bytes_;
};

// A tile of the elements of an operand without a slot. Elements are numbered as if they were packed.
struct StreamTile {
  std::int64_t first;            // the number of the first element
  std::int64_t rows;             // of the tile
  std::int64_t columns;          // consecutive elements in each row
  std::int64_t row_step;         // from the start of a row to the start of the next, in elements of the operand
  std::int64_t buffer_row_step;  // from the start of a row to the start of the next in the buffer, in bytes
};

// A step over the elements of one operand without a slot: it produces or consumes them, a tile at a time. Immutable,
// like PreparedStep.
class JoinedStep {
 public:
  JoinedStep() = default;
  virtual ~JoinedStep() = default;
  JoinedStep(const JoinedStep&) = delete;
  JoinedStep& operator=(const JoinedStep&) = delete;

  // Processes the elements of a tile of that operand, which are at `buffer`. Each element is requested once in a run.
  virtual void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept = 0;
};

struct Neighbor : anydml::Neighbor<JoinedStep> {
  void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept {
    step->run(tile, buffer, operands + first_operand);
  }
  // The elements [first, first + count).
  void run(std::int64_t first, std::int64_t count, std::byte* buffer, std::byte* const* operands) const noexcept {
    run({.first = first, .rows = 1, .columns = count, .row_step = 0, .buffer_row_step = 0}, buffer, operands);
  }
};
using Neighbors = anydml::Neighbors<Neighbor>;

struct FamilyKernels {
  // Called before the first step is prepared for this target, to create data that all of its steps need. May be null.
  // One thread at a time calls it, and never during a fork, so it needs no lock. May throw std::bad_alloc.
  void (*open)(Target target);
  // Returns null if the family has no kernel for this step. Only families whose operators declare that they can be
  // joined with other steps (ops/family.h) get neighbors. May throw std::bad_alloc.
  std::unique_ptr<PreparedStep> (*prepare)(const Step& step, const StepContext& context, Neighbors neighbors);
  // Prepares a step that is joined with a step of another family, as a prologue or an epilogue. Null if the family has
  // no such steps.
  std::unique_ptr<JoinedStep> (*prepare_joined)(const Step& step, const StepContext& context);
};

// In the order of ops/families.def, so that a step's number selects its family. Defined where the backend is linked.
[[nodiscard]] std::span<const FamilyKernels* const> families();

}  // namespace anydml::cpu
