// SPDX-License-Identifier: MIT
// SCALED_DIFFERENCE with a mean, a scale and a bias that are constant for a whole row, as they are for images, so that
// they stay in registers. Compiled once for each target. All other layouts use the generic kernels.
#include <algorithm>
#include <cstring>

#include "ops/elementwise/cpu/entry_files.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/scaled_difference.cpp"
#include "backend/cpu/each_target.h"

#if ANYDML_TARGET

#include "ops/elementwise/cpu/entry_files-inl.h"
#include "ops/elementwise/cpu/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anydml {
namespace HWY_NAMESPACE {
namespace {

inline constexpr std::size_t kLongRow = 64;  // elements; worth a separate loop

// The definition with fixed numbers for all inputs except x.
template <class T>
struct WithNumbers {
  f32 mean;
  f32 scale;
  f32 bias;

  [[nodiscard]] f32 compute(f32 x) const { return ScaledDifference<T>{}.compute(x, mean, scale, bias); }
  [[nodiscard]] T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

using Wide = hn::ScalableTag<f32>;
using Halves = hn::Rebind<hwy::float16_t, Wide>;

// Processes rows of FLOAT16 and converts them in registers, whereas the generic loops convert whole stretches through
// memory.
void run_half_rows(const RowBlock& block) noexcept {
  const WithNumbers<f16>& numbers = *static_cast<const WithNumbers<f16>*>(block.scalar);
  const Wide d;
  const std::size_t lanes = hn::Lanes(d);
  const auto mean = hn::Set(d, numbers.mean);
  const auto scale = hn::Set(d, numbers.scale);
  const auto bias = hn::Set(d, numbers.bias);
  const hn::Rebind<u16, Wide> d_bits;
  const auto load = [&](const std::byte* from)
                        HWY_ATTR { return hn::PromoteTo(d, hn::BitCast(Halves(), load_bytes(d_bits, from))); };
  const auto result = [&](hn::Vec<Wide> x) HWY_ATTR { return hn::MulAdd(hn::Sub(x, mean), scale, bias); };
  const auto store = [&](hn::Vec<Wide> y, std::byte* to)
                         HWY_ATTR { store_bytes(d_bits, hn::BitCast(d_bits, hn::DemoteTo(Halves(), y)), to); };
  RowCursor<1> row(block);
  do {
    std::size_t i = 0;
    for (; i + 4 * lanes <= block.columns; i += 4 * lanes) {  // interleaved to hide latency
      const std::byte* const from = row.inputs[0] + 2 * i;
      std::byte* const to = row.output + 2 * i;
      const auto a = load(from), b = load(from + 2 * lanes), c = load(from + 4 * lanes), e = load(from + 6 * lanes);
      const auto of_a = result(a), of_b = result(b), of_c = result(c), of_e = result(e);
      store(of_a, to);
      store(of_b, to + 2 * lanes);
      store(of_c, to + 4 * lanes);
      store(of_e, to + 6 * lanes);
    }
    for (; i < block.columns; i += lanes) {
      const std::size_t part = std::min(lanes, block.columns - i);
      alignas(64) std::byte some[HWY_MAX_BYTES] = {};
      std::memcpy(some, row.inputs[0] + 2 * i, 2 * part);
      store(result(load(some)), some);
      std::memcpy(row.output + 2 * i, some, 2 * part);
    }
  } while (row.next());
}

template <class T>
constexpr TiledRow row_with_numbers() {
  TiledRow row = tiled_row<WithNumbers<T>>();
  if constexpr (std::is_same_v<T, f16>) {
    row.plain = run_half_rows;
  }
  return row;
}

template <class T>
void scaled_kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow = row_with_numbers<T>();
  bool one_each_row = true;
  bool one_for_all = true;
  for (std::size_t i = 1; i < 4; ++i) {
    one_each_row = one_each_row && arguments.inputs[i].stride == 0;
    one_for_all = one_for_all && arguments.inputs[i].row_stride == 0;
  }
  one_for_all = one_for_all || arguments.rows == 1;
  if (!one_each_row || (!one_for_all && arguments.columns < kLongRow)) {
    kernel<ScaledDifference<T>>(arguments);
    return;
  }
  KernelArguments some = arguments;
  some.rows = one_for_all ? arguments.rows : 1;
  for (std::size_t row = 0; row < arguments.rows; row += some.rows) {
    const WithNumbers<T> numbers{.mean = load_element<f32>(some.inputs[1].data),
                                 .scale = load_element<f32>(some.inputs[2].data),
                                 .bias = load_element<f32>(some.inputs[3].data)};
    run_tiled(kRow, some, &numbers);
    for (std::size_t i = 0; i < 4; ++i) {
      some.inputs[i].data += some.inputs[i].row_stride;
    }
    some.output.data += some.output.row_stride;
  }
}

template <class T>
void replace_type(KernelTable& table) {
  const Entry& of = entry(EntryId::SCALED_DIFFERENCE);
  constexpr DataType kType = kDataTypeOf<T>;
  const Variant types{kType, DataType::FLOAT32, DataType::FLOAT32, DataType::FLOAT32, kType};
  table.at(of, find_variant(of, types)).fill(scaled_kernel<T>);
}

}  // namespace

void replace_scaled_difference(KernelTable& table) {
  replace_type<f32>(table);
  replace_type<f16>(table);
}

}  // namespace HWY_NAMESPACE
}  // namespace anydml
HWY_AFTER_NAMESPACE();

#endif
