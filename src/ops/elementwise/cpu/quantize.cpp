// SPDX-License-Identifier: MIT
// QUANTIZE_LINEAR in vectors, once for each target: what compilers make of the definition has three times as many
// instructions. Machines convert to the nearest integer and stop at the limits of a type by themselves; a sum of 16
// bits that stops at its limits stops at those of 8 bits as well, whatever the zero point.
#include <cstring>

#include "ops/elementwise/cpu/row_groups.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/quantize.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/row_groups-inl.h"
#include "ops/elementwise/cpu/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

using Wide = hn::ScalableTag<f32>;
using Sums = hn::ScalableTag<i16>;

template <class T>
HWY_INLINE hn::Vec<Wide> load_wide(const std::byte* from) {
  const Wide d;
  if constexpr (std::is_same_v<T, f16>) {
    const hn::Rebind<u16, Wide> d_bits;
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, Wide>(), load_bytes(d_bits, from)));
  } else if constexpr (std::is_same_v<T, i32>) {
    return hn::ConvertTo(d, load_bytes(hn::Rebind<i32, Wide>(), from));
  } else {
    return load_bytes(d, from);
  }
}

template <class In>
HWY_INLINE auto quotients(const std::byte* x, const std::byte* scale) {
  hn::Vec<Wide> quotient = hn::Div(load_wide<In>(x), load_wide<scale_of_t<In>>(scale));
#if HWY_TARGET != HWY_NEON
  quotient = hn::IfThenElseZero(hn::Eq(quotient, quotient), quotient);  // NEON converts NaN to 0
#endif
  return hn::DemoteTo(hn::Rebind<i16, Wide>(), hn::NearestInt(quotient));
}

template <class In, class Out, bool kZeroPoint>
HWY_INLINE void run_group(const std::byte* const* inputs, std::size_t at, std::byte* output) {
  using Scale = scale_of_t<In>;
  const Sums d;
  const hn::Rebind<Out, Sums> d_out;
  const std::size_t half = at + hn::Lanes(Wide());
  auto sums = hn::Combine(d, quotients<In>(inputs[0] + half * sizeof(In), inputs[1] + half * sizeof(Scale)),
                          quotients<In>(inputs[0] + at * sizeof(In), inputs[1] + at * sizeof(Scale)));
  if constexpr (kZeroPoint) {
    sums = hn::SaturatedAdd(sums, hn::PromoteTo(d, load_bytes(d_out, inputs[2] + at)));
  }
  store_bytes(d_out, hn::DemoteTo(d_out, sums), output + at);
}

template <class In, class Out, bool kZeroPoint>
void run_rows(const RowBlock& block) noexcept {
  constexpr std::size_t kInputs = kZeroPoint ? 3 : 2;
  constexpr std::size_t kSizes[] = {sizeof(In), sizeof(scale_of_t<In>), sizeof(Out)};
  const std::size_t step = hn::Lanes(Sums());
  RowCursor<kInputs> row(block);
  do {
    std::size_t n = 0;
    for (; n + step <= block.columns; n += step) {
      run_group<In, Out, kZeroPoint>(row.inputs, n, row.output);
    }
    if (const std::size_t rest = block.columns - n; rest != 0) {
      alignas(HWY_MAX_BYTES) std::byte padded[kInputs][2 * HWY_MAX_BYTES] = {};
      alignas(HWY_MAX_BYTES) std::byte results[HWY_MAX_BYTES];
      const std::byte* from[kInputs];
      for (std::size_t i = 0; i < kInputs; ++i) {
        std::memcpy(padded[i], row.inputs[i] + n * kSizes[i], rest * kSizes[i]);
        from[i] = padded[i];
      }
      run_group<In, Out, kZeroPoint>(from, 0, results);
      std::memcpy(row.output + n, results, rest);
    }
  } while (row.next());
}

template <class In, class Out, bool kZeroPoint>
void kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow =
      kZeroPoint ? TiledRow{run_rows<In, Out, true>, nullptr, 3, {sizeof(In), sizeof(scale_of_t<In>), 1, 1}}
                 : TiledRow{run_rows<In, Out, false>, nullptr, 2, {sizeof(In), sizeof(scale_of_t<In>), 1}};
  run_tiled(kRow, arguments, nullptr);
}

template <class In, class Out>
void replace_type(KernelTable& table) {
  constexpr DataType kIn = kDataTypeOf<In>;
  constexpr DataType kScale = kDataTypeOf<scale_of_t<In>>;
  constexpr DataType kOut = kDataTypeOf<Out>;
  const Row& full = row(RowId::ELEMENT_WISE_QUANTIZE_LINEAR);
  const Row& from_zero = row(RowId::QUANTIZE_LINEAR_FROM_ZERO);
  table.at(full, find_variant(full, Variant{kIn, kScale, kOut, kOut})).fill(kernel<In, Out, true>);
  table.at(from_zero, find_variant(from_zero, Variant{kIn, kScale, kOut})).fill(kernel<In, Out, false>);
}

}  // namespace

void replace_quantize(KernelTable& table) {
  replace_type<f32, u8>(table);
  replace_type<f32, i8>(table);
  replace_type<f16, u8>(table);
  replace_type<f16, i8>(table);
  replace_type<i32, u8>(table);
  replace_type<i32, i8>(table);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
