// SPDX-License-Identifier: MIT
// Kernels for single channels that use VPDPBUSD on 64-byte vectors. They are called only on machines that support it.
#include "ops/product/cpu/integer_row_dots.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL_ROWS _Pragma("clang loop unroll(full)")
#else
#define ANYDML_ALL_ROWS _Pragma("GCC unroll 16")
#endif

namespace anydml {
namespace {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kQuadPixels = 4;

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of GCC's own _mm512_undefined_epi32
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni")
#endif

ANYDML_INLINE std::uint64_t bits_below(std::int64_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << static_cast<unsigned>(count)) - 1;
}

// For each of 16 outputs, the four pixels that begin at its own one.
template <std::int64_t kStride>
ANYDML_INLINE __m512i quads_of(const std::byte* from, __mmask64 inside, __m512i padding) {
  __m512i pixels;
  __m512i near;
  __m128i four;
  if constexpr (kStride == 1) {
    // Half a vector is enough, and crosses fewer cache lines.
    pixels = _mm512_castsi256_si512(
        _mm256_mask_loadu_epi8(_mm512_castsi512_si256(padding), static_cast<__mmask32>(inside), from));
    near = _mm512_setr_epi32(0, 1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0, 3, 4, 0, 0);
    four = _mm_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6);
  } else {
    pixels = _mm512_mask_loadu_epi8(padding, inside, from);
    near = _mm512_setr_epi32(0, 1, 2, 0, 2, 3, 4, 0, 4, 5, 6, 0, 6, 7, 8, 0);
    four = _mm_setr_epi8(0, 1, 2, 3, 2, 3, 4, 5, 4, 5, 6, 7, 6, 7, 8, 9);
  }
  return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(near, pixels), _mm512_broadcast_i32x4(four));
}

// The bounds are integers, so clamping before rounding is the same as afterwards. The factor is finite.
ANYDML_INLINE void store(const DotRows& rows, __m512i sums, std::int64_t i, std::byte* to) {
  const auto wanted = static_cast<__mmask16>(bits_below(std::min(rows.count - i, kLanes)));
  if (!rows.is_quantized) {
    _mm512_mask_storeu_epi32(to + i * static_cast<std::int64_t>(sizeof(u32)), wanted, sums);
    return;
  }
  const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_set1_ps(rows.factor));
  const __m512 clamped =
      _mm512_min_ps(_mm512_max_ps(scaled, _mm512_set1_ps(rows.lowest)), _mm512_set1_ps(rows.highest));
  const __m512i rounded = _mm512_add_epi32(_mm512_cvtps_epi32(clamped), _mm512_set1_epi32(rows.output_zero));
  _mm_mask_storeu_epi8(to + i, wanted, _mm512_cvtepi32_epi8(rounded));
}

// kTaps: 0 if the number of taps is not known; then there is one row of outputs.
template <std::int64_t kStride, std::int64_t kTaps, std::int64_t kRows, bool kHasZero>
ANYDML_INLINE void add_rows(const DotRows& rows) {
  static_assert(kTaps != 0 || kRows == 1);
  constexpr std::int64_t kPixels = (kLanes - 1) * kStride + kQuadPixels;  // of a vector's quads
  const __m512i padding = _mm512_set1_epi8(static_cast<char>(rows.padding));
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(rows.flip));
  const __m512i outside = _mm512_xor_si512(padding, flip);
  const std::int64_t taps = kTaps != 0 ? kTaps : rows.taps;
  for (std::int64_t i = 0; i < rows.count; i += kLanes) {
    __m512i sums[static_cast<std::size_t>(kRows)];
    __m512i pixel_sums[static_cast<std::size_t>(kRows)];
    ANYDML_ALL_ROWS
    for (std::int64_t y = 0; y < kRows; ++y) {
      sums[y] = _mm512_set1_epi32(static_cast<int>(rows.plus));
      pixel_sums[y] = _mm512_setzero_si512();
    }
    for (std::int64_t quad = 0; quad < rows.quads; ++quad) {
      const std::int64_t column = rows.first + i * kStride + quad * kQuadPixels;
      const std::int64_t low = std::clamp<std::int64_t>(-column, 0, kPixels);
      const std::int64_t high = std::clamp<std::int64_t>(rows.size - column, low, kPixels);
      const __mmask64 inside = bits_below(high) & ~bits_below(low);
      const auto quads_at = [&](std::int64_t row) __attribute__((always_inline)) {
        const std::byte* const image = rows.images[row];
        return image == nullptr ? outside : _mm512_xor_si512(quads_of<kStride>(image + column, inside, padding), flip);
      };
      const auto add = [&](__m512i quads, std::int64_t y, std::int64_t tap) __attribute__((always_inline)) {
        const std::int64_t at = tap * rows.quads + quad;
        sums[y] = _mm512_dpbusd_epi32(sums[y], quads, _mm512_set1_epi32(static_cast<int>(rows.weights[at])));
        if constexpr (kHasZero) {
          pixel_sums[y] = _mm512_dpbusd_epi32(pixel_sums[y], quads, _mm512_set1_epi32(static_cast<int>(rows.ones[at])));
        }
      };
      if constexpr (kRows == 1) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          add(quads_at(tap), 0, tap);
        }
      } else {
        // Every row of the image is read once for all rows of outputs.
        ANYDML_ALL_ROWS
        for (std::int64_t row = 0; row < (kRows - 1) * kStride + kTaps; ++row) {
          const __m512i quads = quads_at(row);
          ANYDML_ALL_ROWS
          for (std::int64_t y = 0; y < kRows; ++y) {
            if (row >= y * kStride && row < y * kStride + kTaps) {
              add(quads, y, row - y * kStride);
            }
          }
        }
      }
    }
    ANYDML_ALL_ROWS
    for (std::int64_t y = 0; y < kRows; ++y) {
      __m512i sum = sums[y];
      if constexpr (kHasZero) {
        const __m512i zero = _mm512_set1_epi32(static_cast<int>(rows.zero));
        sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(pixel_sums[y], zero));
      }
      store(rows, sum, i, rows.to + y * rows.to_step);
    }
  }
}

template <std::int64_t kStride, std::int64_t kTaps, std::int64_t kRows>
void add(const DotRows& given) {
  const DotRows rows = given;
  if (rows.zero != 0) {
    add_rows<kStride, kTaps, kRows, true>(rows);
  } else {
    add_rows<kStride, kTaps, kRows, false>(rows);
  }
}

template <std::int64_t kStride>
void add_one(const DotRows& rows) noexcept {
  add<kStride, 0, 1>(rows);
}
template <std::int64_t kStride>
void add_several(const DotRows& rows) noexcept {
  if (rows.taps == 3) {
    add<kStride, 3, kDotRows>(rows);
  } else {
    add<kStride, 5, kDotRows>(rows);
  }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

const DotKernels kVnniDots = {
    .name = "VPDPBUSD", .one = {add_one<1>, add_one<2>}, .several = {add_several<1>, add_several<2>}};

}  // namespace anydml

#endif
