// SPDX-License-Identifier: MIT
// Kernels for recurrent networks. A thread block computes all gates for some units and some rows of one direction. It
// first computes the products with the hidden states (products.cuh), then the activated gates, then the new states.
#include <cooperative_groups.h>

#include <algorithm>

#include "backend/cuda/kernels/device.cuh"
#include "ops/recurrent/cuda/launch.h"
#include "ops/recurrent/cuda/products.cuh"
#include "ops/scalar/scalars.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml::cuda {
namespace {

constexpr u32 kThreadsOfPass = 256;  // for kernels that visit each element once

template <class Definition>
__device__ f32 apply(const RecurrentActivation& activation, f32 x) {
  if constexpr (std::is_constructible_v<Definition, const Attributes&>) {
    return Definition(activation.attributes())(x);
  } else {
    return Definition()(x);
  }
}

__device__ __noinline__ f32 activate(const RecurrentActivation& activation, f32 x) {
  switch (activation.function) {
#define ANYDML_RECURRENT_ACTIVATION(op, definition) \
  case RecurrentFunction::definition:               \
    return apply<definition<f32>>(activation, x);
#include "ops/recurrent/recurrent.def"
  }
  return x;
}

// One unit of one row, in one direction.
struct Element {
  std::int64_t direction;
  std::int64_t row;
  std::int64_t unit;
};

__device__ bool has(const RecurrentLaunch& launch, RecurrentOperand operand) {
  return launch.operands[operand] != nullptr;
}

__device__ std::byte* address_of(const RecurrentLaunch& launch, RecurrentOperand operand, std::int64_t time,
                                 const Element& at) {
  const RecurrentStrides& strides = launch.step.strides[operand];
  return launch.operands[operand] + time * strides.time + at.direction * strides.direction + at.row * strides.row +
         at.unit * strides.unit;
}

__device__ f32 load(const RecurrentLaunch& launch, RecurrentOperand operand, const Element& at) {
  const std::byte* const from = address_of(launch, operand, 0, at);
  const bool aligned = (launch.aligned >> operand & 1) != 0;
  return launch.step.is_half != 0 ? widen(from_bits<f16>(load_element<f16>(from, aligned)))
                                  : from_bits<f32>(load_element<f32>(from, aligned));
}

__device__ void store(const RecurrentLaunch& launch, RecurrentOperand operand, std::int64_t time, const Element& at,
                      f32 value) {
  std::byte* const to = address_of(launch, operand, time, at);
  const bool aligned = (launch.aligned >> operand & 1) != 0;
  if (launch.step.is_half != 0) {
    store_element<f16>(to, to_bits(narrow<f16>(value)), aligned);
  } else {
    store_element<f32>(to, to_bits(value), aligned);
  }
}

__device__ f32 rounded(const RecurrentLaunch& launch, f32 value) {
  return launch.step.is_half != 0 ? widen(narrow<f16>(value)) : value;
}

// The memory of a direction, and the offset of an element in a matrix with one number for each row and unit.
__device__ f32* memory_of(const RecurrentLaunch& launch, std::int64_t direction) {
  return reinterpret_cast<f32*>(launch.operands[kRecurrentMemory]) + direction * launch.memory.elements;
}
__device__ f32* kept(const RecurrentLaunch& launch, std::int64_t offset, const Element& at) {
  return memory_of(launch, at.direction) + offset + at.row * launch.step.units + at.unit;
}

__device__ std::int64_t length_of(const RecurrentLaunch& launch, std::int64_t row) {
  if (!has(launch, kRecurrentLengths)) {
    return launch.step.steps;
  }
  const std::byte* const from = launch.operands[kRecurrentLengths] + row * launch.step.strides[kRecurrentLengths].row;
  const auto length =
      static_cast<std::int64_t>(load_element<u32>(from, (launch.aligned >> kRecurrentLengths & 1) != 0));
  return length < launch.step.steps ? length : launch.step.steps;
}

// Writes the state after the last time step.
__device__ void end(const RecurrentLaunch& launch, const Element& at, f32 hidden, f32 cell) {
  if (has(launch, kRecurrentSingle)) {
    store(launch, kRecurrentSingle, 0, at, hidden);
  }
  if (launch.step.kind == RecurrentKind::lstm && has(launch, kRecurrentCellSingle)) {
    store(launch, kRecurrentCellSingle, 0, at, cell);
  }
}

__global__ void __launch_bounds__(kThreadsOfPass) begin_kernel(const __grid_constant__ RecurrentLaunch launch) {
  const RecurrentStep& step = launch.step;
  const std::int64_t count = step.directions * step.rows * step.units;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const Element at{
        .direction = i / step.units / step.rows, .row = i / step.units % step.rows, .unit = i % step.units};
    const f32 hidden = has(launch, kRecurrentHiddenInit) ? load(launch, kRecurrentHiddenInit, at) : 0.0F;
    const f32 cell = has(launch, kRecurrentCellInit) ? load(launch, kRecurrentCellInit, at) : 0.0F;
    *kept(launch, launch.memory.hidden[0], at) = hidden;
    if (step.kind == RecurrentKind::lstm) {
      *kept(launch, launch.memory.cell, at) = cell;
    }
    if (step.steps == 0) {
      end(launch, at, hidden, cell);
    }
  }
}

__global__ void __launch_bounds__(kThreadsOfPass) pack_kernel(const __grid_constant__ RecurrentLaunch launch) {
  const RecurrentStep& step = launch.step;
  const std::int64_t matrix = step.units * step.units;
  const std::int64_t count = step.directions * step.gates * matrix;
  auto* const to = reinterpret_cast<f32*>(launch.operands[1]);
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const std::int64_t number = i / matrix;  // counts the gates of all directions
    const std::int64_t gate = number % step.gates;
    const std::int64_t k = i % matrix / step.units;
    const std::int64_t unit = i % step.units;
    const RecurrentStrides& strides = step.strides[0];
    const std::byte* const from = launch.operands[0] + number / step.gates * strides.direction +
                                  (gate * step.units + unit) * strides.unit + k * strides.time;
    const bool aligned = (launch.aligned & 1) != 0;
    to[i] = step.is_half != 0 ? widen(from_bits<f16>(load_element<f16>(from, aligned)))
                              : from_bits<f32>(load_element<f32>(from, aligned));
  }
}

// The bias of a gate. Pass gate + step.gates to get the recurrence bias of a gate.
__device__ f32 bias_of(const RecurrentLaunch& launch, const Element& at, u32 gate) {
  return has(launch, kRecurrentBias)
             ? load(launch, kRecurrentBias, {at.direction, 0, gate * launch.step.units + at.unit})
             : 0.0F;
}

// The gates of one element. Separate threads turn the totals into activated gates, and then one thread computes the new
// state from all gates.
struct Gates {
  const RecurrentLaunch& launch;
  const RecurrentMoment& now;
  const Element& at;
  std::int64_t time;  // the index of the time step
  f32* totals;        // total of the first multiplied gate; the gates are `step` elements apart
  u32 step;

  // The total of a gate, or the activated gate that replaced it.
  __device__ f32& of(u32 gate) const { return totals[(gate - now.first_gate) * step]; }
  __device__ f32 input(u32 gate) const {
    const RecurrentStep& network = launch.step;
    const std::int64_t row = (at.direction * network.steps + time) * network.rows + at.row;
    return reinterpret_cast<const f32*>(
        launch.operands[kRecurrentProduct])[(row * network.gates + gate) * network.units + at.unit];
  }
  __device__ f32 activated(u32 number, f32 x) const {
    return activate(launch.step.activations[at.direction][number], x);
  }
  // peephole: the number of the peephole, or kNoPeephole if the gate does not have one.
  static constexpr u32 kNoPeephole = 3;
  __device__ f32 finished(u32 gate, u32 activation, u32 peephole = kNoPeephole, f32 cell = 0) const {
    const GateSum sum{.has_peephole = peephole != kNoPeephole && has(launch, kRecurrentPeephole),
                      .has_bias = has(launch, kRecurrentBias)};
    const f32 weight = sum.has_peephole
                           ? load(launch, kRecurrentPeephole, {at.direction, 0, peephole * launch.step.units + at.unit})
                           : 0.0F;
    const f32 bias = bias_of(launch, at, gate) + bias_of(launch, at, launch.step.gates + gate);
    f32 value = sum(input(gate), of(gate), weight, cell, bias);
    if (launch.step.clips != 0) {
      value = Clip<f32>(clip_bounds(launch.step.clip)).compute(value);
    }
    return activated(activation, value);
  }
};

// Whether a gate depends on another gate of the same time step. Such a gate is computed together with the new state.
__device__ bool is_late(const RecurrentLaunch& launch, u32 gate) {
  switch (launch.step.kind) {
    case RecurrentKind::lstm:
      return gate == kLstmOutput && has(launch, kRecurrentPeephole);
    case RecurrentKind::gru:
      return gate == kGruHidden && launch.step.linear_before_reset != 0;
    default:
      return false;
  }
}

// Activates a gate that is not late.
__device__ void finish_gate(const Gates& gates, u32 gate) {
  const RecurrentLaunch& launch = gates.launch;
  if (launch.step.kind != RecurrentKind::lstm) {
    gates.of(gate) = gates.finished(gate, launch.step.kind == RecurrentKind::gru && gate == kGruHidden ? 1 : 0);
  } else if (gate == kLstmCell) {
    gates.of(gate) = gates.finished(gate, 1);
  } else if (gate != kLstmForget || launch.step.couples == 0) {
    const u32 peephole = gate == kLstmInput ? 0 : gate == kLstmForget ? 2 : Gates::kNoPeephole;
    gates.of(gate) = gates.finished(gate, 0, peephole, *kept(launch, launch.memory.cell, gates.at));
  }
}

// The new state of an element whose row has this time step.
struct NewState {
  f32 hidden;
  f32 cell;
};
__device__ NewState next_state(const Gates& gates, f32 hidden, f32 cell) {
  const RecurrentLaunch& launch = gates.launch;
  const RecurrentStep& step = launch.step;
  if (step.kind == RecurrentKind::rnn) {
    return {rounded(launch, gates.of(0)), 0.0F};
  }
  if (step.kind == RecurrentKind::lstm) {
    const f32 input = gates.of(kLstmInput);
    const f32 forget = step.couples != 0 ? 1.0F - input : gates.of(kLstmForget);
    const f32 new_cell = rounded(launch, next_cell(forget, cell, input, gates.of(kLstmCell)));
    const f32 output =
        is_late(launch, kLstmOutput) ? gates.finished(kLstmOutput, 0, 1, new_cell) : gates.of(kLstmOutput);
    return {rounded(launch, output * gates.activated(2, new_cell)), new_cell};
  }
  if (gates.now.phase == RecurrentPhase::hidden) {
    const f32 update = *kept(launch, launch.memory.update, gates.at);
    return {rounded(launch, next_hidden(update, gates.of(kGruHidden), hidden)), 0.0F};
  }
  const ResetSum sum{.has_bias = has(launch, kRecurrentBias)};
  const f32 candidate = gates.activated(
      1, sum(gates.input(kGruHidden), gates.of(kGruReset), gates.of(kGruHidden), bias_of(launch, gates.at, kGruHidden),
             bias_of(launch, gates.at, step.gates + kGruHidden)));
  return {rounded(launch, next_hidden(gates.of(kGruUpdate), candidate, hidden)), 0.0F};
}

// The index of a row's current time step. is_active: whether the row has this time step.
struct RowTime {
  std::int64_t index;
  bool is_active;
};
__device__ RowTime time_of(const RecurrentLaunch& launch, std::int64_t time, const Element& at) {
  const std::int64_t length = length_of(launch, at.row);
  const bool is_active = time < length;
  const bool is_backward = (launch.step.backward >> at.direction & 1) != 0;
  return {is_active && is_backward ? length - 1 - time : time, is_active};
}

// Computes and stores the new state of one element, or the results of the first phase, from its gates.
__device__ void finish(const Gates& gates, bool is_active) {
  const RecurrentLaunch& launch = gates.launch;
  const RecurrentStep& step = launch.step;
  const Element& at = gates.at;
  const std::int64_t time = gates.now.time;
  const f32 hidden = *kept(launch, launch.memory.hidden[time % 2], at);
  if (gates.now.phase == RecurrentPhase::reset) {
    if (is_active) {
      *kept(launch, launch.memory.update, at) = gates.of(kGruUpdate);
      *kept(launch, launch.memory.reset, at) = gates.of(kGruReset) * hidden;
    }
    return;
  }
  const f32 cell = step.kind == RecurrentKind::lstm ? *kept(launch, launch.memory.cell, at) : 0.0F;
  NewState state{hidden, cell};
  if (is_active) {
    state = next_state(gates, hidden, cell);
  }
  *kept(launch, launch.memory.hidden[(time + 1) % 2], at) = state.hidden;
  if (step.kind == RecurrentKind::lstm) {
    *kept(launch, launch.memory.cell, at) = state.cell;
  }
  if (has(launch, kRecurrentSequence)) {
    store(launch, kRecurrentSequence, gates.time, at, is_active ? state.hidden : 0.0F);
  }
  if (time + 1 == step.steps) {
    end(launch, at, state.hidden, state.cell);
  }
}

// Whether any row of the tile has this time step. The result is the same for all threads of the block.
__device__ __forceinline__ bool is_any_active(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                              const RecurrentTile& tile) {
  bool any = false;
  for (u32 i = 0; i < tile.rows; ++i) {
    any = any || now.time < length_of(launch, tile.row + i);
  }
  return any;
}

// Calls function(gates, is_active) for element i of a tile of kRows rows, if the tile has that element.
template <u32 kRows, class Function>
__device__ __forceinline__ void use_element(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                            const RecurrentTile& tile, f32* totals, u32 i, Function function) {
  const u32 units = launch.units;
  const Element at{.direction = tile.direction, .row = tile.row + i / units, .unit = tile.unit + i % units};
  if (i / units < tile.rows && at.unit < launch.step.units) {
    const RowTime time = time_of(launch, now.time, at);
    function(
        Gates{.launch = launch, .now = now, .at = at, .time = time.index, .totals = totals + i, .step = kRows * units},
        time.is_active);
  }
}

// Replaces each total with the activated gate, except for late gates.
template <u32 kRows>
__device__ __forceinline__ void finish_gates(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                             const RecurrentTile& tile, f32* totals) {
  const u32 elements = kRows * launch.units;
  for (u32 i = threadIdx.x; i < now.gates * elements; i += blockDim.x) {
    use_element<kRows>(launch, now, tile, totals, i % elements, [&](const Gates& gates, bool is_active) {
      if (is_active && !is_late(launch, now.first_gate + i / elements)) {
        finish_gate(gates, now.first_gate + i / elements);
      }
    });
  }
}

// Computes the new state of each element from all of its gates.
template <u32 kRows>
__device__ __forceinline__ void finish_elements(const RecurrentLaunch& launch, const RecurrentMoment& now,
                                                const RecurrentTile& tile, f32* totals) {
  for (u32 i = threadIdx.x; i < kRows * launch.units; i += blockDim.x) {
    use_element<kRows>(launch, now, tile, totals, i,
                       [](const Gates& gates, bool is_active) { finish(gates, is_active); });
  }
}

// Computes one phase of one time step for a block of kRows rows. kept_factors: the factors in shared memory, only used
// if the block walks through all time steps.
template <u32 kRows, bool kWalks>
__device__ void take_step(const RecurrentLaunch& launch, const RecurrentMoment& now, const RecurrentTile& tile,
                          float4* shared, const f32* kept_factors) {
  const std::int64_t depth = launch.step.units;
  const ThreadChain chain = ThreadChain::of_thread(launch, now);
  const auto memory = PhaseMemory<kRows>::of(launch, now, shared);
  const std::int64_t from_hidden =
      now.phase == RecurrentPhase::hidden ? launch.memory.reset : launch.memory.hidden[now.time % 2];
  const f32* const hidden = memory_of(launch, tile.direction) + from_hidden + tile.row * depth;
  const auto factors = RecurrentFactors<kWalks>::of(launch, now, tile, chain, kept_factors);
  if (is_any_active(launch, now, tile)) {
    for (std::int64_t first = 0; first < depth; first += memory.width) {
      // Orders add_chains' reads of `sums` in the previous pass before multiply_chain's writes in this pass. The
      // barrier after load_states would be sufficient for this.
      __syncthreads();
      load_states(hidden, tile, depth, first, memory);
      // Orders load_states' writes to `states` before multiply_chain's reads, because a thread multiplies states that
      // other threads loaded. On the first pass of a walk it also orders the writes of the kept factors.
      __syncthreads();
      multiply_chain(launch, now, chain, factors, depth, first, memory);
      // Orders multiply_chain's writes to `sums` before add_chains' reads, because a thread adds chains that other
      // threads computed. It also orders the reads of `states` before the next pass overwrites them.
      __syncthreads();
      add_chains(launch, now, depth, first, memory);
    }
  }
  // Orders add_chains' writes to `totals` before finish_gates' reads. Currently both loops assign element i to the same
  // thread, so each thread only reads totals that it wrote itself.
  __syncthreads();
  finish_gates<kRows>(launch, now, tile, memory.totals);
  // Orders finish_gates' writes, and add_chains' totals of late gates, before finish_elements' reads, because one
  // thread reads all gates of an element. It also orders the reads of the cell state by gates with a peephole before
  // finish_elements overwrites it.
  __syncthreads();
  finish_elements<kRows>(launch, now, tile, memory.totals);
}

template <u32 kRows>
__global__ void time_kernel(const __grid_constant__ RecurrentLaunch launch,
                            const __grid_constant__ RecurrentMoment now) {
  extern __shared__ float4 shared[];
  take_step<kRows, false>(launch, now, RecurrentTile::of_block(launch, kRows), shared, nullptr);
}

// Computes all time steps in one launch. All blocks run at the same time and wait for each other after each phase.
template <u32 kRows>
__global__ void walk_kernel(const __grid_constant__ RecurrentLaunch launch) {
  extern __shared__ float4 shared[];
  const RecurrentStep& step = launch.step;
  const RecurrentTile tile = RecurrentTile::of_block(launch, kRows);
  const KeptFactors kept = KeptFactors::of(launch);
  f32* const factors = reinterpret_cast<f32*>(shared) + floats_of_step(launch, kRows);
  const auto* const packed = reinterpret_cast<const f32*>(launch.operands[kRecurrentPacked]) +
                             tile.direction * step.gates * step.units * step.units;
  for (u32 gate = 0; gate < step.gates; ++gate) {
    for (u32 i = threadIdx.x; i < static_cast<u32>(step.units) * launch.units; i += blockDim.x) {
      const u32 k = i / launch.units;
      const u32 column = i % launch.units;
      const u32 chain = k / static_cast<u32>(kProductBlock);
      const bool is_unit = tile.unit + column < step.units;
      factors[kept.offset_of(gate, chain) + k % static_cast<u32>(kProductBlock) * launch.units + column] =
          is_unit ? packed[(gate * step.units + k) * step.units + tile.unit + column] : 0.0F;
    }
  }
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  for (std::int64_t time = 0; time < step.steps; ++time) {
    for (u32 phase = 0; phase < launch.phases; ++phase) {
      take_step<kRows, true>(launch, moment_of(step, time, phase), tile, shared, factors);
      __threadfence();
      grid.sync();
    }
  }
}

template <u32 kRows>
cudaError_t start_time(const RecurrentLaunch& launch, const RecurrentMoment& now, cudaStream_t stream) {
  time_kernel<kRows>
      <<<launch.blocks(), launch.threads(), floats_of_step(launch, kRows) * sizeof(f32), stream>>>(launch, now);
  return cudaGetLastError();
}

template <u32 kRows>
cudaError_t start_walk(RecurrentLaunch launch, cudaStream_t stream) {
  const auto* const kernel = reinterpret_cast<const void*>(walk_kernel<kRows>);
  const std::size_t bytes = bytes_of_walk(launch);
  cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error == cudaSuccess) {
    void* parameters[] = {&launch};
    error =
        cudaLaunchCooperativeKernel(kernel, dim3(launch.blocks()), dim3(launch.threads()), parameters, bytes, stream);
  }
  static_cast<void>(cudaGetLastError());
  return error;
}

u32 blocks_for(std::int64_t count) {
  constexpr std::int64_t kMaxBlocks = 1 << 16;
  return static_cast<u32>(std::clamp<std::int64_t>((count + kThreadsOfPass - 1) / kThreadsOfPass, 1, kMaxBlocks));
}

}  // namespace

cudaError_t start_recurrent_begin(const RecurrentLaunch& launch, cudaStream_t stream) {
  const std::int64_t count = launch.step.directions * launch.step.rows * launch.step.units;
  begin_kernel<<<blocks_for(count), kThreadsOfPass, 0, stream>>>(launch);
  return cudaGetLastError();
}

cudaError_t start_recurrent_time(const RecurrentLaunch& launch, const RecurrentMoment& now, cudaStream_t stream) {
  switch (launch.rows) {
    case 1:
      return start_time<1>(launch, now, stream);
    case 2:
      return start_time<2>(launch, now, stream);
    case 4:
      return start_time<4>(launch, now, stream);
    default:
      return start_time<kRecurrentMaxRows>(launch, now, stream);
  }
}

cudaError_t start_recurrent_walk(const RecurrentLaunch& launch, cudaStream_t stream) {
  switch (launch.rows) {
    case 1:
      return start_walk<1>(launch, stream);
    case 2:
      return start_walk<2>(launch, stream);
    case 4:
      return start_walk<4>(launch, stream);
    default:
      return start_walk<kRecurrentMaxRows>(launch, stream);
  }
}

cudaError_t start_recurrent_pack(const RecurrentLaunch& launch, cudaStream_t stream) {
  const std::int64_t count = launch.step.directions * launch.step.gates * launch.step.units * launch.step.units;
  pack_kernel<<<blocks_for(count), kThreadsOfPass, 0, stream>>>(launch);
  return cudaGetLastError();
}

}  // namespace anydml::cuda
