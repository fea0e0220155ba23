// SPDX-License-Identifier: MIT
// Sums of FLOAT32 in the order of ops/scalar/fold_order.h. A team of kTeam threads of a group, a power of two, adds the
// elements of a row: a thread for each lane, or one thread for sums without lanes. A row of fewer than 64 elements needs
// fewer lanes, because the others would be -0.
#ifndef ANYDML_ROW_SUMS_GLSL
#define ANYDML_ROW_SUMS_GLSL
#include "backend/vulkan/shaders/elements.glsl"
#include "backend/vulkan/shaders/floats.glsl"

const uint kBlock = 4096;  // elements
const uint kThreads = 256;
layout(local_size_x = 256) in;  // kThreads
layout(constant_id = 0) const uint kTeam = 64;

shared uint shared_sums[kThreads];

// The sum of a team's lanes, for all of its threads: each of them adds the same numbers, in either order. All threads of
// the group call this.
uint fold_team(uint value) {
  const uint thread = gl_LocalInvocationIndex;
  for (uint distance = kTeam / 2; distance > 0; distance /= 2) {
    shared_sums[thread] = value;
    barrier();
    value = add_floats(value, shared_sums[thread ^ distance]);
    barrier();
  }
  return value;
}

// The sums of a row's blocks, added in order, are combined in pairs of neighbors: BlockTree.
const uint kTreeLevels = 21;  // 2^32 elements have 2^20 blocks
uint tree_held[kTreeLevels];
uint tree_depth;
uint tree_count;

void clear_tree() {
  tree_depth = 0;
  tree_count = 0;
}
void add_to_tree(uint value) {
  for (uint rest = tree_count; (rest & 1) != 0; rest >>= 1) {
    --tree_depth;
    value = add_floats(tree_held[tree_depth], value);
  }
  tree_held[tree_depth] = value;
  ++tree_depth;
  ++tree_count;
}
uint total_of_tree() {
  uint value = tree_held[tree_depth - 1];
  for (uint i = tree_depth - 1; i-- > 0;) {
    value = add_floats(tree_held[i], value);
  }
  return value;
}

#endif
