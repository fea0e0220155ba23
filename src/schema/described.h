// SPDX-License-Identifier: MIT
// A caller's description of an operator. DirectML structs, C API calls, dmlrun's models and Python calls are all
// converted to this form. Only its structure is guaranteed: one argument for each field of the operator, in the order
// of the fields. schema/check.h checks the contents against the rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "base/shape.h"
#include "facts/facts.h"

namespace anydml::schema {

inline constexpr std::uint32_t kBufferTensor = 1;  // DML_TENSOR_TYPE_BUFFER
inline constexpr std::uint32_t kOwnedByDml = 1;    // DML_TENSOR_FLAG_OWNED_BY_DML

// Sizes and strides contain `rank` numbers if the rank is at most kMaxRank, and no numbers otherwise.
struct GivenTensor {
  std::uint32_t tensor_type = kBufferTensor;
  bool has_desc = true;    // false if Desc is null; the members below are then meaningless
  std::uint32_t type = 0;  // DML_TENSOR_DATA_TYPE
  std::uint32_t flags = 0;
  std::uint32_t rank = 0;
  bool has_sizes = true;
  bool has_strides = false;  // if false, packed with the last dimension fastest
  std::int64_t sizes[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};  // in elements
  std::uint64_t total_bytes = 0;
  std::uint32_t alignment = 0;
};

struct Described;

// The argument for one field. The field's kind determines which of the three lists may contain values:
//   tensors    one, or all tensors of an array; none for an absent optional tensor, which keeps its field
//   numbers    one for FLOAT, UINT, INT, BOOL, an enumeration and a scalar union (in the type that its sibling names);
//              two for a ScaleBias (Scale, Bias) and a DML_SIZE_2D (Width, Height); all numbers of an array
//   operators  one, or all operators of an array
struct Argument {
  bool present = false;  // false if null or omitted
  std::vector<GivenTensor> tensors;
  std::vector<Scalar> numbers;
  std::vector<Described> operators;
};

struct Described {
  explicit Described(const facts::Operator& of) : op(&of), arguments(of.fields.size()) {}

  const facts::Operator* op;
  std::vector<Argument> arguments;
};

// The value of a DML_SCALAR_UNION with these bits, read as a DML_TENSOR_DATA_TYPE; no value if `type` is not a type.
[[nodiscard]] std::optional<Scalar> union_number(std::uint32_t type, std::uint64_t bits);

// The field of type DML_TENSOR_DATA_TYPE that determines how scalar unions are read; kNoField if there is none.
inline constexpr std::size_t kNoField = static_cast<std::size_t>(-1);
[[nodiscard]] std::size_t union_type_field(const facts::Operator& op);

// The attributes that are present, for human readers: "Function=SUM, Axes=[3]". Counts are omitted.
[[nodiscard]] std::string attributes_text(const facts::Operator& op, std::span<const Argument> arguments);

}  // namespace anydml::schema
