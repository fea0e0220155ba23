// SPDX-License-Identifier: MIT
#include "ops/product/cpu/integer_pairs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/product/scalar/integer.h"

#ifndef ANYDML_PAIR_SOURCE
#define ANYDML_PAIR_SOURCE
namespace anydml {
namespace {

// The next elements of two rows; a row outside the image is null.
template <class Byte>
struct PairSource {
  const Byte* upper;
  const Byte* lower;
  const Byte* end;  // of the image
  i32 zero;
};

}  // namespace
}  // namespace anydml
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/integer_pairs.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#include "ops/product/cpu/integer_quantize-inl.h"

constexpr std::size_t kBytes = HWY_MAX_BYTES;
using Pairs = hn::FixedTag<i16, kBytes / 2>;
using Sums = hn::FixedTag<i32, kBytes / 4>;
using Vector = hn::Vec<Sums>;
constexpr std::size_t kLanes = kBytes / 4;
static_assert(kLanes <= kPairSlack);

template <std::size_t kCount, class Use>
HWY_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

// ---- Copies ---------------------------------------------------------------------------------------------------------

constexpr std::size_t kColumns = 16;  // that are copied together

// Pairs of some columns, as 32-bit lanes.
using Words = hn::FixedTag<u32, std::min<std::size_t>(kLanes, kColumns / 2)>;
constexpr std::size_t kParts = kColumns / hn::MaxLanes(Words());
struct Columns {
  hn::Vec<Words> parts[kParts];
};

// Columns [i, i + count) of two rows, at most kColumns.
template <class Byte>
HWY_INLINE Columns paired(const PairSource<Byte>& rows, std::size_t i, std::size_t count) {
  const hn::FixedTag<Byte, kColumns> d;
  const hn::Repartition<i16, Words> d_wide;
  const hn::Rebind<Byte, decltype(d_wide)> d_part;
  const auto row = [&](const Byte* from) HWY_ATTR {
    if (from == nullptr) {
      return hn::Set(d, static_cast<Byte>(rows.zero));
    }
    if (count >= kColumns || rows.end - from >= static_cast<std::ptrdiff_t>(i + kColumns)) {
      return hn::LoadU(d, from + i);
    }
    Byte some[kColumns] = {};
    std::memcpy(some, from + i, count);
    return hn::LoadU(d, some);
  };
  const auto above = row(rows.upper);
  const auto below = row(rows.lower);
  const auto zeros = hn::Set(d_wide, static_cast<i16>(rows.zero));
  Columns columns;
  const auto widen = [&](std::size_t part, hn::Vec<decltype(d_part)> bytes) HWY_ATTR {
    columns.parts[part] = hn::BitCast(Words(), hn::Sub(hn::PromoteTo(d_wide, bytes), zeros));
  };
  const auto low = hn::InterleaveLower(d, above, below);
  const auto high = hn::InterleaveUpper(d, above, below);
  if constexpr (kParts == 2) {
    widen(0, low);
    widen(1, high);
  } else {
    widen(0, hn::LowerHalf(d_part, low));
    widen(1, hn::UpperHalf(d_part, low));
    widen(2, hn::LowerHalf(d_part, high));
    widen(3, hn::UpperHalf(d_part, high));
  }
  return columns;
}

constexpr std::size_t kWidth = hn::MaxLanes(Words());
static_assert(kWidth <= kPairSlack && kColumns <= kPairSlack);

HWY_INLINE void clear(u32* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(kWidth)) {
    hn::StoreU(hn::Zero(Words()), Words(), to + i);
  }
}

template <class Byte>
HWY_INLINE void copy_columns(const PairSource<Byte>& rows, std::size_t count, u32* to) {
  for (std::size_t i = 0; i < count; i += kColumns) {
    const Columns columns = paired(rows, i, count - i);
    for_each_index<kParts>([&]<std::size_t kPart>()
                               HWY_ATTR { hn::StoreU(columns.parts[kPart], Words(), to + i + kPart * kWidth); });
  }
}

// The even columns go to one place, the others to another one.
template <class Byte>
HWY_INLINE void split_columns(const PairSource<Byte>& rows, std::size_t count, u32* even, u32* odd) {
  const Words d;
  for (std::size_t i = 0; i < count; i += kColumns) {
    const Columns columns = paired(rows, i, count - i);
    for_each_index<kParts / 2>([&]<std::size_t kPart>() HWY_ATTR {
      const auto low = columns.parts[2 * kPart];
      const auto high = columns.parts[2 * kPart + 1];
      hn::StoreU(hn::ConcatEven(d, high, low), d, even + i / 2 + kPart * kWidth);
      hn::StoreU(hn::ConcatOdd(d, high, low), d, odd + i / 2 + kPart * kWidth);
    });
  }
}

#include "ops/product/cpu/integer_pairs-inl.h"

// ---- Sums -----------------------------------------------------------------------------------------------------------

// sum + the products of adjacent elements, added in pairs.
HWY_INLINE Vector add_pairs(hn::Vec<Pairs> a, hn::Vec<Pairs> b, Vector sum) {
#if HWY_TARGET == HWY_NEON
  const int32x4_t low = vmull_s16(vget_low_s16(a.raw), vget_low_s16(b.raw));
  const int32x4_t high = vmull_high_s16(a.raw, b.raw);
  return hn::Add(sum, Vector(vpaddq_s32(low, high)));
#else
  Vector unused = hn::Zero(Sums());
  return hn::ReorderWidenMulAccumulate(Sums(), a, b, sum, unused);
#endif
}

template <PairedOutput kOutput>
HWY_INLINE void store_sums(const PairedLine& line, Vector sums, std::byte* to, std::int64_t i) {
  const Sums d;
  const hn::RebindToUnsigned<Sums> d_wrapping;
  const auto totals = hn::BitCast(d, hn::Add(hn::BitCast(d_wrapping, sums), hn::Set(d_wrapping, line.plus)));
  if constexpr (kOutput == PairedOutput::int32) {
    hn::StoreU(totals, d, reinterpret_cast<i32*>(to) + i);
  } else {
    using Out = std::conditional_t<kOutput == PairedOutput::int8, i8, u8>;
    const hn::Rebind<Out, Sums> d_out;
    const auto lanes =
        quantized_lanes(d, totals, hn::Set(hn::RebindToFloat<Sums>(), line.factor), hn::Set(d, line.zero));
    hn::StoreU(hn::DemoteTo(d_out, lanes), d_out, reinterpret_cast<Out*>(to) + i);
  }
}

template <PairedOutput kOutput, std::size_t kLines, std::size_t kVectors>
HWY_INLINE void add_part(const PairedLine& line, std::int64_t first) {
  constexpr std::size_t kSums = kLines * kVectors;
  const Sums d;
  Vector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  const hn::RebindToUnsigned<Sums> d_words;
  const u32* const from = line.from + first;
  const u32* weights = line.weights;
  for (std::int64_t k = 0; k < line.terms; ++k, weights += kLines) {
    const u32* const pairs = from + line.offsets[k];
    hn::Vec<Pairs> factors[kLines];
    for_each_index<kLines>([&]<std::size_t kLine>()
                               HWY_ATTR { factors[kLine] = hn::BitCast(Pairs(), hn::Set(d_words, weights[kLine])); });
    for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR {
      const auto elements = hn::BitCast(Pairs(), hn::LoadU(d_words, pairs + kOne * kLanes));
      for_each_index<kLines>([&]<std::size_t kLine>() HWY_ATTR {
        Vector& sum = sums[kLine * kVectors + kOne];
        sum = add_pairs(elements, factors[kLine], sum);
      });
    });
  }
  for_each_index<kLines>([&]<std::size_t kLine>() HWY_ATTR {
    for_each_index<kVectors>([&]<std::size_t kOne>() HWY_ATTR {
      store_sums<kOutput>(line, sums[kLine * kVectors + kOne], line.to[kLine],
                          first + static_cast<std::int64_t>(kOne * kLanes));
    });
  });
}

template <PairedOutput kOutput, std::size_t kLines>
HWY_INLINE void add_all(const PairedLine& line) {
  constexpr std::int64_t kMany = 4;
  constexpr auto kOne = static_cast<std::int64_t>(kLanes);
  std::int64_t i = 0;
  for (; i + (kMany - 1) * kOne < line.count; i += kMany * kOne) {
    add_part<kOutput, kLines, kMany>(line, i);
  }
  for (; i < line.count; i += kOne) {
    add_part<kOutput, kLines, 1>(line, i);
  }
}

template <PairedOutput kOutput>
void add_lines(const PairedLine& line) noexcept {
  if (line.to[1] != nullptr) {
    add_all<kOutput, 2>(line);
  } else {
    add_all<kOutput, 1>(line);
  }
}

}  // namespace

const IntegerPairs& pairs() {
  static constexpr IntegerPairs kAll = {
      .copy_signed = copy_rows<i8>,
      .copy_unsigned = copy_rows<u8>,
      .add_lines = {add_lines<PairedOutput::int32>, add_lines<PairedOutput::int8>, add_lines<PairedOutput::uint8>}};
  return kAll;
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {
namespace generic {
namespace {

template <class Byte>
u32 pair_of(const PairSource<Byte>& rows, std::size_t i);

void clear(u32* to, std::int64_t count) { std::fill_n(to, count, 0U); }
template <class Byte>
void copy_columns(const PairSource<Byte>& rows, std::size_t count, u32* to) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = pair_of(rows, i);
  }
}
template <class Byte>
void split_columns(const PairSource<Byte>& rows, std::size_t count, u32* even, u32* odd) {
  for (std::size_t i = 0; i < count; ++i) {
    (i % 2 == 0 ? even : odd)[i / 2] = pair_of(rows, i);
  }
}

#include "ops/product/cpu/integer_pairs-inl.h"

i32 lower_half(u32 pair) { return static_cast<i16>(pair & 0xFFFF); }
i32 upper_half(u32 pair) { return static_cast<i16>(pair >> 16); }

template <PairedOutput kOutput>
void add_lines(const PairedLine& line) noexcept {
  const std::int64_t lines = line.to[1] != nullptr ? 2 : 1;
  for (std::int64_t n = 0; n < lines; ++n) {
    for (std::int64_t i = 0; i < line.count; ++i) {
      u32 total = line.plus;
      for (std::int64_t k = 0; k < line.terms; ++k) {
        const u32 pair = line.from[line.offsets[k] + i];
        const u32 weight = line.weights[lines * k + n];
        total += static_cast<u32>(lower_half(pair) * lower_half(weight) + upper_half(pair) * upper_half(weight));
      }
      const auto sum = static_cast<i32>(total);
      std::byte* const to = line.to[n];
      if constexpr (kOutput == PairedOutput::int32) {
        std::memcpy(to + i * static_cast<std::int64_t>(sizeof(sum)), &sum, sizeof(sum));
      } else {
        using Out = std::conditional_t<kOutput == PairedOutput::int8, i8, u8>;
        const Out out = quantized_total<Out>(sum, line.factor, line.zero);
        std::memcpy(to + i, &out, sizeof(out));
      }
    }
  }
}

const IntegerPairs& pairs() {
  static constexpr IntegerPairs kAll = {
      .copy_signed = copy_rows<i8>,
      .copy_unsigned = copy_rows<u8>,
      .add_lines = {add_lines<PairedOutput::int32>, add_lines<PairedOutput::int8>, add_lines<PairedOutput::uint8>}};
  return kAll;
}

}  // namespace
}  // namespace generic

const IntegerPairs& integer_pairs(cpu::Target target) { return ANYDML_FOR_TARGET(target, generic::pairs(), pairs()); }

}  // namespace anydml

#endif
