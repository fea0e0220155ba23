// SPDX-License-Identifier: MIT
// The rows that can be measured. A row is an implemented operator with realistic attributes and a kind of values for
// each input. Rows are derived from the library's list of operators and from the facts about DirectML, so a new
// element-wise operator is measured without changes here.
#pragma once

#include <anydml/anydml.h>

#include <string>
#include <string_view>
#include <vector>

namespace anydml::bench {

enum class RowKind { elementwise, reduce, fill };

// The kind of values in an operand; data.h defines the values.
enum class Operand {
  dividend,
  divisor,
  magnitude,
  argument,  // the argument of a function, in the range in which the function is slowest
  positive,  // for functions that need positive arguments
  above_one,
  below_one,  // less than 1 in magnitude
  condition,
  shift,
  scale,
  zero_point,
};

struct Input {
  Operand holds = Operand::dividend;
  anydml_type type = ANYDML_NONE;  // NONE: the case's type; for a scale, FLOAT32 if the case's type is not a float
  bool single = false;             // one element in every layout, such as a scale
};

struct Attribute {
  std::string name;
  double number = 0;
  std::string text;  // for an enumeration; otherwise empty
};

struct Row {
  std::string name;      // "add", "reduce_sum", "cast_int8": for command lines and figures
  std::string directml;  // "ELEMENT_WISE_ADD"
  RowKind family = RowKind::elementwise;
  std::vector<Input> inputs;
  anydml_type output = ANYDML_NONE;  // NONE: the case's type
  std::vector<Attribute> attributes;
  bool repeats = false;            // runs the same kernels as another row, so it is not part of "all"
  std::vector<anydml_type> types;  // the supported types, in the order of the tables

  [[nodiscard]] anydml_type input_type(std::size_t input, anydml_type type) const;
  [[nodiscard]] anydml_type output_type(anydml_type type) const { return output == ANYDML_NONE ? type : output; }
  // The inputs that are as large as the output, in order.
  [[nodiscard]] std::vector<std::size_t> tensors() const;
  [[nodiscard]] bool is_modulus() const { return name == "modulus_floor" || name == "modulus_truncate"; }
};

// Sorted by DirectML's operator numbers. The first call uses the library to try every type.
const std::vector<Row>& rows();

// Implemented operators that have no row, each with the reason.
const std::vector<std::string>& rows_left_out();

// Parses "all", a group (elementwise, reduce, fill, modulus, cast), a row's name or DirectML's name. Returns false if
// nothing matches.
bool parse_operator(std::string_view text, std::vector<const Row*>& to);

// For completion and help: the groups, then the rows.
std::vector<std::string> operator_words();

// The order of the tables: floats, then integers by width.
inline constexpr anydml_type kTypes[] = {ANYDML_FLOAT32, ANYDML_FLOAT16, ANYDML_FLOAT64, ANYDML_INT8,
                                         ANYDML_UINT8,   ANYDML_INT16,   ANYDML_UINT16,  ANYDML_INT32,
                                         ANYDML_UINT32,  ANYDML_INT64,   ANYDML_UINT64};

}  // namespace anydml::bench
