// SPDX-License-Identifier: MIT
// Checks every element of the device's copies against the loops that define them. The test covers arbitrary layouts and
// addresses, runs of any length, tiles, and many copies in one step. All of the outputs' memory is compared.
#include <algorithm>
#include <vector>

#include "backend/cuda/family.h"
#include "cuda/kernels_harness.h"
#include "support/movements.h"

namespace anydml::cuda {

extern const FamilyKernels move_family;

namespace {

constexpr std::int64_t kElements[] = {1, 2, 4, 8};

class MoveCheck {
 public:
  MoveCheck() : draw(test::kSeed) {}
  ~MoveCheck() {
    (void)cudaFree(from_);
    (void)cudaFree(to_);
  }

  void run(const test::DrawnStep& drawn) {
    std::vector<std::byte> from(static_cast<std::size_t>(drawn.from_bytes) + 1);
    std::vector<std::byte> expected(static_cast<std::size_t>(drawn.to_bytes) + 1);
    const auto byte = [this] { return static_cast<std::byte>(draw.random()()); };
    std::ranges::generate(from, byte);
    std::ranges::generate(expected, byte);
    make_room(from_, from_room_, from.size());
    make_room(to_, to_room_, expected.size());
    CHECK(cudaMemcpy(from_, from.data(), from.size(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(to_, expected.data(), expected.size(), cudaMemcpyHostToDevice));
    drawn.apply(from.data(), expected.data());

    Plan plan(1, 1);
    drawn.lower(plan);
    for_each_step(plan.words(), [&](const Step& step) {
      const char* why = nullptr;
      const auto prepared = move_family.prepare(step, machine_of_tests(), {}, &why);
      if (prepared == nullptr) {
        report_error(why);
        return false;
      }
      std::byte* const memories[] = {from_, to_};
      std::vector<std::byte*> bases;
      for (const Operand& operand : step.operands) {
        bases.push_back(memories[operand.slot] + operand.offset);
      }
      CHECK(prepared->launch(bases.data(), nullptr, nullptr));
      return true;
    });
    std::vector<std::byte> found(expected.size());
    CHECK(cudaMemcpy(found.data(), to_, found.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < found.size(); ++i) {
      different += found[i] != expected[i] ? 1 : 0;
    }
    bytes += found.size();
  }

  test::MovementDraw draw;
  u64 bytes = 0;
  u64 different = 0;

 private:
  static void make_room(std::byte*& memory, std::size_t& room, std::size_t bytes) {
    if (room < bytes) {
      (void)cudaFree(memory);
      CHECK(cudaMalloc(&memory, bytes));
      room = bytes;
    }
  }

  std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
  std::size_t from_room_ = 0;
  std::size_t to_room_ = 0;
};

}  // namespace

void check_moves() {
  MoveCheck check;
  auto& random = check.draw.random();
  const auto finish = [&](const char* name) {
    report(name, check.bytes, check.different);
    check.bytes = check.different = 0;
  };
  for (int round = 0; round < (g_quick ? 30 : 2000); ++round) {
    test::DrawnStep step;
    for (u64 copies = 1 + random() % 4; copies > 0; --copies) {
      std::vector<std::int64_t> sizes(random() % 9);
      for (std::int64_t& size : sizes) {
        size = static_cast<std::int64_t>(1 + random() % (sizes.size() < 4 ? 40 : 5));
      }
      check.draw.any(sizes, kElements[random() % 4], step);
    }
    check.run(step);
  }
  finish("copies of any layout");

  for (const std::int64_t element : kElements) {
    for (std::int64_t size = 1; size <= (g_quick ? 5 : 150); ++size) {
      test::DrawnStep step;
      check.draw.any({7, size}, element, step, true);
      step.copies.back().movement.loops[0].to += element;  // this leaves gaps between the rows
      step.to_bytes += 7 * element;
      check.run(step);
    }
    test::DrawnStep step;
    check.draw.any({g_quick ? 5'000 : 5'000'001}, element, step, true);
    check.run(step);
  }
  finish("copies of rows");

  for (const std::int64_t element : kElements) {
    for (const std::int64_t rows : {8, 31, 32, 33, 64, 65, 129, 2050}) {
      for (const std::int64_t columns : {8, 31, 33, 63, 64, 66, 128, 513}) {
        if (!g_quick || rows * columns < 5000) {
          test::DrawnStep step;
          check.draw.transposed(rows, columns, element, step);
          check.run(step);
        }
      }
    }
  }
  finish("transposed copies");

  for (int round = 0; round < (g_quick ? 10 : 200); ++round) {
    test::DrawnStep step;
    std::vector<std::int64_t> widths(1 + random() % 6);
    for (std::int64_t& width : widths) {
      width = static_cast<std::int64_t>(1 + random() % 50);
    }
    check.draw.parts(static_cast<std::int64_t>(1 + random() % 1000), widths, kElements[random() % 4], round % 3 != 0,
                     step);
    check.run(step);
  }
  finish("adjacent parts");

  test::DrawnStep many;
  for (int copy = 0; copy < (g_quick ? 200 : 3000); ++copy) {
    const auto size = static_cast<std::int64_t>(1 + random() % (copy % 500 == 0 ? 100'000 : 40));
    check.draw.any({2, size}, kElements[random() % 4], many, copy % 2 == 0);
  }
  check.run(many);
  finish("many copies");
}

}  // namespace anydml::cuda
