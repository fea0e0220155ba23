// SPDX-License-Identifier: MIT
// The kernels of all rows, divided evenly among files (group_*.cu) so that each compiles in seconds: variants are dealt
// to the groups in turn. A new row in elementwise.def falls into them by itself.
#pragma once

#include <string_view>

#include "facts/facts_tables.h"
#include "ops/elementwise/cuda/row_kernels.cuh"
#include "ops/elementwise/cuda/tables.h"
#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {

// Not a multiple of eleven: then the heavy types of all rows would come together.
static_assert(kGroups % 11 != 0);

[[nodiscard]] constexpr std::uint32_t group_of(RowId row, std::uint32_t variant) {
  return (static_cast<std::uint32_t>(row) * 5 + variant) % kGroups;
}

[[nodiscard]] consteval bool takes_scale_bias(std::string_view name) {
  for (const facts::Operator& op : facts::tables::kOperators) {
    if (op.name == name) {
      for (const facts::Field& field : op.fields) {
        if (field.type == facts::FieldType::scale_bias) {
          return true;
        }
      }
    }
  }
  return false;
}

// Null unless the kernels are of this group.
template <std::uint32_t kGroup, RowId row, class Scalar>
[[nodiscard]] constexpr const KernelSet* kernels_of_group() {
  using Kernel = KernelScalar<Scalar>;
  if constexpr (!kIsTuned<Scalar> && group_of(row, kVariantOf<row, Kernel>) == kGroup) {
    return &kRowKernels<Kernel>;
  } else {
    return nullptr;
  }
}

template <std::uint32_t kGroup, RowId row, bool kScaleBias, class Scalar>
[[nodiscard]] constexpr const KernelSet* scaled_kernels_of_group() {
  if constexpr (kScaleBias && group_of(row, kVariantOf<row, Scalar>) == kGroup) {
    if constexpr (Defined<ScaleBias<typename Signature<Scalar>::template Input<0>>>) {
      return &kRowKernels<AfterScaleBias<Scalar>>;
    }
  }
  return nullptr;
}

template <std::uint32_t kGroup, RowId row, bool kScaleBias, class... Scalars>
[[nodiscard]] const KernelSet* find_variant_in_group(Variants<Scalars...>, bool scaled, std::uint32_t variant) {
  static constexpr const KernelSet* kPlain[] = {kernels_of_group<kGroup, row, Scalars>()...};
  static constexpr const KernelSet* kScaled[] = {scaled_kernels_of_group<kGroup, row, kScaleBias, Scalars>()...};
  return variant >= sizeof...(Scalars) ? nullptr : scaled ? kScaled[variant] : kPlain[variant];
}

template <std::uint32_t kGroup>
const KernelSet* find_in_group(RowId row, bool scaled, std::uint32_t variant) noexcept {
  switch (row) {
#define ANYDML_INTERNAL_ROW(op, Definition, ulp) \
  case RowId::op:                                \
    return find_variant_in_group<kGroup, RowId::op, false>(VariantsOf<RowId::op>{}, scaled, variant);
#define ANYDML_ROW(op, Definition, ulp) \
  case RowId::op:                       \
    return find_variant_in_group<kGroup, RowId::op, takes_scale_bias(#op)>(VariantsOf<RowId::op>{}, scaled, variant);
#include "ops/elementwise/elementwise.def"
    case RowId::count_:
      break;
  }
  return nullptr;
}

}  // namespace anydml::cuda
