// SPDX-License-Identifier: MIT
// Which file compiles the kernels of a row, and what each gives besides its vector kernels.
#pragma once

#include <array>

#include "ops/elementwise/cpu/kernels.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/scalars.h"
#include "ops/elementwise/signature.h"

namespace anydml {

inline constexpr std::size_t kRowGroups = 19;  // files row_group_N.cpp
// A row goes to the group in whose share its first variant is. A function takes as long to compile as several others.
inline constexpr std::size_t kVariantsOfGroup = 75;
template <class Scalar>
inline constexpr std::size_t kVariantsLike = requires {
  typename Scalar::Of;
}
? 8 : 1;
// The modulus has kernels of its own, vectors and plain loops.
inline constexpr std::size_t kNoRowGroup = kRowGroups;

// Rows whose vectors are written by hand, elsewhere: quantize.cpp.
[[nodiscard]] constexpr bool has_own_vectors(RowId id) {
  return id == RowId::ELEMENT_WISE_QUANTIZE_LINEAR || id == RowId::QUANTIZE_LINEAR_FROM_ZERO;
}

namespace detail {

inline constexpr auto kGroups = [] {
  std::array<std::size_t, kRowCount> groups{};
  std::size_t next = 0;
  std::size_t before = 0;
#define ANYDML_ROW(op, Definition, ulp)                                                                  \
  groups[next++] = before / kVariantsOfGroup < kRowGroups ? before / kVariantsOfGroup : kNoRowGroup + 1; \
  for_each_variant<Definition>([&before]<class Scalar>() { before += kVariantsLike<Scalar>; });
#include "ops/elementwise/elementwise.def"
  groups[static_cast<std::size_t>(RowId::ELEMENT_WISE_MODULUS_FLOOR)] = kNoRowGroup;
  groups[static_cast<std::size_t>(RowId::ELEMENT_WISE_MODULUS_TRUNCATE)] = kNoRowGroup;
  return groups;
}();
static_assert(
    [] {
      for (const std::size_t group : kGroups) {
        if (group > kNoRowGroup) {
          return false;
        }
      }
      return true;
    }(),
    "one more file row_group_N.cpp is needed");

}  // namespace detail

[[nodiscard]] consteval std::size_t row_group(RowId id) { return detail::kGroups[static_cast<std::size_t>(id)]; }

// Puts the plain loops of the group's rows into the table.
template <std::size_t kGroup>
void put_generic_rows(KernelTable& table);

}  // namespace anydml
