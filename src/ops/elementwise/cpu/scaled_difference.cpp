// SPDX-License-Identifier: MIT
// SCALED_DIFFERENCE with a mean, a scale and a bias that are one element for a whole row, as those of images are: they
// stay in registers. Once for each target. All other layouts have the kernels of any entry.
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

inline constexpr std::size_t kLongRow = 64;  // elements: worth a walk of its own

// The definition with numbers for all but x.
template <class T>
struct WithNumbers {
  f32 mean;
  f32 scale;
  f32 bias;

  [[nodiscard]] f32 compute(f32 x) const { return ScaledDifference<T>{}.compute(x, mean, scale, bias); }
  [[nodiscard]] T operator()(T x) const { return narrow<T>(compute(widen(x))); }
};

template <class T>
void scaled_kernel(const KernelArguments& arguments) noexcept {
  static constexpr TiledRow kRow = tiled_row<WithNumbers<T>>();
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
