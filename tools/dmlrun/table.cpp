// SPDX-License-Identifier: MIT
#include "table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace anydml::dmlrun {
namespace {

// The width in terminal columns. A character's continuation bytes do not count.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) {
  if (isatty(descriptor) != 1) {
    return std::nullopt;
  }
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : std::size_t{80};
}

void Table::print(std::FILE* to) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[i]));
    }
    widths.push_back(width);
  }
  const auto terminal = terminal_width(fileno(to));
  std::vector<bool> left_out(columns_.size());
  for (std::size_t i = 0; terminal && i < columns_.size(); ++i) {
    std::size_t whole = 0;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      whole += left_out[j] ? 0 : widths[j] + 2;
    }
    left_out[i] = columns_[i].dispensable && whole > *terminal + 2;
  }
  const auto line = [&](auto cell_of) {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (left_out[i]) {
        continue;
      }
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      text += columns_[i].align == Align::right ? padding + cell : cell + padding;
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  const bool bold = terminal && std::getenv("NO_COLOR") == nullptr;
  std::fprintf(to, "%s%s%s\n", bold ? "\x1b[1m" : "",
               line([&](std::size_t i) -> const std::string& { return columns_[i].title; }).c_str(),
               bold ? "\x1b[0m" : "");
  for (const auto& row : rows_) {
    std::fprintf(to, "%s\n", line([&](std::size_t i) -> const std::string& { return row[i]; }).c_str());
  }
}

}  // namespace anydml::dmlrun
