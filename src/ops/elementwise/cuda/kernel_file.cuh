// SPDX-License-Identifier: MIT
// Distributes the kernels of all entries among files that the build generates (cuda/family.cmake), so that each file
// compiles in seconds and a new entry in elementwise.def needs no other edit.
#pragma once

#include <string_view>

#include "facts/facts_tables.h"
#include "ops/elementwise/cuda/entry_kernels.cuh"
#include "ops/elementwise/cuda/tables.h"
#include "ops/elementwise/cuda/traits.h"
#include "ops/elementwise/cuda/variants.h"

namespace anydml::cuda {

// If the number of files were a multiple of eleven, the number of types, the expensive types of all entries would end
// up in the same file.
static_assert(kKernelFiles % 11 != 0);

[[nodiscard]] constexpr std::uint32_t file_of(EntryId entry, std::uint32_t variant) {
  return (static_cast<std::uint32_t>(entry) * 5 + variant) % kKernelFiles;
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

// Null unless the kernels are in this file.
template <std::uint32_t kFile, EntryId entry, class Scalar>
[[nodiscard]] constexpr const KernelSet* kernels_of_file() {
  using Kernel = KernelScalar<Scalar>;
  if constexpr (!kIsTuned<Scalar> && file_of(entry, kVariantOf<entry, Kernel>) == kFile) {
    return &kEntryKernels<Kernel>;
  } else {
    return nullptr;
  }
}

template <std::uint32_t kFile, EntryId entry, bool kScaleBias, class Scalar>
[[nodiscard]] constexpr const KernelSet* scaled_kernels_of_file() {
  if constexpr (kScaleBias && file_of(entry, kVariantOf<entry, Scalar>) == kFile) {
    if constexpr (Defined<ScaleBias<typename Signature<Scalar>::template Input<0>>>) {
      return &kEntryKernels<AfterScaleBias<Scalar>>;
    }
  }
  return nullptr;
}

template <std::uint32_t kFile, EntryId entry, bool kScaleBias, class... Scalars>
[[nodiscard]] const KernelSet* find_variant_in_file(Variants<Scalars...>, bool scaled, std::uint32_t variant) {
  static constexpr const KernelSet* kPlain[] = {kernels_of_file<kFile, entry, Scalars>()...};
  static constexpr const KernelSet* kScaled[] = {scaled_kernels_of_file<kFile, entry, kScaleBias, Scalars>()...};
  return variant >= sizeof...(Scalars) ? nullptr : scaled ? kScaled[variant] : kPlain[variant];
}

template <std::uint32_t kFile>
const KernelSet* find_in_file(EntryId entry, bool scaled, std::uint32_t variant) noexcept {
  switch (entry) {
#define ANYDML_INTERNAL_ENTRY(op, Definition) \
  case EntryId::op:                           \
    return find_variant_in_file<kFile, EntryId::op, false>(VariantsOf<EntryId::op>{}, scaled, variant);
#define ANYDML_ENTRY(op, Definition) \
  case EntryId::op:                  \
    return find_variant_in_file<kFile, EntryId::op, takes_scale_bias(#op)>(VariantsOf<EntryId::op>{}, scaled, variant);
#include "ops/elementwise/elementwise.def"
    case EntryId::count_:
      break;
  }
  return nullptr;
}

}  // namespace anydml::cuda
