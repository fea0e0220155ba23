// SPDX-License-Identifier: MIT
// The kernel parameter that describes a step of a recurrent network. On a GPU a panel contains all units and a strip
// contains one row, so every matrix of a state is stored row by row.
#pragma once

#include <cuda_runtime_api.h>

#include "base/element.h"
#include "ops/recurrent/step.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {

// The part of a time step that a launch computes.
enum class RecurrentPhase : u32 {
  whole,
  reset,  // for a GRU with two products: the update gate, and the hidden state after the reset gate
  hidden  // the rest of that GRU
};

inline constexpr u32 kRecurrentMaxRows = 8;
inline constexpr u32 kRecurrentMinUnits = 8;
inline constexpr u32 kRecurrentMaxUnits = 32;
inline constexpr u32 kRecurrentMaxParts = 2;
inline constexpr u32 kRecurrentMinThreads = 128;

struct RecurrentLaunch {
  RecurrentStep step;
  RecurrentMemory memory;
  std::byte* operands[kRecurrentOperands];
  u32 aligned;  // bit i: whether all elements of operand i are aligned
  u32 phases;   // per time step
  u32 gates;    // in the phase with the most gates
  u32 units;    // per thread block
  u32 rows;     // per thread block: 1, 2, 4 or kRecurrentMaxRows
  u32 parts;    // blocks of 256 products that are summed in parallel
  u32 unit_tiles;
  u32 row_tiles;

  [[nodiscard]] u32 blocks() const { return step.directions * row_tiles * unit_tiles; }
  [[nodiscard]] u32 threads() const {
    const u32 wanted = units * parts * gates;
    return wanted < kRecurrentMinThreads ? kRecurrentMinThreads : wanted;
  }
};

// One phase of one time step.
struct RecurrentMoment {
  std::int64_t time;  // number of earlier time steps
  RecurrentPhase phase;
  u32 first_gate;  // first multiplied gate
  u32 gates;
};

[[nodiscard]] ANYDML_HOST_DEVICE inline RecurrentMoment moment_of(const RecurrentStep& step, std::int64_t time,
                                                                  u32 phase) {
  if (step.kind != RecurrentKind::gru || step.linear_before_reset != 0) {
    return {time, RecurrentPhase::whole, 0, step.gates};
  }
  return phase == 0 ? RecurrentMoment{time, RecurrentPhase::reset, kGruUpdate, 2}
                    : RecurrentMoment{time, RecurrentPhase::hidden, kGruHidden, 1};
}

// The shared memory for a phase of a time step, in FLOAT32 elements.
[[nodiscard]] ANYDML_HOST_DEVICE inline u32 floats_of_step(const RecurrentLaunch& launch, u32 rows) {
  const u32 floats =
      rows * launch.parts * static_cast<u32>(kProductBlock) + (launch.parts + 1) * launch.gates * rows * launch.units;
  return (floats + 3) / 4 * 4;
}

// The factors that a block keeps in shared memory. A gate's factors are stored as consecutive chains of 256 factors.
// Each chain is shifted by a few units, so that the threads of a warp read from different banks.
struct KeptFactors {
  u32 chains;  // per gate
  u32 shift;   // between gates, in units
  u32 units;

  [[nodiscard]] ANYDML_HOST_DEVICE static KeptFactors of(const RecurrentLaunch& launch) {
    const auto chains = static_cast<u32>((launch.step.units + kProductBlock - 1) / kProductBlock);
    return {chains, chains + (4 + launch.parts - chains % 4) % 4, launch.units};
  }
  [[nodiscard]] ANYDML_HOST_DEVICE u32 offset_of(u32 gate, u32 chain) const {
    return ((gate * chains + chain) * static_cast<u32>(kProductBlock) + gate * shift + chain) * units;
  }
};

// The shared memory of a block that computes all time steps.
[[nodiscard]] inline std::size_t bytes_of_walk(const RecurrentLaunch& launch) {
  return (floats_of_step(launch, launch.rows) + std::size_t{KeptFactors::of(launch).offset_of(launch.step.gates, 0)}) *
         sizeof(f32);
}

// These functions launch kernels that set the first state (and write the last state if there are no time steps),
// compute one phase of a time step, compute all time steps in one cooperative launch, and pack the matrix from the
// first operand into the second. They return the error code of the CUDA call.
[[nodiscard]] cudaError_t start_recurrent_begin(const RecurrentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_recurrent_time(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                               cudaStream_t stream);
[[nodiscard]] cudaError_t start_recurrent_walk(const RecurrentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_recurrent_pack(const RecurrentLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
