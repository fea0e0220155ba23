// SPDX-License-Identifier: MIT
// The table of implemented operators, built from the entries in elementwise.def and the facts about them. It contains
// the operators' names and types; the definitions, which are not included here, contain their computations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/element.h"
#include "facts/facts.h"
#include "ops/elementwise/step.h"

namespace anydml {

enum class EntryId : std::uint16_t {
#define ANYDML_ENTRY(op, Scalar) op,
#include "ops/elementwise/elementwise.def"
  count_,
};
inline constexpr std::size_t kEntryCount = static_cast<std::size_t>(EntryId::count_);

// A combination of types that an entry accepts: the types of its inputs in order, then the type of its output.
using Variant = std::array<DataType, kMaxInputs + 1>;

struct Entry {
  EntryId id;
  std::string_view name;
  const facts::Operator* facts;  // null for an internal entry
  std::span<const Variant> variants;
  std::uint32_t first_variant;  // the number of variants in all entries before this one
  std::uint8_t inputs;
  std::array<TypeSet, kMaxInputs + 1> types;             // over all variants: the inputs, then the output
  std::array<std::string_view, kMaxInputs + 1> tensors;  // DirectML's names: the inputs in order, then the output
};

[[nodiscard]] std::span<const Entry> entries();
[[nodiscard]] const Entry& entry(EntryId id);
[[nodiscard]] std::uint32_t variant_count();  // in all entries

// Null if the operator has no entry here.
[[nodiscard]] const Entry* find_entry(const facts::Operator& op);
// The entry of the operator without its last input; null if the operator needs that input.
[[nodiscard]] const Entry* find_entry_without_last(const facts::Operator& op);

// The variant of the entry with these types (the inputs in order, then the output); kNoVariant if there is none.
inline constexpr std::uint32_t kNoVariant = 0xffff;
[[nodiscard]] std::uint32_t find_variant(const Entry& entry, const Variant& types);
// The variant in which all tensors have this type.
[[nodiscard]] std::uint32_t find_variant(const Entry& entry, DataType type);

}  // namespace anydml
