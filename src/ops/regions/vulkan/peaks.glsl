// SPDX-License-Identifier: MIT
// The maximum samples of all bins, in the workspace: by region, channel and bin.
#include "ops/regions/vulkan/sampling.glsl"

// The elements of the image that receive the gradient of a bin's maximum sample.
struct PeakTaps {
  int row;  // negative if the bin has no maximum sample
  int column;
  uint second_row;
  uint second_column;
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer PeakOfBin { PeakTaps taps; };
