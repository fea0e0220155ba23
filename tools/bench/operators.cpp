// SPDX-License-Identifier: MIT
#include "operators.h"

#include <algorithm>
#include <cctype>

#include "call.h"
#include "elements.h"
#include "facts/facts.h"

namespace anydml::bench {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

// "DML_OPERATOR_ELEMENT_WISE_ADD" -> "add". Two operators would be called "identity", so the activation keeps its
// prefix.
std::string short_name(std::string_view directml) {
  std::string name = lower(directml);
  for (const std::string_view prefix : {"dml_operator_", "element_wise_", "activation_"}) {
    if (name.starts_with(prefix) && name != "activation_identity") {
      name.erase(0, prefix.size());
    }
  }
  return name;
}

bool is_elementwise(std::string_view directml) {
  const bool is_row_wise = directml.ends_with("MAX") || directml.ends_with("MAX1");  // softmax and related operators
  return directml.starts_with("ELEMENT_WISE_") || (directml.starts_with("ACTIVATION_") && !is_row_wise) ||
         directml == "CAST";
}

// Whether the row runs the same kernels as another row.
bool repeats_another(std::string_view name) {
  constexpr std::string_view kRepeated[] = {"add1",          "clip1",        "clip_grad1", "activation_identity",
                                            "reduce_argmax", "reduce_argmin"};
  return std::ranges::find(kRepeated, name) != std::end(kRepeated);
}

// Values are chosen by field name, so that operators with the same field are treated alike. Every type can represent
// these values. With the data from data.h, many elements are clipped, shrunk or below a threshold, and many others are
// not.
double number_for(std::string_view field) {
  struct Known {
    std::string_view field;
    double number;
  };
  constexpr Known kNumbers[] = {{"Min", 1},     {"Max", 50},       {"Alpha", 0.2},    {"Beta", 0.5},
                                {"Bias", 1},    {"Threshold", 50}, {"Value", 3},      {"ValueStart", 1},
                                {"Gamma", 1.5}, {"Exponent", 2},   {"ValueDelta", 1}, {"Steepness", 1}};
  for (const Known& known : kNumbers) {
    if (known.field == field) {
      return known.number;
    }
  }
  return 1;
}

// All attributes that DirectML requires and the C API does not infer.
std::vector<Attribute> default_attributes(const facts::Operator& op) {
  std::vector<Attribute> attributes;
  for (const facts::Field& field : op.fields) {
    if (field.kind != facts::FieldKind::attribute) {
      continue;
    }
    if (field.type == facts::FieldType::enumeration) {
      const facts::Enum* known = facts::find_enum(field.spelling);
      // A type attribute defaults to the output's type, and the code that creates the row sets the function.
      if (known != nullptr && field.spelling != "DML_TENSOR_DATA_TYPE" && field.name != "Function") {
        attributes.push_back({std::string(field.name), 0, std::string(known->values.front().name)});
      }
    } else if (field.type == facts::FieldType::real || field.type == facts::FieldType::scalar_union) {
      attributes.push_back({std::string(field.name), number_for(field.name), ""});
    }
  }
  return attributes;
}

// Whether the operator is a correctly rounded function, which is far more expensive than a sum or a quotient.
bool is_function(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "exp",   "log",  "sin",          "cos",        "tan",         "asin",     "acos",
      "atan",  "sinh", "cosh",         "tanh",       "asinh",       "acosh",    "atanh",
      "erf",   "pow",  "constant_pow", "atan_yx",    "sigmoid",     "gelu",     "softsign",
      "swish", "elu",  "celu",         "scaled_elu", "scaled_tanh", "softplus", "parametric_softplus"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}
Operand argument_of(std::string_view name) {
  if (name == "log" || name == "pow" || name == "constant_pow") {
    return Operand::positive;
  }
  if (name == "acosh") {
    return Operand::above_one;
  }
  return name == "asin" || name == "acos" || name == "atanh" ? Operand::below_one : Operand::argument;
}

Operand second_holds(std::string_view name) {
  return name.starts_with("bit_shift") ? Operand::shift : Operand::divisor;
}

// Tries the row with one element. Returns the library's error message, or an empty string if the library supports the
// type.
std::string refusal(const Row& row, anydml_type type) {
  Placement one;
  one.rank = 1;
  one.sizes[0] = one.output_sizes[0] = one.elements = 1;
  one.is_reduced[0] = true;
  one.inputs.resize(row.inputs.size());
  return Call(row, type, one).error();
}

class Table {
 public:
  Table() {
    for (std::size_t i = 0; i < anydml_operator_count(); ++i) {
      const anydml_operator_info* info = anydml_operator_at(i);
      if (info == nullptr || info->is_built == 0) {
        continue;
      }
      const facts::Operator* op = facts::find_operator(info->name);
      if (op != nullptr) {
        add_operator(*op);
      }
    }
  }

  std::vector<Row> rows;
  std::vector<std::string> left_out;

 private:
  void add(Row row) {
    row.repeats = repeats_another(row.name);
    std::string why;
    for (const anydml_type type : kTypes) {
      if (const std::string refused = refusal(row, type); refused.empty()) {
        row.types.push_back(type);
      } else {
        why = refused;
      }
    }
    if (row.types.empty()) {
      left_out.push_back(row.name + ": " + why);
    } else {
      rows.push_back(std::move(row));
    }
  }

  void add_operator(const facts::Operator& op) {
    Row row;
    row.directml = op.name;
    row.name = short_name(op.name);
    row.attributes = default_attributes(op);
    if (row.directml.starts_with("FILL_VALUE_")) {
      row.family = RowKind::fill;
      add(row);
    } else if (row.directml == "REDUCE" || row.directml == "ARGMIN" || row.directml == "ARGMAX") {
      add_reduction(row);
    } else if (!is_elementwise(row.directml)) {
      left_out.push_back(row.name + ": the benchmark supports only element-wise operators, reductions and fills");
    } else if (row.directml == "CAST") {
      for (const anydml_type to : kTypes) {
        add_variant(row, to, {{}});
      }
    } else if (row.name == "quantize_linear") {
      for (const anydml_type to : {anydml_type{ANYDML_INT8}, anydml_type{ANYDML_UINT8}}) {
        add_variant(row, to, {{}, {Operand::scale, ANYDML_NONE, true}, {Operand::zero_point, to, true}});
      }
    } else if (row.name == "dequantize_linear") {
      for (const anydml_type to : {anydml_type{ANYDML_FLOAT32}, anydml_type{ANYDML_FLOAT16}}) {
        add_variant(row, to, {{}, {Operand::scale, to, true}, {Operand::zero_point, ANYDML_NONE, true}});
      }
    } else if (row.name == "quantized_linear_add") {
      const Input scale{Operand::scale, ANYDML_FLOAT32, true};
      const Input zero{Operand::zero_point, ANYDML_NONE, true};
      row.inputs = {{}, scale, zero, {Operand::divisor, ANYDML_NONE, false}, scale, zero, scale, zero};
      add(row);
    } else {
      add_plain(op, row);
    }
  }

  // Adds one row for each output type.
  void add_variant(Row row, anydml_type to, std::vector<Input> inputs) {
    row.name += "_" + lower(anydml_type_name(to));
    row.inputs = std::move(inputs);
    row.output = to;
    add(row);
  }

  void add_plain(const facts::Operator& op, Row row) {
    for (const facts::Field& field : op.fields) {
      if (facts::is_input(field.kind)) {
        row.inputs.push_back({row.inputs.empty() ? Operand::dividend : second_holds(row.name), ANYDML_NONE, false});
      }
    }
    if (row.name == "if") {
      row.inputs = {{Operand::condition, ANYDML_UINT8, false}, {}, {Operand::divisor, ANYDML_NONE, false}};
    } else if (row.name == "sqrt") {
      row.inputs.front().holds = Operand::magnitude;
    } else if (is_function(row.name)) {
      row.inputs.front().holds = argument_of(row.name);
    }
    const bool answers = row.name == "logical_equals" || row.name.starts_with("logical_greater") ||
                         row.name.starts_with("logical_less") || row.name.starts_with("is_") || row.name == "bit_count";
    row.output = answers ? anydml_type{ANYDML_UINT8} : anydml_type{ANYDML_NONE};
    add(row);
  }

  void add_reduction(Row row) {
    row.family = RowKind::reduce;
    row.inputs = {{}};
    if (row.directml != "REDUCE") {
      row.output = ANYDML_UINT32;
      add(row);
      return;
    }
    const facts::Enum* functions = facts::find_enum("DML_REDUCE_FUNCTION");
    for (const facts::EnumValue& function : functions->values) {
      const std::string name(function.name.substr(functions->prefix.size()));
      Row one = row;
      one.name = "reduce_" + lower(name);
      one.output = name.starts_with("ARG") ? anydml_type{ANYDML_UINT32} : anydml_type{ANYDML_NONE};
      one.attributes.push_back({"Function", 0, name});
      add(one);
    }
  }
};

const Table& table() {
  static const Table* const result = new Table;
  return *result;
}

constexpr std::string_view kGroups[] = {"all", "elementwise", "reduce", "fill", "modulus", "cast"};

bool is_in_group(const Row& row, std::string_view group) {
  return group == "all" || (group == "elementwise" && row.family == RowKind::elementwise) ||
         (group == "reduce" && row.family == RowKind::reduce && row.directml == "REDUCE") ||
         (group == "fill" && row.family == RowKind::fill) || (group == "modulus" && row.is_modulus()) ||
         (group == "cast" && row.directml == "CAST");
}

}  // namespace

anydml_type Row::input_type(std::size_t input, anydml_type type) const {
  if (inputs[input].type != ANYDML_NONE) {
    return inputs[input].type;
  }
  return inputs[input].holds == Operand::scale && !is_float_type(type) ? anydml_type{ANYDML_FLOAT32} : type;
}

std::vector<std::size_t> Row::tensors() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].single) {
      found.push_back(i);
    }
  }
  return found;
}

const std::vector<Row>& rows() { return table().rows; }
const std::vector<std::string>& rows_left_out() { return table().left_out; }

bool parse_operator(std::string_view text, std::vector<const Row*>& to) {
  const std::string name = short_name(text);
  const bool is_group = std::ranges::find(kGroups, name) != std::end(kGroups);
  bool found = false;
  for (const Row& row : rows()) {
    const bool is_named = row.name == name || short_name(row.directml) == name;
    if (is_group ? is_in_group(row, name) && !row.repeats : is_named) {
      to.push_back(&row);
      found = true;
    }
  }
  return found;
}

std::vector<std::string> operator_words() {
  std::vector<std::string> words(std::begin(kGroups), std::end(kGroups));
  for (const Row& row : rows()) {
    words.push_back(row.name);
  }
  return words;
}

}  // namespace anydml::bench
