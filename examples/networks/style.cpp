// SPDX-License-Identifier: MIT
// A style transfer network: the image is extended by reflection at its borders, downscaled, changed by residual blocks
// whose convolutions remove the added borders again, and upscaled by transposed convolutions.
#include "networks.h"

namespace networks {
namespace {

Value residual(Builder& to, const Value& x) {
  const Window window{.size = 3};
  Value y = to.convolution(x, x.sizes[1], window, Activation::none, false);
  y = to.instance_normalization(y, Activation::relu);
  y = to.convolution(y, x.sizes[1], window, Activation::none, false);
  y = to.instance_normalization(y, Activation::none);
  return to.add(y, to.crop(x, 2));
}

}  // namespace

// The size must be a multiple of 4.
Value build_style(Builder& to, const Scale& scale) {
  Value x = to.scale_image(to.picture(scale.batch, 3, scale.size, 1), 1.0f / 64, -2);
  x = to.reflect(x, 8 * scale.depth);  // each block removes two pixels at a quarter of the size, twice
  const auto convolve = [&](UINT channels, const Window& window) {
    x = to.instance_normalization(to.convolution(x, channels, window, Activation::none, false), Activation::relu);
  };
  convolve(32, {.size = 9, .padding = 4});
  convolve(64, {.size = 3, .stride = 2, .padding = 1});
  convolve(128, {.size = 3, .stride = 2, .padding = 1});
  for (UINT i = 0; i < scale.depth; ++i) {
    x = residual(to, x);
  }
  for (const UINT channels : {64u, 32u}) {
    x = to.transposed_convolution(x, channels, {.size = 3, .stride = 2, .padding = 1});
    x = to.instance_normalization(x, Activation::relu);
  }
  x = to.convolution(x, 3, {.size = 9, .padding = 4}, Activation::none, false);
  x = to.tanh(to.instance_normalization(x, Activation::none));
  return to.scale_values(x, 127.5f, 127.5f);
}

}  // namespace networks
