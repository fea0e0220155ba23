// SPDX-License-Identifier: MIT
#include "table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace anydml::dmlrun {
namespace {

// Columns on a terminal: bytes that continue a character take none.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

bool takes_styles(std::FILE* stream) { return isatty(fileno(stream)) == 1 && std::getenv("NO_COLOR") == nullptr; }

void Table::print(std::FILE* to) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[i]));
    }
    widths.push_back(width);
  }
  const auto line = [&](auto cell_of) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      text += columns_[i].align == Align::right ? padding + cell : cell + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const bool styles = takes_styles(to);
  std::fprintf(to, "%s%s%s\n", styles ? "\x1b[1m" : "",
               line([&](std::size_t i) -> const std::string& { return columns_[i].title; }).c_str(),
               styles ? "\x1b[0m" : "");
  for (const auto& row : rows_) {
    std::fprintf(to, "%s\n", line([&](std::size_t i) -> const std::string& { return row[i]; }).c_str());
  }
}

}  // namespace anydml::dmlrun
