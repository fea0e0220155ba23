// SPDX-License-Identifier: MIT
// Runs steps with several phases and steps with scratch memory through the CPU backend. The program defines its own
// family instead of the library's, so that it tests only the backend's side of backend/cpu/family.h.
#include "backend/cpu/family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "base/process.h"
#include "support/sanitizers.h"

namespace anydml {
namespace {

constexpr std::uint64_t kPieceElements = 64;

struct ScanParameters {
  std::uint64_t count;
  std::uint64_t extra_scratch;
};

std::atomic<std::uint64_t> g_wrong_scratch{0};

// An inclusive prefix sum with doubling distances: phase k adds the element 2^k positions earlier. The values alternate
// between the two operands, so a phase that starts too early, or does not see another thread's writes, produces wrong
// sums.
class Scan final : public cpu::PreparedStep {
 public:
  explicit Scan(const ScanParameters& parameters)
      : PreparedStep(pieces_for(parameters.count), phases_for(parameters.count),
                     kPieceElements * sizeof(std::uint64_t) + parameters.extra_scratch),
        count_(parameters.count) {}

  // The last phase has half as many pieces, each twice as large.
  [[nodiscard]] std::uint64_t pieces_in(std::uint32_t phase) const noexcept override {
    return is_last(phase) ? (pieces() + 1) / 2 : pieces();
  }

  void run(const cpu::Piece& piece, std::byte* const* operands) const noexcept override {
    const std::uint64_t parts = is_last(piece.phase) ? 2 : 1;
    for (std::uint64_t part = 0; part < parts; ++part) {
      run_part(piece, piece.number * parts + part, operands);
    }
  }

  void explain(char* text, std::size_t capacity) const noexcept override { std::snprintf(text, capacity, "scan"); }

 private:
  static std::uint64_t pieces_for(std::uint64_t count) { return (count + kPieceElements - 1) / kPieceElements; }
  static std::uint32_t phases_for(std::uint64_t count) { return static_cast<std::uint32_t>(std::bit_width(count)); }
  [[nodiscard]] bool is_last(std::uint32_t phase) const { return phase + 1 == phases(); }

  void run_part(const cpu::Piece& piece, std::uint64_t number, std::byte* const* operands) const noexcept {
    const auto* const from = reinterpret_cast<const std::uint64_t*>(operands[piece.phase % 2]);
    auto* const to = reinterpret_cast<std::uint64_t*>(operands[1 - piece.phase % 2]);
    const std::uint64_t first = number * kPieceElements;
    if (first >= count_) {
      return;
    }
    const std::uint64_t elements = std::min(count_ - first, kPieceElements);
    const std::uint64_t distance = std::uint64_t{1} << piece.phase;
    // The sums go through scratch memory, so that sharing it with another piece would corrupt them.
    if (piece.scratch == nullptr || reinterpret_cast<std::uintptr_t>(piece.scratch) % 64 != 0) {
      ++g_wrong_scratch;
      return;
    }
    auto* const sums = reinterpret_cast<std::uint64_t*>(piece.scratch);
    for (std::uint64_t i = 0; i < elements; ++i) {
      sums[i] = from[first + i] + (first + i >= distance ? from[first + i - distance] : 0);
    }
    std::memcpy(to + first, sums, elements * sizeof(std::uint64_t));
  }

  const std::uint64_t count_;
};

constexpr cpu::FamilyKernels kScanFamily = {
    .open = nullptr,
    .prepare = [](const Step& step, const cpu::StepContext&, cpu::Neighbors) -> std::unique_ptr<cpu::PreparedStep> {
      ScanParameters parameters{};
      std::memcpy(&parameters, step.parameters.data(), sizeof(parameters));
      return std::make_unique<Scan>(parameters);
    },
    .prepare_joined = nullptr,
};

}  // namespace

std::span<const cpu::FamilyKernels* const> cpu::families() {
  static constexpr const FamilyKernels* kAll[] = {&kScanFamily};
  return kAll;
}

namespace test {
namespace {

BackendDevice* device() {
  static BackendDevice* const opened = [] {
    const BackendSettings settings{.threads = 3, .cpu_target = ""};
    BackendDevice* handle = nullptr;
    const std::scoped_lock lock(process_mutex());
    EXPECT_EQ(cpu_backend().open(0, &settings, &handle).code, BackendCode::ok);
    return handle;
  }();
  return opened;
}

// A plan of `steps` scans that alternate between two buffers.
Plan make_plan(std::uint64_t count, int steps, std::uint64_t extra_scratch = 0) {
  Plan plan(0, 2);
  const ScanParameters parameters{.count = count, .extra_scratch = extra_scratch};
  const bool moves = std::bit_width(count) % 2 != 0;  // the result is in the other buffer
  for (int step = 0; step < steps; ++step) {
    const std::uint32_t from = moves ? static_cast<std::uint32_t>(step % 2) : 0;
    const Operand operands[] = {{.slot = from, .type = DataType::UINT64, .offset = 0},
                                {.slot = 1 - from, .type = DataType::UINT64, .offset = 0}};
    plan.add(0, operands, std::as_bytes(std::span(&parameters, 1)));
  }
  return plan;
}

BackendStatus compile(const Plan& plan, BackendProgram** program) {
  const BackendPlan flat = backend_plan(plan);
  return cpu_backend().compile(device(), &flat, program);
}

void run_and_check(const BackendProgram* program, std::uint64_t count, int steps) {
  BackendQueue* queue = nullptr;
  ASSERT_EQ(cpu_backend().create_queue(device(), &queue).code, BackendCode::ok);
  std::vector<std::uint64_t> buffers[2] = {std::vector<std::uint64_t>(count), std::vector<std::uint64_t>(count)};
  std::iota(buffers[0].begin(), buffers[0].end(), 1);
  std::vector<std::uint64_t> expected = buffers[0];
  for (int step = 0; step < steps; ++step) {
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
  }
  const DeviceAddress addresses[] = {reinterpret_cast<std::uintptr_t>(buffers[0].data()),
                                     reinterpret_cast<std::uintptr_t>(buffers[1].data()), 0};
  ASSERT_EQ(cpu_backend().run(queue, program, addresses, nullptr).code, BackendCode::ok);
  const bool moves = std::bit_width(count) % 2 != 0 && steps % 2 != 0;
  EXPECT_EQ(buffers[moves ? 1 : 0], expected) << count << " elements, " << steps << " steps";
  EXPECT_EQ(g_wrong_scratch, 0U);
}

TEST(Phases, SeeWhatEarlierPhasesWrote) {
  for (const std::uint64_t count : {1U, 2U, 63U, 64U, 65U, 1000U, 4096U, 10'001U}) {
    for (const int steps : {1, 2, 5}) {
      BackendProgram* program = nullptr;
      ASSERT_EQ(compile(make_plan(count, steps), &program).code, BackendCode::ok);
      for (int run = 0; run < 3; ++run) {
        run_and_check(program, count, steps);
      }
      cpu_backend().destroy(program);
    }
  }
}

// Threads call one program concurrently, and then programs that need more memory.
TEST(Phases, ManyCallersHaveTheirOwnScratch) {
  std::vector<std::thread> callers;
  BackendProgram* shared = nullptr;
  ASSERT_EQ(compile(make_plan(3000, 3), &shared).code, BackendCode::ok);
  for (std::uint64_t caller = 0; caller < 6; ++caller) {
    callers.emplace_back([shared, caller] {
      for (std::uint64_t run = 0; run < (kThreadSanitizer ? 4U : 15U); ++run) {
        run_and_check(shared, 3000, 3);
        BackendProgram* own = nullptr;
        ASSERT_EQ(compile(make_plan(1500, 2, (caller + run) << 12), &own).code, BackendCode::ok);
        run_and_check(own, 1500, 2);
        cpu_backend().destroy(own);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  cpu_backend().destroy(shared);
}

TEST(Phases, CompilingSaysThatThereIsNoMemoryForScratch) {
  BackendProgram* program = nullptr;
  EXPECT_EQ(compile(make_plan(100, 1, std::uint64_t{1} << 60), &program).code, BackendCode::out_of_memory);
  EXPECT_EQ(program, nullptr);
}

}  // namespace
}  // namespace test
}  // namespace anydml
