// SPDX-License-Identifier: MIT
// Kernels for FLOAT64 products. The sums of a strip and a panel stay in registers, as in kernels.cpp.
#include "ops/product/cpu/double_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ops/product/step.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/double_kernels.cpp"
#include "backend/cpu/each_target.h"
#include "ops/product/cpu/factors-inl.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace doubles {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Wide = hn::ScalableTag<f64>;
using WideVector = hn::Vec<Wide>;

constexpr std::size_t kWideLanes = HWY_MAX_BYTES / sizeof(f64);

// The factors for one k; of<kRow>() broadcasts the factor of one row to all lanes. As for FLOAT32 (factors-inl.h), NEON
// loads several rows with one instruction.
template <std::size_t kRows>
struct WideFactors {
#if HWY_TARGET == HWY_NEON
  // The last load begins one row earlier if the number of rows is odd.
  static constexpr std::size_t kLoads = (kRows + kWideLanes - 1) / kWideLanes;
  [[nodiscard]] static constexpr std::size_t first_of(std::size_t load) {
    return std::min(load * kWideLanes, kRows - std::min(kRows, kWideLanes));
  }

  HWY_INLINE explicit WideFactors(const f64* a) {
    if constexpr (kRows == 1) {
      loaded[0] = hn::Set(Wide(), a[0]);
    } else {
      for_each_index<kLoads>([&]<std::size_t kLoad>()
                                 HWY_ATTR { loaded[kLoad] = hn::LoadU(Wide(), a + first_of(kLoad)); });
    }
  }
  template <std::size_t kRow>
  HWY_INLINE WideVector of() const {
    constexpr std::size_t kLoad = kRow / kWideLanes;
    return hn::Broadcast<static_cast<int>(kRow - first_of(kLoad))>(loaded[kLoad]);
  }
  WideVector loaded[kLoads];
#else
  HWY_INLINE explicit WideFactors(const f64* a) : from(a) {}
  template <std::size_t kRow>
  HWY_INLINE WideVector of() const {
    return hn::Set(Wide(), from[kRow]);
  }
  const f64* from;
#endif
};

// As for FLOAT32, the numbers of rows and vectors are chosen to fill the registers.
template <std::size_t kRows>
void add_block(const f64* HWY_RESTRICT a, const f64* HWY_RESTRICT b, std::int64_t b_step, std::int64_t depth,
               f64* HWY_RESTRICT totals, std::int64_t totals_step, bool is_first) noexcept {
  constexpr std::size_t kSums = kRows * kVectors;
  const Wide d;
  WideVector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  ANYDML_UNROLLED
  for (std::int64_t k = 0; k < depth; ++k, a += kRows, b += b_step) {
    const WideFactors<kRows> factors(a);
    WideVector of_b[kVectors];
    for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR { of_b[kOne] = hn::LoadU(d, b + kOne * kWideLanes); });
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      sums[kSum] = hn::MulAdd(factors.template of<kSum / kVectors>(), of_b[kSum % kVectors], sums[kSum]);
    });
  }
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
    f64* const to = totals + static_cast<std::int64_t>(kSum / kVectors) * totals_step + kSum % kVectors * kWideLanes;
    hn::StoreU(is_first ? sums[kSum] : hn::Add(hn::LoadU(d, to), sums[kSum]), d, to);
  });
}

template <class D>
HWY_INLINE hn::Vec<D> load_bytes(D d, const std::byte* from) {
  const hn::Repartition<u8, D> d_bytes;  // for loads at any alignment
  return hn::BitCast(d, hn::LoadU(d_bytes, reinterpret_cast<const u8*>(from)));
}

HWY_INLINE f64 load_one(const std::byte* from) {
  f64 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Computes the outputs that do not fill a vector.
void by_definition(const f64* factors, const std::byte* matrix, std::int64_t k_stride, std::int64_t stride,
                   std::int64_t depth, std::int64_t first, std::int64_t count, f64* totals) {
  for (std::int64_t i = first; i < count; ++i) {
    totals[i] = sum_of_products<f64>(
        depth, [&](std::int64_t k) { return factors[k]; },
        [&](std::int64_t k) { return load_one(matrix + k * k_stride + i * stride); });
  }
}

// The sums of some columns stay in the first-level cache, and the matrix is read four rows at a time.
void along(const f64* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth, std::int64_t count,
           f64* totals) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f64));
  constexpr std::int64_t kTogether = 2048;
  constexpr std::int64_t kRows = 4;
  const Wide d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = count / lanes * lanes;
  alignas(64) f64 sums[kTogether];
  for (std::int64_t from = 0; from < whole; from += kTogether) {
    const std::int64_t columns = std::min(kTogether, whole - from);
    for (std::int64_t first = 0; first < depth; first += kProductBlock) {
      const std::int64_t end = std::min(depth, first + kProductBlock);
      std::fill_n(sums, columns, 0.0);
      std::int64_t k = first;
      for (; k + kRows <= end; k += kRows) {
        const std::byte* const row = matrix + k * stride + from * kBytes;
        const auto first_factor = hn::Set(d, factors[k]);
        const auto second_factor = hn::Set(d, factors[k + 1]);
        const auto third_factor = hn::Set(d, factors[k + 2]);
        const auto fourth_factor = hn::Set(d, factors[k + 3]);
        for (std::int64_t i = 0; i < columns; i += lanes) {
          const std::byte* const at = row + i * kBytes;
          auto sum = hn::MulAdd(first_factor, load_bytes(d, at), hn::Load(d, sums + i));
          sum = hn::MulAdd(second_factor, load_bytes(d, at + stride), sum);
          sum = hn::MulAdd(third_factor, load_bytes(d, at + 2 * stride), sum);
          sum = hn::MulAdd(fourth_factor, load_bytes(d, at + 3 * stride), sum);
          hn::Store(sum, d, sums + i);
        }
      }
      for (; k < end; ++k) {
        const std::byte* const row = matrix + k * stride + from * kBytes;
        const auto factor = hn::Set(d, factors[k]);
        for (std::int64_t i = 0; i < columns; i += lanes) {
          hn::Store(hn::MulAdd(factor, load_bytes(d, row + i * kBytes), hn::Load(d, sums + i)), d, sums + i);
        }
      }
      for (std::int64_t i = 0; i < columns; i += lanes) {
        const auto sum = hn::Load(d, sums + i);
        hn::StoreU(first == 0 ? sum : hn::Add(hn::LoadU(d, totals + from + i), sum), d, totals + from + i);
      }
    }
  }
  by_definition(factors, matrix, stride, kBytes, depth, whole, count, totals);
}

using Pair = hn::Full128<f64>;

// Computes enough outputs in parallel to hide the latency of the additions. A vector contains two outputs on every
// target: the elements of two outputs for two values of k are transposed into one vector for each k. Reads one cache
// line for each output, then the next line for each output.
void across(const f64* factors, const std::byte* matrix, std::int64_t stride, std::int64_t depth, std::int64_t count,
            f64* totals) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(f64));
  constexpr std::int64_t kSums = 8;
  constexpr std::int64_t kTogether = 2 * kSums;
  constexpr std::int64_t kOfLine = 8;
  const Pair d;
  const std::int64_t whole = count / kTogether * kTogether;
  for (std::int64_t i = 0; i < whole; i += kTogether) {
    for (std::int64_t first = 0; first < depth; first += kProductBlock) {
      const std::int64_t end = std::min(depth, first + kProductBlock);
      hn::Vec<Pair> sums[kSums];
      for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
      std::int64_t k = first;
      for (; k + kOfLine <= end; k += kOfLine) {
        for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
          const std::byte* const from = matrix + (i + 2 * static_cast<std::int64_t>(kSum)) * stride + k * kBytes;
          for (std::int64_t two = 0; two < kOfLine; two += 2) {
            const auto one = load_bytes(d, from + two * kBytes);
            const auto other = load_bytes(d, from + stride + two * kBytes);
            sums[kSum] = hn::MulAdd(hn::InterleaveLower(d, one, other), hn::Set(d, factors[k + two]), sums[kSum]);
            sums[kSum] = hn::MulAdd(hn::InterleaveUpper(d, one, other), hn::Set(d, factors[k + two + 1]), sums[kSum]);
          }
        });
      }
      for (; k < end; ++k) {
        for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
          const std::byte* const from = matrix + (i + 2 * static_cast<std::int64_t>(kSum)) * stride + k * kBytes;
          const f64 elements[] = {load_one(from), load_one(from + stride)};
          sums[kSum] = hn::MulAdd(hn::LoadU(d, elements), hn::Set(d, factors[k]), sums[kSum]);
        });
      }
      for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
        f64* const to = totals + i + 2 * static_cast<std::int64_t>(kSum);
        hn::StoreU(first == 0 ? sums[kSum] : hn::Add(hn::LoadU(d, to), sums[kSum]), d, to);
      });
    }
  }
  by_definition(factors, matrix, kBytes, stride, depth, whole, count, totals);
}

template <std::size_t... kRows>
constexpr std::array<DoubleBlock, sizeof...(kRows)> all_blocks(std::index_sequence<kRows...>) {
  return {add_block<kRows + 1>...};
}

}  // namespace
}  // namespace doubles

const DoubleKernels* wide_kernels() {
  static constexpr auto kBlocks = doubles::all_blocks(std::make_index_sequence<kStrip>());
  static constexpr DoubleKernels kAll = {.strip = kStrip,
                                         .panel = kVectors * doubles::kWideLanes,
                                         .blocks = kBlocks.data(),
                                         .along = doubles::along,
                                         .across = doubles::across};
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {

const DoubleKernels* double_kernels(cpu::Target target) { return ANYDML_FOR_TARGET(target, nullptr, wide_kernels()); }

}  // namespace anydml

#endif
