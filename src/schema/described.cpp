// SPDX-License-Identifier: MIT
#include "schema/described.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/float_bits.h"

namespace anydml::schema {
namespace {

// Returns the lowest bytes, which contain the smaller members of a union on little-endian machines.
template <class T>
T lowest(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <class T>
Scalar number_in(std::uint64_t bits) {
  if constexpr (is_float<T>) {
    return Scalar(static_cast<f64>(widen(lowest<T>(bits))));
  } else if constexpr (std::is_signed_v<T>) {
    return Scalar(static_cast<i64>(lowest<T>(bits)));
  } else {
    return Scalar(static_cast<u64>(lowest<T>(bits)));
  }
}

// The shortest text that represents the number exactly.
template <class T>
std::string digits(T number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

std::string real_text(f64 number) {
  const auto single = static_cast<f32>(number);  // most numbers come from FLOAT32, which needs fewer digits
  return static_cast<f64>(single) == number ? digits(single) : digits(number);
}

// Formats the number using the type of the operator's scalar unions.
std::string union_text(const Scalar& number, DataType type) {
  switch (type) {
    case DataType::FLOAT32:
    case DataType::FLOAT16:
    case DataType::FLOAT64:
      return real_text(number.as<f64>());
    case DataType::UINT64:
      return digits(number.as<u64>());
    default:
      return digits(number.as<i64>());
  }
}

std::string enumerator_text(const facts::Field& field, std::uint32_t value) {
  if (const facts::Enum* known = facts::find_enum(field.spelling); known != nullptr) {
    const auto found = std::ranges::find(known->values, value, &facts::EnumValue::value);
    if (found != known->values.end()) {
      return std::string(found->name.substr(known->prefix.size()));
    }
  }
  return digits(value);
}

std::string number_text(const facts::Field& field, const Scalar& number, DataType of_union) {
  switch (field.type) {
    case facts::FieldType::natural:
    case facts::FieldType::naturals:
    case facts::FieldType::size_2d:
      return digits(number.as<u64>());
    case facts::FieldType::integer:
    case facts::FieldType::integers:
      return digits(number.as<i64>());
    case facts::FieldType::boolean:
      return number.as<u64>() != 0 ? "true" : "false";
    case facts::FieldType::enumeration:
      return enumerator_text(field, number.as<u32>());
    case facts::FieldType::scalar_union:
      return union_text(number, of_union);
    default:
      return real_text(number.as<f64>());
  }
}

bool takes_several(facts::FieldType type) {
  return type == facts::FieldType::reals || type == facts::FieldType::naturals || type == facts::FieldType::integers ||
         type == facts::FieldType::scale_bias || type == facts::FieldType::size_2d;
}

bool counts_another(const facts::Operator& op, std::size_t field) {
  return std::ranges::any_of(op.fields, [field](const facts::Field& other) {
    return other.count_field >= 0 && static_cast<std::size_t>(other.count_field) == field;
  });
}

}  // namespace

std::optional<Scalar> union_number(std::uint32_t type, std::uint64_t bits) {
  switch (static_cast<DataType>(type)) {
#define ANYDML_NUMBER(T, name, value) \
  case DataType::name:                \
    return number_in<T>(bits);
    ANYDML_FOR_EACH_TYPE(ANYDML_NUMBER)
#undef ANYDML_NUMBER
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return std::nullopt;
}

std::size_t union_type_field(const facts::Operator& op) {
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (op.fields[i].spelling == "DML_TENSOR_DATA_TYPE") {
      return i;
    }
  }
  return kNoField;
}

std::string attributes_text(const facts::Operator& op, std::span<const Argument> arguments) {
  constexpr std::size_t kMaxShown = 16;  // elements shown per array, because logs are for human readers
  const std::size_t union_type = union_type_field(op);
  const auto of_union = union_type != kNoField && !arguments[union_type].numbers.empty()
                            ? static_cast<DataType>(arguments[union_type].numbers.front().as<u32>())
                            : DataType::unknown;
  std::string text;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    const Argument& argument = arguments[i];
    const bool several = takes_several(field.type) || (!argument.operators.empty() && field.count_field >= 0);
    const std::size_t count = argument.numbers.size() + argument.operators.size();
    if (!facts::is_attribute(field.kind) || !argument.present || counts_another(op, i) || (!several && count == 0)) {
      continue;
    }
    text.append(text.empty() ? "" : ", ").append(field.name).append(several ? "=[" : "=");
    std::string_view comma;
    for (const Scalar& number : std::span(argument.numbers).first(std::min(argument.numbers.size(), kMaxShown))) {
      text.append(std::exchange(comma, ", ")).append(number_text(field, number, of_union));
    }
    for (const Described& inner : argument.operators) {
      const std::string own = attributes_text(*inner.op, inner.arguments);
      text.append(std::exchange(comma, ", ")).append(inner.op->name);
      text.append(own.empty() ? own : "(" + own + ")");
    }
    text.append(argument.numbers.size() > kMaxShown ? ", ... " + digits(count) + " in all" : "");
    text.append(several ? "]" : "");
  }
  return text;
}

}  // namespace anydml::schema
