// SPDX-License-Identifier: MIT
// GridSample: reads elements, or weighted means of neighboring elements, at the positions in a grid. samples.cpp
// computes it with operators, and host/grid_sample.cpp by a loop on the host.
//
// Positions and weights are computed in float, or in double for a double tensor, and each operation is rounded. The
// terms of a mean are added in the order of their indices.
#pragma once

#include "onnx/rows/row.h"

namespace anydml::onnx {

enum class SampleMode { kNearest, kLinear, kCubic };
enum class SamplePadding { kZeros, kBorder, kReflection };

struct SampleOptions {
  SampleMode mode;
  SamplePadding padding;
  bool is_aligned;  // whether -1 and 1 are the centers of the first and last element, not their edges
};

// The coefficient of Keys' cubic kernel.
inline constexpr double kSampleCoefficient = -0.75;

// The node's attributes; raises Invalid if one is wrong.
[[nodiscard]] SampleOptions sample_options(const Node& node);
// Checks the shapes and returns the shape of the result.
[[nodiscard]] Sizes sample_shape(const Array& x, const Array& grid);
// Computes the samples on the host. Both arrays must have elements in memory.
[[nodiscard]] Array host_samples(const Array& x, const Array& grid, const SampleOptions& options);

[[nodiscard]] Compute make_grid_sample(const Node& node);

}  // namespace anydml::onnx
