// SPDX-License-Identifier: MIT
// Super-resolution: convolutions at the small size compute nine channels, whose elements become the pixels of 3 x 3
// blocks. These pixels are added to the linearly interpolated image.
#include "networks.h"

namespace networks {

Value build_superresolution(Builder& to, const Scale& scale) {
  constexpr UINT kTimes = 3;
  const Value image = to.picture(scale.batch, 1, scale.size, 1.0f / 256);
  Value x = to.convolution(image, 64, {.size = 5, .padding = 2}, Activation::tanh, true);
  x = to.convolution(x, 64, {.size = 3, .padding = 1}, Activation::relu, true);
  x = to.convolution(x, 32, {.size = 3, .padding = 1}, Activation::relu, true);
  x = to.convolution(x, kTimes * kTimes, {.size = 3, .padding = 1}, Activation::none, true);
  x = to.scale_values(to.depth_to_space(x, kTimes), 1.0f / 32, 0);
  return to.clip(to.add(to.upsample(image, kTimes), x), 0, 1);
}

}  // namespace networks
