// SPDX-License-Identifier: MIT
// The documented facts about DirectML's operators, as data: names, numbers, fields, types, ranks, levels. ops/family.h
// defines which of these operators are implemented here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/element.h"

namespace anydml::facts {

// The values are the same as in DML_FEATURE_LEVEL, so a newer level compares as greater.
enum class FeatureLevel : std::uint16_t {
  v1_0 = 0x1000,
  v2_0 = 0x2000,
  v2_1 = 0x2100,
  v3_0 = 0x3000,
  v3_1 = 0x3100,
  v4_0 = 0x4000,
  v4_1 = 0x4100,
  v5_0 = 0x5000,
  v5_1 = 0x5100,
  v5_2 = 0x5200,
  v6_0 = 0x6000,
  v6_1 = 0x6100,
  v6_2 = 0x6200,
  v6_3 = 0x6300,
  v6_4 = 0x6400,
};
inline constexpr FeatureLevel kNewestLevel = FeatureLevel::v6_4;

struct FeatureLevelName {
  std::string_view name;  // "2_1"
  FeatureLevel level;
};

struct EnumValue {
  std::string_view name;  // "DML_INTERPOLATION_MODE_LINEAR"
  std::uint32_t value;
};

// An enumeration used by attributes, by tensors, or when operators are compiled.
struct Enum {
  std::string_view name;
  std::string_view prefix;  // the prefix of each value's name
  bool flags;               // the values are bits that may be combined
  std::span<const EnumValue> values;
};

enum class FieldKind : std::uint8_t {
  input,
  optional_input,
  output,
  optional_output,
  input_array,
  output_array,
  attribute,
  optional_attribute,
};

// The type of a member of a desc struct, for code that reads or writes the struct. Every array has a field that
// contains its length.
enum class FieldType : std::uint8_t {
  tensors,       // const DML_TENSOR_DESC*: one, or an array
  real,          // FLOAT
  natural,       // UINT
  integer,       // INT
  boolean,       // BOOL
  enumeration,   // find_enum returns its values
  reals,         // const FLOAT*
  naturals,      // const UINT*
  integers,      // const INT*
  scale_bias,    // const DML_SCALE_BIAS*
  size_2d,       // DML_SIZE_2D
  scalar_union,  // DML_SCALAR_UNION, in the type that another field names
  operators,     // const DML_OPERATOR_DESC*: one, or an array
};

// One member of an operator's desc struct, in the struct's order. Tensors are also bound in this order.
struct Field {
  std::string_view name;
  std::string_view spelling;  // the spelling of its type in the header, for human readers
  FieldType type;
  FieldKind kind;
  std::uint16_t offset;  // offset in the struct, on LP64
  std::uint16_t size;
  FeatureLevel optional_since;  // an optional tensor is required below this level
  std::int8_t count_field;      // for an array: the field with its length; otherwise -1
};

enum class Same : std::uint8_t { datatype, dimension_count, sizes };

// Tensors that must agree. Bit i stands for field i. Absent optional tensors are ignored.
struct SameGroup {
  Same what;
  std::uint32_t fields;
};

// The types and ranks that a tensor accepts at `level` and above, until the next level listed for the same tensor.
struct Support {
  FeatureLevel level;
  std::uint8_t field;
  std::uint8_t min_rank;
  std::uint8_t max_rank;
  std::uint16_t types;        // bit DML_TENSOR_DATA_TYPE
  std::string_view only_for;  // REDUCE: the functions that this row applies to; otherwise empty
};

// The combined support of a tensor at a level.
struct Admitted {
  TypeSet types;  // 0 if the documentation does not list any
  std::uint8_t min_rank;
  std::uint8_t max_rank;

  bool operator==(const Admitted&) const = default;
};

enum class InPlace : std::uint8_t {
  none,
  first_input,
  one_input,
  any_input,
  each_output_but_training_step,  // ADAM_OPTIMIZER
};

struct Operator {
  std::string_view name;  // without DML_OPERATOR_
  std::uint32_t value;    // DML_OPERATOR_TYPE
  std::string_view desc_struct;
  std::uint16_t desc_size;
  FeatureLevel introduced;
  InPlace in_place;
  std::string_view formula;
  std::span<const Field> fields;
  std::span<const SameGroup> same;
  std::span<const Support> support;
  std::span<const std::string_view> constraints;  // constraints as text, if no column expresses them
};

// An additional name in the header for the same thing.
struct Alias {
  std::string_view name;
  std::string_view target;  // the name that the facts use
};

[[nodiscard]] constexpr bool is_input(FieldKind kind) {
  return kind == FieldKind::input || kind == FieldKind::optional_input || kind == FieldKind::input_array;
}
[[nodiscard]] constexpr bool is_output(FieldKind kind) {
  return kind == FieldKind::output || kind == FieldKind::optional_output || kind == FieldKind::output_array;
}
[[nodiscard]] constexpr bool is_array(FieldKind kind) {
  return kind == FieldKind::input_array || kind == FieldKind::output_array;
}
[[nodiscard]] constexpr bool is_attribute(FieldKind kind) {
  return kind == FieldKind::attribute || kind == FieldKind::optional_attribute;
}
// Whether the field is the length of an array.
[[nodiscard]] bool is_count(const Operator& op, std::size_t field);

// All 177 operators, ordered by number.
[[nodiscard]] std::span<const Operator> operators();

// Finds an operator by name or alias, with or without DML_OPERATOR_; null if neither DirectML nor extensions.h has it.
[[nodiscard]] const Operator* find_operator(std::string_view name);

[[nodiscard]] std::span<const Alias> operator_aliases();  // without DML_OPERATOR_
[[nodiscard]] std::span<const Alias> struct_aliases();    // for desc structs

// The name that the user probably meant, for messages; empty if no name is similar. Case and a missing ELEMENT_WISE_
// are ignored, and names from other libraries are recognized (words.def).
[[nodiscard]] std::string_view nearest_operator_name(std::string_view name);

// Returns no value below the level that introduced the operator, or for an attribute. Rows for different functions
// (REDUCE) are combined. If the documentation's first table is newer than the operator, it applies from the beginning,
// because later tables only add types and ranks.
[[nodiscard]] std::optional<Admitted> admitted(const Operator& op, std::size_t field, FeatureLevel level);

// Finds an enumeration by the type of a field as the header spells it; null if that is not an enumeration.
[[nodiscard]] const Enum* find_enum(std::string_view type);

// Finds a value by name, with or without the prefix.
[[nodiscard]] std::optional<std::uint32_t> find_enum_value(const Enum& known, std::string_view name);

[[nodiscard]] std::span<const FeatureLevelName> feature_levels();  // ordered from the oldest
[[nodiscard]] std::string_view level_name(FeatureLevel level);
[[nodiscard]] std::optional<FeatureLevel> find_level(std::uint32_t value);  // value of DML_FEATURE_LEVEL
[[nodiscard]] std::optional<FeatureLevel> parse_level(std::string_view name);

}  // namespace anydml::facts
