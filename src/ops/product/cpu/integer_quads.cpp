// SPDX-License-Identifier: MIT
// Convolution kernels that use VPDPBUSD on 64-byte vectors of 16 pixels. Functions that use this instruction are called
// only on machines that support it.
#include "ops/product/cpu/integer_quads.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#define ANYDML_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define ANYDML_ALL_ROWS _Pragma("clang loop unroll(full)")
#define ANYDML_TWICE _Pragma("clang loop unroll_count(2)")
#else
#define ANYDML_TWICE _Pragma("GCC unroll 2")
#define ANYDML_ALL_ROWS _Pragma("GCC unroll 16")
#endif

namespace anydml {
namespace {

// The sums of four vectors of columns, these columns and one weight fit into 32 registers.
constexpr std::size_t kMaxRows = 6;
constexpr std::size_t kVectors = 4;
constexpr std::size_t kBytes = 64;
constexpr auto kLanes = static_cast<std::int64_t>(kBytes / sizeof(u32));
static_assert(kLanes == kQuadColumns);

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512vnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of GCC's own _mm512_undefined_epi32
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512vnni")
#endif

// The lanes of a vector that begins at this column and are stored.
ANYDML_INLINE __mmask16 stored_lanes(const QuadBlock& block, std::int64_t column) {
  const std::int64_t count = std::clamp<std::int64_t>(block.stored - column, 0, kLanes);
  return static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1);
}

template <std::size_t kRows, std::size_t kColumnVectors>
struct Sums {
  __m512i of[kRows * kColumnVectors];

  ANYDML_INLINE void start(const QuadBlock& block, std::int64_t column) {
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row) {
      ANYDML_ALL_ROWS
      for (std::size_t i = 0; i < kColumnVectors; ++i) {
        of[row * kColumnVectors + i] =
            block.is_first ? _mm512_setzero_si512()
                           : _mm512_loadu_si512(block.totals + static_cast<std::int64_t>(row) * block.totals_step +
                                                column + static_cast<std::int64_t>(i) * kLanes);
      }
    }
  }

  ANYDML_INLINE void add(const QuadBlock& block, std::int64_t column) {
    const u8* const from = block.from + column * kQuad;
    const u8* weights = block.weights;
    ANYDML_TWICE
    for (std::int64_t term = 0; term < block.terms; ++term, weights += kRows * kQuad) {
      const u8* const pixels = from + block.offsets[term];
      __m512i quads[kColumnVectors];
      ANYDML_ALL_ROWS
      for (std::size_t i = 0; i < kColumnVectors; ++i) {
        quads[i] = _mm512_loadu_si512(pixels + i * kBytes);
      }
      ANYDML_ALL_ROWS
      for (std::size_t row = 0; row < kRows; ++row) {
        int four;
        std::memcpy(&four, weights + row * kQuad, sizeof(four));
        const __m512i weight = _mm512_set1_epi32(four);
        ANYDML_ALL_ROWS
        for (std::size_t i = 0; i < kColumnVectors; ++i) {
          __m512i& sum = of[row * kColumnVectors + i];
          sum = _mm512_dpbusd_epi32(sum, quads[i], weight);
        }
      }
    }
  }

  // The totals without the products of zero points.
  ANYDML_INLINE void correct(const QuadBlock& block, std::int64_t column) {
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row) {
      const __m512i plus = _mm512_set1_epi32(static_cast<int>(block.plus[row]));
      ANYDML_ALL_ROWS
      for (std::size_t i = 0; i < kColumnVectors; ++i) {
        of[row * kColumnVectors + i] = _mm512_add_epi32(of[row * kColumnVectors + i], plus);
      }
    }
    if (block.column_sums == nullptr) {
      return;
    }
    ANYDML_ALL_ROWS
    for (std::size_t i = 0; i < kColumnVectors; ++i) {
      const __m512i column_sums =
          _mm512_loadu_si512(block.column_sums + column + static_cast<std::int64_t>(i) * kLanes);
      ANYDML_ALL_ROWS
      for (std::size_t row = 0; row < kRows; ++row) {
        const __m512i zero = _mm512_set1_epi32(static_cast<int>(block.zeros[row]));
        __m512i& sum = of[row * kColumnVectors + i];
        sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(column_sums, zero));
      }
    }
  }

  ANYDML_INLINE void store_totals(const QuadBlock& block, std::int64_t column) const {
    u32* to = block.totals + column;
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row, to += block.totals_step) {
      ANYDML_ALL_ROWS
      for (std::size_t i = 0; i < kColumnVectors; ++i) {
        _mm512_storeu_si512(to + static_cast<std::int64_t>(i) * kLanes, of[row * kColumnVectors + i]);
      }
    }
  }

  ANYDML_INLINE void store_words(const QuadBlock& block, std::int64_t column) const {
    constexpr auto kWord = static_cast<std::int64_t>(sizeof(u32));
    ANYDML_ALL_ROWS
    for (std::size_t i = 0; i < kColumnVectors; ++i, column += kLanes) {
      const __mmask16 lanes = stored_lanes(block, column);
      std::byte* to = block.to + column * kWord;
      ANYDML_ALL_ROWS
      for (std::size_t row = 0; row < kRows; ++row, to += block.to_step) {
        _mm512_mask_storeu_epi32(to, lanes, of[row * kColumnVectors + i]);
      }
    }
  }

  // The bounds are integers, so clamping before rounding is the same as afterwards. Factors are finite, so no product
  // is NaN.
  ANYDML_INLINE void store_bytes(const QuadBlock& block, std::int64_t column) const {
    const __m512 lowest = _mm512_set1_ps(block.lowest);
    const __m512 highest = _mm512_set1_ps(block.highest);
    const __m512i zero = _mm512_set1_epi32(block.zero);
    const bool is_whole = column + static_cast<std::int64_t>(kColumnVectors) * kLanes <= block.stored;
    ANYDML_ALL_ROWS
    for (std::size_t row = 0; row < kRows; ++row) {
      const __m512 factor = _mm512_set1_ps(block.factors[row]);
      std::byte* const to = block.to + static_cast<std::int64_t>(row) * block.to_step + column;
      ANYDML_ALL_ROWS
      for (std::size_t i = 0; i < kColumnVectors; ++i) {
        const auto first = static_cast<std::int64_t>(i) * kLanes;
        const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(of[row * kColumnVectors + i]), factor);
        const __m512 clamped = _mm512_min_ps(_mm512_max_ps(scaled, lowest), highest);
        const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(clamped), zero));
        if (is_whole) {
          _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to + first), bytes);
        } else {
          _mm_mask_storeu_epi8(to + first, stored_lanes(block, column + first), bytes);
        }
      }
    }
  }
};

template <QuadFinish kFinish, std::size_t kRows, std::size_t kColumnVectors>
ANYDML_INLINE void add_columns(const QuadBlock& block, std::int64_t column) {
  Sums<kRows, kColumnVectors> sums;
  sums.start(block, column);
  sums.add(block, column);
  if constexpr (kFinish == QuadFinish::totals) {
    sums.store_totals(block, column);
    return;
  }
  sums.correct(block, column);
  if constexpr (kFinish == QuadFinish::int32) {
    sums.store_words(block, column);
  } else {
    sums.store_bytes(block, column);
  }
}

template <QuadFinish kFinish, std::size_t kRows>
void add_line(const QuadBlock& given) noexcept {
  constexpr auto kPanel = static_cast<std::int64_t>(kVectors) * kLanes;
  const QuadBlock block = given;
  std::int64_t column = 0;
  for (; column + kPanel <= block.columns; column += kPanel) {
    add_columns<kFinish, kRows, kVectors>(block, column);
  }
  if (column + 2 * kLanes <= block.columns) {
    add_columns<kFinish, kRows, 2>(block, column);
    column += 2 * kLanes;
  }
  if (column < block.columns) {
    add_columns<kFinish, kRows, 1>(block, column);
  }
}

// The bits [low, high) of a mask.
ANYDML_INLINE std::uint64_t bits_between(std::int64_t low, std::int64_t high) {
  const auto below = [](std::int64_t bits) { return (std::uint64_t{1} << static_cast<unsigned>(bits)) - 1; };
  return high <= low ? 0 : below(high) & ~below(low);
}

// The bytes of 16 pixels in a channel, at distances of kStep.
template <std::int64_t kStep>
ANYDML_INLINE __m128i pixels_of(const std::byte* from, std::uint64_t inside, __m256i padding) {
  if constexpr (kStep == 1) {
    return _mm_mask_loadu_epi8(_mm256_castsi256_si128(padding), static_cast<__mmask16>(inside), from);
  } else {
    return _mm256_cvtepi16_epi8(_mm256_mask_loadu_epi8(padding, static_cast<__mmask32>(inside), from));
  }
}

template <std::int64_t kStep>
ANYDML_INLINE void copy_stretch(const QuadStretch& given) {
  const QuadStretch stretch = given;
  const __m256i padding = _mm256_set1_epi8(static_cast<char>(stretch.padding));
  const __m512i flip = _mm512_set1_epi8(static_cast<char>(stretch.flip));
  // Four bytes of each channel, instead of 16 bytes of one channel after another, and then one byte of each channel.
  const __m512i by_four = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i by_one = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  constexpr std::int64_t kPositions = kStep * kLanes;
  for (std::int64_t i = 0; i < stretch.length; i += kLanes) {
    const std::int64_t position = stretch.first + i * kStep;
    const std::uint64_t inside = bits_between(std::clamp<std::int64_t>(-position, 0, kPositions),
                                              std::clamp<std::int64_t>(stretch.size - position, 0, kPositions));
    const auto channel = [&](std::size_t number) __attribute__((always_inline)) {
      return pixels_of<kStep>(stretch.channels[number] + position, inside, padding);
    };
    __m512i bytes = _mm512_castsi128_si512(channel(0));
    bytes = _mm512_inserti32x4(bytes, channel(1), 1);
    bytes = _mm512_inserti32x4(bytes, channel(2), 2);
    bytes = _mm512_inserti32x4(bytes, channel(3), 3);
    const __m512i quads = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(by_four, bytes), by_one);
    const std::uint64_t wanted = bits_between(0, std::min(stretch.length - i, kLanes));
    _mm512_mask_storeu_epi32(stretch.to + i, static_cast<__mmask16>(wanted), _mm512_xor_si512(quads, flip));
  }
}

void copy_any(const QuadStretch& stretch) {
  for (std::int64_t i = 0; i < stretch.length; ++i) {
    const std::int64_t position = stretch.first + i * stretch.step;
    u32 quad = 0;
    for (std::size_t channel = 0; channel < kQuad; ++channel) {
      const u8 byte = position < 0 || position >= stretch.size
                          ? stretch.padding
                          : static_cast<u8>(stretch.channels[channel][position * stretch.position_bytes]);
      quad |= u32{static_cast<u8>(byte ^ stretch.flip)} << 8 * channel;
    }
    stretch.to[i] = quad;
  }
}

void copy(const QuadStretch& stretch) noexcept {
  if (stretch.position_bytes == 1 && stretch.step == 1) {
    copy_stretch<1>(stretch);
  } else if (stretch.position_bytes == 1 && stretch.step == 2) {
    copy_stretch<2>(stretch);
  } else {
    copy_any(stretch);
  }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

template <QuadFinish kFinish, std::size_t... kCounts>
constexpr std::array<QuadKernel, sizeof...(kCounts)> all_lines(std::index_sequence<kCounts...>) {
  return {add_line<kFinish, kCounts + 1>...};
}
template <QuadFinish kFinish>
constexpr auto kLines = all_lines<kFinish>(std::make_index_sequence<kMaxRows>());

}  // namespace

const QuadKernels kVnniQuads = {
    .name = "VPDPBUSD",
    .max_rows = kMaxRows,
    .panel = kVectors * kLanes,
    .block = {kLines<QuadFinish::totals>.data(), kLines<QuadFinish::int32>.data(), kLines<QuadFinish::bytes>.data()},
    .copy = copy};

}  // namespace anydml

#endif
