// SPDX-License-Identifier: MIT
// ONNX's element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "anydml/anydml.h"

namespace anydml::onnx {

// The numbers up to 28 are those of TensorProto.DataType; the others are types of values that are not tensors.
enum class Kind : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8e4m3fn = 17,
  kFloat8e4m3fnuz = 18,
  kFloat8e5m2 = 19,
  kFloat8e5m2fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4e2m1 = 23,
  kFloat8e8m0 = 24,
  kUint2 = 25,
  kInt2 = 26,
  kFloat6e2m3 = 27,
  kFloat6e3m2 = 28,
  kSequence = 100,
  kMap = 101,
  kOptional = 102,
  kSparseTensor = 103,
  kOpaque = 104,
  kNothing = 105,   // a value without a declared type
  kRejected = 106,  // the result of a node that anydml does not support
};
inline constexpr std::int32_t kMaxDataType = 28;

// A set of the element types whose numbers are below 32.
class KindSet {
 public:
  constexpr KindSet() = default;
  template <class... Kinds>
  constexpr explicit KindSet(Kinds... kinds) : bits_((0U | ... | bit(kinds))) {}
  static constexpr KindSet of_bits(std::uint32_t bits) {
    KindSet set;
    set.bits_ = bits;
    return set;
  }
  [[nodiscard]] constexpr bool contains(Kind kind) const { return (bits_ & bit(kind)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  constexpr KindSet operator|(KindSet other) const { return of_bits(bits_ | other.bits_); }
  constexpr KindSet operator&(KindSet other) const { return of_bits(bits_ & other.bits_); }
  constexpr bool operator==(const KindSet&) const = default;

 private:
  static constexpr std::uint32_t bit(Kind kind) {
    return static_cast<std::uint32_t>(kind) < 32 ? 1U << static_cast<std::uint32_t>(kind) : 0U;
  }
  std::uint32_t bits_ = 0;
};

inline constexpr KindSet kFloatKinds{Kind::kFloat16, Kind::kFloat, Kind::kDouble};
inline constexpr KindSet kSignedKinds{Kind::kInt8, Kind::kInt16, Kind::kInt32, Kind::kInt64};
inline constexpr KindSet kUnsignedKinds{Kind::kUint8, Kind::kUint16, Kind::kUint32, Kind::kUint64};
inline constexpr KindSet kIntegerKinds = kSignedKinds | kUnsignedKinds;
inline constexpr KindSet kNumberKinds = kFloatKinds | kIntegerKinds;
// The element types of arrays. Four-bit integers use a byte each while a model runs, so their arrays are kInt8 and
// kUint8; halves.h names the exceptions.
inline constexpr KindSet kArrayKinds = kNumberKinds | KindSet{Kind::kBool};
// Strings have arrays too, but only steps on the host accept them.
inline constexpr KindSet kStringKinds{Kind::kString};
inline constexpr KindSet kFourBitKinds{Kind::kInt4, Kind::kUint4};
// The types for which DirectML's functions are correctly rounded.
inline constexpr KindSet kRoundedKinds{Kind::kFloat16, Kind::kFloat};

// ONNX's name of a type, such as "float16", "bool", "sequence"; "undefined" for an unknown number.
[[nodiscard]] std::string_view kind_name(Kind kind);
// The type with this name; kUndefined if there is none.
[[nodiscard]] Kind kind_named(std::string_view name);
// The type of the array that contains elements of this kind: kInt8 for kInt4, kUint8 for kUint4, otherwise itself.
[[nodiscard]] constexpr Kind array_kind(Kind kind) {
  return kind == Kind::kInt4 ? Kind::kInt8 : kind == Kind::kUint4 ? Kind::kUint8 : kind;
}
// The size of an array's element in bytes; 0 if arrays cannot have this type.
[[nodiscard]] constexpr std::size_t item_size(Kind kind) {
  switch (kind) {
    case Kind::kInt8:
    case Kind::kUint8:
    case Kind::kBool:
      return 1;
    case Kind::kFloat16:
    case Kind::kInt16:
    case Kind::kUint16:
      return 2;
    case Kind::kFloat:
    case Kind::kInt32:
    case Kind::kUint32:
      return 4;
    case Kind::kDouble:
    case Kind::kInt64:
    case Kind::kUint64:
      return 8;
    case Kind::kString:
      return sizeof(std::string_view);
    default:
      return 0;
  }
}
// The bytes of packed elements.
[[nodiscard]] constexpr std::size_t bytes_of(Kind kind, std::size_t count) {
  return kFourBitKinds.contains(kind) ? (count + 1) / 2 : count * item_size(kind);
}
[[nodiscard]] constexpr bool is_float(Kind kind) { return kFloatKinds.contains(kind); }
[[nodiscard]] constexpr bool is_signed(Kind kind) { return kSignedKinds.contains(kind); }
[[nodiscard]] constexpr bool is_unsigned(Kind kind) { return kUnsignedKinds.contains(kind); }
[[nodiscard]] constexpr bool is_integer(Kind kind) { return kIntegerKinds.contains(kind); }
// The unsigned integer type of the same size.
[[nodiscard]] constexpr Kind unsigned_of(Kind kind) {
  switch (item_size(kind)) {
    case 1:
      return Kind::kUint8;
    case 2:
      return Kind::kUint16;
    case 4:
      return Kind::kUint32;
    default:
      return Kind::kUint64;
  }
}
// The type in the C API: UINT8 for bool; ANYDML_NONE if arrays cannot have this type.
[[nodiscard]] anydml_type api_type(Kind kind);
// The opposite; UINT8 becomes kUint8.
[[nodiscard]] Kind kind_of_api(anydml_type type);

// The smallest and largest values of a type, as doubles for floats and exactly for integers.
struct IntegerLimits {
  std::int64_t min;
  std::uint64_t max;
};
[[nodiscard]] IntegerLimits integer_limits(Kind kind);
[[nodiscard]] double max_float(Kind kind);

}  // namespace anydml::onnx
