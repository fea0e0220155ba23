// SPDX-License-Identifier: MIT
#include "operator_reader.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "element_reader.h"
#include "schema/tensor_rules.h"
#include "text/format.h"

namespace anydml::dmlrun {
namespace {

constexpr std::uint32_t kMaxWord = std::numeric_limits<std::uint32_t>::max();

std::optional<std::uint32_t> read_word(const Cursor& at, DataType type) {
  const auto element = read_element(at, type);
  return element ? std::optional(static_cast<std::uint32_t>(*element)) : std::nullopt;
}

std::vector<std::uint32_t> read_words(const Cursor& at, DataType type) {
  std::vector<std::uint32_t> words;
  at.for_each_item("an array of numbers",
                   [&](const Cursor& item) { words.push_back(read_word(item, type).value_or(0)); });
  return words;
}

std::optional<std::uint32_t> read_enumerator(const Cursor& at, const facts::Enum& enumeration) {
  const auto name = at.string(format_text("the name of a {}", enumeration.name));
  if (!name) {
    return std::nullopt;
  }
  const auto value = facts::find_enum_value(enumeration, *name);
  if (!value) {
    std::vector<std::string_view> names;
    for (const facts::EnumValue& known : enumeration.values) {
      names.push_back(known.name);
      names.push_back(known.name.substr(enumeration.prefix.size()));
    }
    std::string meant = suggestion(*name, names);
    if (constexpr std::size_t kFew = 8; meant.empty() && enumeration.values.size() <= kFew) {
      for (std::size_t i = 1; i < names.size(); i += 2) {
        meant += format_text("{}{}", i == 1 ? "; expected one of " : ", ", names[i]);
      }
    }
    at.fail(format_text("{} is not a {}{}", in_quotes(*name), enumeration.name, meant));
  }
  return value;
}

TensorValue read_buffer_tensor(Members& members) {
  TensorValue tensor;
  if (const auto at = members.required("DataType")) {
    tensor.type = read_enumerator(*at, *facts::find_enum("DML_TENSOR_DATA_TYPE")).value_or(0);
  }
  if (const auto at = members.required("Sizes")) {
    tensor.sizes = read_words(*at, DataType::UINT32);
  }
  if (const auto at = members.optional("Strides"); at && !at->json().is(JsonKind::null)) {
    tensor.strides = read_words(*at, DataType::UINT32);
    if (!tensor.strides.empty() && tensor.strides.size() != tensor.sizes.size()) {
      at->fail(
          format_text("has {} strides; expected {}, one for each size", tensor.strides.size(), tensor.sizes.size()));
      tensor.strides.clear();
    }
  }
  if (const auto at = members.optional("DimensionCount")) {
    const auto count = at->unsigned_integer(kMaxWord);
    if (count && *count != tensor.sizes.size()) {
      at->fail(format_text("is {}; expected {}, the number of sizes", *count, tensor.sizes.size()));
    }
  }
  if (const auto at = members.optional("Flags")) {
    tensor.flags = read_flags(*at, "DML_TENSOR_FLAGS");
  }
  if (const auto at = members.optional("TotalTensorSizeInBytes")) {
    tensor.total_bytes = at->unsigned_integer().value_or(0);
  }
  if (tensor.total_bytes == 0) {  // as DMLCalcBufferTensorSize computes it
    tensor.total_bytes =
        implied_bytes(tensor.type, tensor.sizes, tensor.strides.empty() ? nullptr : tensor.strides.data()).value_or(0);
  }
  if (const auto at = members.optional("GuaranteedBaseOffsetAlignment")) {
    tensor.alignment = static_cast<std::uint32_t>(at->unsigned_integer(kMaxWord).value_or(0));
  }
  return tensor;
}

TensorValue read_tensor(const Cursor& at) {
  Members members(at, "an object with DataType and Sizes");
  if (!members.ok()) {
    return {};
  }
  TensorValue tensor;
  if (const auto desc = either(members, "Desc", "desc")) {
    Members inner(*desc, "an object with DataType and Sizes");
    if (inner.ok()) {
      tensor = read_buffer_tensor(inner);
      inner.finish();
    }
  } else {
    tensor = read_buffer_tensor(members);
  }
  if (const auto type = members.optional("Type")) {
    tensor.tensor_type = read_enumerator(*type, *facts::find_enum("DML_TENSOR_TYPE")).value_or(tensor.tensor_type);
  }
  members.finish();
  return tensor;
}

template <class Value, class Read>
std::vector<Value> read_one_or_more(const Cursor& at, bool is_array, Read read) {
  std::vector<Value> values;
  if (is_array) {
    at.for_each_item("an array", [&](const Cursor& item) { values.push_back(read(item)); });
  } else {
    values.push_back(read(at));
  }
  return values;
}

// Reads an activation that is fused into another operator and uses that operator's tensors.
OperatorModel read_fused_operator(const Cursor& at) {
  Members members(at, "an object with Type");
  if (!members.ok()) {
    return {};
  }
  const auto type = either(members, "Type", "type");
  if (!type) {
    at.fail("'Type' is missing");
    return {};
  }
  const facts::Operator* op = read_operator_type(*type);
  if (op == nullptr) {
    return {};
  }
  OperatorModel model;
  if (const auto desc = either(members, "Desc", "desc")) {
    Members inner(*desc, "an object");
    if (inner.ok()) {
      model = read_operator_fields(inner, *op);
      inner.finish();
    }
  } else {
    model = read_operator_fields(members, *op);
  }
  members.finish();
  return model;
}

// The data type in a sibling member, which determines how a union is read.
DataType sibling_type(Members& members, const facts::Operator& op) {
  for (const facts::Field& field : op.fields) {
    if (field.type == facts::FieldType::enumeration && field.spelling == "DML_TENSOR_DATA_TYPE") {
      if (const auto at = members.optional(field.name); at && at->json().is(JsonKind::string)) {
        return parse_type(at->json().text()).value_or(DataType::unknown);
      }
    }
  }
  return DataType::unknown;
}

InlineWords read_scalar_union(const Cursor& at, DataType type) {
  if (type == DataType::unknown) {
    at.fail("its type is unknown; expected a type's name in the data type member");
    return {};
  }
  std::optional<ElementBits> value;
  if (at.json().is(JsonKind::object)) {
    // "Float32", "UInt8": the union's members. A FLOAT16 is written as its bits.
    const DataType stored = type == DataType::FLOAT16 ? DataType::UINT16 : type;
    Members members(at, "an object");
    std::optional<Cursor> member;
    const std::string_view name = type_name(stored);
    const std::string_view kind = name.starts_with('F') ? "Float" : name.starts_with('I') ? "Int" : "UInt";
    const std::string member_name = format_text("{}{}", kind, 8 * element_size(stored));
    at.json().for_each_member([&](std::string_view given, Json) {
      if (given == member_name) {
        member = members.optional(given);
      }
    });
    if (!member) {
      at.fail(format_text("'{}' is missing", member_name));
    }
    value = member ? read_element(*member, stored) : std::nullopt;
    members.finish();
  } else {
    value = read_element(at, type);
  }
  const ElementBits bits = value.value_or(0);
  return {{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}};
}

// Reads two numbers from the members with the given names.
std::array<std::uint32_t, 2> read_pair(const Cursor& at, std::string_view first, std::string_view second,
                                       DataType type) {
  Members members(at, format_text("an object with {} and {}", first, second));
  std::array<std::uint32_t, 2> words{};
  std::size_t next = 0;
  for (const std::string_view name : {first, second}) {
    if (const auto member = members.required(name)) {
      words[next] = read_word(*member, type).value_or(0);
    }
    ++next;
  }
  members.finish();
  return words;
}

FieldValue read_attribute(const Cursor& at, const facts::Field& field, Members& members, const facts::Operator& op) {
  const auto word = [&](DataType type) { return InlineWords{{read_word(at, type).value_or(0), 0}}; };
  switch (field.type) {
    case facts::FieldType::real:
      return word(DataType::FLOAT32);
    case facts::FieldType::natural:
      return word(DataType::UINT32);
    case facts::FieldType::integer:
      return word(DataType::INT32);
    case facts::FieldType::boolean:
      return at.json().is(JsonKind::number) ? word(DataType::UINT32) : InlineWords{{at.boolean().value_or(false), 0}};
    case facts::FieldType::enumeration:
      return InlineWords{{read_enumerator(at, *facts::find_enum(field.spelling)).value_or(0), 0}};
    case facts::FieldType::reals:
      return PointedWords{read_words(at, DataType::FLOAT32)};
    case facts::FieldType::naturals:
      return PointedWords{read_words(at, DataType::UINT32)};
    case facts::FieldType::integers:
      return PointedWords{read_words(at, DataType::INT32)};
    case facts::FieldType::scale_bias: {
      const auto pair = read_pair(at, "Scale", "Bias", DataType::FLOAT32);
      return PointedWords{{pair[0], pair[1]}};
    }
    case facts::FieldType::size_2d:
      return InlineWords{read_pair(at, "Width", "Height", DataType::UINT32)};
    case facts::FieldType::scalar_union:
      return read_scalar_union(at, sibling_type(members, op));
    case facts::FieldType::operators:
      return read_one_or_more<OperatorModel>(at, field.count_field >= 0, read_fused_operator);
    case facts::FieldType::tensors:
      break;  // attributes never have this type
  }
  at.fail(format_text("is of type {}, which attributes cannot have", field.spelling));
  return {};
}

std::size_t length_of(const FieldValue& value) {
  if (const auto* words = std::get_if<PointedWords>(&value)) {
    return words->words.size();
  }
  if (const auto* tensors = tensors_of(value)) {
    return tensors->size();
  }
  if (const auto* operators = std::get_if<std::vector<OperatorModel>>(&value)) {
    return operators->size();
  }
  return 0;
}

// Reads a count field, which is the number of items in its arrays. If the model gives the count, it must match.
FieldValue read_count(Members& members, const facts::Operator& op, std::size_t field, const OperatorModel& model) {
  std::optional<std::size_t> length;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (op.fields[i].count_field != static_cast<int>(field) ||
        std::holds_alternative<std::monostate>(model.fields[i])) {
      continue;
    }
    if (length && *length != length_of(model.fields[i])) {
      members.at().fail(format_text("{} has {} items; expected {}, like the other arrays of {}", op.fields[i].name,
                                    length_of(model.fields[i]), *length, op.fields[field].name));
    }
    length = length ? length : length_of(model.fields[i]);
  }
  if (const auto at = members.optional(op.fields[field].name)) {
    const auto given = at->unsigned_integer(kMaxWord);
    if (given && length && *given != *length) {
      at->fail(format_text("is {}; expected {}, the number of items", *given, *length));
    }
  }
  return InlineWords{{static_cast<std::uint32_t>(length.value_or(0)), 0}};
}

}  // namespace

std::optional<Cursor> either(Members& members, std::string_view name, std::string_view other_name) {
  auto found = members.optional(name);
  auto other = members.optional(other_name);
  if (found && other) {
    other->fail(format_text("conflicts with '{}'; expected one of them", name));
  }
  return found ? found : other;
}

std::string operator_suggestion(std::string_view name) {
  if (const std::string_view nearest = facts::nearest_operator_name(name); !nearest.empty()) {
    return format_text("; did you mean '{}'?", nearest);
  }
  constexpr std::string_view kPrefix = "ACTIVATION_";
  std::vector<std::string_view> names;
  for (const facts::Operator& op : facts::operators()) {
    if (op.name.starts_with(kPrefix)) {
      names.push_back(op.name.substr(kPrefix.size()));
    }
  }
  return suggestion(to_upper(name), names);
}

const facts::Operator* read_operator_type(const Cursor& at) {
  const auto name = at.string("the name of an operator");
  if (!name) {
    return nullptr;
  }
  const facts::Operator* op = facts::find_operator(*name);
  if (op == nullptr) {
    at.fail(format_text("{} is not an operator of DirectML{}", in_quotes(*name), operator_suggestion(*name)));
  }
  return op;
}

OperatorModel read_operator_fields(Members& members, const facts::Operator& op) {
  OperatorModel model;
  model.facts = &op;
  model.fields.resize(op.fields.size());
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    if (facts::is_count(op, i)) {
      continue;  // read after the arrays are known
    }
    // The schema decides which tensors are required, since that depends on the feature level and on whether the
    // operator is fused.
    const auto at =
        field.kind == facts::FieldKind::attribute ? members.required(field.name) : members.optional(field.name);
    if (!at || (at->json().is(JsonKind::null) && field.kind != facts::FieldKind::attribute)) {
      continue;
    }
    if (facts::is_attribute(field.kind)) {
      model.fields[i] = read_attribute(*at, field, members, op);
    } else {
      model.fields[i] = read_one_or_more<TensorValue>(*at, field.count_field >= 0, read_tensor);
    }
  }
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (facts::is_count(op, i)) {
      model.fields[i] = read_count(members, op, i, model);
    }
  }
  return model;
}

std::uint32_t read_flags(const Cursor& at, std::string_view enumeration) {
  const facts::Enum& flags = *facts::find_enum(enumeration);
  if (!at.json().is(JsonKind::array)) {
    return read_enumerator(at, flags).value_or(0);
  }
  std::uint32_t all = 0;
  at.for_each_item("an array of names", [&](const Cursor& item) { all |= read_enumerator(item, flags).value_or(0); });
  return all;
}

}  // namespace anydml::dmlrun
