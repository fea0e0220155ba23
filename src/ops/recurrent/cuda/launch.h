// SPDX-License-Identifier: MIT
// A step of a recurrent network as kernels see it: a kernel's parameter. A panel has all units on a GPU, and a strip
// one row, so that every matrix of a state has one row after another.
#pragma once

#include <cuda_runtime_api.h>

#include "base/element.h"
#include "ops/recurrent/step.h"

namespace anydml::cuda {

// The part of a time step that a launch computes.
enum class RecurrentPhase : u32 {
  whole,
  reset,  // of a GRU with two products: the update gate, and the hidden state after the reset gate
  hidden  // and the rest
};

struct RecurrentLaunch {
  RecurrentStep step;
  RecurrentMemory memory;
  std::byte* operands[kRecurrentOperands];
  u32 aligned;  // bit i: all elements of operand i are at multiples of their size
  RecurrentPhase phase;
  u32 first_gate;  // the first gate that is multiplied
  u32 gates;
  u32 units;  // of a block of threads
  u32 rows;   // of a block of threads: 1, 2, 4 or kRecurrentMostRows
  u32 parts;  // blocks of 256 products that are summed at once
  u32 unit_tiles;
  u32 row_tiles;
  std::int64_t time;  // how many time steps came before
};

inline constexpr u32 kRecurrentMostRows = 8;
inline constexpr u32 kRecurrentLeastUnits = 8;
inline constexpr u32 kRecurrentMostUnits = 32;
inline constexpr u32 kRecurrentMostParts = 2;

// The first state, and the last if there are no time steps; a time step; the packed matrix, from the first of
// `operands` to the second. They return the error of CUDA's call.
[[nodiscard]] cudaError_t start_recurrent_begin(const RecurrentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_recurrent_time(const RecurrentLaunch& launch, cudaStream_t stream);
[[nodiscard]] cudaError_t start_recurrent_pack(const RecurrentLaunch& launch, cudaStream_t stream);

}  // namespace anydml::cuda
