// SPDX-License-Identifier: MIT
#include "plan/axis_loops.h"

#include <algorithm>
#include <span>

namespace anydml {
namespace {

// Adds a loop inside the others; it becomes one with the last of them if the two are contiguous.
void add_inner(AxisLoop* loops, std::uint32_t& rank, const AxisLoop& loop) {
  if (rank != 0) {
    AxisLoop& outer = loops[rank - 1];
    if (outer.input == loop.size * loop.input && outer.output == loop.size * loop.output) {
      outer = {.size = outer.size * loop.size, .input = loop.input, .output = loop.output};
      return;
    }
  }
  loops[rank++] = loop;
}

// The places of kept axes may be visited in any order.
void add_kept(std::span<AxisLoop> kept, AxisLoops& made) {
  for (AxisLoop& loop : kept) {
    if (loop.input < 0) {
      made.input_offset += (loop.size - 1) * loop.input;
      made.output_offset += (loop.size - 1) * loop.output;
      loop.input = -loop.input;
      loop.output = -loop.output;
    }
  }
  std::ranges::stable_sort(
      kept, [](const AxisLoop& a, const AxisLoop& b) { return b.input != 0 && (a.input == 0 || a.input > b.input); });
  for (const AxisLoop& loop : kept) {
    add_inner(made.kept, made.kept_rank, loop);
  }
}

}  // namespace

AxisLoops split_axes(const TensorDesc& input, const TensorDesc& output, std::uint32_t axes) {
  constexpr AxisLoop kOne{.size = 1, .input = 0, .output = 0};
  AxisLoops made{};
  made.outputs = 1;
  made.count = 1;
  const auto bytes_in = static_cast<std::int64_t>(element_size(input.type));
  const auto bytes_out = static_cast<std::int64_t>(element_size(output.type));
  AxisLoop kept[kMaxRank];
  std::size_t kept_count = 0;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    const std::int64_t size = input.sizes[i];
    if (size == 1) {
      continue;
    }
    const bool is_reduced = (axes >> i & 1) != 0;
    const AxisLoop loop{.size = size,
                        .input = input.strides[i] * bytes_in,
                        .output = output.sizes[i] == 1 ? 0 : output.strides[i] * bytes_out};
    made.has_lanes = is_reduced ? 1 : 0;  // the last one decides
    (is_reduced ? made.count : made.outputs) *= size;
    if (is_reduced) {
      add_inner(made.reduced, made.reduced_rank, loop);  // their order is the order of the result's bits
    } else {
      kept[kept_count++] = loop;
    }
  }
  if (made.reduced_rank == 0) {
    made.reduced[made.reduced_rank++] = kOne;
  }
  if (kept_count == 0) {
    kept[kept_count++] = kOne;
  }
  add_kept({kept, kept_count}, made);
  return made;
}

}  // namespace anydml
