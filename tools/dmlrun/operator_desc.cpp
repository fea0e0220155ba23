// SPDX-License-Identifier: MIT
#include "operator_desc.h"

#include <cstring>
#include <new>

namespace anydml::dmlrun {

std::byte* OperatorDesc::allocate(std::size_t bytes) {
  return reinterpret_cast<std::byte*>(blocks_.emplace_back(bytes / sizeof(std::uint64_t) + 1).data());
}

// Returns the target of a pointer member, or null if it is absent.
const void* OperatorDesc::keep(const FieldValue& value) {
  if (const auto* numbers = std::get_if<PointedWords>(&value)) {
    return numbers->words.data();
  }
  if (const auto* tensors = tensors_of(value)) {
    auto* descs = reinterpret_cast<DML_TENSOR_DESC*>(allocate(tensors->size() * sizeof(DML_TENSOR_DESC)));
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      const TensorValue& tensor = (*tensors)[i];
      const auto* buffer = new (allocate(sizeof(DML_BUFFER_TENSOR_DESC)))
          DML_BUFFER_TENSOR_DESC{static_cast<DML_TENSOR_DATA_TYPE>(tensor.type),
                                 static_cast<DML_TENSOR_FLAGS>(tensor.flags),
                                 static_cast<UINT>(tensor.sizes.size()),
                                 tensor.sizes.data(),
                                 tensor.strides.empty() ? nullptr : tensor.strides.data(),
                                 tensor.total_bytes,
                                 tensor.alignment};
      new (descs + i) DML_TENSOR_DESC{static_cast<DML_TENSOR_TYPE>(tensor.tensor_type), buffer};
    }
    return descs;
  }
  if (const auto* operators = std::get_if<std::vector<OperatorModel>>(&value)) {
    auto* descs = reinterpret_cast<DML_OPERATOR_DESC*>(allocate(operators->size() * sizeof(DML_OPERATOR_DESC)));
    for (std::size_t i = 0; i < operators->size(); ++i) {
      new (descs + i) DML_OPERATOR_DESC(build((*operators)[i]));
    }
    return descs;
  }
  return nullptr;
}

DML_OPERATOR_DESC OperatorDesc::build(const OperatorModel& model) {
  std::byte* desc = allocate(model.facts->desc_size);
  for (std::size_t i = 0; i < model.fields.size(); ++i) {
    const facts::Field& field = model.facts->fields[i];
    if (const auto* numbers = std::get_if<InlineWords>(&model.fields[i])) {
      std::memcpy(desc + field.offset, numbers->words.data(), field.size);
    } else {
      const void* pointer = keep(model.fields[i]);
      std::memcpy(desc + field.offset, &pointer, sizeof(pointer));
    }
  }
  return {static_cast<DML_OPERATOR_TYPE>(model.facts->value), desc};
}

}  // namespace anydml::dmlrun
