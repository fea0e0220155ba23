// SPDX-License-Identifier: MIT
// Recurrent networks on a GPU. If the matrix fits into the GPU's shared memory, one launch computes all time steps.
// Otherwise each time step has its own launch, or two launches for a GRU that multiplies after the reset.
#include "backend/cuda/family.h"
#include "base/integers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/recurrent/cuda/launch.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kMaxBlocks = 0x7fffffff;  // thread blocks in a launch
constexpr std::int64_t kMaxWalkedUnits = 2048;   // with more, the factors of eight units exceed shared memory

// Returns a mask of the operands whose elements are all aligned.
u32 aligned_operands(const RecurrentStep& step, std::byte* const* bases, std::size_t count) {
  u32 aligned = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const RecurrentStrides& strides = step.strides[i];
    const bool is_half = step.is_half != 0 && i != kRecurrentLengths;
    const u64 low = reinterpret_cast<std::uintptr_t>(bases[i]) | static_cast<u64>(strides.time) |
                    static_cast<u64>(strides.direction) | static_cast<u64>(strides.row) |
                    static_cast<u64>(strides.unit);
    aligned |= low % (is_half ? sizeof(u16) : sizeof(u32)) == 0 ? 1U << i : 0;
  }
  return aligned;
}

class RecurrentPack final : public PreparedStep {
 public:
  explicit RecurrentPack(const RecurrentStep& step) { launch_.step = step; }

  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    RecurrentLaunch launch = launch_;
    launch.aligned = aligned_operands(launch.step, bases, 1);
    std::copy_n(bases, 2, launch.operands);
    return start_recurrent_pack(launch, stream);
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "the recurrence transposed");
  }

 private:
  RecurrentLaunch launch_{};
};

class RecurrentRun final : public PreparedStep {
 public:
  // `walk` is the same network as a single launch for all time steps. If that is impossible, it has no blocks.
  RecurrentRun(const RecurrentLaunch& launch, const RecurrentLaunch& walk, const Step& flat)
      : launch_(launch), walk_(walk) {
    for (std::size_t i = 0; i < kRecurrentOperands; ++i) {
      is_absent_[i] = flat.operands[i].slot == kAbsentSlot;
    }
  }

  [[nodiscard]] std::uint64_t launches() const noexcept override {
    return walk_.blocks() != 0 ? 2 : static_cast<std::uint64_t>(launch_.step.steps) * launch_.phases + 1;
  }
  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    RecurrentLaunch launch = launch_;
    bind(launch, bases);
    cudaError_t error = start_recurrent_begin(launch, stream);
    if (error != cudaSuccess) {
      return error;
    }
    if (walk_.blocks() != 0) {
      RecurrentLaunch walk = walk_;
      bind(walk, bases);
      error = start_recurrent_walk(walk, stream);
      if (error == cudaSuccess) {
        return error;
      }
      error = cudaSuccess;  // the driver may have reserved some multiprocessors, so run step by step
    }
    for (std::int64_t time = 0; error == cudaSuccess && time < launch.step.steps; ++time) {
      for (u32 phase = 0; error == cudaSuccess && phase < launch.phases; ++phase) {
        error = start_recurrent_time(launch, moment_of(launch.step, time, phase), stream);
      }
    }
    return error;
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    const bool walks = walk_.blocks() != 0;
    const RecurrentLaunch& form = walks ? walk_ : launch_;
    std::snprintf(text, capacity, "%lld time steps%s, blocks of %u rows and %u units",
                  static_cast<long long>(form.step.steps), walks ? " in one launch" : "", form.rows, form.units);
  }

 private:
  void bind(RecurrentLaunch& launch, std::byte* const* bases) const noexcept {
    launch.aligned = aligned_operands(launch.step, bases, kRecurrentOperands);
    for (std::size_t i = 0; i < kRecurrentOperands; ++i) {
      launch.operands[i] = is_absent_[i] ? nullptr : bases[i];
    }
  }

  RecurrentLaunch launch_;
  RecurrentLaunch walk_;
  bool is_absent_[kRecurrentOperands] = {};
};

std::int64_t blocks_of(const RecurrentLaunch& launch) {
  return launch.step.directions * ceil_div(launch.step.rows, launch.rows) * ceil_div(launch.step.units, launch.units);
}

void set_tiles(RecurrentLaunch& launch) {
  launch.unit_tiles = static_cast<u32>(ceil_div(launch.step.units, launch.units));
  launch.row_tiles = static_cast<u32>(ceil_div(launch.step.rows, launch.rows));
}

// Chooses the tiles of a launch for all time steps. Every multiprocessor runs at most one block, which keeps its part
// of the matrix in shared memory. Small blocks, with few rows and few units, are tried first, because they leave less
// work for each thread.
RecurrentLaunch walk_of(RecurrentLaunch launch, const GpuProperties& gpu) {
  const bool is_single = launch.step.rows == 1;
  for (launch.rows = is_single ? 1 : 2; launch.rows <= (is_single ? 1 : kRecurrentMaxRows); launch.rows *= 2) {
    for (launch.units = kRecurrentMinUnits; launch.units <= kRecurrentMaxUnits; launch.units *= 2) {
      if (launch.step.units <= kMaxWalkedUnits && blocks_of(launch) <= gpu.multiprocessors &&
          bytes_of_walk(launch) <= gpu.shared_bytes_of_block) {
        set_tiles(launch);
        return launch;
      }
    }
  }
  launch.unit_tiles = launch.row_tiles = 0;
  return launch;
}

std::unique_ptr<PreparedStep> prepare(const Step& flat, const GpuProperties& gpu, Neighbors, const char** why) {
  RecurrentLaunch launch{};
  std::memcpy(&launch.step, flat.parameters.data(), sizeof(launch.step));
  const RecurrentStep& step = launch.step;
  if (step.kind == RecurrentKind::pack) {
    return std::make_unique<RecurrentPack>(step);
  }
  launch.memory = memory_of(step);
  launch.phases = step.has_two_products() ? 2 : 1;
  launch.gates = step.has_two_products() ? 2 : step.gates;
  launch.parts = static_cast<u32>(std::min<std::int64_t>(ceil_div(step.units, kProductBlock), kRecurrentMaxParts));
  // If most multiprocessors would otherwise be idle, reduce the number of rows and units per block. Rows are reduced
  // first, because threads with adjacent units read whole lines of the matrix.
  launch.units = kRecurrentMaxUnits;
  launch.rows = step.rows == 1 ? 1 : kRecurrentMaxRows;
  const auto are_few = [&] { return blocks_of(launch) * 4 < static_cast<std::int64_t>(gpu.multiprocessors) * 3; };
  while (launch.rows > 2 && are_few()) {
    launch.rows /= 2;
  }
  while (launch.units > kRecurrentMinUnits && are_few()) {
    launch.units /= 2;
  }
  if (blocks_of(launch) > kMaxBlocks) {
    *why = "the CUDA backend supports recurrent networks of at most 2,147,483,647 tiles of 8 rows and 32 units";
    return nullptr;
  }
  set_tiles(launch);
  return std::make_unique<RecurrentRun>(launch, walk_of(launch, gpu), flat);
}

}  // namespace

extern const FamilyKernels recurrent_family;
const FamilyKernels recurrent_family = {.prepare = prepare};

}  // namespace anydml::cuda
