// SPDX-License-Identifier: MIT
// The functions of the library by entry and variant: their names, sizes and attributes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/elementwise/entries.h"

namespace anydml::vulkan {

struct VariantFunction {
  std::uint32_t inputs;
  std::uint8_t sizes[kMaxInputs + 1];  // of the elements in bytes: the inputs in order, then the result
  std::uint32_t words;                 // of attributes
  // Writes an object of the definition's class with these attributes as `words` words.
  void (*write_scalar)(const Attributes& attributes, std::uint32_t* words);
};

// Null if the entry has no such variant.
[[nodiscard]] const VariantFunction* find_variant_function(EntryId entry, std::uint32_t variant) noexcept;
// The name of the function in the library.
[[nodiscard]] std::string function_name(EntryId entry, std::uint32_t variant);

}  // namespace anydml::vulkan
