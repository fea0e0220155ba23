// SPDX-License-Identifier: MIT
// The parameters of recurrent networks, and their tensors. A panel contains all units and a strip contains one row, so
// every matrix of a state is stored row by row.
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

// RecurrentKind and the gates, as in ops/recurrent/step.h.
const uint kRnn = 1, kLstm = 2, kGru = 3;
const uint kLstmInput = 0, kLstmOutput = 1, kLstmForget = 2, kLstmCell = 3;
const uint kGruUpdate = 0, kGruReset = 1, kGruHidden = 2;
// RecurrentOperand
const uint kProduct = 0, kPacked = 1, kBias = 2, kHiddenInit = 3, kCellInit = 4, kLengths = 5, kPeephole = 6,
           kSequence = 7, kSingle = 8, kCellSingle = 9, kMemory = 10;

struct Strides {
  int64_t time;
  int64_t direction;
  int64_t row;
  int64_t unit;
};
struct Activation {
  uint function;
  uint words[4];  // the attributes of its definition
};
// As in family.cpp.
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Network {
  Strides strides[11];
  int64_t hidden[2];  // offsets in the memory of a direction, in FLOAT32 elements
  int64_t reset;
  int64_t cell;
  int64_t update;
  int64_t elements;  // of the memory of a direction
  int64_t steps;
  int64_t rows;
  int64_t units;
  uint kind;
  uint gates;
  uint is_half;
  uint directions;
  uint backward;
  uint clips;
  uint couples;
  uint linear_before_reset;
  Activation activations[6];  // three for each direction
  uint clip[3];               // the attributes of CLIP
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint64_t time;  // number of earlier time steps
  uint aligned;   // bit i: whether all elements of operand i are aligned
  uint first_gate;
  uint unit_tiles;
  uint row_tiles;
} push;

// One unit of one row, in one direction.
struct Element {
  int64_t direction;
  int64_t row;
  int64_t unit;
};

bool has(uint operand) { return operand_address(operand) != 0; }
bool is_aligned(uint operand) { return (push.aligned >> operand & 1) != 0; }

uint64_t address_of(Network network, uint operand, int64_t time, Element at) {
  return operand_address(operand) +
         uint64_t(time * network.strides[operand].time + at.direction * network.strides[operand].direction +
                  at.row * network.strides[operand].row + at.unit * network.strides[operand].unit);
}
uint element_bytes(Network network) { return network.is_half != 0 ? 2 : 4; }
uint load(Network network, uint operand, int64_t time, Element at) {
  const uint bytes = element_bytes(network);
  return value_of(load_bits(address_of(network, operand, time, at), bytes, is_aligned(operand)), bytes);
}
void store(Network network, uint operand, int64_t time, Element at, uint value) {
  const uint bytes = element_bytes(network);
  store_bits(address_of(network, operand, time, at), element_of(value, bytes), bytes, is_aligned(operand));
}

// The memory of a direction, and an element of a matrix with one number for each row and unit.
uint64_t memory_of(Network network, int64_t direction) {
  return operand_address(kMemory) + uint64_t(direction * network.elements) * 4;
}
Bits32 kept(Network network, int64_t offset, Element at) {
  return Bits32(memory_of(network, at.direction) + uint64_t(offset + at.row * network.units + at.unit) * 4);
}

// Writes the state after the last time step.
void end_network(Network network, Element at, uint hidden, uint cell) {
  if (has(kSingle)) {
    store(network, kSingle, 0, at, hidden);
  }
  if (network.kind == kLstm && has(kCellSingle)) {
    store(network, kCellSingle, 0, at, cell);
  }
}
