// SPDX-License-Identifier: MIT
// Structs of options, which a program of another version may have compiled with fewer or more members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "onnx/api/boundary.h"

namespace anydml::onnx {

// No version of a struct will have more bytes. A number outside the range means that the size was not set.
inline constexpr std::size_t kMaxOptionsSize = 4096;

// Returns a caller's struct as this version's struct, in which members that the caller does not know have their
// defaults. first_size: of the struct's first version. Raises Invalid, or Unsupported if a newer program sets members
// that this version would ignore.
template <class Struct>
[[nodiscard]] Struct copied_options(const char* function, const char* name, const char* type, const Struct& defaults,
                                    const Struct* given, std::size_t first_size) {
  Struct options = defaults;
  if (given == nullptr) {
    return options;
  }
  const std::size_t size = given->size;
  if (size < first_size || size > kMaxOptionsSize) {
    bad_call(function,
             format_text("{}.size is {}; expected sizeof({}), which is {}", name, size, type, sizeof(Struct)));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  const auto* newer = std::find_if(bytes + std::min(size, sizeof(Struct)), bytes + size,
                                   [](std::byte byte) { return byte != std::byte{0}; });
  if (newer != bytes + size) {
    throw Unsupported(format_text("{}: {} has a member at byte {} that is set; this version of the library knows {} "
                                  "bytes of {}",
                                  function, name, newer - bytes, sizeof(Struct), name),
                      {});
  }
  std::memcpy(&options, given, std::min(size, sizeof(Struct)));
  options.size = sizeof(Struct);
  return options;
}

}  // namespace anydml::onnx
