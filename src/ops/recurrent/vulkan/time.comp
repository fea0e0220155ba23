#version 460
// SPDX-License-Identifier: MIT
// One time step, or one of its two phases: ops/recurrent/scalar/recurrent.h. A group computes all gates for some units
// and some rows of one direction: first the products with the hidden states, then the activated gates, then the new
// states.
#extension GL_GOOGLE_include_directive : require
#include "ops/recurrent/vulkan/network.glsl"
#include "ops/recurrent/vulkan/activations.glsl"
#define FUSED_CONSTANT 6
#include "backend/vulkan/shaders/quick_fused.glsl"

const uint kThreads = 128;
layout(local_size_x = 128) in;  // kThreads
layout(constant_id = 0) const uint kGates = 4;  // of this phase
layout(constant_id = 1) const uint kUnits = 32;  // kGates * kUnits <= kThreads
layout(constant_id = 2) const uint kRows = 8;
// Constants, so that a kernel contains only the definitions of activations where it calls them.
layout(constant_id = 3) const uint kKind = 0;
layout(constant_id = 4) const uint kPhase = 0;
layout(constant_id = 5) const bool kHasPeephole = false;
const uint kMaxRows = 8;
const uint kBlock = 256;
const uint kElements = kRows * kUnits;

const uint kWhole = 0, kResetPhase = 1, kHiddenPhase = 2;  // as in family.cpp
const uint kOne = 0x3f800000u;

shared uint states[kMaxRows * kBlock];
shared uint totals[kMaxRows * kThreads];  // of the gates, which replace them
shared uint least_state;                  // the guard of the states (quick_fused.glsl)

struct Tile {
  int64_t direction;
  int64_t row;
  int64_t unit;
  uint rows;
};

int64_t length_of(Network network, int64_t row) {
  if (!has(kLengths)) {
    return network.steps;
  }
  const uint64_t from = operand_address(kLengths) + uint64_t(row * network.strides[kLengths].row);
  return min(int64_t(load_bits(from, 4, is_aligned(kLengths))), network.steps);
}

// The products of all gates with the hidden states.
void multiply_states(Network network, Tile tile) {
  const uint thread = gl_LocalInvocationIndex;
  const int64_t gate = int64_t(push.first_gate + thread / kUnits);
  const int64_t unit = tile.unit + int64_t(thread % kUnits);
  const bool exists = thread < kGates * kUnits && unit < network.units;
  const int64_t from = kPhase == kHiddenPhase ? network.reset : network.hidden[uint(push.time % 2)];
  const uint64_t hidden = memory_of(network, tile.direction) + uint64_t(from + tile.row * network.units) * 4;
  const uint64_t factors =
      operand_address(kPacked) +
      uint64_t((tile.direction * int64_t(network.gates) + gate) * network.units * network.units + unit) * 4;
  uint total[kMaxRows];
  uint sum[kMaxRows];
  for (int64_t first = 0; first < network.units; first += int64_t(kBlock)) {
    const uint count = uint(min(network.units - first, int64_t(kBlock)));
    if (needs_guard()) {
      if (thread == 0) {
        least_state = kNoFactor;
      }
      barrier();
    }
    uint least = kNoFactor;
    for (uint i = thread; i < kRows * kBlock; i += kThreads) {
      const uint row = i / kBlock;
      const uint k = i % kBlock;
      uint state = 0;
      if (row < tile.rows && k < count) {
        state = Bits32(hidden + uint64_t(int64_t(row) * network.units + first + int64_t(k)) * 4).bits;
      }
      states[i] = state;
      least = min(least, factor_key(state));
    }
    if (needs_guard()) {
      atomicMin(least_state, least);
    }
    barrier();
    if (exists) {
      for (uint row = 0; row < kRows; ++row) {
        sum[row] = 0;
      }
      least = kNoFactor;
      for (uint k = 0; k < count; ++k) {
        const uint factor = Bits32(factors + uint64_t((first + int64_t(k)) * network.units) * 4).bits;
        least = min(least, factor_key(factor));
        for (uint row = 0; row < kRows; ++row) {
          sum[row] = quick_fused(states[row * kBlock + k], factor, sum[row]);
        }
      }
      if (needs_guard() && !is_guard_passed(least_state, least)) {
        for (uint row = 0; row < kRows; ++row) {
          sum[row] = 0;
        }
        [[dont_unroll]] for (uint k = 0; k < count; ++k) {
          const uint factor = Bits32(factors + uint64_t((first + int64_t(k)) * network.units) * 4).bits;
          for (uint row = 0; row < kRows; ++row) {
            sum[row] = fused_floats(states[row * kBlock + k], factor, sum[row]);
          }
        }
      }
      for (uint row = 0; row < kRows; ++row) {
        total[row] = first == 0 ? sum[row] : add_floats(total[row], sum[row]);
      }
    }
    barrier();
  }
  if (exists) {
    for (uint row = 0; row < kRows; ++row) {
      totals[thread / kUnits * kElements + row * kUnits + thread % kUnits] = total[row];
    }
  }
}

// An element of the tile at this time step.
struct Place {
  Element at;
  int64_t time;  // the index of the time step
  bool is_active;  // whether the row has this time step
  bool exists;
  uint number;  // in the tile
};
Place place_of(Network network, Tile tile, uint number) {
  Place place;
  place.number = number;
  place.at = Element(tile.direction, tile.row + int64_t(number / kUnits), tile.unit + int64_t(number % kUnits));
  place.exists = number / kUnits < tile.rows && place.at.unit < network.units;
  place.time = int64_t(push.time);
  place.is_active = false;
  if (place.exists) {
    const int64_t length = length_of(network, place.at.row);
    place.is_active = place.time < length;
    if (place.is_active && (network.backward >> uint(place.at.direction) & 1) != 0) {
      place.time = length - 1 - place.time;
    }
  }
  return place;
}

// The total of a gate, or the activated gate that replaced it.
uint total_index(Place place, uint gate) { return (gate - push.first_gate) * kElements + place.number; }

uint input_of(Network network, Place place, uint gate) {
  const int64_t row = (place.at.direction * network.steps + place.time) * network.rows + place.at.row;
  const int64_t index = (row * int64_t(network.gates) + int64_t(gate)) * network.units + place.at.unit;
  return Bits32(operand_address(kProduct) + uint64_t(index) * 4).bits;
}
uint activated(Network network, Place place, uint number, uint x) {
  const uint which = uint(place.at.direction) * 3 + number;
  return activate(network.activations[which].function, network.activations[which].words, x);
}
uint rounded(Network network, uint value) {
  const uint bytes = element_bytes(network);
  return value_of(element_of(value, bytes), bytes);
}
// The bias of a gate, or for gates + gate the recurrence bias.
uint bias_of(Network network, Place place, uint gate) {
  if (!has(kBias)) {
    return 0;
  }
  return load(network, kBias, 0, Element(place.at.direction, 0, int64_t(gate) * network.units + place.at.unit));
}

const uint kNoPeephole = 3;
uint finished(Network network, Place place, uint gate, uint activation, uint peephole, uint cell) {
  uint sum = add_floats(input_of(network, place, gate), totals[total_index(place, gate)]);
  if (peephole != kNoPeephole && kHasPeephole) {
    const Element at = Element(place.at.direction, 0, int64_t(peephole) * network.units + place.at.unit);
    sum = add_floats(sum, multiply_floats(load(network, kPeephole, 0, at), cell));
  }
  if (has(kBias)) {
    sum = add_floats(sum, add_floats(bias_of(network, place, gate), bias_of(network, place, network.gates + gate)));
  }
  if (network.clips != 0) {
    sum = import_ELEMENT_WISE_CLIP_0(sum, network.clip[0], network.clip[1], network.clip[2]);
  }
  return activated(network, place, activation, sum);
}

// Whether a gate depends on another gate of the same time step. Such a gate is computed together with the new state.
bool is_late(Network network, uint gate) {
  if (kKind == kLstm) {
    return gate == kLstmOutput && kHasPeephole;
  }
  return kKind == kGru && gate == kGruHidden && network.linear_before_reset != 0;
}

// Activates a gate that is not late.
void finish_gate(Network network, Place place, uint gate) {
  uint activation = 0;
  uint peephole = kNoPeephole;
  uint cell = 0;
  if (kKind != kLstm) {
    activation = kKind == kGru && gate == kGruHidden ? 1 : 0;
  } else if (gate == kLstmCell) {
    activation = 1;
  } else if (gate == kLstmForget && network.couples != 0) {
    return;
  } else {
    peephole = gate == kLstmInput ? 0 : gate == kLstmForget ? 2 : kNoPeephole;
    cell = kept(network, network.cell, place.at).bits;
  }
  totals[total_index(place, gate)] = finished(network, place, gate, activation, peephole, cell);
}

// update * hidden + (1 - update) * candidate
uint next_hidden(uint update, uint candidate, uint hidden) {
  const uint added = multiply_floats(import_f32_subtract(kOne, update), candidate);
  return add_floats(added, multiply_floats(update, hidden));
}

// The new state of an element whose row has this time step.
struct State {
  uint hidden;
  uint cell;
};
State next_state(Network network, Place place, State old) {
  if (kKind == kRnn) {
    return State(rounded(network, totals[total_index(place, 0)]), 0);
  }
  if (kKind == kLstm) {
    const uint gate_in = totals[total_index(place, kLstmInput)];
    const uint forget =
        network.couples != 0 ? import_f32_subtract(kOne, gate_in) : totals[total_index(place, kLstmForget)];
    const uint added = multiply_floats(gate_in, totals[total_index(place, kLstmCell)]);
    const uint cell = rounded(network, add_floats(multiply_floats(forget, old.cell), added));
    uint gate_out = totals[total_index(place, kLstmOutput)];
    if (is_late(network, kLstmOutput)) {
      gate_out = finished(network, place, kLstmOutput, 0, 1, cell);
    }
    return State(rounded(network, multiply_floats(gate_out, activated(network, place, 2, cell))), cell);
  }
  if (kPhase == kHiddenPhase) {
    const uint update = kept(network, network.update, place.at).bits;
    return State(rounded(network, next_hidden(update, totals[total_index(place, kGruHidden)], old.hidden)), 0);
  }
  uint inner = totals[total_index(place, kGruHidden)];
  if (has(kBias)) {
    inner = add_floats(inner, bias_of(network, place, network.gates + kGruHidden));
  }
  const uint product = multiply_floats(totals[total_index(place, kGruReset)], inner);
  uint sum = add_floats(input_of(network, place, kGruHidden), product);
  if (has(kBias)) {
    sum = add_floats(sum, bias_of(network, place, kGruHidden));
  }
  const uint candidate = activated(network, place, 1, sum);
  return State(rounded(network, next_hidden(totals[total_index(place, kGruUpdate)], candidate, old.hidden)), 0);
}

// Stores the new state of one element, or the results of the first phase.
void finish_element(Network network, Place place) {
  const uint now = uint(push.time % 2);
  State state = State(kept(network, network.hidden[now], place.at).bits, 0);
  if (kPhase == kResetPhase) {
    if (place.is_active) {
      kept(network, network.update, place.at).bits = totals[total_index(place, kGruUpdate)];
      kept(network, network.reset, place.at).bits =
          multiply_floats(totals[total_index(place, kGruReset)], state.hidden);
    }
    return;
  }
  if (kKind == kLstm) {
    state.cell = kept(network, network.cell, place.at).bits;
  }
  if (place.is_active) {
    state = next_state(network, place, state);
  }
  kept(network, network.hidden[1 - now], place.at).bits = state.hidden;
  if (kKind == kLstm) {
    kept(network, network.cell, place.at).bits = state.cell;
  }
  if (has(kSequence)) {
    store(network, kSequence, place.time, place.at, place.is_active ? state.hidden : 0);
  }
  if (int64_t(push.time) + 1 == network.steps) {
    end_network(network, place.at, state.hidden, state.cell);
  }
}

void main() {
  Network network = Network(push.header.parameters);
  const uint thread = gl_LocalInvocationIndex;
  const uint group = group_index();
  Tile tile;
  tile.unit = int64_t(group % push.unit_tiles) * int64_t(kUnits);
  tile.row = int64_t(group / push.unit_tiles % push.row_tiles) * int64_t(kRows);
  tile.direction = int64_t(group / push.unit_tiles / push.row_tiles);
  tile.rows = uint(min(network.rows - tile.row, int64_t(kRows)));
  bool is_any_active = false;
  for (uint i = 0; i < tile.rows; ++i) {
    is_any_active = is_any_active || int64_t(push.time) < length_of(network, tile.row + int64_t(i));
  }
  if (is_any_active) {
    multiply_states(network, tile);
  }
  barrier();
  for (uint i = thread; i < kGates * kElements; i += kThreads) {
    const Place place = place_of(network, tile, i % kElements);
    const uint gate = push.first_gate + i / kElements;
    if (place.is_active && !is_late(network, gate)) {
      finish_gate(network, place, gate);
    }
  }
  barrier();
  for (uint i = thread; i < kElements; i += kThreads) {
    const Place place = place_of(network, tile, i);
    if (place.exists) {
      finish_element(network, place);
    }
  }
}
