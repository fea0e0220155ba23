// SPDX-License-Identifier: MIT
// Rows of elements in two tensors, as kernels read them from a step's parameters (shaders/axis_loops.glsl).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backend/vulkan/family.h"
#include "plan/axis_loops.h"

namespace anydml::vulkan {

struct DeviceAxisLoop {
  std::uint32_t size;
  std::uint32_t unused;
  std::int64_t from;
  std::int64_t to;
};
// All counts are below 2^32.
struct DeviceAxisLoops {
  std::int64_t from_offset;
  std::int64_t to_offset;
  std::uint32_t outputs;
  std::uint32_t count;
  std::uint32_t kept_rank;
  std::uint32_t reduced_rank;
  DeviceAxisLoop kept[kMaxRank];
  DeviceAxisLoop reduced[kMaxRank];
};
static_assert(sizeof(DeviceAxisLoops) == 416);

[[nodiscard]] inline DeviceAxisLoops device_loops(const AxisLoops& loops) {
  DeviceAxisLoops result{.from_offset = loops.input_offset,
                         .to_offset = loops.output_offset,
                         .outputs = static_cast<std::uint32_t>(loops.outputs),
                         .count = static_cast<std::uint32_t>(loops.count),
                         .kept_rank = loops.kept_rank,
                         .reduced_rank = loops.reduced_rank,
                         .kept = {},
                         .reduced = {}};
  const auto convert = [](const AxisLoop& loop) {
    return DeviceAxisLoop{
        .size = static_cast<std::uint32_t>(loop.size), .unused = 0, .from = loop.input, .to = loop.output};
  };
  std::transform(loops.kept, loops.kept + loops.kept_rank, result.kept, convert);
  std::transform(loops.reduced, loops.reduced + loops.reduced_rank, result.reduced, convert);
  return result;
}

// The OR of a tensor's offset and strides: its elements are aligned if this and its address are multiples of their
// size. stride: &AxisLoop::input or &AxisLoop::output
[[nodiscard]] inline std::uint64_t steps_of(const AxisLoops& loops, std::int64_t AxisLoop::*stride) {
  auto steps = static_cast<std::uint64_t>(stride == &AxisLoop::input ? loops.input_offset : loops.output_offset);
  for (std::uint32_t i = 0; i < loops.kept_rank; ++i) {
    steps |= static_cast<std::uint64_t>(loops.kept[i].*stride);
  }
  for (std::uint32_t i = 0; i < loops.reduced_rank; ++i) {
    steps |= static_cast<std::uint64_t>(loops.reduced[i].*stride);
  }
  return steps;
}

// The threads that add the elements of a row (shaders/row_sums.glsl).
[[nodiscard]] inline std::uint32_t team_of(bool has_lanes, std::int64_t count) {
  constexpr std::int64_t kLanes = 64;
  return has_lanes ? static_cast<std::uint32_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(count, kLanes)))) : 1;
}

// The iterations of all loops of a thread that visits `elements` elements of rows and computes `operations` primitives
// for each of them (GpuProperties::max_iterations). Each loop ends with one more. Primitives in integers are loops of
// about a dozen iterations.
[[nodiscard]] inline std::uint64_t iterations_of(const GpuProperties& gpu, std::uint64_t elements,
                                                 std::uint32_t reduced_rank, std::uint64_t operations) {
  constexpr std::uint64_t kOfPrimitive = 16;
  return elements * (1 + reduced_rank + (gpu.primitives == 0 ? operations * kOfPrimitive : 0));
}
inline constexpr const char* kTooManyIterations =
    "rows are so long that this software driver would end the loops over their elements too early";

}  // namespace anydml::vulkan
