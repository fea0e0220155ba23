#version 460
// SPDX-License-Identifier: MIT
// Orders the elements of rows. An element becomes a word of its key (ops/sort/scalar/keys.h) and its index, so no two
// words of a row are equal, and a bitonic sort gives the order that the definition demands. WIDE: whether elements have 8
// bytes. family.cpp explains the passes.
#extension GL_GOOGLE_include_directive : require
#include "backend/vulkan/shaders/elements.glsl"

const uint kThreads = 256;
layout(local_size_x = 256) in;
// As in family.cpp.
layout(constant_id = 0) const uint kPass = 0;
layout(constant_id = 1) const uint kBytes = 4;  // of an element
layout(constant_id = 2) const uint kKind = 0;
layout(constant_id = 3) const bool kLargest = false;
layout(constant_id = 4) const uint kIndexBytes = 4;
layout(constant_id = 5) const uint kTile = 1024;  // words in shared memory, a power of two
const uint kParts = 0, kPartsOfWords = 1, kLoad = 2, kTiles = 3, kExchange = 4, kWrite = 5;
const uint kSigned = 1, kFloat = 2;

struct Loop {
  uint size;
  uint unused;
  int64_t from;
  int64_t values;
  int64_t indices;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  int64_t from_offset;
  int64_t values_offset;
  int64_t indices_offset;
  int64_t axis_from;
  int64_t axis_values;
  int64_t axis_indices;
  uint rank;
  uint k;
  Loop rest[8];
};
layout(push_constant, scalar) uniform Push {
  KernelHeader header;
  uint64_t from;  // words of the workspace that are read, and that are written, in bytes
  uint64_t to;
  uint64_t total;  // words, for the passes over a whole workspace
  uint64_t size;   // of the sequences that a bitonic step merges
  uint64_t stride;
  uint first_row;
  uint rows;
  uint count;  // elements or words of a row
  uint pitch;  // words of a row in the workspace
  uint part;   // elements or words that are sorted together, up to a tile
  uint parts;  // of a row
  uint padded;
  uint writes_results;
  uint are_aligned;  // bit 0: the input's elements, bit 1: the values, bit 2: the indices
} push;

bool elements_are_aligned() { return (push.are_aligned & 1) != 0; }
bool values_are_aligned() { return (push.are_aligned & 2) != 0; }
bool indices_are_aligned() { return (push.are_aligned & 4) != 0; }

#if WIDE
struct Word {
  uint64_t key;
  uint index;
};
const uint kWordBytes = 16;
shared uint64_t shared_keys[kTile];
shared uint shared_indices[kTile];
Word make_word(uint64_t key, uint index) { return Word(key, index); }
uint index_of(Word word) { return word.index; }
bool is_before(Word a, Word b) { return a.key < b.key || (a.key == b.key && a.index < b.index); }
Word shared_word(uint i) { return Word(shared_keys[i], shared_indices[i]); }
void set_shared_word(uint i, Word word) {
  shared_keys[i] = word.key;
  shared_indices[i] = word.index;
}
Word load_word(uint64_t address) { return Word(Bits64(address).bits, Bits32(address + 8).bits); }
void store_word(uint64_t address, Word word) {
  Bits64(address).bits = word.key;
  Bits32(address + 8).bits = word.index;
}
#else
#define Word uint64_t
const uint kWordBytes = 8;
shared uint64_t shared_words[kTile];
Word make_word(uint64_t key, uint index) { return (key << 32) | uint64_t(index); }
uint index_of(Word word) { return uint(word); }
bool is_before(Word a, Word b) { return a < b; }
Word shared_word(uint i) { return shared_words[i]; }
void set_shared_word(uint i, Word word) { shared_words[i] = word; }
Word load_word(uint64_t address) { return Bits64(address).bits; }
void store_word(uint64_t address, Word word) { Bits64(address).bits = word; }
#endif
// Not before any element: indices are less.
Word last_word() { return make_word(~uint64_t(0), 0xffffffffu); }

uint64_t workspace_at(uint64_t offset, uint64_t word) { return operand_address(3) + offset + word * kWordBytes; }

struct Row {
  int64_t from;
  int64_t values;
  int64_t indices;
};
Row row_of(Parameters parameters, uint number) {
  Row row = Row(parameters.from_offset, parameters.values_offset, parameters.indices_offset);
  for (uint loop = parameters.rank; loop-- > 0;) {
    const int64_t index = int64_t(number % parameters.rest[loop].size);
    number /= parameters.rest[loop].size;
    row.from += index * parameters.rest[loop].from;
    row.values += index * parameters.rest[loop].values;
    row.indices += index * parameters.rest[loop].indices;
  }
  return row;
}

// An unsigned key: of 64 bits for elements of 8 bytes, otherwise of 32 bits. NaN is above all numbers, and both zeros are
// equal.
uint64_t key_of(uint64_t bits) {
  const uint64_t sign = uint64_t(1) << (8 * kBytes - 1);
  const uint64_t middle = uint64_t(1) << (WIDE != 0 ? 63 : 31);
  uint64_t key = bits;
  if (kKind == kSigned) {
    key = (bits & (sign - 1)) + ((bits & sign) != 0 ? middle - sign : middle);
  } else if (kKind == kFloat) {
    const uint64_t magnitude = bits & (sign - 1);
    const uint64_t infinity = kBytes == 2   ? uint64_t(0x7c00u)
                              : kBytes == 4 ? uint64_t(0x7f800000u)
                                            : uint64_t(0x7ff) << 52;
    key = magnitude > infinity ? middle + infinity + 1 : (bits & sign) != 0 ? middle - magnitude : middle + magnitude;
  }
  return kLargest ? (WIDE != 0 ? ~key : key ^ uint64_t(0xffffffffu)) : key;
}
Word element_word(Parameters parameters, Row row, uint index) {
  const uint64_t address = operand_address(0) + uint64_t(row.from + int64_t(index) * parameters.axis_from);
  return make_word(key_of(load_bits(address, kBytes, elements_are_aligned())), index);
}
void write_result(Parameters parameters, Row row, uint rank, uint index) {
  const uint64_t from = operand_address(0) + uint64_t(row.from + int64_t(index) * parameters.axis_from);
  const uint64_t value = operand_address(1) + uint64_t(row.values + int64_t(rank) * parameters.axis_values);
  const uint64_t number = operand_address(2) + uint64_t(row.indices + int64_t(rank) * parameters.axis_indices);
  store_bits(value, load_bits(from, kBytes, elements_are_aligned()), kBytes, values_are_aligned());
  store_bits(number, uint64_t(index), kIndexBytes, indices_are_aligned());
}

// A step of a bitonic sort over words in shared memory, of which the first has the number `first` in its row.
void exchange_shared(uint total, uint64_t first, uint64_t padded, uint64_t size, uint stride) {
  for (uint i = gl_LocalInvocationIndex; i < total / 2; i += kThreads) {
    const uint a = (2 * (i & ~(stride - 1))) | (i & (stride - 1));
    const bool is_upwards = ((first + a) & (padded - 1) & size) == 0;
    const Word left = shared_word(a);
    const Word right = shared_word(a + stride);
    if (is_before(right, left) == is_upwards) {
      set_shared_word(a, right);
      set_shared_word(a + stride, left);
    }
  }
  barrier();
}

// Sorts parts of rows, as many together as a tile has room for, and passes on the first K words of each.
void sort_parts(Parameters parameters) {
  const uint together = kTile / push.padded;
  const uint64_t units = uint64_t(push.rows) * push.parts;
  const uint64_t first_unit = uint64_t(group_index()) * together;
  const uint here = uint(min(uint64_t(together), units - first_unit));
  const uint total = here * push.padded;
  for (uint i = gl_LocalInvocationIndex; i < total; i += kThreads) {
    const uint unit = uint(first_unit) + i / push.padded;
    const uint row = unit / push.parts;
    const uint first = (unit % push.parts) * push.part;
    const uint own = i % push.padded;
    Word word = last_word();
    if (own < min(push.part, push.count - first)) {
      if (kPass == kParts) {
        word = element_word(parameters, row_of(parameters, push.first_row + row), first + own);
      } else {
        word = load_word(workspace_at(push.from, uint64_t(row) * push.pitch + first + own));
      }
    }
    set_shared_word(i, word);
  }
  barrier();
  for (uint size = 2; size <= push.padded; size *= 2) {
    for (uint stride = size / 2; stride > 0; stride /= 2) {
      exchange_shared(total, 0, push.padded, size, stride);
    }
  }
  for (uint i = gl_LocalInvocationIndex; i < here * parameters.k; i += kThreads) {
    const uint number = i / parameters.k;
    const uint rank = i % parameters.k;
    const Word word = shared_word(number * push.padded + rank);
    const uint64_t unit = first_unit + number;
    if (push.writes_results != 0) {
      write_result(parameters, row_of(parameters, push.first_row + uint(unit)), rank, index_of(word));
    } else {
      store_word(workspace_at(push.to, unit * parameters.k + rank), word);
    }
  }
}

// Sorts the tiles of longer rows. If size is 0, all steps up to the size of a tile; otherwise the last steps for a larger
// size.
void sort_tile() {
  const uint64_t first = uint64_t(group_index()) * kTile;
  for (uint i = gl_LocalInvocationIndex; i < kTile; i += kThreads) {
    set_shared_word(i, load_word(workspace_at(push.from, first + i)));
  }
  barrier();
  const uint64_t last = push.size == 0 ? uint64_t(kTile) : push.size;
  for (uint64_t size = push.size == 0 ? uint64_t(2) : push.size; size <= last; size *= 2) {
    for (uint stride = uint(min(size, uint64_t(kTile))) / 2; stride > 0; stride /= 2) {
      exchange_shared(kTile, first, uint64_t(push.pitch), size, stride);
    }
  }
  for (uint i = gl_LocalInvocationIndex; i < kTile; i += kThreads) {
    store_word(workspace_at(push.from, first + i), shared_word(i));
  }
}

void main() {
  Parameters parameters = Parameters(push.header.parameters);
  if (kPass == kParts || kPass == kPartsOfWords) {
    sort_parts(parameters);
    return;
  }
  if (kPass == kTiles) {
    sort_tile();
    return;
  }
  const uint64_t i = uint64_t(group_index()) * kThreads + gl_LocalInvocationIndex;
  if (i >= push.total) {
    return;
  }
  if (kPass == kLoad) {
    const uint row = uint(i / push.pitch);
    const uint index = uint(i % push.pitch);
    Word word = last_word();
    if (index < push.count) {
      word = element_word(parameters, row_of(parameters, push.first_row + row), index);
    }
    store_word(workspace_at(push.from, i), word);
  } else if (kPass == kExchange) {
    const uint64_t a = (2 * (i & ~(push.stride - 1))) | (i & (push.stride - 1));
    const bool is_upwards = (a & (uint64_t(push.pitch) - 1) & push.size) == 0;
    const uint64_t to_left = workspace_at(push.from, a);
    const uint64_t to_right = workspace_at(push.from, a + push.stride);
    const Word left = load_word(to_left);
    const Word right = load_word(to_right);
    if (is_before(right, left) == is_upwards) {
      store_word(to_left, right);
      store_word(to_right, left);
    }
  } else {
    const uint row = uint(i / parameters.k);
    const uint rank = uint(i % parameters.k);
    const uint index = index_of(load_word(workspace_at(push.from, uint64_t(row) * push.pitch + rank)));
    write_result(parameters, row_of(parameters, push.first_row + row), rank, index);
  }
}
