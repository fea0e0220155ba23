// SPDX-License-Identifier: MIT
#include "ops/elementwise/vulkan/tables.h"

#include <cstring>
#include <span>
#include <utility>

#include "ops/elementwise/vulkan/variants.h"
#include "ops/scalar/scalars.h"

namespace anydml::vulkan {
namespace {

template <class Scalar>
constexpr VariantFunction function_of() {
  using Types = Signature<Scalar>;
  VariantFunction function{};
  function.inputs = Types::kInputs;
  [&]<std::size_t... inputs>(std::index_sequence<inputs...>) {
    ((function.sizes[inputs] = sizeof(typename Types::template Input<inputs>)), ...);
  }
  (std::make_index_sequence<Types::kInputs>{});
  function.sizes[Types::kInputs] = sizeof(typename Types::Output);
  function.words = kScalarWords<Scalar>;
  if constexpr (kScalarWords<Scalar> != 0) {
    function.write_scalar = [](const Attributes& attributes, std::uint32_t* words) {
      const Scalar scalar(attributes);
      std::memset(words, 0, kScalarWords<Scalar> * sizeof(std::uint32_t));
      std::memcpy(words, static_cast<const void*>(&scalar), sizeof(scalar));
    };
  }
  return function;
}

template <class List>
struct FunctionsOf;
template <class... Scalars>
struct FunctionsOf<Variants<Scalars...>> {
  static constexpr VariantFunction kAll[] = {function_of<Scalars>()...};
};

struct EntryFunctions {
  const char* name;
  std::span<const VariantFunction> variants;
};
constexpr EntryFunctions kEntries[] = {
#define ANYDML_ENTRY(op, Definition) {#op, FunctionsOf<decltype(variants_over<Definition>(AllTypes{}))>::kAll},
#include "ops/elementwise/elementwise.def"
};
static_assert(std::size(kEntries) == kEntryCount);

}  // namespace

const VariantFunction* find_variant_function(EntryId entry, std::uint32_t variant) noexcept {
  const auto index = static_cast<std::size_t>(entry);
  return index < kEntryCount && variant < kEntries[index].variants.size() ? &kEntries[index].variants[variant]
                                                                          : nullptr;
}

std::string function_name(EntryId entry, std::uint32_t variant) {
  return std::string(kEntries[static_cast<std::size_t>(entry)].name) + "_" + std::to_string(variant);
}

}  // namespace anydml::vulkan
