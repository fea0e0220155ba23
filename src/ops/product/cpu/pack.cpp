// SPDX-License-Identifier: MIT
#include "ops/product/cpu/pack.h"

#include <algorithm>
#include <cstring>

#include "base/element.h"
#include "base/float_bits.h"

namespace anydml {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f32));

// Copies rows of `count` contiguous elements. A compile-time count lets the compiler use vector copies for the widths
// that kernels use.
template <std::int64_t kCount>
void copy_rows(const std::byte* from, std::int64_t k_stride, std::int64_t depth, f32* to) {
  for (std::int64_t k = 0; k < depth; ++k, from += k_stride, to += kCount) {
    std::memcpy(to, from, sizeof(f32) * kCount);
  }
}

// to[k * width + i] = the element (k, i), `depth` of them in each of `count` columns. The output stays in the
// first-level cache while each column adds its elements.
template <class T>
void turn_columns(const std::byte* from, std::int64_t k_stride, std::int64_t stride, std::int64_t depth,
                  std::int64_t count, std::int64_t width, std::byte* to) {
  constexpr std::int64_t kTogether = 64;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t first = 0; first < depth; first += kTogether) {
    const std::int64_t end = std::min(depth, first + kTogether);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const column = from + i * stride;
      for (std::int64_t k = first; k < end; ++k) {
        std::memcpy(to + (k * width + i) * kSize, column + k * k_stride, sizeof(T));
      }
    }
  }
}

f32 load_half(const std::byte* from) {
  f16 value;
  std::memcpy(&value, from, sizeof(value));
  return widen(value);
}

}  // namespace

void pack_panel(const ProductKernels* kernels, const std::byte* from, std::int64_t k_stride, std::int64_t stride,
                std::int64_t depth, std::int64_t count, std::int64_t width, f32* to) noexcept {
  if (count < width) {
    for (std::int64_t k = 0; k < depth; ++k) {
      std::fill(to + k * width + count, to + (k + 1) * width, 0.0F);
    }
  }
  if (stride == kBytes && count > 1) {
    if (count == width && width == 16) {
      copy_rows<16>(from, k_stride, depth, to);
      return;
    }
    if (count == width && width == 32) {
      copy_rows<32>(from, k_stride, depth, to);
      return;
    }
    if (count == width && width == 6) {  // a strip
      copy_rows<6>(from, k_stride, depth, to);
      return;
    }
    for (std::int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * width, from + k * k_stride, static_cast<std::size_t>(count * kBytes));
    }
    return;
  }
  if (kernels != nullptr && k_stride == kBytes && count >= kTransposedSide && depth >= kTransposedSide) {
    kernels->transpose(from, stride, depth, count, width, to);
    return;
  }
  turn_columns<f32>(from, k_stride, stride, depth, count, width, reinterpret_cast<std::byte*>(to));
}

void pack_halves(const ProductKernels* kernels, const VectorKernels* vectors, const std::byte* from,
                 std::int64_t k_stride, std::int64_t stride, std::int64_t depth, std::int64_t count, std::int64_t width,
                 f32* to) noexcept {
  constexpr auto kHalf = static_cast<std::int64_t>(sizeof(f16));
  const auto widen_row = [&](const std::byte* row, std::int64_t elements, f32* wide) {
    if (vectors != nullptr) {
      vectors->widen(row, elements, wide);
      return;
    }
    for (std::int64_t i = 0; i < elements; ++i) {
      wide[i] = load_half(row + i * kHalf);
    }
  };
  if (stride == kHalf || (count == 1 && k_stride != kHalf)) {
    for (std::int64_t k = 0; k < depth; ++k) {
      widen_row(from + k * k_stride, count, to + k * width);
      std::fill(to + k * width + count, to + (k + 1) * width, 0.0F);
    }
    return;
  }
  // Widens a block of columns to FLOAT32 in a scratch buffer, then packs from the buffer.
  constexpr std::int64_t kTogether = 64;
  constexpr std::int64_t kMaxColumns = 32;
  f32 some[kMaxColumns * kTogether];
  for (std::int64_t first = 0; first < depth; first += kTogether) {
    const std::int64_t of_these = std::min(kTogether, depth - first);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::byte* const column = from + i * stride + first * k_stride;
      f32* const wide = some + i * kTogether;
      if (k_stride == kHalf) {
        widen_row(column, of_these, wide);
        continue;
      }
      for (std::int64_t k = 0; k < of_these; ++k) {
        wide[k] = load_half(column + k * k_stride);
      }
    }
    pack_panel(kernels, reinterpret_cast<const std::byte*>(some), kBytes, kTogether * kBytes, of_these, count, width,
               to + first * width);
  }
}

void pack_half_panel(const std::byte* from, std::int64_t k_stride, std::int64_t stride, std::int64_t depth,
                     std::int64_t count, std::int64_t width, std::byte* to) noexcept {
  constexpr auto kHalf = static_cast<std::int64_t>(sizeof(f16));
  if (count < width) {
    std::memset(to, 0, static_cast<std::size_t>(depth * width * kHalf));
  }
  if (stride == kHalf) {
    for (std::int64_t k = 0; k < depth; ++k) {
      std::memcpy(to + k * width * kHalf, from + k * k_stride, static_cast<std::size_t>(count * kHalf));
    }
    return;
  }
  turn_columns<f16>(from, k_stride, stride, depth, count, width, to);
}

}  // namespace anydml
