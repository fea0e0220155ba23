// SPDX-License-Identifier: MIT
// Requirements that follow from the kind of a field. They apply to every operator.
#include <algorithm>

#include "base/element.h"
#include "schema/check.h"
#include "schema/rules.h"
#include "text/format.h"

namespace anydml::schema {
namespace {

// Lists the names in an enumeration if there are only a few: "NONE or TRANSPOSE".
std::string names_of(const facts::Enum& known) {
  constexpr std::size_t kFew = 8;
  if (known.values.size() > kFew) {
    return format_text("a {}", known.name);
  }
  std::string text;
  for (const facts::EnumValue& value : known.values) {
    const bool is_last = &value == &known.values.back();
    text += text.empty() ? "" : is_last ? " or " : ", ";
    text += format_text("{} ({})", value.name.substr(known.prefix.size()), value.value);
  }
  return text;
}

std::string_view item_name(facts::FieldType type) {
  return type == facts::FieldType::tensors ? "tensor" : type == facts::FieldType::operators ? "operator" : "number";
}

class FieldChecker {
 public:
  FieldChecker(const Described& described, facts::FeatureLevel level, Findings& findings)
      : described_(described), op_(*described.op), level_(level), findings_(findings) {}

  void run() {
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      if (op_.fields[i].count_field >= 0) {
        check_array(i);
      }
      switch (op_.fields[i].type) {
        case facts::FieldType::enumeration:
          check_enumeration(i);
          break;
        case facts::FieldType::operators:
          check_operators(i);
          break;
        default:
          break;
      }
    }
  }

 private:
  [[nodiscard]] std::optional<i64> number(std::size_t field) const {
    const Argument& argument = described_.arguments[field];
    return argument.present && !argument.numbers.empty() ? std::optional(argument.numbers.front().as<i64>())
                                                         : std::nullopt;
  }

  [[nodiscard]] bool has_union() const {
    return std::ranges::find(op_.fields, facts::FieldType::scalar_union, &facts::Field::type) != op_.fields.end();
  }

  void check_enumeration(std::size_t i) {
    const facts::Enum& known = *facts::find_enum(op_.fields[i].spelling);
    const auto value = number(i);
    if (!value) {
      return;
    }
    const auto found = std::ranges::find(known.values, *value, &facts::EnumValue::value);
    if (known.name == "DML_TENSOR_DATA_TYPE" && has_union()) {
      if (*value < 0 || *value > 0xff || element_size(static_cast<DataType>(*value)) == 0) {
        const std::string text =
            found == known.values.end() ? std::to_string(*value) : std::string(found->name.substr(known.prefix.size()));
        findings_.add({.field = i}, format_text("is {}; expected the type of a number, FLOAT32 to INT64", text));
      }
      return;
    }
    i64 bits = 0;
    for (const facts::EnumValue& each : known.values) {
      bits |= each.value;
    }
    if (known.flags ? (*value & ~bits) != 0 : found == known.values.end()) {
      findings_.add({.field = i}, format_text("is {}; expected {}", *value, names_of(known)));
    }
  }

  // The length of an array is also a field. Callers without length fields omit it.
  void check_array(std::size_t i) {
    const facts::Field& field = op_.fields[i];
    const Argument& array = described_.arguments[i];
    const auto count = number(static_cast<std::size_t>(field.count_field));
    if (!count) {
      return;
    }
    const std::string_view counter = op_.fields[static_cast<std::size_t>(field.count_field)].name;
    const auto items = static_cast<i64>(array.numbers.size() + array.tensors.size() + array.operators.size());
    const std::string_view item = item_name(field.type);
    if (!array.present) {
      if (*count > 0 && field.kind != facts::FieldKind::optional_attribute) {
        findings_.add({.field = i}, format_text("is null; expected {} {}{}, as {} says", *count, item,
                                                *count == 1 ? "" : "s", counter));
      }
    } else if (items != *count) {
      findings_.add({.field = i}, format_text("holds {} {}{}; expected {}, as {} says", items, item,
                                              items == 1 ? "" : "s", *count, counter));
    }
  }

  void check_operators(std::size_t i) {
    const facts::Field& field = op_.fields[i];
    const Argument& argument = described_.arguments[i];
    if (!argument.present && field.count_field < 0 && field.kind == facts::FieldKind::attribute) {
      findings_.add({.field = i}, "is null; expected a DML_OPERATOR_DESC, since it is not optional");
    }
    for (std::size_t k = 0; k < argument.operators.size(); ++k) {
      check_fused({.field = i, .index = field.count_field < 0 ? kNone : k}, argument.operators[k]);
    }
  }

  void check_fused(Location location, const Described& inner) {
    const facts::Operator& activation = *inner.op;
    if (const auto newer = check_level(activation, level_)) {
      return findings_.add(location, format_text("{} {}", activation.name, newer->reason));
    }
    if (auto reason = why_not_fusable(activation)) {
      return findings_.add(location, std::move(*reason));
    }
    for (std::size_t i = 0; i < activation.fields.size(); ++i) {
      if (!facts::is_attribute(activation.fields[i].kind) && inner.arguments[i].present) {
        findings_.add(location, format_text("{}: {} is given; expected null, since the operator is fused",
                                            activation.name, activation.fields[i].name));
      }
    }
    // The nested operator's attributes are checked like those of a separate operator. Rules that depend on its absent
    // tensors do not apply.
    Findings within;
    check_fields(inner, level_, within);
    check_rules(inner, level_, within);
    for (const Violation& violation : within.violations) {
      findings_.add(location, format_text("{}: {}", activation.name, sentence(activation, violation)));
    }
  }

  [[nodiscard]] std::optional<std::string> why_not_fusable(const facts::Operator& activation) const {
    const facts::Fusable* later = nullptr;
    for (const facts::Fusable& row : facts::fusable()) {
      if (row.activation != activation.value || (row.into != 0 && row.into != op_.value)) {
        continue;
      }
      if (row.since <= level_) {
        return std::nullopt;
      }
      later = &row;
    }
    if (later != nullptr) {
      return format_text("{} can be fused into {} from feature level {}; this device offers {}", activation.name,
                         op_.name, facts::level_name(later->since), facts::level_name(level_));
    }
    return format_text("{} cannot be fused into {}; expected an activation that can, such as ACTIVATION_RELU",
                       activation.name, op_.name);
  }

  const Described& described_;
  const facts::Operator& op_;
  facts::FeatureLevel level_;
  Findings& findings_;
};

}  // namespace

void check_fields(const Described& described, facts::FeatureLevel level, Findings& findings) {
  FieldChecker(described, level, findings).run();
}

}  // namespace anydml::schema
