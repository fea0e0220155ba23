// SPDX-License-Identifier: MIT
// A family's kernels, as the CPU backend sees them: they make a step ready and cut it into pieces for threads. The
// backend has the threads, the memory and the queues, and names no family.
//
// The contract, beyond that of ops/family.h, whose statements on strides, overlaps and types hold for kernels too:
//
// Validation  A step was made by the family's own lowering in the same build. Kernels trust its parameters, and the
//             backend has checked the number of operands.
// Addresses   run gets one for each operand of the step, at any alignment. Those of operands without a slot are null:
//             their elements come from, or go to, a neighbour. So are those of tensors that are absent.
// Order       A step has one phase or several, one after another. The pieces of a phase run once each, in any order and
//             at once on several threads; no two may write the same byte. All are done before the next phase or step
//             begins, which sees everything that they wrote.
// Scratch     A step may ask for memory to work in. No other piece uses it while a piece runs, its content means
//             nothing when a piece begins, and it is aligned to 64 bytes.
// Modes       Rounding to nearest, subnormals kept, traps off, on every thread. A kernel leaves the modes alone.
// Errors      A step that is ready cannot fail: run neither throws nor allocates nor waits.
// Results     The bits do not depend on the number of threads or of pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/cpu/target.h"
#include "plan/plan.h"

namespace anydml::cpu {

// What a step is made ready for.
struct Machine {
  Target target = Target::generic;
  unsigned threads = 1;
};

// One part of a step's work.
struct Piece {
  std::uint64_t number;  // in its phase
  std::uint32_t phase;
  std::byte* scratch;  // for a step that asks for none it means nothing
};

// A step that is ready. Immutable: many threads may run pieces of it at once, for many runs.
class Prepared {
 public:
  explicit Prepared(std::uint64_t pieces, std::uint32_t phases = 1, std::size_t scratch_bytes = 0)
      : pieces_(pieces), phases_(phases), scratch_bytes_(scratch_bytes) {}
  virtual ~Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  // How many pieces a phase has. A piece should be worth handing to another thread: ten microseconds of work or more,
  // if there is as much.
  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
  // The same for a phase of a step that has several; this is asked anew in each run.
  [[nodiscard]] virtual std::uint64_t pieces_in(std::uint32_t /*phase*/) const noexcept { return pieces_; }
  [[nodiscard]] std::uint32_t phases() const { return phases_; }
  // Scratch memory that each thread needs.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }

  // operands: the address of each operand of the step.
  virtual void run(const Piece& piece, std::byte* const* operands) const noexcept = 0;
  // Names the kernels that it runs, as a short text for the log; written and terminated within capacity.
  virtual void explain(char* text, std::size_t capacity) const noexcept = 0;

 private:
  std::uint64_t pieces_;
  std::uint32_t phases_;
  std::size_t scratch_bytes_;
};

// A tile of the elements of an operand that has no slot. Elements are numbered as they would lie packed.
struct StreamTile {
  std::int64_t first;            // the number of the first
  std::int64_t rows;             // of the tile
  std::int64_t columns;          // elements that follow one another in each row
  std::int64_t row_step;         // from the first of a row to the first of the next, in elements of the operand
  std::int64_t buffer_row_step;  // the same in the buffer, in bytes
};

// A step over the elements of one operand that has no slot: it makes them, or takes them, a tile at a time. Immutable,
// as Prepared.
class ElementStream {
 public:
  ElementStream() = default;
  virtual ~ElementStream() = default;
  ElementStream(const ElementStream&) = delete;
  ElementStream& operator=(const ElementStream&) = delete;

  // For the elements of a tile of that operand, which are at `buffer`. Each is asked for once in a run.
  virtual void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept = 0;
};

// A step before or after another that is one piece of work with it. The operands of both are given together.
struct Neighbour {
  std::unique_ptr<ElementStream> stream;  // null: there is none
  std::size_t first_operand = 0;          // of its own, among all
  std::size_t joined_operand = 0;         // of the main step: the one whose elements it makes or takes

  void run(const StreamTile& tile, std::byte* buffer, std::byte* const* operands) const noexcept {
    stream->run(tile, buffer, operands + first_operand);
  }
  // The elements [first, first + count).
  void run(std::int64_t first, std::int64_t count, std::byte* buffer, std::byte* const* operands) const noexcept {
    run({.first = first, .rows = 1, .columns = count, .row_step = 0, .buffer_row_step = 0}, buffer, operands);
  }
};
struct Neighbours {
  Neighbour before;
  Neighbour after;
};

struct Family {
  // Makes what steps for this target need, before the first of them; null: nothing. One call at a time, and no fork in
  // its midst, so that it need not guard anything. May throw std::bad_alloc.
  void (*open)(Target target);
  // Null: the step asks for something that the family has no kernel for. Neighbours come to those families alone whose
  // operators say that they join others (ops/family.h). May throw std::bad_alloc.
  std::unique_ptr<Prepared> (*prepare)(const Step& step, const Machine& machine, Neighbours neighbours);
  // The same for a step that stands before or after one of another family; null: the family has none that do.
  std::unique_ptr<ElementStream> (*prepare_stream)(const Step& step, const Machine& machine);
};

// In the order of ops/families.def, so that a step's number finds its own. What is linked with the backend defines it.
[[nodiscard]] std::span<const Family* const> families();

}  // namespace anydml::cpu
