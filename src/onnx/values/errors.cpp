// SPDX-License-Identifier: MIT
#include "onnx/values/errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "onnx/values/utf8.h"

namespace anydml::onnx {
namespace {

constexpr std::uint32_t kFirstPrintable = 0x20;
constexpr std::uint32_t kDelete = 0x7f;
constexpr std::uint32_t kLastOfOneByte = 0xff;

// Whether a character moves the cursor, or changes the direction of the characters after it.
bool is_control_character(std::uint32_t code) {
  constexpr std::uint32_t kRanges[][2] = {{0, kFirstPrintable - 1}, {kDelete, 0x9f},  {0x61c, 0x61c},  {0x200b, 0x200f},
                                          {0x2028, 0x202e},         {0x2060, 0x206f}, {0xfeff, 0xfeff}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [code](const auto& range) { return code >= range[0] && code <= range[1]; });
}

// Appends text without control characters, which are written as Python writes them in a string literal. quote: the
// character that ends the literal, or 0 if the text is not in quotes.
void append_printable(std::string& to, std::string_view text, char quote = 0) {
  while (!text.empty()) {
    std::size_t size = 1;
    const std::uint32_t code = first_character(text, size);
    const char one = text.front();
    if (code == kNoCharacter) {
      to += format_text("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(one)));
    } else if (quote != 0 && (one == quote || one == '\\')) {
      to += {'\\', one};
    } else if (!is_control_character(code)) {
      to += text.substr(0, size);
    } else if (code == '\n' || code == '\t' || code == '\r') {
      to += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else {
      to += code <= kLastOfOneByte ? format_text("\\x{:02x}", code) : format_text("\\u{:04x}", code);
    }
    text.remove_prefix(size);
  }
}

template <class Number, class Write>
std::string bracketed(const std::vector<Number>& numbers, const Write& write) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += write(numbers[i]);
  }
  return text + "]";
}

}  // namespace

std::string quoted(std::string_view text) {
  // Like Python's repr: double quotes if the text contains single quotes and no double quotes.
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  append_printable(result, text, quote);
  return result + quote;
}

std::string printable(std::string_view text) {
  std::string result;
  append_printable(result, text);
  return result;
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  return bracketed(numbers, [](std::int64_t one) { return std::to_string(one); });
}

std::string listed(const std::vector<double>& numbers) { return bracketed(numbers, number_text); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& one : words) {
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

std::string number_text(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  std::array<char, 40> text{};
  // Python writes numbers from 1e-4 up to 1e16 without an exponent.
  const double size = std::fabs(value);
  const bool is_plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     is_plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string result(text.data(), written.ptr);
  return is_plain && result.find('.') == std::string::npos ? result + ".0" : result;
}

}  // namespace anydml::onnx
