// SPDX-License-Identifier: MIT
#include "capi/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "capi/ranges.h"
#include "facts/facts.h"
#include "plan/tensor.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::size_t kMaxAttributes = 64;      // more than any operator has
constexpr std::uint32_t kMaxNumbers = 1 << 20;  // elements per array
constexpr int kMaxNested = 4;

Error wrong(const facts::Operator& op, std::string text) { return invalid({op.name, {}}, std::move(text)); }

// The operator's attributes, for messages. Lengths are omitted, because arrays imply them.
std::string attribute_names(const facts::Operator& op) {
  std::string text;
  bool scale_bias = false;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    if (field.type == facts::FieldType::scale_bias) {
      scale_bias = true;
    } else if (facts::is_attribute(field.kind) && !facts::is_count(op, i)) {
      text.append(text.empty() ? "" : ", ").append(field.name);
    }
  }
  if (scale_bias) {
    text.append(text.empty() ? "" : ", and ").append("optionally Scale with Bias");
  }
  return text.empty() ? "no attributes" : text;
}

// The field that an attribute's name refers to. For a ScaleBias, also which of its two numbers the name refers to.
struct Named {
  std::size_t field;
  std::size_t number;
};

std::optional<Named> find_field(const facts::Operator& op, std::string_view name) {
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    if (!facts::is_attribute(field.kind) || facts::is_count(op, i)) {
      continue;
    }
    if (field.type == facts::FieldType::scale_bias) {
      if (name == "Scale" || name == "Bias") {
        return Named{i, name == "Scale" ? std::size_t{0} : 1};
      }
    } else if (field.name == name) {
      return Named{i, 0};
    }
  }
  return std::nullopt;
}

bool takes_array(facts::FieldType type) {
  return type == facts::FieldType::reals || type == facts::FieldType::naturals || type == facts::FieldType::integers ||
         type == facts::FieldType::size_2d;
}

bool takes_integers(facts::FieldType type) {
  return type == facts::FieldType::natural || type == facts::FieldType::naturals || type == facts::FieldType::integer ||
         type == facts::FieldType::integers || type == facts::FieldType::boolean || type == facts::FieldType::size_2d ||
         type == facts::FieldType::enumeration;
}

bool is_signed(facts::FieldType type) {
  return type == facts::FieldType::integer || type == facts::FieldType::integers;
}

Scalar read_number(const anydml_attribute& given, std::size_t i, bool array) {
  switch (given.type & ~std::uint32_t{ANYDML_ARRAY}) {
    case ANYDML_FLOAT64:
      return Scalar(array ? given.value.f64s[i] : given.value.f64);
    case ANYDML_INT64:
      return Scalar(array ? given.value.i64s[i] : given.value.i64);
    default:
      return Scalar(array ? given.value.u64s[i] : given.value.u64);
  }
}

class Reader {
 public:
  Reader(const facts::Operator& op, int depth) : op_(op), depth_(depth), described_(op) {}

  Status take_attributes(std::span<const anydml_attribute> given) {
    if (given.size() > kMaxAttributes) {
      return wrong(op_, format_text("the number of attributes is {}; no operator has that many", given.size()));
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      ANYDML_TRY(check_form(given[i], i));
    }
    // Report unknown names first: a misspelled attribute should not be reported as missing.
    for (const anydml_attribute& attribute : given) {
      if (!find_field(op_, attribute.name)) {
        return wrong(op_, format_text("attribute '{:.64}' is unknown; this operator takes {}", attribute.name,
                                      attribute_names(op_)));
      }
    }
    for (const anydml_attribute& attribute : given) {
      const auto same = [&](const anydml_attribute& other) { return std::string_view(other.name) == attribute.name; };
      if (const auto count = std::ranges::count_if(given, same); count > 1) {
        return wrong(op_, format_text("attribute {} is given {} times; expected once", attribute.name, count));
      }
    }
    for (const anydml_attribute& attribute : given) {
      ANYDML_TRY(take(attribute));
    }
    return check_scale_bias(given);
  }

  // Reads the inputs or the outputs, in the order of their fields. An array field receives the tensors that the other
  // fields do not use.
  Status take_tensors(std::span<const anydml_tensor> given, bool outputs) {
    const auto wanted = outputs ? facts::is_output : facts::is_input;
    std::size_t fixed = 0;
    std::size_t minimum = 0;
    bool has_array = false;
    for (const facts::Field& field : op_.fields) {
      if (wanted(field.kind)) {
        has_array = has_array || facts::is_array(field.kind);
        fixed += facts::is_array(field.kind) ? 0U : 1U;
        minimum = field.kind == facts::FieldKind::input || field.kind == facts::FieldKind::output ? fixed : minimum;
      }
    }
    if (given.size() < minimum || (given.size() > fixed && !has_array)) {
      const std::string expected = has_array          ? format_text("{} or more", minimum)
                                   : minimum == fixed ? format_text("{}", fixed)
                                                      : format_text("{} to {}", minimum, fixed);
      return wrong(op_, format_text("the number of {} tensors is {}; expected {}", outputs ? "output" : "input",
                                    given.size(), expected));
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const facts::Field& field = op_.fields[i];
      if (!wanted(field.kind)) {
        continue;
      }
      const std::size_t count = facts::is_array(field.kind) ? given.size() - std::min(fixed, given.size())
                                                            : std::min<std::size_t>(1, given.size() - next);
      for (std::size_t k = 0; k < count; ++k) {
        take_tensor(i, given[next++]);
      }
      if (field.count_field >= 0) {
        set_count(static_cast<std::size_t>(field.count_field), count);
      }
    }
    return {};
  }

  // Fills in omitted fields that other fields imply, and reports missing fields.
  Status complete() {
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const facts::Field& field = op_.fields[i];
      schema::Argument& argument = described_.arguments[i];
      if (!facts::is_attribute(field.kind) || argument.present || facts::is_count(op_, i)) {
        continue;
      }
      if (const std::uint32_t type = output_type(); type != 0 && i == schema::union_type_field(op_)) {
        argument.present = true;
        argument.numbers = {Scalar(u64{type})};
      } else if (!is_optional_attribute(op_, i) || i == schema::union_type_field(op_)) {
        return wrong(op_,
                     format_text("attribute {} is missing; the operator takes {}", field.name, attribute_names(op_)));
      }
    }
    return check_elements();
  }

  [[nodiscard]] schema::Described&& described() { return std::move(described_); }

 private:
  [[nodiscard]] Error wrong_attribute(const anydml_attribute& given, std::string_view text) const {
    return wrong(op_, format_text("attribute {:.64}: {}", given.name, text));
  }

  // Checks the parts of an attribute that do not depend on its field.
  [[nodiscard]] Status check_form(const anydml_attribute& given, std::size_t i) const {
    if (given.name == nullptr) {
      return wrong(op_, format_text("attributes[{}].name is null; expected the name of an attribute", i));
    }
    const bool array = (given.type & ANYDML_ARRAY) != 0;
    switch (given.type & ~std::uint32_t{ANYDML_ARRAY}) {
      case ANYDML_FLOAT64:
      case ANYDML_INT64:
      case ANYDML_UINT64:
      case ANYDML_OPERATOR:
        break;
      case ANYDML_TEXT:
        if (!array) {
          break;
        }
        [[fallthrough]];
      default:
        return wrong_attribute(given, format_text("type is {}; expected FLOAT64 (9), INT64 (11) or UINT64 (10), "
                                                  "whatever the type of the tensors",
                                                  given.type));
    }
    if (!array && given.count != 0) {
      return wrong_attribute(given, format_text("count is {}; expected 0, a single number", given.count));
    }
    if (array && given.count > kMaxNumbers) {
      return wrong_attribute(given, format_text("count is {}; expected {} at most", given.count, kMaxNumbers));
    }
    const bool pointer = array ? given.count != 0 : given.type == ANYDML_TEXT || given.type == ANYDML_OPERATOR;
    if (pointer && given.value.text == nullptr) {
      return wrong_attribute(given, "value is null; expected an address");
    }
    return {};
  }

  Status take(const anydml_attribute& given) {
    const Named named = *find_field(op_, given.name);
    const facts::Field& field = op_.fields[named.field];
    schema::Argument& argument = described_.arguments[named.field];
    const bool array = (given.type & ANYDML_ARRAY) != 0;
    const bool is_operator = (given.type & ~std::uint32_t{ANYDML_ARRAY}) == ANYDML_OPERATOR;
    argument.present = true;
    if (field.type == facts::FieldType::operators) {
      if (!is_operator || array != (field.count_field >= 0)) {
        return wrong_attribute(
            given, format_text("type is {:#x}; expected {}", given.type,
                               field.count_field >= 0 ? "ANYDML_OPERATOR | ANYDML_ARRAY" : "ANYDML_OPERATOR"));
      }
      return take_operators(given, field, argument);
    }
    if (is_operator || array != takes_array(field.type)) {
      return wrong_attribute(given, takes_array(field.type)
                                        ? format_text("type is {:#x}; expected numbers with ANYDML_ARRAY", given.type)
                                        : format_text("type is {:#x}; expected a single number", given.type));
    }
    if (given.type == ANYDML_TEXT) {
      return take_name(given, field, argument);
    }
    if (field.type == facts::FieldType::size_2d && given.count != 2) {
      return wrong_attribute(given, format_text("count is {}; expected 2, the width and the height", given.count));
    }
    if (field.type == facts::FieldType::scale_bias) {
      argument.numbers.resize(2);
      argument.numbers[named.number] = read_number(given, 0, false);
      return check_real(given, argument.numbers[named.number], std::nullopt);
    }
    for (std::uint32_t i = 0; i < (array ? given.count : 1); ++i) {
      const Scalar number = read_number(given, i, array);
      if (takes_integers(field.type)) {
        ANYDML_TRY(check_integer(given, field, number, array ? std::optional(i) : std::nullopt));
      } else if (!is_bound(field) && !is_element(field)) {
        ANYDML_TRY(check_real(given, number, array ? std::optional(i) : std::nullopt));
      }
      argument.numbers.push_back(number);
    }
    return field.count_field < 0 ? Status() : take_count(given, static_cast<std::size_t>(field.count_field));
  }

  // UINT and INT are 32-bit.
  [[nodiscard]] Status check_integer(const anydml_attribute& given, const facts::Field& field, const Scalar& number,
                                     std::optional<std::uint32_t> index) const {
    const double value = number.as<f64>();
    const double minimum = is_signed(field.type) ? std::numeric_limits<std::int32_t>::min() : 0;
    const double maximum =
        is_signed(field.type) ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::uint32_t>::max();
    if (!(value >= minimum && value <= maximum) || std::trunc(value) != value) {
      return wrong(op_, format_text("attribute {:.64}{} is {}; expected a whole number from {} to {}", given.name,
                                    index ? format_text("[{}]", *index) : std::string(), value, minimum, maximum));
    }
    return {};
  }

  // FLOAT is 32-bit.
  [[nodiscard]] Status check_real(const anydml_attribute& given, const Scalar& number,
                                  std::optional<std::uint32_t> index) const {
    const std::optional<std::string> expected = beyond_float(number, DataType::FLOAT32);
    return !expected ? Status()
                     : Status(wrong(op_, format_text("attribute {:.64}{} is {}; expected {}", given.name,
                                                     index ? format_text("[{}]", *index) : std::string(),
                                                     number_text(number), *expected)));
  }

  // Checks numbers that become elements. The output's type must be known.
  [[nodiscard]] Status check_elements() const {
    const std::size_t union_type = schema::union_type_field(op_);
    const bool has_union = union_type != schema::kNoField && !described_.arguments[union_type].numbers.empty();
    const auto type =
        static_cast<DataType>(has_union ? described_.arguments[union_type].numbers.front().as<u32>() : output_type());
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      const facts::Field& field = op_.fields[i];
      const schema::Argument& argument = described_.arguments[i];
      if (!facts::is_attribute(field.kind) || argument.numbers.size() != 1) {
        continue;
      }
      if (const auto expected = beyond_range(field, argument.numbers.front(), type)) {
        return wrong(op_, format_text("attribute {} is {}; expected {}", field.name,
                                      number_text(argument.numbers.front()), *expected));
      }
    }
    return {};
  }

  Status take_name(const anydml_attribute& given, const facts::Field& field, schema::Argument& argument) const {
    const facts::Enum* known = field.type == facts::FieldType::enumeration ? facts::find_enum(field.spelling) : nullptr;
    if (known == nullptr) {
      return wrong_attribute(given, "type is ANYDML_TEXT; expected a number");
    }
    const auto value = facts::find_enum_value(*known, given.value.text);
    if (!value) {
      return wrong_attribute(
          given, format_text("is '{:.64}'; expected the name of a value of {}", given.value.text, known->name));
    }
    argument.numbers = {Scalar(u64{*value})};
    return {};
  }

  Status take_operators(const anydml_attribute& given, const facts::Field& field, schema::Argument& argument) {
    if (depth_ == kMaxNested) {
      return wrong_attribute(given, "contains nested operators; expected an operator without any");
    }
    const bool array = field.count_field >= 0;
    for (std::uint32_t i = 0; i < (array ? given.count : 1); ++i) {
      const anydml_operator& nested = given.value.operators[i];
      const facts::Operator* op = nested.name == nullptr ? nullptr : facts::find_operator(nested.name);
      if (op == nullptr) {
        return wrong_attribute(
            given, nested.name == nullptr
                       ? std::string("name is null; expected the name of an operator")
                       : format_text("name is '{:.64}'; expected the name of a DirectML operator", nested.name));
      }
      if (nested.attributes == nullptr && nested.attribute_count != 0) {
        return wrong_attribute(given, "attributes is null; expected an array");
      }
      Reader reader(*op, depth_ + 1);
      ANYDML_TRY(reader.take_attributes(std::span(nested.attributes, nested.attribute_count)));
      ANYDML_TRY(reader.complete());
      argument.operators.push_back(reader.described());
    }
    return array ? take_count(given, static_cast<std::size_t>(field.count_field)) : Status();
  }

  // Arrays that share a length field must have the same length.
  Status take_count(const anydml_attribute& given, std::size_t field) {
    const schema::Argument& argument = described_.arguments[field];
    if (argument.present && argument.numbers.front().as<u64>() != given.count) {
      return wrong_attribute(given, format_text("count is {}; expected {}, as in the other arrays of {}", given.count,
                                                argument.numbers.front().as<u64>(), op_.fields[field].name));
    }
    set_count(field, given.count);
    return {};
  }

  void set_count(std::size_t field, std::size_t count) {
    described_.arguments[field] = {.present = true, .tensors = {}, .numbers = {Scalar(u64{count})}, .operators = {}};
  }

  void take_tensor(std::size_t field, const anydml_tensor& given) {
    const facts::FieldKind kind = op_.fields[field].kind;
    if (is_absent(given) && (kind == facts::FieldKind::optional_input || kind == facts::FieldKind::optional_output)) {
      return;
    }
    schema::Argument& argument = described_.arguments[field];
    schema::GivenTensor& tensor = argument.tensors.emplace_back();
    argument.present = true;
    tensor.type = given.type & ~std::uint32_t{facts::is_input(kind) ? ANYDML_CONSTANT : 0U};
    tensor.rank = static_cast<std::uint32_t>(given.rank);
    tensor.has_sizes = given.sizes != nullptr || given.rank == 0;  // a scalar has no sizes
    tensor.has_strides = given.strides != nullptr;
    if (given.rank > 0 && given.rank <= static_cast<std::int32_t>(kMaxRank)) {
      std::copy_n(given.sizes, tensor.has_sizes ? given.rank : 0, tensor.sizes);
      std::copy_n(given.strides, tensor.has_strides ? given.rank : 0, tensor.strides);
    }
  }

  Status check_scale_bias(std::span<const anydml_attribute> given) const {
    const auto has = [&](std::string_view name) {
      return std::ranges::any_of(given, [name](const anydml_attribute& one) { return one.name == name; });
    };
    const bool takes = std::ranges::any_of(
        op_.fields, [](const facts::Field& field) { return field.type == facts::FieldType::scale_bias; });
    if (takes && has("Scale") != has("Bias")) {
      return wrong(op_, format_text("attribute {} is missing; expected Scale and Bias together",
                                    has("Scale") ? "Bias" : "Scale"));
    }
    return {};
  }

  [[nodiscard]] std::uint32_t output_type() const {
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      if (facts::is_output(op_.fields[i].kind) && !described_.arguments[i].tensors.empty()) {
        return described_.arguments[i].tensors.front().type;
      }
    }
    return 0;
  }

  const facts::Operator& op_;
  int depth_;
  schema::Described described_;
};

// Adds the attributes to the key. Arrays, names and operators are too long for the key.
bool add_attributes(const Call& call, CallKey& key) {
  if (call.attributes.size() > kMaxAttributes) {
    return false;
  }
  for (const anydml_attribute& given : call.attributes) {
    const auto named = given.name != nullptr ? find_field(*call.op, given.name) : std::nullopt;
    if (!named || given.count != 0 || given.type >= ANYDML_TEXT) {
      return false;
    }
    const std::uint64_t number = 4 * named->field + named->number;
    if (!key.add(number << 32 | given.type) || !key.add(given.value.u64)) {  // the bits, regardless of their type
      return false;
    }
  }
  return true;
}

bool add_tensor(const anydml_tensor& tensor, CallKey& key) {
  if (tensor.rank < 0 || tensor.rank > static_cast<std::int32_t>(kMaxRank) ||
      (tensor.rank > 0 && tensor.sizes == nullptr) || (tensor.type & ANYDML_CONSTANT) != 0) {
    return false;
  }
  const auto rank = static_cast<std::size_t>(tensor.rank);
  return key.add(std::uint64_t{tensor.type} << 32 | rank << 1 | (tensor.strides != nullptr ? 1 : 0)) &&
         key.add(std::span(tensor.sizes, rank)) &&
         key.add(std::span(tensor.strides, tensor.strides != nullptr ? rank : 0));
}

}  // namespace

std::uint32_t attribute_type(const facts::Field& field) {
  const std::uint32_t array = takes_array(field.type) || field.count_field >= 0 ? std::uint32_t{ANYDML_ARRAY} : 0U;
  switch (field.type) {
    case facts::FieldType::operators:
      return ANYDML_OPERATOR | array;
    case facts::FieldType::enumeration:
      return facts::find_enum(field.spelling) != nullptr ? std::uint32_t{ANYDML_TEXT} : std::uint32_t{ANYDML_UINT64};
    case facts::FieldType::integer:
    case facts::FieldType::integers:
      return ANYDML_INT64 | array;
    default:
      return (takes_integers(field.type) ? ANYDML_UINT64 : ANYDML_FLOAT64) | array;
  }
}

bool is_optional_attribute(const facts::Operator& op, std::size_t field) {
  return op.fields[field].kind == facts::FieldKind::optional_attribute ||
         op.fields[field].type == facts::FieldType::scale_bias || field == schema::union_type_field(op);
}

Result<schema::Described> describe(const Call& call) {
  Reader reader(*call.op, 0);
  ANYDML_TRY(reader.take_tensors(call.inputs, false));
  ANYDML_TRY(reader.take_tensors(call.outputs, true));
  ANYDML_TRY(reader.take_attributes(call.attributes));
  ANYDML_TRY(reader.complete());
  return Result<schema::Described>(reader.described());
}

bool make_key(const anydml_device* wanted, const Call& call, CallKey& key) {
  if (!key.add(reinterpret_cast<std::uintptr_t>(call.op)) || !key.add(reinterpret_cast<std::uintptr_t>(wanted)) ||
      !key.add(call.inputs.size() << 32 | call.outputs.size())) {
    return false;
  }
  for (const anydml_tensor& tensor : call.inputs) {
    if (!add_tensor(tensor, key)) {
      return false;
    }
  }
  for (const anydml_tensor& tensor : call.outputs) {
    if (!add_tensor(tensor, key)) {
      return false;
    }
  }
  return add_attributes(call, key);
}

bool make_text_key(const Call& call, std::string& key) {
  const auto add_bytes = [&key](const void* bytes, std::size_t count) {
    key.append(static_cast<const char*>(bytes), count);
  };
  const auto add_number = [&add_bytes](std::uint64_t number) { add_bytes(&number, sizeof(number)); };
  key.clear();
  add_number(reinterpret_cast<std::uintptr_t>(call.op));
  add_number(call.inputs.size() << 32 | call.outputs.size());
  for (const std::span<const anydml_tensor> tensors : {call.inputs, call.outputs}) {
    for (const anydml_tensor& tensor : tensors) {
      if (tensor.rank < 0 || tensor.rank > static_cast<std::int32_t>(kMaxRank) ||
          (tensor.rank > 0 && tensor.sizes == nullptr) || (tensor.type & ANYDML_CONSTANT) != 0) {
        return false;
      }
      const auto bytes = static_cast<std::size_t>(tensor.rank) * sizeof(std::int64_t);
      add_number(std::uint64_t{tensor.type} << 32 | static_cast<std::uint64_t>(tensor.rank) << 1 |
                 (tensor.strides != nullptr ? 1 : 0));
      add_bytes(tensor.sizes, bytes);
      add_bytes(tensor.strides, tensor.strides != nullptr ? bytes : 0);
    }
  }
  for (const anydml_attribute& given : call.attributes) {
    const bool is_array = (given.type & ANYDML_ARRAY) != 0;
    const std::uint32_t type = given.type & ~std::uint32_t{ANYDML_ARRAY};
    const bool is_wide = type == ANYDML_INT64 || type == ANYDML_UINT64 || type == ANYDML_FLOAT64;
    const bool has_texts = given.name != nullptr && (type != ANYDML_TEXT || given.value.text != nullptr);
    const bool has_numbers = is_wide && (!is_array || given.count == 0 || given.value.i64s != nullptr);
    if (!has_texts || !(has_numbers || given.type == ANYDML_TEXT) || (!is_array && given.count != 0)) {
      return false;
    }
    add_bytes(given.name, std::strlen(given.name) + 1);
    add_number(std::uint64_t{given.type} << 32 | given.count);
    if (given.type == ANYDML_TEXT) {
      add_bytes(given.value.text, std::strlen(given.value.text) + 1);
    } else if (is_array) {
      add_bytes(given.value.i64s, given.count * sizeof(std::int64_t));
    } else {
      add_number(given.value.u64);
    }
  }
  return true;
}

}  // namespace anydml
