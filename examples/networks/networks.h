// SPDX-License-Identifier: MIT
// The networks, one per file.
#pragma once

#include <span>
#include <string_view>

#include "builder.h"

namespace networks {

struct Scale {
  UINT batch;
  UINT size;   // the side length of an image, or the number of time steps or tokens
  UINT depth;  // the number of residual blocks or layers, in networks that repeat them
};

struct Kind {
  const char* name;
  const char* about;
  Scale usual;
  Scale small;       // for tests
  bool makes_image;  // the output is an image, {N, C, H, W}, instead of class probabilities, {1, 1, N, classes}
  Value (*build)(Builder& to, const Scale& scale);
};

Value build_mobilenet(Builder& to, const Scale& scale);
Value build_squeezenet(Builder& to, const Scale& scale);
Value build_style(Builder& to, const Scale& scale);
Value build_superresolution(Builder& to, const Scale& scale);
Value build_lstm(Builder& to, const Scale& scale);
Value build_transformer(Builder& to, const Scale& scale);

inline constexpr Kind kKinds[] = {
    {"mobilenet",
     "MobileNet v2: depthwise convolutions, batch normalization, 1,000 classes",
     {1, 224, 1},
     {1, 32, 1},
     false,
     build_mobilenet},
    {"squeezenet",
     "SqueezeNet: concatenated convolutions, 1,000 classes",
     {1, 224, 1},
     {1, 48, 1},
     false,
     build_squeezenet},
    {"style",
     "style transfer: reflected borders, instance normalization, transposed convolutions; a picture",
     {1, 224, 5},
     {1, 12, 1},
     true,
     build_style},
    {"superresolution",
     "super-resolution: depth to space; a picture three times as large",
     {1, 224, 1},
     {1, 12, 1},
     true,
     build_superresolution},
    {"lstm", "two LSTM layers, the first in both directions; 10 classes", {1, 100, 1}, {1, 7, 1}, false, build_lstm},
    {"transformer",
     "a transformer encoder: embeddings, attention, layer normalization; 10 classes",
     {1, 128, 4},
     {1, 9, 1},
     false,
     build_transformer},
};

[[nodiscard]] inline const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) {
      return &kind;
    }
  }
  return nullptr;
}

[[nodiscard]] inline Network make_network(IDMLDevice1* device, const Kind& kind, const Scale& scale,
                                          const Builder::Options& options = {}) {
  Builder builder(device, options);
  return builder.compile(kind.build(builder, scale));
}

}  // namespace networks
