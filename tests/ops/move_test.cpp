// SPDX-License-Identifier: MIT
// Checks the CPU steps of the move family, element by element, against the loops that define them: every target, pieces
// for several thread counts, sizes around the edges of vectors, lines and tiles. The entire memory of the outputs is
// compared, so that changes to the bytes between elements are detected. tests/ops/move_oracle.py compares the operators
// with NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backend/cpu/family.h"
#include "support/movements.h"
#include "support/sanitizers.h"

namespace anydml {

namespace cpu {
extern const FamilyKernels move_family;
}  // namespace cpu

namespace test {
namespace {

constexpr std::int64_t kElements[] = {1, 2, 4, 8};

// Runs the same step for each target, split for 1 to 3 threads, with its pieces in random order.
void check(const DrawnStep& drawn, Random& random) {
  std::vector<std::byte> from(static_cast<std::size_t>(drawn.from_bytes) + 1);
  std::vector<std::byte> to(static_cast<std::size_t>(drawn.to_bytes) + 1);
  const auto draw = [&random] { return static_cast<std::byte>(random()); };
  std::ranges::generate(from, draw);
  std::ranges::generate(to, draw);
  std::vector<std::byte> expected = to;
  drawn.apply(from.data(), expected.data());

  Plan plan(1, 1);
  drawn.lower(plan);
  for (const cpu::Target target : cpu::machine_targets()) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      std::vector<std::byte> found = to;
      std::byte* const memories[] = {from.data(), found.data()};
      std::string explained;
      for_each_step(plan.words(), [&](const Step& step) {
        EXPECT_LE(step.operands.size(), kMaxStepOperands);
        const auto prepared = cpu::move_family.prepare(step, {.target = target, .threads = threads}, {});
        std::vector<std::byte*> operands;
        for (const Operand& operand : step.operands) {
          operands.push_back(memories[operand.slot] + operand.offset);
        }
        std::vector<std::uint64_t> pieces(prepared->pieces());
        std::iota(pieces.begin(), pieces.end(), 0);
        std::shuffle(pieces.begin(), pieces.end(), random);
        for (const std::uint64_t piece : pieces) {
          prepared->run({.number = piece, .phase = 0, .scratch = nullptr}, operands.data());
        }
        char text[64];
        prepared->explain(text, sizeof(text));
        explained += text;
        return true;
      });
      ASSERT_TRUE(found == expected) << cpu::target_name(target) << ", " << threads << " threads: " << explained;
    }
  }
}

TEST(Move, AnyLayouts) {
  MovementDraw draw(kSeed);
  for (int round = 0; round < (kSanitized ? 400 : 1500); ++round) {
    DrawnStep step;
    for (std::uint64_t copies = 1 + draw.random()() % 4; copies > 0; --copies) {
      const auto rank = draw.random()() % 9;
      std::vector<std::int64_t> sizes(rank);
      for (std::int64_t& size : sizes) {
        size = static_cast<std::int64_t>(1 + draw.random()() % (rank < 4 ? 12 : rank < 7 ? 4 : 3));
      }
      draw.any(sizes, kElements[draw.random()() % 4], step);
    }
    check(step, draw.random());
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Move, SizesAroundEdges) {
  MovementDraw draw(kSeed);
  for (const std::int64_t element : kElements) {
    // Runs of every length up to just beyond the shortest row, and some around the tile sizes.
    for (std::int64_t size = 1; size <= 140; ++size) {
      DrawnStep step;
      draw.any({5, size}, element, step, true);
      step.copies.back().movement.loops[0].to += element;  // the rows are not adjacent
      step.to_bytes += 5 * element;
      check(step, draw.random());
    }
    for (const std::int64_t size : {255, 256, 257, 4095, 4097, 65'535, 65'536, 65'537, 300'001}) {
      for (const bool plain : {true, false}) {
        DrawnStep step;
        draw.any({size}, element, step, plain);
        draw.any({3, size}, element, step, plain);
        draw.any({size, 3}, element, step, plain);
        check(step, draw.random());
      }
    }
  }
}

TEST(Move, Transposed) {
  MovementDraw draw(kSeed);
  for (const std::int64_t element : kElements) {
    for (const std::int64_t rows : {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 130, 1025}) {
      for (const std::int64_t columns : {1, 3, 8, 15, 16, 17, 31, 63, 64, 65, 129, 257}) {
        DrawnStep step;
        draw.transposed(rows, columns, element, step);
        check(step, draw.random());
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(Move, ManyCopiesOfManySizes) {
  MovementDraw draw(kSeed);
  DrawnStep step;
  for (int copy = 0; copy < 3000; ++copy) {
    const auto size = static_cast<std::int64_t>(1 + draw.random()() % (copy % 500 == 0 ? 100'000 : 40));
    draw.any({2, size}, kElements[draw.random()() % 4], step, copy % 2 == 0);
  }
  check(step, draw.random());
}

// Parts that share cache lines are copied together, tile by tile.
TEST(Move, PartsBesideEachOther) {
  MovementDraw draw(kSeed);
  for (int round = 0; round < 300; ++round) {
    DrawnStep step;
    std::vector<std::int64_t> widths(1 + draw.random()() % 6);
    const bool narrow = draw.random()() % 2 == 0;
    for (std::int64_t& width : widths) {
      width = static_cast<std::int64_t>(1 + draw.random()() % (narrow ? 5 : 200));
    }
    const auto rows = static_cast<std::int64_t>(1 + draw.random()() % (round % 10 == 0 ? 20'000 : 300));
    draw.parts(rows, widths, kElements[draw.random()() % 4], round % 3 != 0, step);
    check(step, draw.random());
    if (HasFatalFailure()) {
      return;
    }
  }
}

// A tiny copy has few pieces and a large one has many.
TEST(Move, PiecesAreWorthATask) {
  const auto pieces_of = [](std::int64_t count, std::int64_t bytes) {
    Plan plan(1, 1);
    CopyList list(plan);
    for (std::int64_t i = 0; i < count; ++i) {
      Movement movement{.element = 1};
      movement.add(bytes, 1, 1);
      const Operand from{.slot = 0, .type = DataType::UINT8, .offset = static_cast<u64>(i * bytes)};
      const Operand to{.slot = 1, .type = DataType::UINT8, .offset = static_cast<u64>(i * bytes)};
      list.copy(from, to, movement);
    }
    list.finish();
    std::uint64_t pieces = 0;
    std::size_t steps = 0;
    for_each_step(plan.words(), [&](const Step& step) {
      ++steps;
      pieces += cpu::move_family.prepare(step, {.target = cpu::Target::generic, .threads = 4}, {})->pieces();
      return true;
    });
    EXPECT_EQ(steps, 1U);
    return pieces;
  };
  EXPECT_LE(pieces_of(500, 16), 2U);
  EXPECT_EQ(pieces_of(1, 1000), 1U);
  EXPECT_GE(pieces_of(1, 64 << 20), 8U);
  EXPECT_GE(pieces_of(500, 128 << 10), 8U);
}

}  // namespace
}  // namespace test
}  // namespace anydml
