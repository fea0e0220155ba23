// SPDX-License-Identifier: MIT
// The inner loops of integer convolutions with few output channels, which read rows of the image. Bytes and weights are
// widened to 16 bits, and products to 32 bits.
#include "ops/product/cpu/integer_kernels.h"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/product/cpu/integer_lines.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBytes = HWY_MAX_BYTES;
static_assert(kBytes <= kIntegerLineSlack);
using Wide = hn::FixedTag<i16, kBytes / 2>;
using Sums = hn::FixedTag<i32, kBytes / 4>;
using Vector = hn::Vec<Sums>;
constexpr std::size_t kLanes = kBytes / 4;

template <std::size_t kCount, class Use>
HWY_INLINE void for_each_index(Use use) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR { (use.template operator()<kIndex>(), ...); }
  (std::make_index_sequence<kCount>());
}

// Multiplies the elements of a vector by one weight and adds the products to low and high.
HWY_INLINE void add_products(hn::Vec<Wide> elements, i16 weight, Vector& low, Vector& high) {
#if HWY_TARGET == HWY_NEON
  low = Vector(vmlal_n_s16(low.raw, vget_low_s16(elements.raw), weight));
  high = Vector(vmlal_high_n_s16(high.raw, elements.raw, weight));
#else
  const Sums d;
  const hn::Half<Wide> d_half;
  const auto factor = hn::Set(d, i32{weight});
  low = hn::Add(low, hn::Mul(hn::PromoteTo(d, hn::LowerHalf(d_half, elements)), factor));
  high = hn::Add(high, hn::Mul(hn::PromoteTo(d, hn::UpperHalf(d_half, elements)), factor));
#endif
}

// Processes kCount half vectors of bytes, or one half vector with only `count` elements if kIsPart is set.
template <class Byte, std::size_t kCount, bool kIsPart>
HWY_INLINE void add_part(const Byte* HWY_RESTRICT from, const std::int64_t* HWY_RESTRICT offsets,
                         const i16* HWY_RESTRICT weights, std::int64_t depth, u32* HWY_RESTRICT totals,
                         std::int64_t count, bool is_first) {
  constexpr std::size_t kSums = 2 * kCount;
  const hn::FixedTag<Byte, kBytes / 2> d_bytes;
  const Sums d;
  Vector sums[kSums];
  for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR { sums[kSum] = hn::Zero(d); });
  for (std::int64_t k = 0; k < depth; ++k) {
    const Byte* const row = from + offsets[k];
    for_each_index<kCount>([&]<std::size_t kOne>() HWY_ATTR {
      const auto elements = hn::PromoteTo(Wide(), hn::LoadU(d_bytes, row + kOne * (kBytes / 2)));
      add_products(elements, weights[k], sums[2 * kOne], sums[2 * kOne + 1]);
    });
  }
  if constexpr (kIsPart) {
    u32 all[kSums * kLanes];
    for_each_index<kSums>([&]<std::size_t kSum>()
                              HWY_ATTR { hn::StoreU(sums[kSum], d, reinterpret_cast<i32*>(all) + kSum * kLanes); });
    for (std::int64_t i = 0; i < count; ++i) {
      totals[i] = is_first ? all[i] : totals[i] + all[i];
    }
  } else {
    for_each_index<kSums>([&]<std::size_t kSum>() HWY_ATTR {
      // Totals wrap modulo 2^32. They are unsigned because signed overflow is undefined.
      const hn::RebindToUnsigned<Sums> d_wrapping;
      u32* const destination = totals + kSum * kLanes;
      const auto sum = hn::BitCast(d_wrapping, sums[kSum]);
      hn::StoreU(is_first ? sum : hn::Add(hn::LoadU(d_wrapping, destination), sum), d_wrapping, destination);
    });
  }
}

template <class Byte>
void add_line(const std::byte* bytes, const std::int64_t* offsets, const i16* weights, std::int64_t depth, u32* totals,
              std::int64_t count, bool is_first) noexcept {
  const auto* const from = reinterpret_cast<const Byte*>(bytes);
  constexpr auto kOne = static_cast<std::int64_t>(kBytes / 2);
  constexpr std::int64_t kMany = HWY_TARGET == HWY_AVX2 ? 4 : 8;
  std::int64_t i = 0;
  for (; i + kMany * kOne <= count; i += kMany * kOne) {
    add_part<Byte, kMany, false>(from + i, offsets, weights, depth, totals + i, 0, is_first);
  }
  for (; i + 2 * kOne <= count; i += 2 * kOne) {
    add_part<Byte, 2, false>(from + i, offsets, weights, depth, totals + i, 0, is_first);
  }
  for (; i + kOne <= count; i += kOne) {
    add_part<Byte, 1, false>(from + i, offsets, weights, depth, totals + i, 0, is_first);
  }
  if (i < count) {
    add_part<Byte, 1, true>(from + i, offsets, weights, depth, totals + i, count - i, is_first);
  }
}

}  // namespace

IntegerLine line(bool is_signed) { return is_signed ? add_line<i8> : add_line<u8>; }

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif

#if HWY_ONCE

namespace anydml {
namespace generic {
namespace {

template <class Byte>
void add_line(const std::byte* bytes, const std::int64_t* offsets, const i16* weights, std::int64_t depth, u32* totals,
              std::int64_t count, bool is_first) noexcept {
  const auto* const from = reinterpret_cast<const Byte*>(bytes);
  for (std::int64_t i = 0; i < count; ++i) {
    u32 total = is_first ? 0 : totals[i];
    for (std::int64_t k = 0; k < depth; ++k) {
      total += static_cast<u32>(from[offsets[k] + i] * weights[k]);
    }
    totals[i] = total;
  }
}

IntegerLine line(bool is_signed) { return is_signed ? add_line<i8> : add_line<u8>; }

}  // namespace
}  // namespace generic

IntegerLine integer_line(cpu::Target target, bool is_signed) {
  return ANYDML_FOR_TARGET(target, generic::line(is_signed), line(is_signed));
}

}  // namespace anydml

#endif
