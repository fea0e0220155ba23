// SPDX-License-Identifier: MIT
// Converts a described operator to the struct that a DirectML program fills in.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <string_view>
#include <vector>

// clang-format off
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <anydml/DirectML.h>
// clang-format on

#include "schema/described.h"

namespace anydml::test {

class WrittenDesc {
 public:
  explicit WrittenDesc(const schema::Described& described) : desc_(write(described)) {}

  [[nodiscard]] const DML_OPERATOR_DESC& get() const { return desc_; }
  [[nodiscard]] std::byte* member(std::string_view name) const {
    return outer_ + std::ranges::find(facts_->fields, name, &facts::Field::name)->offset;
  }

 private:
  std::byte* allocate(std::size_t bytes) {
    return reinterpret_cast<std::byte*>(blocks_.emplace_back(bytes / sizeof(u64) + 1).data());
  }

  template <class T>
  static void put(std::byte*& to, T value) {
    std::memcpy(to, &value, sizeof(value));
    to += sizeof(value);
  }

  static void put_number(std::byte*& to, facts::FieldType type, const Scalar& number) {
    switch (type) {
      case facts::FieldType::real:
      case facts::FieldType::reals:
      case facts::FieldType::scale_bias:
        return put(to, number.as<f32>());
      case facts::FieldType::integer:
      case facts::FieldType::integers:
        return put(to, number.as<i32>());
      default:
        return put(to, number.as<u32>());
    }
  }

  static void put_union(std::byte*& to, u32 type, const Scalar& number) {
    switch (static_cast<DataType>(type)) {
#define ANYDML_PUT(T, name, value) \
  case DataType::name:             \
    return put(to, number.as<T>());
      ANYDML_FOR_EACH_TYPE(ANYDML_PUT)
#undef ANYDML_PUT
      default:  // no union contains a four-bit number
        break;
    }
  }

  const void* write_tensors(const std::vector<schema::GivenTensor>& tensors) {
    auto* descs = reinterpret_cast<DML_TENSOR_DESC*>(allocate(tensors.size() * sizeof(DML_TENSOR_DESC)));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto* sizes = reinterpret_cast<UINT*>(allocate(kMaxRank * sizeof(UINT)));
      std::ranges::transform(tensors[i].sizes, sizes, [](i64 size) { return static_cast<UINT>(size); });
      UINT* strides = nullptr;
      if (tensors[i].has_strides) {
        strides = reinterpret_cast<UINT*>(allocate(kMaxRank * sizeof(UINT)));
        std::ranges::transform(tensors[i].strides, strides, [](i64 stride) { return static_cast<UINT>(stride); });
      }
      auto* buffer = reinterpret_cast<DML_BUFFER_TENSOR_DESC*>(allocate(sizeof(DML_BUFFER_TENSOR_DESC)));
      *buffer = {static_cast<DML_TENSOR_DATA_TYPE>(tensors[i].type),
                 static_cast<DML_TENSOR_FLAGS>(tensors[i].flags),
                 tensors[i].rank,
                 sizes,
                 strides,
                 tensors[i].total_bytes,
                 tensors[i].alignment};
      descs[i] = {DML_TENSOR_TYPE_BUFFER, buffer};
    }
    return descs;
  }

  const void* write_pointed(const facts::Field& field, const schema::Argument& argument) {
    if (!argument.present) {
      return nullptr;
    }
    if (field.type == facts::FieldType::tensors) {
      return write_tensors(argument.tensors);
    }
    if (field.type == facts::FieldType::operators) {
      auto* descs =
          reinterpret_cast<DML_OPERATOR_DESC*>(allocate(argument.operators.size() * sizeof(DML_OPERATOR_DESC)));
      for (std::size_t i = 0; i < argument.operators.size(); ++i) {
        descs[i] = write(argument.operators[i]);
      }
      return descs;
    }
    std::byte* numbers = allocate(argument.numbers.size() * sizeof(u32));
    std::byte* next = numbers;
    for (const Scalar& number : argument.numbers) {
      put_number(next, field.type, number);
    }
    return numbers;
  }

  DML_OPERATOR_DESC write(const schema::Described& described) {
    const facts::Operator& op = *described.op;
    std::byte* desc = allocate(op.desc_size);
    const std::size_t type_field = schema::union_type_field(op);
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      const facts::Field& field = op.fields[i];
      const schema::Argument& argument = described.arguments[i];
      std::byte* to = desc + field.offset;
      const bool is_pointer = field.spelling.ends_with('*');
      if (is_pointer) {
        put(to, write_pointed(field, argument));
      } else if (field.type == facts::FieldType::scalar_union) {
        put_union(to, described.arguments[type_field].numbers[0].as<u32>(), argument.numbers[0]);
      } else {
        for (const Scalar& number : argument.numbers) {
          put_number(to, field.type, number);
        }
      }
    }
    facts_ = &op;
    outer_ = desc;  // the outermost is written last
    return {static_cast<DML_OPERATOR_TYPE>(op.value), desc};
  }

  std::deque<std::vector<u64>> blocks_;
  const facts::Operator* facts_ = nullptr;
  std::byte* outer_ = nullptr;
  DML_OPERATOR_DESC desc_;
};

}  // namespace anydml::test
