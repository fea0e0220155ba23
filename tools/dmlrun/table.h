// SPDX-License-Identifier: MIT
// A readable table: columns are as wide as their widest cell, and the header is bold on a terminal.
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
    bool dispensable = false;  // left out if the terminal is too narrow for all columns
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print(std::FILE* to) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The number of columns of a terminal; nothing if the stream is not a terminal.
[[nodiscard]] std::optional<std::size_t> terminal_width(int descriptor);

}  // namespace anydml::dmlrun
