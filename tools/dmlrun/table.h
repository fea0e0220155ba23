// SPDX-License-Identifier: MIT
// Columns for people: as wide as their widest cell, the header bold on a terminal.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace anydml::dmlrun {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(std::FILE* to) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Whether escape sequences are welcome there: a terminal, and NO_COLOR is not set.
[[nodiscard]] bool takes_styles(std::FILE* stream);

}  // namespace anydml::dmlrun
