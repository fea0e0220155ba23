// SPDX-License-Identifier: MIT
#include "directml/operator_desc.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "schema/check.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kBufferOffsetAlignment = 16;  // DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT

// Sizes and strides as the core has them.
struct Wide {
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];
};

// A member of the desc struct, which the caller promises to be of the operator's type.
template <class T>
T read_field(const void* desc, const facts::Field& field) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(desc) + field.offset, sizeof(value));
  return value;
}

// What is wrong with it the schema says: here it is only read, as far as its own words allow.
schema::GivenTensor read_tensor(std::size_t field, const DML_TENSOR_DESC& given) {
  schema::GivenTensor tensor{
      .field = field, .tensor_type = static_cast<std::uint32_t>(given.Type), .has_desc = given.Desc != nullptr};
  if (given.Type == DML_TENSOR_TYPE_BUFFER && tensor.has_desc) {
    const auto& desc = *static_cast<const DML_BUFFER_TENSOR_DESC*>(given.Desc);
    tensor.type = static_cast<std::uint32_t>(desc.DataType);
    tensor.flags = static_cast<std::uint32_t>(desc.Flags);
    tensor.rank = desc.DimensionCount;
    tensor.sizes = desc.Sizes;
    tensor.strides = desc.Strides;
    tensor.total_bytes = desc.TotalTensorSizeInBytes;
    tensor.alignment = desc.GuaranteedBaseOffsetAlignment;
  }
  return tensor;
}

TensorSpec widen(const schema::GivenTensor& tensor, Wide& wide) {
  std::copy_n(tensor.sizes, tensor.rank, wide.sizes);
  if (tensor.strides != nullptr) {
    std::copy_n(tensor.strides, tensor.rank, wide.strides);
  }
  return {.type = tensor.type,
          .rank = tensor.rank,
          .sizes = wide.sizes,
          .strides = tensor.strides == nullptr ? nullptr : wide.strides};
}

// The attributes as named numbers; a ScaleBias gives two.
Status read_attributes(const Row& row, const void* desc, std::vector<NamedScalar>& attributes) {
  for (const facts::Field& field : row.facts->fields) {
    if (!facts::is_attribute(field.kind)) {
      continue;
    }
    switch (field.type) {
      case facts::FieldType::real:
        attributes.push_back({field.name, Scalar(static_cast<f64>(read_field<FLOAT>(desc, field)))});
        break;
      case facts::FieldType::integer:
        attributes.push_back({field.name, Scalar(static_cast<i64>(read_field<INT>(desc, field)))});
        break;
      case facts::FieldType::natural:
      case facts::FieldType::boolean:
        attributes.push_back({field.name, Scalar(static_cast<u64>(read_field<UINT>(desc, field)))});
        break;
      case facts::FieldType::scale_bias:
        if (const auto* scale_bias = read_field<const DML_SCALE_BIAS*>(desc, field); scale_bias != nullptr) {
          attributes.push_back({"Scale", Scalar(static_cast<f64>(scale_bias->Scale))});
          attributes.push_back({"Bias", Scalar(static_cast<f64>(scale_bias->Bias))});
        }
        break;
      default:
        return Error{ErrorKind::internal,
                     format_text("{}: {} is of type {}, which is not read yet", row.name, field.name, field.spelling)};
    }
  }
  return {};
}

Result<const Row*> choose_row(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  if (desc == nullptr) {
    return Error{ErrorKind::invalid_argument, "desc is null; expected a DML_OPERATOR_DESC"};
  }
  const auto number = static_cast<std::uint32_t>(desc->Type);
  const auto all = facts::operators();
  const auto op = std::ranges::find(all, number, &facts::Operator::value);
  if (op == all.end()) {
    return Error{ErrorKind::invalid_argument, format_text("Type is {}; expected the number of an operator, such as "
                                                          "DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR",
                                                          number)};
  }
  if (const auto newer = schema::check_level(*op, level)) {
    return invalid(*op, *newer);
  }
  const Row* row = find_row(*op);
  if (row == nullptr) {
    return Error{ErrorKind::unsupported,
                 format_text("{}: an operator of DirectML that is not built here yet", op->name)};
  }
  if (desc->Desc == nullptr) {
    return invalid({op->name, {}}, format_text("Desc is null; expected a {}", op->desc_struct));
  }
  return row;
}

}  // namespace

Result<std::shared_ptr<const OperatorDef>> make_operator(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  const auto chosen = choose_row(desc, level);
  ANYDML_TRY(chosen);
  const Row& row = *chosen.value();
  const facts::Operator& op = *row.facts;

  schema::GivenTensor given[kMaxOperands];
  std::size_t count = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    if (facts::is_attribute(op.fields[i].kind)) {
      continue;
    }
    if (const auto* tensor = read_field<const DML_TENSOR_DESC*>(desc->Desc, op.fields[i]); tensor != nullptr) {
      given[count++] = read_tensor(i, *tensor);
    }
  }
  const auto tensors = std::span(given, count);
  if (const auto violations = schema::check_operator(op, level, tensors); !violations.empty()) {
    return invalid(op, violations.front());
  }
  std::vector<NamedScalar> attributes;
  ANYDML_TRY(read_attributes(row, desc->Desc, attributes));

  auto def = std::make_shared<OperatorDef>();
  Wide wide[kMaxOperands];
  TensorSpec specs[kMaxOperands];
  const auto positions = schema::positions_of(op, tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const schema::GivenTensor& tensor = tensors[i];
    const facts::Field& field = op.fields[tensor.field];
    // The output comes after the inputs, whatever the order of the fields.
    const bool is_output = facts::is_output(field.kind);
    const std::size_t position = is_output ? row.inputs + positions[i] : positions[i];
    if (is_output ? positions[i] != 0 : positions[i] >= row.inputs) {
      return Error{ErrorKind::unsupported,
                   format_text("{}: {} is given, and the operator is built here without it", row.name, field.name)};
    }
    specs[position] = widen(tensor, wide[position]);
    def->tensors[position] = {.name = field.name,
                              .bytes = tensor.total_bytes,
                              .alignment = std::max<std::uint64_t>(tensor.alignment, kBufferOffsetAlignment),
                              .owned = (tensor.flags & schema::kOwnedByDml) != 0};
  }
  auto described = make_op_desc(
      {.row = &row, .inputs = std::span(specs, row.inputs), .output = &specs[row.inputs], .attributes = attributes});
  ANYDML_TRY(described);
  def->desc = described.value();
  return std::shared_ptr<const OperatorDef>(std::move(def));
}

}  // namespace anydml
