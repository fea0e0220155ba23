// SPDX-License-Identifier: MIT
// Decodes UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anydml::onnx {

inline constexpr std::uint32_t kNoCharacter = ~0U;  // stands for a byte that is not UTF-8

// Decodes the character at the beginning of a text, which is not empty and has `size` bytes.
[[nodiscard]] inline std::uint32_t first_character(std::string_view text, std::size_t& size) {
  const auto byte = [text](std::size_t position) { return static_cast<std::uint32_t>(text[position]) & 0xffU; };
  const std::uint32_t lead = byte(0);
  size = 1;
  if (lead < 0x80) {
    return lead;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
    return kNoCharacter;
  }
  std::uint32_t code = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) {
      return kNoCharacter;
    }
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLowest[] = {0x80, 0x800, 0x10000};  // smaller ones have a shorter form
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLowest[length - 2] || is_surrogate || code > 0x10ffff) {
    return kNoCharacter;
  }
  size = length;
  return code;
}

}  // namespace anydml::onnx
