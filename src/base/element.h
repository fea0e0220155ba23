// SPDX-License-Identifier: MIT
// The element types of tensors: their names, sizes and C++ representations. The scalar definitions include this file,
// so it must compile as host C++ and as CUDA, and it depends only on the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/primitives.h"

namespace anydml {

// IEEE binary16, stored as bits. Arithmetic goes through FLOAT32 (base/float_bits.h). The other types are in
// base/integers.h and base/primitives.h.
struct f16 {
  std::uint16_t bits;
};

static_assert(sizeof(f16) == 2 && sizeof(f32) == 4 && sizeof(f64) == 8);

// Every element type: its C++ name, its DirectML name, and its value in DML_TENSOR_DATA_TYPE.
#define ANYDML_FOR_EACH_TYPE(X) \
  X(f32, FLOAT32, 1)            \
  X(f16, FLOAT16, 2)            \
  X(u32, UINT32, 3)             \
  X(u16, UINT16, 4)             \
  X(u8, UINT8, 5)               \
  X(i32, INT32, 6)              \
  X(i16, INT16, 7)              \
  X(i8, INT8, 8)                \
  X(f64, FLOAT64, 9)            \
  X(u64, UINT64, 10)            \
  X(i64, INT64, 11)

enum class DataType : std::uint32_t {
  unknown = 0,
#define ANYDML_ENUMERATOR(type, name, value) name = value,
  ANYDML_FOR_EACH_TYPE(ANYDML_ENUMERATOR)
#undef ANYDML_ENUMERATOR
  // 4-bit types: two elements share a byte, with the first element in the low half. A tensor with an odd number of
  // elements ends in the low half of its last byte, and the other half is 0. Only quantization operators accept these
  // types.
  UINT4 = 12,
  INT4 = 13,
};
inline constexpr std::size_t kDataTypeLimit = 12;  // one past the last type whose elements are whole bytes

// A set of types: bit i stands for the DataType with value i.
using TypeSet = std::uint32_t;
[[nodiscard]] constexpr TypeSet type_bit(DataType type) { return TypeSet{1} << static_cast<std::uint32_t>(type); }

template <class T>
inline constexpr DataType kDataTypeOf = DataType::unknown;
#define ANYDML_TYPE_OF(type, name, value) \
  template <>                             \
  inline constexpr DataType kDataTypeOf<type> = DataType::name;
ANYDML_FOR_EACH_TYPE(ANYDML_TYPE_OF)
#undef ANYDML_TYPE_OF

[[nodiscard]] constexpr bool is_four_bits(DataType type) { return type == DataType::UINT4 || type == DataType::INT4; }

// The size in bytes; 0 for the 4-bit types and for values that are not element types.
[[nodiscard]] constexpr std::size_t element_size(DataType type) {
  switch (type) {
#define ANYDML_SIZE(type, name, value) \
  case DataType::name:                 \
    return sizeof(type);
    ANYDML_FOR_EACH_TYPE(ANYDML_SIZE)
#undef ANYDML_SIZE
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return 0;
}

// DirectML's name for the type, such as "FLOAT32"; "UNKNOWN" for a value that is not an element type.
[[nodiscard]] constexpr std::string_view type_name(DataType type) {
  switch (type) {
#define ANYDML_NAME(type, name, value) \
  case DataType::name:                 \
    return #name;
    ANYDML_FOR_EACH_TYPE(ANYDML_NAME)
#undef ANYDML_NAME
    case DataType::UINT4:
      return "UINT4";
    case DataType::INT4:
      return "INT4";
    case DataType::unknown:
      break;
  }
  return "UNKNOWN";
}

// Whether the type's elements are whole bytes, so that each element has its own address.
[[nodiscard]] constexpr bool is_element_type(DataType type) { return element_size(type) != 0; }
// Whether a tensor may have this type.
[[nodiscard]] constexpr bool is_tensor_type(DataType type) { return is_element_type(type) || is_four_bits(type); }

// A tensor's alignment in bytes, which is also the number of bytes that one element touches. It is the element's size,
// but at least 1.
[[nodiscard]] constexpr std::size_t element_alignment(DataType type) {
  return element_size(type) == 0 ? 1 : element_size(type);
}

[[nodiscard]] constexpr bool is_float_type(DataType type) {
  return type == DataType::FLOAT16 || type == DataType::FLOAT32 || type == DataType::FLOAT64;
}

template <class T>
inline constexpr bool is_float = is_float_type(kDataTypeOf<T>);

// Calls visitor.template operator()<T>() for the C++ type that represents `type`, which must be an element type.
template <class Visitor>
constexpr decltype(auto) visit_type(DataType type, Visitor&& visitor) {
  switch (type) {
#define ANYDML_VISIT(type, name, value) \
  case DataType::name:                  \
    return visitor.template operator()<type>();
    ANYDML_FOR_EACH_TYPE(ANYDML_VISIT)
#undef ANYDML_VISIT
    case DataType::UINT4:
    case DataType::INT4:
    case DataType::unknown:
      break;
  }
  return visitor.template operator()<u8>();  // unreachable: callers pass a validated type
}

}  // namespace anydml
