// SPDX-License-Identifier: MIT
#include "schema/described.h"

#include <cstring>

#include "base/float_bits.h"

namespace anydml::schema {
namespace {

// The lowest bytes, where little-endian machines have the smaller members of a union.
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

}  // namespace

std::optional<Scalar> union_number(std::uint32_t type, std::uint64_t bits) {
  switch (static_cast<DataType>(type)) {
#define ANYDML_NUMBER(T, name, value) \
  case DataType::name:                \
    return number_in<T>(bits);
    ANYDML_FOR_EACH_TYPE(ANYDML_NUMBER)
#undef ANYDML_NUMBER
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

}  // namespace anydml::schema
