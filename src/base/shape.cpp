// SPDX-License-Identifier: MIT
#include "base/shape.h"

#include <algorithm>

#include "base/checked.h"

namespace anydml {

std::string shape_text(const std::int64_t* values, std::uint32_t rank) {
  std::string text = "[";
  for (std::uint32_t i = 0; i < rank; ++i) {
    text.append(i == 0 ? "" : ", ").append(std::to_string(values[i]));
  }
  return text.append("]");
}

std::optional<std::string> too_many_elements(std::span<const std::int64_t> sizes) {
  if (std::ranges::find(sizes, 0) != sizes.end()) {
    return std::nullopt;  // the tensor is empty, regardless of the other sizes
  }
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) {
    const auto product = checked_multiply(count, size);
    if (!product || *product > kMaxElements) {
      return "sizes " + shape_text(sizes.data(), static_cast<std::uint32_t>(sizes.size())) +
             " hold too many elements; expected at most " + std::to_string(kMaxElements);
    }
    count = *product;
  }
  return std::nullopt;
}

}  // namespace anydml
