// SPDX-License-Identifier: MIT
// Makes a caller's text safe for messages and logs: it is shortened to fit on one line and cannot control a terminal.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace anydml {

// The length of the first character in bytes; 0 for a control character or invalid UTF-8.
[[nodiscard]] inline std::size_t printable_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return first >= 0x20 && first != 0x7f ? 1 : 0;
  }
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  // Reject overlong encodings, surrogates, values beyond Unicode, and the controls U+0080 to U+009F.
  const unsigned second = byte(1);
  const bool refused = first < 0xc2 || first > 0xf4 || (first == 0xe0 && second < 0xa0) ||
                       (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
                       (first == 0xf4 && second >= 0x90) || (first == 0xc2 && second < 0xa0);
  return refused ? 0 : bytes;
}

// The first `limit` bytes of the text, followed by "..." if there are more. A byte that cannot be printed becomes \xNN.
[[nodiscard]] inline std::string escaped(std::string_view text, std::size_t limit) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = printable_bytes(text.substr(at));
    if (at + (bytes == 0 ? 1 : bytes) > limit) {
      return shown.append("...");
    }
    if (bytes == 0) {
      const auto value = static_cast<unsigned char>(text[at++]);
      shown.append("\\x").append(1, kDigits[value >> 4]).append(1, kDigits[value & 15]);
    } else {
      shown.append(text.substr(at, bytes));
      at += bytes;
    }
  }
  return shown;
}

inline constexpr std::size_t kMaxQuotedBytes = 64;  // the number of bytes of a name that a message shows

// Formats a name for messages: 'weights'. Call it as anydml::quoted with a std::string, because <iomanip> also has a
// `quoted`.
[[nodiscard]] inline std::string quoted(std::string_view name) {
  return std::string(1, '\'').append(escaped(name, kMaxQuotedBytes)).append(1, '\'');
}

// Describes an object that a caller may have named: "buffer 'weights'", or "buffer".
[[nodiscard]] inline std::string with_name(std::string_view what, std::string_view name) {
  std::string text(what);
  return name.empty() ? text : text.append(" ").append(quoted(name));
}

// Copies the part of a caller's text that `quoted` examines, because the text may be arbitrarily long.
[[nodiscard]] inline std::string name_of(const char* given) {
  return given == nullptr ? std::string() : std::string(given, strnlen(given, kMaxQuotedBytes + 4));
}

}  // namespace anydml
