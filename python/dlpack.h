// SPDX-License-Identifier: MIT
// The part of DLPack's ABI that this package reads and writes, versions 0.8 to 1.x: https://dmlc.github.io/dlpack
#pragma once

#include <cstdint>

#include "base/element.h"

namespace anydml::python::dlpack {

inline constexpr std::int32_t kCpu = 1;
inline constexpr std::int32_t kCuda = 2;
inline constexpr std::int32_t kCudaHost = 3;
inline constexpr std::int32_t kVulkan = 7;
inline constexpr std::int32_t kRocm = 10;
inline constexpr std::int32_t kRocmHost = 11;
inline constexpr std::int32_t kExtension = 12;  // a device for which DLPack has no type
inline constexpr std::int32_t kCudaManaged = 13;

struct Device {
  std::int32_t type;
  std::int32_t id;
};

enum Code : std::uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBool = 6 };

struct ElementType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  ElementType type;
  std::int64_t* sizes;
  std::int64_t* strides;  // in elements, or null for a packed tensor
  std::uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

inline constexpr std::uint64_t kReadOnly = 1;

struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

// The function table that a type offers as __dlpack_c_exchange_api__: access to its arrays without capsules, and its
// current stream. The functions return 0, or -1 with a Python error.
struct Exchange {
  Version version;
  Exchange* older;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*view)(void* object, Tensor* tensor);  // may be null; valid while the object lives and is not changed
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

inline DataType type_of(ElementType of) {
  if (of.lanes != 1) {
    return DataType::unknown;
  }
  const auto chosen = [&](DataType bits8, DataType bits16, DataType bits32, DataType bits64) {
    switch (of.bits) {
      case 8:
        return bits8;
      case 16:
        return bits16;
      case 32:
        return bits32;
      case 64:
        return bits64;
      default:
        return DataType::unknown;
    }
  };
  switch (of.code) {
    case kInt:
      return chosen(DataType::INT8, DataType::INT16, DataType::INT32, DataType::INT64);
    case kUInt:
      return chosen(DataType::UINT8, DataType::UINT16, DataType::UINT32, DataType::UINT64);
    case kFloat:
      return chosen(DataType::unknown, DataType::FLOAT16, DataType::FLOAT32, DataType::FLOAT64);
    default:
      return DataType::unknown;
  }
}

inline ElementType element_type(DataType type) {
  const auto bits = static_cast<std::uint8_t>(8 * element_size(type));
  for (const Code code : {kInt, kUInt, kFloat}) {
    if (type_of({code, bits, 1}) == type) {
      return {code, bits, 1};
    }
  }
  return {};
}

}  // namespace anydml::python::dlpack
