// SPDX-License-Identifier: MIT
#include "onnx/values/errors.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace anydml::onnx {
namespace {

constexpr unsigned char kFirstPrintable = 0x20;
constexpr unsigned char kDelete = 0x7f;

// Appends text without control characters, which are written as Python writes them in a string literal.
void append_printable(std::string& to, std::string_view text) {
  for (const char one : text) {
    const auto byte = static_cast<unsigned char>(one);
    if (byte >= kFirstPrintable && byte != kDelete) {
      to += one;
    } else if (one == '\n') {
      to += "\\n";
    } else if (one == '\t') {
      to += "\\t";
    } else if (one == '\r') {
      to += "\\r";
    } else {
      to += format_text("\\x{:02x}", static_cast<unsigned>(byte));
    }
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
  for (const char one : text) {
    if (one == quote || one == '\\') {
      result += '\\';
      result += one;
    } else {
      append_printable(result, std::string_view(&one, 1));
    }
  }
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
