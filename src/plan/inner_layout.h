// SPDX-License-Identifier: MIT
// The ways in which the innermost loop of an element-wise step accesses its operands. A kernel may be specialized for
// one of these layouts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anydml {

enum class InnerLayout : std::uint8_t {
  contiguous,        // every operand is contiguous
  second_broadcast,  // contiguous, except the second input (a divisor), which is fixed
  first_broadcast,   // contiguous, except the first input (a dividend), which is fixed
  strided,           // anything else
};
inline constexpr std::size_t kInnerLayouts = 4;

[[nodiscard]] constexpr const char* layout_name(InnerLayout layout) {
  switch (layout) {
    case InnerLayout::contiguous:
      return "contiguous";
    case InnerLayout::second_broadcast:
      return "second input broadcast";
    case InnerLayout::first_broadcast:
      return "first input broadcast";
    case InnerLayout::strided:
      break;
  }
  return "strided";
}

}  // namespace anydml
