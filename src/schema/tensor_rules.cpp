// SPDX-License-Identifier: MIT
#include "schema/tensor_rules.h"

#include <algorithm>

#include "base/checked.h"
#include "base/element.h"

namespace anydml {

std::uint32_t element_bits(std::uint32_t type) {
  const auto known = static_cast<DataType>(type);
  return is_four_bits(known) ? 4 : static_cast<std::uint32_t>(element_size(known) * 8);
}

namespace {

template <class T>
std::optional<std::uint64_t> bytes_of(std::uint32_t type, std::span<const T> sizes, const T* strides) {
  if (std::ranges::find(sizes, T{0}) != sizes.end()) {
    return 0;
  }
  std::optional<std::int64_t> count = 1;  // elements up to the last one
  for (std::size_t i = 0; count && i < sizes.size(); ++i) {
    if (strides == nullptr) {
      count = checked_multiply(*count, sizes[i]);
    } else {
      const auto reach = checked_multiply(std::int64_t{sizes[i]} - 1, strides[i]);
      count = reach ? checked_add(*count, *reach) : std::nullopt;
    }
  }
  const std::uint32_t bits = element_bits(type);
  const auto bytes = !count     ? std::nullopt
                     : bits < 8 ? std::optional((*count / 8) * bits + (*count % 8 * bits + 7) / 8)
                                : checked_multiply(*count, bits / 8);
  const auto padded = bytes ? checked_add(*bytes, 3) : std::nullopt;
  return padded ? std::optional(static_cast<std::uint64_t>(*padded) & ~std::uint64_t{3}) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::uint32_t> sizes,
                                           const std::uint32_t* strides) {
  return bytes_of(type, sizes, strides);
}

std::optional<std::uint64_t> implied_bytes(std::uint32_t type, std::span<const std::int64_t> sizes,
                                           const std::int64_t* strides) {
  return bytes_of(type, sizes, strides);
}

}  // namespace anydml
