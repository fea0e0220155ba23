// SPDX-License-Identifier: MIT
// The inner loop of byte convolutions of single channels, which reads the rows of the image in place. One instruction
// multiplies four adjacent pixels by four weights of a row of the filter, for 16 outputs.
//
// As in integer_quads.h, pixels are unsigned and weights are signed.
#pragma once

#include <cstdint>

#include "base/element.h"

namespace anydml {

// One or several rows of outputs, which are to_step bytes apart. Output row y reads the `taps` rows of the image from
// images[y * row_move] on; a null row is padding. Output i of a row reads the pixels from column first + stride * i on.
// Columns before 0 and from `size` on are padding. The filter has `quads` quads of weights for each row, padded with 0.
// The results are the sums plus `plus`, minus `zero` times the sums of the pixels, modulo 2^32, as INT32, or scaled as
// in QuadBlock.
struct DotRows {
  const std::byte* const* images;
  std::int64_t row_move;
  std::int64_t taps;
  std::int64_t first;
  std::int64_t size;
  std::int64_t count;
  const u32* weights;
  const u32* ones;  // weights of 1 for every tap
  std::int64_t quads;
  u8 padding;  // before it is flipped
  u8 flip;     // XORed with all pixels
  u32 plus;
  u32 zero;
  bool is_quantized;
  f32 factor;
  f32 lowest;
  f32 highest;
  i32 output_zero;
  std::byte* to;
  std::int64_t to_step;
};
using DotKernel = void (*)(const DotRows& rows) noexcept;

struct DotKernels {
  const char* name;
  DotKernel one[2];      // a row of outputs, for a stride of 1 or 2 along both dimensions
  DotKernel several[2];  // kDotRows rows of outputs, for three or five taps
};
inline constexpr std::int64_t kDotRows = 4;

#if defined(__x86_64__)
extern const DotKernels kVnniDots;  // VPDPBUSD on 64-byte vectors
#endif

}  // namespace anydml
