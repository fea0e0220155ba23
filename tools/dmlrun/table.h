// SPDX-License-Identifier: MIT
// Columns for people: as wide as their widest cell, the header bold on a terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace anydml::dmlrun {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
    bool dispensable = false;  // left out where a terminal is too narrow for all
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(std::FILE* to) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// How many columns a terminal has; nothing where it is none.
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor);

}  // namespace anydml::dmlrun
