// SPDX-License-Identifier: MIT
// SqueezeNet 1.1: each module reduces the number of channels and then expands it again with two convolutions, whose
// outputs are joined.
#include "networks.h"

namespace networks {
namespace {

Value fire(Builder& to, const Value& x, UINT squeezed, UINT expanded) {
  const Value narrow = to.convolution(x, squeezed, {.size = 1}, Activation::relu, true);
  const Value points = to.convolution(narrow, expanded, {.size = 1}, Activation::relu, true);
  const Value windows = to.convolution(narrow, expanded, {.size = 3, .padding = 1}, Activation::relu, true);
  return to.join({points, windows});
}

}  // namespace

Value build_squeezenet(Builder& to, const Scale& scale) {
  const Window pool{.size = 3, .stride = 2};
  Value x = to.picture(scale.batch, 3, scale.size, 1.0f / 64);
  x = to.max_pooling(to.convolution(x, 64, {.size = 3, .stride = 2}, Activation::relu, true), pool);
  x = fire(to, fire(to, x, 16, 64), 16, 64);
  x = to.max_pooling(x, pool);
  x = fire(to, fire(to, x, 32, 128), 32, 128);
  x = to.max_pooling(x, pool);
  x = fire(to, fire(to, x, 48, 192), 48, 192);
  x = fire(to, fire(to, x, 64, 256), 64, 256);
  x = to.average_pooling(to.convolution(x, 1000, {.size = 1}, Activation::relu, true));
  return to.softmax(x.view({1, 1, scale.batch, 1000}));
}

}  // namespace networks
