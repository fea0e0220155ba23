// SPDX-License-Identifier: MIT
#include "ops/product/cpu/vector_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/element.h"
#include "base/float_bits.h"
#include "ops/product/cpu/prefetch.h"
#include "ops/product/step.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/vector_kernels.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#include "backend/cpu/halves-inl.h"

// Loads FLOAT32 vectors from elements with any alignment.
template <class T, class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const std::byte* from) {
  if constexpr (sizeof(T) == sizeof(f32)) {
    const hn::Repartition<u8, D> d_bytes;
    return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from)));
  } else {
    const hn::Rebind<hwy::float16_t, D> d_half;
    const hn::Repartition<u8, decltype(d_half)> d_bytes;
    return hn::PromoteTo(d, hn::BitCast(d_half, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from))));
  }
}

template <class T>
HWY_INLINE f32 load_one(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return anydml::widen(value);
}

// Computes the outputs that do not fill a vector.
template <class T>
void by_definition(const f32* factors, const std::byte* matrix, std::int64_t k_stride, std::int64_t stride,
                   std::int64_t depth, std::int64_t first, std::int64_t count, f32* totals) {
  for (std::int64_t i = first; i < count; ++i) {
    totals[i] = sum_of_products(
        depth, [&](std::int64_t k) { return factors[k]; },
        [&](std::int64_t k) { return load_one<T>(matrix + k * k_stride + i * stride); });
  }
}

// The sums of some columns stay in the first-level cache, and the matrix is read four rows at a time.
template <class T>
void along(const f32* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth, std::int64_t count,
           f32* totals) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kTogether = 4096;
  constexpr std::int64_t kOfLine = std::max<std::int64_t>(64 / kBytes, HWY_MAX_BYTES / sizeof(f32));
  constexpr std::int64_t kRows = 4;
  const hn::ScalableTag<f32> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = count / lanes * lanes;
  alignas(64) f32 sums[kTogether];
  for (std::int64_t from = 0; from < whole; from += kTogether) {
    const std::int64_t columns = std::min(kTogether, whole - from);
    for (std::int64_t first = 0; first < depth; first += kProductBlock) {
      const std::int64_t end = std::min(depth, first + kProductBlock);
      std::fill_n(sums, columns, 0.0F);
      std::int64_t k = first;
      for (; k + kRows <= end; k += kRows) {
        const std::byte* const row = matrix + k * stride + from * kBytes;
        const auto first_factor = hn::Set(d, factors[k]);
        const auto second_factor = hn::Set(d, factors[k + 1]);
        const auto third_factor = hn::Set(d, factors[k + 2]);
        const auto fourth_factor = hn::Set(d, factors[k + 3]);
        const auto add = [&](std::int64_t i) HWY_ATTR {
          const std::byte* const at = row + i * kBytes;
          auto sum = hn::MulAdd(first_factor, load_wide<T>(d, at), hn::Load(d, sums + i));
          sum = hn::MulAdd(second_factor, load_wide<T>(d, at + stride), sum);
          sum = hn::MulAdd(third_factor, load_wide<T>(d, at + 2 * stride), sum);
          sum = hn::MulAdd(fourth_factor, load_wide<T>(d, at + 3 * stride), sum);
          hn::Store(sum, d, sums + i);
        };
        std::int64_t i = 0;
        if (k + 2 * kRows <= depth) {  // the next rows are far away, so prefetch them now
          for (; i + kOfLine <= columns; i += kOfLine) {
            for (std::int64_t ahead = kRows; ahead < 2 * kRows; ++ahead) {
              __builtin_prefetch(row + ahead * stride + i * kBytes);
            }
            for (std::int64_t j = 0; j < kOfLine; j += lanes) {
              add(i + j);
            }
          }
        }
        for (; i < columns; i += lanes) {
          add(i);
        }
      }
      for (; k < end; ++k) {
        const std::byte* const row = matrix + k * stride + from * kBytes;
        const auto factor = hn::Set(d, factors[k]);
        for (std::int64_t i = 0; i < columns; i += lanes) {
          hn::Store(hn::MulAdd(factor, load_wide<T>(d, row + i * kBytes), hn::Load(d, sums + i)), d, sums + i);
        }
      }
      for (std::int64_t i = 0; i < columns; i += lanes) {
        const auto sum = hn::Load(d, sums + i);
        hn::StoreU(first == 0 ? sum : hn::Add(hn::LoadU(d, totals + from + i), sum), d, totals + from + i);
      }
    }
  }
  by_definition<T>(factors, matrix, stride, kBytes, depth, whole, count, totals);
}

// The sums of a panel's columns stay in registers, and its elements are read one after the other.
void half_panel_row(const f32* factors, const std::byte* panel, std::int64_t depth, f32* totals) noexcept {
  const hn::ScalableTag<f32> d;
  constexpr std::size_t kLanes = HWY_MAX_BYTES / sizeof(f32);
  constexpr std::size_t kVectors = panel_columns(HWY_MAX_BYTES) / kLanes;
  constexpr std::size_t kOfVector = kLanes * sizeof(f16);
  for (std::int64_t first = 0; first < depth; first += kProductBlock) {
    const std::int64_t end = std::min(depth, first + kProductBlock);
    hn::Vec<decltype(d)> sums[kVectors];
    for (auto& sum : sums) {
      sum = hn::Zero(d);
    }
    for (std::int64_t k = first; k < end; ++k) {
      const auto factor = hn::Set(d, factors[k]);
      for (std::size_t i = 0; i < kVectors; ++i) {
        prefetch_weights<kOfVector>(panel, i);
        sums[i] = hn::MulAdd(factor, load_wide<f16>(d, panel + i * kOfVector), sums[i]);
      }
      panel += kVectors * kOfVector;
    }
    for (std::size_t i = 0; i < kVectors; ++i) {
      f32* const to = totals + i * kLanes;
      hn::StoreU(first == 0 ? sums[i] : hn::Add(hn::LoadU(d, to), sums[i]), d, to);
    }
  }
}

using Quad = hn::Full128<f32>;

// Adds the products of four outputs for four values of k, with 4-element vectors on every target. The elements are
// transposed into one vector for each k.
template <class T>
HWY_INLINE hn::Vec<Quad> add_square(const std::byte* from, std::int64_t stride, const f32* factors, hn::Vec<Quad> sum) {
  const Quad d;
  const auto first = load_wide<T>(d, from);
  const auto second = load_wide<T>(d, from + stride);
  const auto third = load_wide<T>(d, from + 2 * stride);
  const auto fourth = load_wide<T>(d, from + 3 * stride);
  const auto low_even = hn::InterleaveLower(d, first, third);
  const auto high_even = hn::InterleaveUpper(d, first, third);
  const auto low_odd = hn::InterleaveLower(d, second, fourth);
  const auto high_odd = hn::InterleaveUpper(d, second, fourth);
  sum = hn::MulAdd(hn::InterleaveLower(d, low_even, low_odd), hn::Set(d, factors[0]), sum);
  sum = hn::MulAdd(hn::InterleaveUpper(d, low_even, low_odd), hn::Set(d, factors[1]), sum);
  sum = hn::MulAdd(hn::InterleaveLower(d, high_even, high_odd), hn::Set(d, factors[2]), sum);
  return hn::MulAdd(hn::InterleaveUpper(d, high_even, high_odd), hn::Set(d, factors[3]), sum);
}

// Adds the products of four outputs for one k.
template <class T>
HWY_INLINE hn::Vec<Quad> add_column(const std::byte* from, std::int64_t stride, f32 factor, hn::Vec<Quad> sum) {
  alignas(16) f32 elements[4];
  for (std::int64_t i = 0; i < 4; ++i) {
    elements[i] = load_one<T>(from + i * stride);
  }
  return hn::MulAdd(hn::Load(Quad(), elements), hn::Set(Quad(), factor), sum);
}

// Computes enough outputs in parallel to hide the latency of the additions, but reads one cache line of four rows at a
// time: lines of rows whose distance is a power of two evict each other from the first-level cache.
template <class T>
void across(const f32* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth, std::int64_t count,
            f32* totals) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kSums = 4;
  constexpr std::int64_t kTogether = 4 * kSums;
  constexpr std::int64_t kOfLine = 64 / kBytes;
  const Quad d;
  const std::int64_t whole = count / kTogether * kTogether;
  for (std::int64_t i = 0; i < whole; i += kTogether) {
    const std::byte* const rows = matrix + i * stride;
    for (std::int64_t first = 0; first < depth; first += kProductBlock) {
      const std::int64_t end = std::min(depth, first + kProductBlock);
      hn::Vec<Quad> sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
      std::int64_t k = first;
      for (; k + kOfLine <= end; k += kOfLine) {
        for (std::int64_t four = 0; four < kSums; ++four) {
          const std::byte* const from = rows + 4 * four * stride + k * kBytes;
          for (std::int64_t square = 0; square < kOfLine; square += 4) {
            sums[four] = add_square<T>(from + square * kBytes, stride, factors + k + square, sums[four]);
          }
        }
      }
      for (; k < end; ++k) {
        for (std::int64_t four = 0; four < kSums; ++four) {
          sums[four] = add_column<T>(rows + 4 * four * stride + k * kBytes, stride, factors[k], sums[four]);
        }
      }
      for (std::int64_t four = 0; four < kSums; ++four) {
        f32* const to = totals + i + 4 * four;
        hn::StoreU(first == 0 ? sums[four] : hn::Add(hn::LoadU(d, to), sums[four]), d, to);
      }
    }
  }
  by_definition<T>(factors, matrix, kBytes, stride, depth, whole, count, totals);
}

void widen_row(const std::byte* from, std::int64_t count, f32* to) noexcept { widen_halves(from, count, to); }

}  // namespace

const VectorKernels* row_kernels() {
  static constexpr VectorKernels kAll = {.singles = {.along = along<f32>, .across = across<f32>},
                                         .halves = {.along = along<f16>, .across = across<f16>},
                                         .half_panel_row = half_panel_row,
                                         .widen = widen_row};
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const VectorKernels* vector_kernels(cpu::Target target) { return ANYDML_FOR_TARGET(target, nullptr, row_kernels()); }

}  // namespace anydml

#endif
