// SPDX-License-Identifier: MIT
#include "directml/read_desc.h"

#include <algorithm>
#include <cstring>

#include "base/float_bits.h"

namespace anydml {
namespace {

template <class T>
T read_field(const void* desc, const facts::Field& field) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(desc) + field.offset, sizeof(value));
  return value;
}

schema::GivenTensor read_tensor(const DML_TENSOR_DESC& given) {
  schema::GivenTensor tensor{.tensor_type = static_cast<std::uint32_t>(given.Type), .has_desc = given.Desc != nullptr};
  if (given.Type == DML_TENSOR_TYPE_BUFFER && tensor.has_desc) {
    const auto& desc = *static_cast<const DML_BUFFER_TENSOR_DESC*>(given.Desc);
    tensor.type = static_cast<std::uint32_t>(desc.DataType);
    tensor.flags = static_cast<std::uint32_t>(desc.Flags);
    tensor.rank = desc.DimensionCount;
    tensor.has_sizes = desc.Sizes != nullptr;
    tensor.has_strides = desc.Strides != nullptr;
    if (tensor.rank <= kMaxRank) {
      std::copy_n(desc.Sizes, tensor.has_sizes ? tensor.rank : 0, tensor.sizes);
      std::copy_n(desc.Strides, tensor.has_strides ? tensor.rank : 0, tensor.strides);
    }
    tensor.total_bytes = desc.TotalTensorSizeInBytes;
    tensor.alignment = desc.GuaranteedBaseOffsetAlignment;
  }
  return tensor;
}

}  // namespace

Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op) {
  schema::Described described(op);
  std::uint32_t union_type = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    schema::Argument& argument = described.arguments[i];
    argument.present = true;
    switch (field.type) {
      case facts::FieldType::tensors:
        if (const auto* tensor = read_field<const DML_TENSOR_DESC*>(desc.Desc, field); tensor != nullptr) {
          argument.tensors.push_back(read_tensor(*tensor));
        } else {
          argument.present = false;
        }
        break;
      case facts::FieldType::real:
        argument.numbers = {Scalar(static_cast<f64>(read_field<FLOAT>(desc.Desc, field)))};
        break;
      case facts::FieldType::integer:
        argument.numbers = {Scalar(static_cast<i64>(read_field<INT>(desc.Desc, field)))};
        break;
      case facts::FieldType::enumeration:
        union_type = read_field<UINT>(desc.Desc, field);
        [[fallthrough]];
      case facts::FieldType::natural:
      case facts::FieldType::boolean:
        argument.numbers = {Scalar(static_cast<u64>(read_field<UINT>(desc.Desc, field)))};
        break;
      case facts::FieldType::scale_bias:
        if (const auto* scale_bias = read_field<const DML_SCALE_BIAS*>(desc.Desc, field); scale_bias != nullptr) {
          argument.numbers = {Scalar(static_cast<f64>(scale_bias->Scale)), Scalar(static_cast<f64>(scale_bias->Bias))};
        } else {
          argument.present = false;
        }
        break;
      case facts::FieldType::scalar_union: {
        const auto type = static_cast<DataType>(union_type);
        if (is_element_type(type)) {
          visit_type(type, [&]<class T>() {
            const T value = read_field<T>(desc.Desc, field);
            if constexpr (sizeof(T) == 2 && is_float<T>) {
              argument.numbers = {Scalar(static_cast<f64>(widen(value)))};
            } else if constexpr (is_float<T>) {
              argument.numbers = {Scalar(static_cast<f64>(value))};
            } else if constexpr (std::is_signed_v<T>) {
              argument.numbers = {Scalar(i64{value})};
            } else {
              argument.numbers = {Scalar(u64{value})};
            }
          });
        }
        break;
      }
      default:
        argument.present = false;
    }
  }
  return described;
}

}  // namespace anydml
