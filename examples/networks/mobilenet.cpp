// SPDX-License-Identifier: MIT
// MobileNet v2: blocks that widen, filter each channel separately, and narrow again; a block with equal input and
// output sizes adds its input to its output.
#include "networks.h"

namespace networks {
namespace {

Value convolve(Builder& to, const Value& x, UINT channels, const Window& window) {
  return to.batch_normalization(to.convolution(x, channels, window, Activation::none, false));
}

Value convolve_and_clip(Builder& to, const Value& x, UINT channels, const Window& window) {
  return to.clip(convolve(to, x, channels, window), 0, 6);
}

Value block(Builder& to, const Value& x, UINT widening, UINT channels, UINT stride) {
  const UINT wide = x.sizes[1] * widening;
  const Value widened = widening == 1 ? x : convolve_and_clip(to, x, wide, {.size = 1});
  const Value filtered =
      convolve_and_clip(to, widened, wide, {.size = 3, .stride = stride, .padding = 1, .groups = wide});
  const Value y = convolve(to, filtered, channels, {.size = 1});
  return stride == 1 && channels == x.sizes[1] ? to.add(x, y) : y;
}

}  // namespace

Value build_mobilenet(Builder& to, const Scale& scale) {
  struct Stage {
    UINT widening, channels, blocks, stride;
  };
  static constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Value x = to.picture(scale.batch, 3, scale.size, 1.0f / 64);
  x = convolve_and_clip(to, x, 32, {.size = 3, .stride = 2, .padding = 1});
  for (const Stage& stage : kStages) {
    for (UINT i = 0; i < stage.blocks; ++i) {
      x = block(to, x, stage.widening, stage.channels, i == 0 ? stage.stride : 1);
    }
  }
  x = to.average_pooling(convolve_and_clip(to, x, 1280, {.size = 1}));
  return to.softmax(to.product(x.view({1, 1, scale.batch, 1280}), 1000, 3));
}

}  // namespace networks
