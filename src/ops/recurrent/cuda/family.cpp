// SPDX-License-Identifier: MIT
// Recurrent networks on a GPU: a launch for each time step, or two for a GRU that multiplies after the reset.
#include "backend/cuda/family.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/recurrent/cuda/launch.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {
namespace {

constexpr std::int64_t kMostBlocks = 0x7fffffff;  // of threads, in a launch

[[nodiscard]] constexpr std::int64_t parts_of(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

// Which operands have all of their elements at multiples of their size.
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
  RecurrentRun(const RecurrentLaunch& launch, const Step& flat) : launch_(launch) {
    for (std::size_t i = 0; i < kRecurrentOperands; ++i) {
      is_absent_[i] = flat.operands[i].slot == kAbsentSlot;
    }
  }

  [[nodiscard]] std::uint64_t launches() const noexcept override {
    return static_cast<std::uint64_t>(launch_.step.steps) + 1;
  }
  [[nodiscard]] cudaError_t launch(std::byte* const* bases, std::byte*, cudaStream_t stream) const noexcept override {
    RecurrentLaunch launch = launch_;
    launch.aligned = aligned_operands(launch.step, bases, kRecurrentOperands);
    for (std::size_t i = 0; i < kRecurrentOperands; ++i) {
      launch.operands[i] = is_absent_[i] ? nullptr : bases[i];
    }
    cudaError_t error = start_recurrent_begin(launch, stream);
    for (launch.time = 0; error == cudaSuccess && launch.time < launch.step.steps; ++launch.time) {
      if (!launch.step.has_two_products()) {
        error = start_recurrent_time(launch, stream);
        continue;
      }
      launch.phase = RecurrentPhase::reset;
      launch.first_gate = kGruUpdate;
      launch.gates = 2;
      error = start_recurrent_time(launch, stream);
      if (error == cudaSuccess) {
        launch.phase = RecurrentPhase::hidden;
        launch.first_gate = kGruHidden;
        launch.gates = 1;
        error = start_recurrent_time(launch, stream);
      }
    }
    return error;
  }
  void explain(char* text, std::size_t capacity) const noexcept override {
    std::snprintf(text, capacity, "%lld time steps, blocks of %u rows and %u units",
                  static_cast<long long>(launch_.step.steps), launch_.rows, launch_.units);
  }

 private:
  RecurrentLaunch launch_;
  bool is_absent_[kRecurrentOperands] = {};
};

std::unique_ptr<PreparedStep> prepare(const Step& flat, const Machine& machine, Neighbours, const char** why) {
  RecurrentLaunch launch{};
  std::memcpy(&launch.step, flat.parameters.data(), sizeof(launch.step));
  const RecurrentStep& step = launch.step;
  if (step.kind == RecurrentKind::pack) {
    return std::make_unique<RecurrentPack>(step);
  }
  launch.memory = memory_of(step);
  launch.phase = RecurrentPhase::whole;
  launch.gates = step.gates;
  launch.parts = static_cast<u32>(std::min<std::int64_t>(parts_of(step.units, kProductBlock), kRecurrentMostParts));
  // Fewer rows and units for each block of threads, where most multiprocessors would not have one otherwise: rows
  // first, because threads whose units lie beside each other read whole lines of the matrix.
  launch.units = kRecurrentMostUnits;
  launch.rows = step.rows == 1 ? 1 : kRecurrentMostRows;
  const auto blocks = [&] {
    return step.directions * parts_of(step.rows, launch.rows) * parts_of(step.units, launch.units);
  };
  const auto are_few = [&] { return blocks() * 4 < static_cast<std::int64_t>(machine.multiprocessors) * 3; };
  while (launch.rows > 2 && are_few()) {
    launch.rows /= 2;
  }
  while (launch.units > kRecurrentLeastUnits && are_few()) {
    launch.units /= 2;
  }
  if (blocks() > kMostBlocks) {
    *why = "the CUDA backend takes recurrent networks of up to 2,147,483,647 tiles of 8 rows and 32 units";
    return nullptr;
  }
  launch.unit_tiles = static_cast<u32>(parts_of(step.units, launch.units));
  launch.row_tiles = static_cast<u32>(parts_of(step.rows, launch.rows));
  return std::make_unique<RecurrentRun>(launch, flat);
}

}  // namespace

extern const Family recurrent_family;
const Family recurrent_family = {.prepare = prepare};

}  // namespace anydml::cuda
