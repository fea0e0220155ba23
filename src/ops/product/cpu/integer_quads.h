// SPDX-License-Identifier: MIT
// Kernels of integer convolutions that read their windows from a copy of the image in quads. A quad has the bytes of
// one pixel in four channels, so one instruction multiplies the quads of a vector by four weights. The copy contains
// every pixel once; each tap reads it at another offset.
//
// The kernels multiply unsigned pixels by signed weights. Bytes of the other signedness are shifted by 128, together
// with their zero points.
//
// The packed filter has strips of quad_strip rows; the last strip may have fewer rows. A strip has the quads of its
// rows for the first four channels and the first tap, then those for the next tap, and so on, and then the same for the
// next four channels. Missing channels have the weight 0. The sums of the rows follow the strips as UINT32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/element.h"

namespace anydml {

inline constexpr std::int64_t kQuad = 4;

// Some pixels of a row in four channels, `step` positions apart. Positions before 0 and from `size` on are padding.
struct QuadStretch {
  const std::byte* channels[kQuad];  // the addresses of position 0
  std::int64_t position_bytes;       // distance between positions
  std::int64_t first;
  std::int64_t step;
  std::int64_t length;
  std::int64_t size;
  u8 padding;
  u8 flip;  // XORed with all bytes, including the padding
  u32* to;
};

enum class QuadFinish : std::uint32_t { totals, int32, bytes };

// The product of a strip and the columns of a line. Term t multiplies quad t of every row by the quads at
// from + offsets[t]. The sums are added to `totals`, unless these terms are the first ones. Then QuadFinish::totals
// stores them there. The other kinds add plus[row] - zeros[row] * column_sums[column], modulo 2^32, and store INT32, or
// the total times factors[row], clamped to [lowest, highest], rounded, plus `zero`, as a byte.
struct QuadBlock {
  const u8* weights;
  const u8* from;               // the quad of the line's first column
  const std::int64_t* offsets;  // in bytes
  std::int64_t terms;
  std::int64_t columns;  // a multiple of kQuadColumns
  std::int64_t stored;   // columns whose results are stored at `to`
  bool is_first;
  u32* totals;
  std::int64_t totals_step;  // between rows, in elements
  const u32* plus;
  const u32* zeros;
  const u32* column_sums;  // null if all zeros are 0
  const f32* factors;      // finite
  f32 lowest;              // the smallest output, minus `zero`
  f32 highest;
  i32 zero;
  std::byte* to;
  std::int64_t to_step;  // between rows, in bytes
};
using QuadKernel = void (*)(const QuadBlock& block) noexcept;
inline constexpr std::int64_t kQuadColumns = 16;

struct QuadKernels {
  const char* name;
  std::int64_t max_rows;       // of a strip
  std::int64_t panel;          // columns that are computed together, if there are enough of them
  const QuadKernel* block[3];  // by QuadFinish; each indexed by the rows of the strip minus 1
  void (*copy)(const QuadStretch& stretch) noexcept;
};

#if defined(__x86_64__)
extern const QuadKernels kVnniQuads;  // VPDPBUSD on 64-byte vectors
#endif

}  // namespace anydml
