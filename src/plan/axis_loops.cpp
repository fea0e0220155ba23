// SPDX-License-Identifier: MIT
#include "plan/axis_loops.h"

#include <algorithm>
#include <span>

namespace anydml {
namespace {

[[nodiscard]] bool follows(const AxisLoop& outer, const AxisLoop& inner) {
  return outer.input == inner.size * inner.input && outer.output == inner.size * inner.output;
}

[[nodiscard]] AxisLoop joined(const AxisLoop& outer, const AxisLoop& inner) {
  return {.size = outer.size * inner.size, .input = inner.input, .output = inner.output};
}

// Adds a loop inside the existing ones, or merges it with the innermost loop if the two are contiguous.
void add_inner(AxisLoop* loops, std::uint32_t& rank, const AxisLoop& loop) {
  if (rank != 0 && follows(loops[rank - 1], loop)) {
    loops[rank - 1] = joined(loops[rank - 1], loop);
    return;
  }
  loops[rank++] = loop;
}

// One axis of the input, the output, and the two additional tensors.
struct PairedLoop {
  AxisLoop loop;
  AxisLoop other;
};

void reverse(AxisLoop& loop, AxisLoops& result) {
  result.input_offset += (loop.size - 1) * loop.input;
  result.output_offset += (loop.size - 1) * loop.output;
  loop.input = -loop.input;
  loop.output = -loop.output;
}

// The positions of the kept axes may be visited in any order.
void add_kept(std::span<PairedLoop> kept, PairedLoops& result) {
  for (PairedLoop& one : kept) {
    if (one.loop.input < 0) {
      reverse(one.loop, result.loops);
      reverse(one.other, result.others);
    }
  }
  std::ranges::stable_sort(kept, [](const PairedLoop& a, const PairedLoop& b) {
    return b.loop.input != 0 && (a.loop.input == 0 || a.loop.input > b.loop.input);
  });
  std::uint32_t rank = 0;
  for (const PairedLoop& one : kept) {
    if (rank != 0 && follows(result.loops.kept[rank - 1], one.loop) &&
        follows(result.others.kept[rank - 1], one.other)) {
      result.loops.kept[rank - 1] = joined(result.loops.kept[rank - 1], one.loop);
      result.others.kept[rank - 1] = joined(result.others.kept[rank - 1], one.other);
      continue;
    }
    result.loops.kept[rank] = one.loop;
    result.others.kept[rank++] = one.other;
  }
  result.loops.kept_rank = rank;
  result.others.kept_rank = rank;
}

[[nodiscard]] AxisLoop loop_of(std::uint32_t axis, std::int64_t size, const TensorDesc& a, const TensorDesc& b) {
  const auto stride = [&](const TensorDesc& tensor) {
    return tensor.sizes[axis] == 1 ? 0 : tensor.strides[axis] * static_cast<std::int64_t>(element_size(tensor.type));
  };
  return {.size = size, .input = stride(a), .output = stride(b)};
}

}  // namespace

AxisLoops split_axes(const TensorDesc& input, const TensorDesc& output, std::uint32_t axes) {
  return split_axes_with(input, output, input, output, axes).loops;
}

PairedLoops split_axes_with(const TensorDesc& input, const TensorDesc& output, const TensorDesc& first,
                            const TensorDesc& second, std::uint32_t axes) {
  constexpr AxisLoop kOne{.size = 1, .input = 0, .output = 0};
  PairedLoops result{};
  AxisLoops& loops = result.loops;
  AxisLoops& others = result.others;
  loops.outputs = 1;
  loops.count = 1;
  PairedLoop kept[kMaxRank];
  std::size_t kept_count = 0;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    const std::int64_t size = input.sizes[i];
    if (size == 1) {
      continue;
    }
    const bool is_reduced = (axes >> i & 1) != 0;
    const PairedLoop one{.loop = loop_of(i, size, input, output), .other = loop_of(i, size, first, second)};
    loops.has_lanes = is_reduced ? 1 : 0;  // the last axis determines this
    (is_reduced ? loops.count : loops.outputs) *= size;
    if (is_reduced) {  // the order of the reduced axes determines the result's bits
      add_inner(loops.reduced, loops.reduced_rank, one.loop);
      add_inner(others.reduced, others.reduced_rank, one.other);
    } else {
      kept[kept_count++] = one;
    }
  }
  if (loops.reduced_rank == 0) {
    loops.reduced[loops.reduced_rank++] = kOne;
    others.reduced[others.reduced_rank++] = kOne;
  }
  if (kept_count == 0) {
    kept[kept_count++] = {.loop = kOne, .other = kOne};
  }
  add_kept({kept, kept_count}, result);
  others.has_lanes = loops.has_lanes;
  others.outputs = loops.outputs;
  others.count = loops.count;
  return result;
}

}  // namespace anydml
