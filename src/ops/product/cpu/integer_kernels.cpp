// SPDX-License-Identifier: MIT
// Kernels that run on every machine that supports the target. Bytes are widened to 16 bits, and pairs of products are
// added exactly in 32 bits. integer_neon.cpp and integer_vnni.cpp use instructions that multiply bytes.
#include "ops/product/cpu/integer_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "ops/product/integer_step.h"
#include "ops/product/scalar/integer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/integer_kernels.cpp"
#include "backend/cpu/each_target.h"
#include "backend/cpu/loops.h"

#if ANYDML_TARGET

#undef ANYDML_UNROLLED
#if defined(__clang__)
#define ANYDML_UNROLLED _Pragma("clang loop unroll_count(2)")
#else
#define ANYDML_UNROLLED _Pragma("GCC unroll 2")
#endif

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#include "ops/product/cpu/integer_quantize-inl.h"
#include "ops/product/cpu/integer_rows-inl.h"

constexpr std::size_t kBytes = HWY_MAX_BYTES;
using Narrow = hn::FixedTag<i8, kBytes / 2>;
using Words = hn::FixedTag<i32, kBytes / 8>;  // a vector of the same size
using Wide = hn::FixedTag<i16, kBytes / 2>;
using Sums = hn::FixedTag<i32, kBytes / 4>;
using Vector = hn::Vec<Sums>;

constexpr std::size_t kPanel = integer_panel_columns(kBytes);
constexpr std::size_t kGroup = 4;
constexpr std::size_t kVectors = 4;  // per group of a panel; a sum has two lanes for each column
constexpr std::size_t kStrip = HWY_TARGET == HWY_AVX2 ? 3 : 6;
static_assert(kPanel * kGroup == kVectors * kBytes / 2);

template <std::size_t kCount, class Use>
HWY_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

// Sums wrap modulo 2^32. They are unsigned because signed overflow is undefined.
using Wrapping = hn::RebindToUnsigned<Sums>;
HWY_INLINE hn::Vec<Wrapping> wrapping(Vector x) { return hn::BitCast(Wrapping(), x); }
HWY_INLINE Vector wrapping_add(Vector a, Vector b) { return hn::BitCast(Sums(), hn::Add(wrapping(a), wrapping(b))); }
// a - b * c
HWY_INLINE Vector wrapping_less(Vector a, Vector b, Vector c) {
  return hn::BitCast(Sums(), hn::Sub(wrapping(a), hn::Mul(wrapping(b), wrapping(c))));
}

// sum + the products of adjacent elements, added in pairs.
HWY_INLINE Vector add_pairs(hn::Vec<Wide> a, hn::Vec<Wide> b, Vector sum) {
#if HWY_TARGET == HWY_NEON
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  const int32x4_t high = vmull_high_s16(a.raw, b.raw);
  return wrapping_add(sum, Vector(vpaddq_s32(low, high)));
#else
  Vector unused = hn::Zero(Sums());
  return hn::ReorderWidenMulAccumulate(Sums(), a, b, sum, unused);
#endif
}

// Adds pairs of lanes that belong to one column.
HWY_INLINE Vector pairs_of(Vector low, Vector high) {
  return wrapping_add(hn::ConcatEven(Sums(), high, low), hn::ConcatOdd(Sums(), high, low));
}

template <std::size_t kRows>
void add_block(const IntegerBlockArguments& arguments, std::int64_t strips) noexcept {
  constexpr std::size_t kSums = kRows * kVectors;
  const Sums d;
  const u8* a = arguments.a;
  u32* totals = arguments.totals;
  for (std::int64_t strip = 0; strip < strips; ++strip) {
    const u8* b = arguments.b;
    Vector sums[kSums];
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
    for (std::int64_t group = 0; group < arguments.groups; ++group, a += kRows * kGroup, b += kPanel * kGroup) {
      hn::Vec<Wide> of_b[kVectors];
      for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR {
        of_b[kOne] = hn::PromoteTo(Wide(), hn::LoadU(Narrow(), reinterpret_cast<const i8*>(b) + kOne * kBytes / 2));
      });
      for_each_index<kRows>([&]<std::size_t kRow>() HWY_ATTR {
        i32 four;
        std::memcpy(&four, a + kRow * kGroup, sizeof(four));
        const auto of_a = hn::PromoteTo(Wide(), hn::BitCast(Narrow(), hn::Set(Words(), four)));
        for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR {
          sums[kRow * kVectors + kOne] = add_pairs(of_a, of_b[kOne], sums[kRow * kVectors + kOne]);
        });
      });
    }
    for_each_index<kSums / 2>([&]<std::size_t kHalf>() HWY_ATTR {
      auto* const at = reinterpret_cast<i32*>(totals + static_cast<std::int64_t>(kHalf / 2) * arguments.totals_step) +
                       kHalf % 2 * (kPanel / 2);
      auto sum = wrapping_add(pairs_of(sums[2 * kHalf], sums[2 * kHalf + 1]),
                              hn::LoadU(d, reinterpret_cast<const i32*>(arguments.start) + kHalf % 2 * (kPanel / 2)));
      if (!arguments.is_first) {
        sum = wrapping_add(sum, hn::LoadU(d, at));
      }
      hn::StoreU(sum, d, at);
    });
    totals += static_cast<std::int64_t>(kRows) * arguments.totals_step;
  }
}

// For each column, interleaves pairs of k, then groups of four, then groups of eight, with 16-byte vectors on every
// target.
template <std::size_t kGroupLength>
HWY_INLINE void interleave_group(const std::byte* from, std::int64_t k_stride, u8 flip, u8* to) {
  const hn::Full128<u8> d;
  const hn::Half<decltype(d)> d_half;
  const hn::Repartition<u16, decltype(d)> d_pairs;
  const hn::Repartition<u32, decltype(d)> d_quads;
  const auto turned = hn::Set(d, flip);
  const auto pair = [&](std::size_t k) HWY_ATTR {
    const std::byte* const at = from + static_cast<std::int64_t>(k) * k_stride;
    const auto first = hn::ZeroExtendVector(d, hn::LoadU(d_half, reinterpret_cast<const u8*>(at)));
    const auto second = hn::ZeroExtendVector(d, hn::LoadU(d_half, reinterpret_cast<const u8*>(at + k_stride)));
    return hn::BitCast(d_pairs, hn::Xor(hn::InterleaveLower(d, first, second), turned));
  };
  const auto first = pair(0);
  const auto second = pair(2);
  const auto low = hn::InterleaveLower(d_pairs, first, second);
  const auto high = hn::InterleaveUpper(d_pairs, first, second);
  if constexpr (kGroupLength == 4) {
    hn::StoreU(hn::BitCast(d, low), d, to);
    hn::StoreU(hn::BitCast(d, high), d, to + 16);
  } else {
    const auto third = pair(4);
    const auto fourth = pair(6);
    const auto next_low = hn::BitCast(d_quads, hn::InterleaveLower(d_pairs, third, fourth));
    const auto next_high = hn::BitCast(d_quads, hn::InterleaveUpper(d_pairs, third, fourth));
    const auto low_quads = hn::BitCast(d_quads, low);
    const auto high_quads = hn::BitCast(d_quads, high);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d_quads, low_quads, next_low)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d_quads, low_quads, next_low)), d, to + 16);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d_quads, high_quads, next_high)), d, to + 32);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d_quads, high_quads, next_high)), d, to + 48);
  }
}

// Processes one group after another, so that each cache line is read once for all panels.
template <std::size_t kGroupLength>
void interleave(const std::byte* from, std::int64_t k_stride, std::int64_t groups, std::int64_t eights, u8 flip,
                const PanelBuffer& to) noexcept {
  constexpr auto kLength = static_cast<std::int64_t>(kGroupLength);
  const std::int64_t of_panel = to.width / kInterleaved;
  for (std::int64_t group = 0; group < groups; ++group, from += kLength * k_stride) {
    u8* panel = to.first + group * to.width * kLength;
    for (std::int64_t done = 0; done < eights; panel += to.step) {
      for (std::int64_t i = 0; i < of_panel && done < eights; ++i, ++done) {
        interleave_group<kGroupLength>(from + done * kInterleaved, k_stride, flip, panel + i * kInterleaved * kLength);
      }
    }
  }
}

// The totals starting at i, corrected for zero points if necessary.
template <bool kCorrects>
HWY_INLINE Vector corrected_vector(const IntegerRow& row, std::int64_t i) {
  const Sums d;
  const auto load = [&](const u32* from) HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const i32*>(from) + i); };
  Vector total = wrapping_add(load(row.totals), hn::Set(d, static_cast<i32>(row.plus)));
  if constexpr (kCorrects) {
    total = wrapping_less(total, hn::Set(d, static_cast<i32>(row.zero)), load(row.column_sums));
    if (row.column_zeros != nullptr) {
      total = wrapping_less(total, load(row.column_zeros), hn::Set(d, static_cast<i32>(row.rest)));
    }
  }
  return total;
}

// The totals starting at i, scaled, rounded and offset by the zero points, as integers that saturate to the correct
// output.
template <bool kCorrects>
HWY_INLINE hn::Vec<hn::Rebind<i16, Sums>> quantized_vector(const IntegerRow& row, std::int64_t i) {
  const Sums d;
  return hn::DemoteTo(hn::Rebind<i16, Sums>(), quantized_lanes(d, corrected_vector<kCorrects>(row, i),
                                                               hn::LoadU(hn::RebindToFloat<Sums>(), row.factors + i),
                                                               hn::LoadU(d, row.zeros + i)));
}

// Quantizes the elements that fill whole vectors, and returns the number of these elements.
template <class Out, bool kCorrects>
HWY_INLINE std::int64_t quantize_vectors(const IntegerRow& row, std::byte* to) {
  const hn::Rebind<i16, Sums> d_half;
  const hn::Twice<decltype(d_half)> d_wide;
  const hn::Rebind<Out, decltype(d_wide)> d_out;
  constexpr auto kLanes = static_cast<std::int64_t>(kBytes / sizeof(i32));
  std::int64_t i = 0;
  ANYDML_UNROLLED
  for (; i + 2 * kLanes <= row.count; i += 2 * kLanes) {
    const auto both =
        hn::Combine(d_wide, quantized_vector<kCorrects>(row, i + kLanes), quantized_vector<kCorrects>(row, i));
    hn::StoreU(hn::DemoteTo(d_out, both), d_out, reinterpret_cast<Out*>(to) + i);
  }
  return i;
}

// Quantizes one vector.
template <class Out, bool kCorrects>
HWY_INLINE void quantize_vector(const IntegerRow& row, std::int64_t i, Out* to) {
  const hn::Rebind<Out, hn::Rebind<i16, Sums>> d_out;
  hn::StoreU(hn::DemoteTo(d_out, quantized_vector<kCorrects>(row, i)), d_out, to);
}

// Quantizes a row. The last vector overlaps the one before it; rows shorter than a vector are copied and extended.
template <class Out, bool kCorrects>
HWY_INLINE void quantize_row(const IntegerRow& row, std::byte* bytes) {
  constexpr auto kLanes = static_cast<std::int64_t>(kBytes / sizeof(i32));
  auto* const to = reinterpret_cast<Out*>(bytes);
  if (row.count >= kLanes) {
    for (std::int64_t i = quantize_vectors<Out, kCorrects>(row, bytes); i < row.count; i += kLanes) {
      const std::int64_t at = std::min(i, row.count - kLanes);
      quantize_vector<Out, kCorrects>(row, at, to + at);
    }
    return;
  }
  if (row.count == 0) {
    return;
  }
  const auto size = static_cast<std::size_t>(row.count) * sizeof(u32);
  const auto extended = [size](const auto* from, auto* buffer) HWY_ATTR {
    if (from != nullptr) {
      std::memcpy(buffer, from, size);
      from = buffer;
    }
    return from;
  };
  u32 totals[kLanes] = {};
  u32 column_sums[kLanes] = {};
  u32 column_zeros[kLanes] = {};
  f32 factors[kLanes] = {};
  i32 zeros[kLanes] = {};
  IntegerRow one = row;
  one.totals = extended(row.totals, totals);
  one.column_sums = extended(row.column_sums, column_sums);
  one.column_zeros = extended(row.column_zeros, column_zeros);
  one.factors = extended(row.factors, factors);
  one.zeros = extended(row.zeros, zeros);
  Out quantized[kLanes];
  quantize_vector<Out, kCorrects>(one, 0, quantized);
  std::memcpy(to, quantized, static_cast<std::size_t>(row.count));
}

template <class Out>
void to_quantized(const IntegerRow& given, std::byte* to) noexcept {
  const IntegerRow row = given;
  if (row.column_sums != nullptr) {
    quantize_row<Out, true>(row, to);
  } else {
    quantize_row<Out, false>(row, to);
  }
}

template <std::size_t... kRows>
constexpr std::array<IntegerBlock, sizeof...(kRows)> all_blocks(std::index_sequence<kRows...>) {
  return {add_block<kRows + 1>...};
}

}  // namespace

const IntegerRows& rows() {
  static constexpr IntegerRows kAll = {.to_int32 = to_int32,
                                       .to_int8 = to_quantized<i8>,
                                       .to_uint8 = to_quantized<u8>,
                                       .to_float32 = to_float32,
                                       .interleave = {interleave<4>, interleave<8>}};
  return kAll;
}

const IntegerKernels* widening_kernels() {
  static constexpr auto kBlocks = all_blocks(std::make_index_sequence<kStrip>());
  static constexpr IntegerKernels kAll = {.name = "widening",
                                          .strip = kStrip,
                                          .row_unit = 1,
                                          .panel = kPanel,
                                          .group = kGroup,
                                          .row_block = kGroup,
                                          .unsigned_a = false,
                                          .blocks = kBlocks.data()};
  return &kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {
namespace generic {
namespace {

#include "ops/product/cpu/integer_rows-inl.h"

template <class Out>
void to_quantized(const IntegerRow& row, std::byte* to) noexcept {
  for (std::int64_t i = 0; i < row.count; ++i) {
    put(to, i, quantized_total<Out>(corrected(row, i), row.factors[i], row.zeros[i]));
  }
}

constexpr std::int64_t kPanel = integer_panel_columns(16);
constexpr std::int64_t kGroup = 4;

void add_rows(const IntegerBlockArguments& arguments, std::int64_t rows) noexcept {
  for (std::int64_t row = 0; row < rows; ++row) {
    const u8* const a = arguments.a + row * arguments.groups * kGroup;
    u32* const totals = arguments.totals + row * arguments.totals_step;
    for (std::int64_t column = 0; column < kPanel; ++column) {
      u32 total = arguments.start[column] + (arguments.is_first ? 0 : totals[column]);
      for (std::int64_t group = 0; group < arguments.groups; ++group) {
        i32 sum = 0;
        for (std::int64_t k = 0; k < kGroup; ++k) {
          sum += static_cast<i8>(a[group * kGroup + k]) *
                 static_cast<i8>(arguments.b[(group * kPanel + column) * kGroup + k]);
        }
        total += static_cast<u32>(sum);
      }
      totals[column] = total;
    }
  }
}

const IntegerRows& rows() {
  static constexpr IntegerRows kAll = {.to_int32 = to_int32,
                                       .to_int8 = to_quantized<i8>,
                                       .to_uint8 = to_quantized<u8>,
                                       .to_float32 = to_float32,
                                       .interleave = {nullptr, nullptr}};
  return kAll;
}

const IntegerKernels* kernels() {
  static constexpr IntegerBlock kBlocks[] = {add_rows};
  static constexpr IntegerKernels kAll = {.name = "plain",
                                          .strip = 1,
                                          .row_unit = 1,
                                          .panel = kPanel,
                                          .group = kGroup,
                                          .row_block = kGroup,
                                          .unsigned_a = false,
                                          .blocks = kBlocks};
  return &kAll;
}

}  // namespace
}  // namespace generic

const IntegerRows& integer_rows(cpu::Target target) { return ANYDML_FOR_TARGET(target, generic::rows(), rows()); }

std::vector<const IntegerKernels*> all_integer_kernels(cpu::Target target) {
  std::vector<const IntegerKernels*> all;
  const auto add = [&](const IntegerKernels* one) {
    if (one != nullptr) {
      all.push_back(one);
    }
  };
  if (target == cpu::Target::neon) {
    add(neon_matrix_kernels());
    add(neon_dot_kernels());
  } else if (target == cpu::Target::avx2) {
    add(avx_vnni_kernels());
  } else if (target == cpu::Target::avx512) {
    add(amx_kernels());
    add(avx512_vnni_kernels());
  }
  add(ANYDML_FOR_TARGET(target, generic::kernels(), widening_kernels()));
  return all;
}

const IntegerKernels& integer_kernels(cpu::Target target) { return *all_integer_kernels(target).front(); }

}  // namespace anydml

#endif
