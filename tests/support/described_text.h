// SPDX-License-Identifier: MIT
// Operators described in a line of text, for schema tests:
//   "REDUCE Function=SUM InputTensor=f32[2,3] OutputTensor=f32[1,3] Axes=[0]"
// In arrays of tensors and of operators, elements are separated by |, and operators are given by name. Counts are
// derived from the arrays. A field that is not named is absent if it is optional; otherwise it is 1 or the first value
// of its enumeration.
#pragma once

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "schema/described.h"
#include "schema/tensor_rules.h"

namespace anydml::test {

inline std::vector<std::string_view> split_text(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) {
      parts.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <class T>
T parse_text_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return value;
}

inline std::string_view in_brackets(std::string_view text) {
  return text.substr(text.find('[') + 1, text.size() - text.find('[') - 2);
}

inline schema::GivenTensor parse_tensor(std::string_view text) {
  static const std::map<std::string_view, std::uint32_t> types{{"f32", 1}, {"f16", 2},  {"u32", 3},  {"u16", 4},
                                                               {"u8", 5},  {"i32", 6},  {"i16", 7},  {"i8", 8},
                                                               {"f64", 9}, {"u64", 10}, {"i64", 11}, {"i4", 13}};
  schema::GivenTensor tensor;
  tensor.type = types.at(text.substr(0, text.find('[')));
  for (const std::string_view size : split_text(in_brackets(text), ',')) {
    tensor.sizes[tensor.rank++] = parse_text_number<std::int64_t>(size);
  }
  tensor.total_bytes = implied_bytes(tensor.type, std::span(tensor.sizes, tensor.rank), nullptr).value_or(0);
  return tensor;
}

inline Scalar parse_attribute_number(const facts::Field& field, std::string_view text) {
  switch (field.type) {
    case facts::FieldType::real:
    case facts::FieldType::reals:
    case facts::FieldType::scale_bias:
      return Scalar(std::stod(std::string(text)));
    case facts::FieldType::enumeration:
      if (const auto value = facts::find_enum_value(*facts::find_enum(field.spelling), text)) {
        return Scalar(static_cast<u64>(*value));
      }
      break;
    default:
      break;
  }
  return Scalar(parse_text_number<i64>(text));
}

schema::Described parse_described(std::string_view text);

inline void parse_argument(const facts::Field& field, std::string_view text, schema::Argument& argument) {
  argument.present = true;
  switch (field.type) {
    case facts::FieldType::tensors:
      for (const std::string_view tensor : split_text(text, '|')) {
        argument.tensors.push_back(parse_tensor(tensor));
      }
      break;
    case facts::FieldType::operators:
      for (const std::string_view inner : split_text(text, '|')) {
        argument.operators.push_back(parse_described(inner));
      }
      break;
    default:
      for (const std::string_view number : split_text(text.starts_with('[') ? in_brackets(text) : text, ',')) {
        argument.numbers.push_back(parse_attribute_number(field, number));
      }
  }
}

inline schema::Described parse_described(std::string_view text) {
  const auto words = split_text(text, ' ');
  const facts::Operator* op = facts::find_operator(words.front());
  if (op == nullptr) {
    throw std::invalid_argument("unknown operator: " + std::string(text));
  }
  schema::Described described(*op);
  for (const std::string_view word : std::span(words).subspan(1)) {
    const std::string_view name = word.substr(0, word.find('='));
    const auto field = std::ranges::find(op->fields, name, &facts::Field::name);
    if (field == op->fields.end()) {
      throw std::invalid_argument("unknown field: " + std::string(word));
    }
    parse_argument(*field, word.substr(name.size() + 1),
                   described.arguments[static_cast<std::size_t>(field - op->fields.begin())]);
  }
  for (std::size_t i = 0; i < op->fields.size(); ++i) {  // counts
    const facts::Field& field = op->fields[i];
    if (field.count_field < 0) {
      continue;
    }
    schema::Argument& count = described.arguments[static_cast<std::size_t>(field.count_field)];
    const schema::Argument& array = described.arguments[i];
    if (!count.present) {
      count.present = true;
      count.numbers = {Scalar(u64{array.numbers.size() + array.tensors.size() + array.operators.size()})};
    }
  }
  for (std::size_t i = 0; i < op->fields.size(); ++i) {
    const facts::Field& field = op->fields[i];
    schema::Argument& argument = described.arguments[i];
    if (argument.present || field.kind != facts::FieldKind::attribute || field.count_field >= 0 ||
        field.type == facts::FieldType::operators) {
      continue;
    }
    argument.present = true;
    const u64 value = field.type == facts::FieldType::enumeration ? 0 : 1;
    argument.numbers.assign(field.type == facts::FieldType::size_2d ? 2 : 1, Scalar(value));
  }
  return described;
}

}  // namespace anydml::test
