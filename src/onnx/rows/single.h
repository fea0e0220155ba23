// SPDX-License-Identifier: MIT
// Nodes that need a single dispatch of an operator, and element-wise nodes of the opsets before 7.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "onnx/rows/row.h"

namespace anydml::onnx {

inline constexpr int kLastOldBroadcasting = 6;  // later opsets broadcast as NumPy does

// A field of an operator: a number from an attribute of the node, or a fixed number.
struct SingleField {
  const char* name = nullptr;       // null: there is no field
  const char* attribute = nullptr;  // null: the field is fixed
  double number = 0;
};

// A node whose result is the result of one operator over all its inputs.
struct SingleDispatch {
  std::string_view op;
  const char* dispatched;
  std::array<SingleField, 2> fields = {};
  // Whether the node has the attributes broadcast and axis before opset 7.
  bool has_old_broadcasting = false;
};

// The name of an operator in Row::uses, without ELEMENT_WISE_ and ACTIVATION_.
[[nodiscard]] constexpr std::string_view short_name(std::string_view dispatched) {
  for (const std::string_view prefix : {"ELEMENT_WISE_", "ACTIVATION_"}) {
    if (dispatched.starts_with(prefix)) {
      return dispatched.substr(prefix.size());
    }
  }
  return dispatched;
}
// The function of a node in the table.
[[nodiscard]] Compute single_dispatch(std::span<const SingleDispatch> table, const Node& node);
// The same for opsets before 7, in which nothing was broadcast unless requested. In that case, the second input was
// broadcast to the dimensions of the first one, starting at an axis.
[[nodiscard]] Compute old_broadcasting(const char* dispatched, const Node& node);
[[nodiscard]] Compute old_broadcasting(std::span<const SingleDispatch> table, const Node& node);
// The rows of a table, after other rows. `make_old` is for opsets before 7.
template <std::size_t kOthers, std::size_t kEntries>
[[nodiscard]] consteval std::size_t row_count(const Row (&)[kOthers], const SingleDispatch (&table)[kEntries]) {
  std::size_t count = kOthers;
  for (const SingleDispatch& entry : table) {
    count += entry.has_old_broadcasting ? 2 : 1;
  }
  return count;
}
template <std::size_t kCount>
[[nodiscard]] consteval std::array<Row, kCount> with_rows(std::span<const Row> others,
                                                          std::span<const SingleDispatch> table, KindSet kinds,
                                                          Make make, Make make_old = nullptr) {
  std::array<Row, kCount> rows{};
  std::size_t count = 0;
  for (const Row& other : others) {
    rows[count++] = other;
  }
  for (const SingleDispatch& entry : table) {
    const std::string_view uses = short_name(entry.dispatched);
    if (entry.has_old_broadcasting) {
      rows[count++] = {entry.op, 1, kLastOldBroadcasting, make_old, uses, kinds};
    }
    rows[count++] = {entry.op, entry.has_old_broadcasting ? kLastOldBroadcasting + 1 : 1, 0, make, uses, kinds};
  }
  return rows;
}

}  // namespace anydml::onnx
