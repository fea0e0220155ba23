// SPDX-License-Identifier: MIT
#include "plan/loop_nest.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/small_sort.h"

namespace anydml {
namespace {

// Each operand's element size in bytes.
using ElementSizes = std::int64_t[kMaxOperands];

InnerLayout classify(const LoopNest& nest, const ElementSizes& sizes) {
  const std::int64_t* strides = nest.innermost().strides;
  const std::uint32_t inputs = nest.operands - 1;
  const auto contiguous = [&](std::uint32_t operand) { return strides[operand] == sizes[operand]; };
  if (!contiguous(inputs)) {
    return InnerLayout::strided;
  }
  bool all = true;
  for (std::uint32_t input = 0; input < inputs; ++input) {
    all = all && contiguous(input);
  }
  if (all) {
    return InnerLayout::contiguous;
  }
  if (inputs == 2 && contiguous(0) && strides[1] == 0) {
    return InnerLayout::second_broadcast;
  }
  if (inputs == 2 && strides[0] == 0 && contiguous(1)) {
    return InnerLayout::first_broadcast;
  }
  return InnerLayout::strided;
}

// The smallest stride of any operand along a loop, which is the distance in memory between its iterations.
std::int64_t nearest_step(const Loop& loop, std::uint32_t operands) {
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t operand = 0; operand < operands; ++operand) {
    const std::int64_t stride = loop.strides[operand];
    if (stride != 0) {
      nearest = std::min(nearest, stride < 0 ? -stride : stride);
    }
  }
  return nearest;
}

bool is_crossed(const LoopNest& nest, const ElementSizes& sizes) {
  for (std::uint32_t input = 0; nest.rank >= 2 && input + 1 < nest.operands; ++input) {
    const std::int64_t size = sizes[input];
    const std::int64_t inner = nest.innermost().strides[input];
    const std::int64_t next = nest.loops[nest.rank - 2].strides[input];
    if (inner != 0 && inner != size && inner != -size && (next == size || next == -size)) {
      return true;
    }
  }
  return false;
}

}  // namespace

LoopNest make_loop_nest(std::span<const TensorDesc> tensors) {
  const TensorDesc& output = tensors.back();
  const std::size_t last = tensors.size() - 1;
  ElementSizes elements = {};
  for (std::size_t operand = 0; operand < tensors.size(); ++operand) {
    elements[operand] = static_cast<std::int64_t>(element_size(tensors[operand].type));
  }
  LoopNest nest;
  nest.operands = static_cast<std::uint32_t>(tensors.size());
  nest.count = element_count(output);

  for (std::uint32_t i = 0; i < output.rank && nest.count != 0; ++i) {
    if (output.sizes[i] == 1) {
      continue;
    }
    Loop& loop = nest.loops[nest.rank++];
    loop.size = output.sizes[i];
    for (std::size_t operand = 0; operand < tensors.size(); ++operand) {
      loop.strides[operand] = tensors[operand].strides[i] * elements[operand];
    }
    if (loop.strides[last] < 0) {
      for (std::size_t operand = 0; operand < tensors.size(); ++operand) {
        nest.offsets[operand] += (loop.size - 1) * loop.strides[operand];
        loop.strides[operand] = -loop.strides[operand];
      }
    }
  }

  small_sort(nest.loops, nest.rank, [last](const Loop& a, const Loop& b) { return a.strides[last] > b.strides[last]; });

  std::uint32_t kept = 0;
  for (std::uint32_t i = 1; i < nest.rank; ++i) {
    Loop& outer = nest.loops[kept];
    const Loop& inner = nest.loops[i];
    bool mergeable = true;
    for (std::size_t operand = 0; operand < tensors.size(); ++operand) {
      // The multiplication is checked, because one step past the end of the inner loop may overflow.
      mergeable = mergeable && checked_multiply(inner.strides[operand], inner.size) == outer.strides[operand];
    }
    if (mergeable) {
      const std::int64_t size = outer.size * inner.size;
      outer = inner;
      outer.size = size;
    } else {
      nest.loops[++kept] = inner;
    }
  }

  if (nest.rank == 0) {  // a single element, or no elements
    nest.rank = 1;
    nest.loops[0].size = nest.count;
    std::copy_n(elements, tensors.size(), nest.loops[0].strides);
  } else {
    nest.rank = kept + 1;
  }
  small_sort(nest.loops, nest.rank - 1, [&nest](const Loop& a, const Loop& b) {
    return nearest_step(a, nest.operands) > nearest_step(b, nest.operands);
  });
  nest.crossed = is_crossed(nest, elements);
  nest.inner = classify(nest, elements);
  return nest;
}

}  // namespace anydml
