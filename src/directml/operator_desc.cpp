// SPDX-License-Identifier: MIT
#include "directml/operator_desc.h"

#include <algorithm>
#include <vector>

#include "directml/read_desc.h"
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

TensorSpec widen(const schema::GivenTensor& tensor, Wide& wide) {
  std::copy_n(tensor.sizes, tensor.rank, wide.sizes);
  std::copy_n(tensor.strides, tensor.rank, wide.strides);
  return {.type = tensor.type,
          .rank = tensor.rank,
          .sizes = wide.sizes,
          .strides = tensor.has_strides ? wide.strides : nullptr};
}

// The attributes as named numbers; a ScaleBias gives two.
Status read_attributes(const Row& row, const schema::Described& given, std::vector<NamedScalar>& attributes) {
  for (std::size_t i = 0; i < given.arguments.size(); ++i) {
    const facts::Field& field = row.facts->fields[i];
    const auto& numbers = given.arguments[i].numbers;
    if (!facts::is_attribute(field.kind)) {
      continue;
    }
    switch (field.type) {
      case facts::FieldType::real:
      case facts::FieldType::integer:
      case facts::FieldType::natural:
      case facts::FieldType::boolean:
        attributes.push_back({field.name, numbers.front()});
        break;
      case facts::FieldType::scale_bias:
        if (given.arguments[i].present) {
          attributes.push_back({"Scale", numbers[0]});
          attributes.push_back({"Bias", numbers[1]});
        }
        break;
      default:
        return Error{ErrorKind::internal,
                     format_text("{}: {} is of type {}, which is not read yet", row.name, field.name, field.spelling)};
    }
  }
  return {};
}

// The operator as it is described, after all that the documents ask of it.
Result<schema::Described> read_right(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  if (desc == nullptr) {
    return Error{ErrorKind::invalid_argument, "desc is null; expected a DML_OPERATOR_DESC"};
  }
  const facts::Operator* op = find_operator(desc->Type);
  if (op == nullptr) {
    return Error{ErrorKind::invalid_argument, format_text("Type is {}; expected the number of an operator, such as "
                                                          "DML_OPERATOR_ELEMENT_WISE_MODULUS_FLOOR",
                                                          static_cast<std::uint32_t>(desc->Type))};
  }
  if (const auto newer = schema::check_level(*op, level)) {
    return invalid(*op, *newer);
  }
  auto given = read_described(*desc, *op);
  ANYDML_TRY(given);
  if (const auto violations = schema::check_operator(given.value(), level); !violations.empty()) {
    return invalid(*op, violations.front());
  }
  return given;
}

}  // namespace

Result<std::shared_ptr<const OperatorDef>> make_operator(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  const auto read = read_right(desc, level);
  ANYDML_TRY(read);
  const schema::Described& given = read.value();
  const facts::Operator& op = *given.op;
  const Row* found = find_row(op);
  if (found == nullptr) {
    return Error{ErrorKind::unsupported,
                 format_text("{}: an operator of DirectML that is not built here yet", op.name)};
  }
  const Row& row = *found;
  std::vector<NamedScalar> attributes;
  ANYDML_TRY(read_attributes(row, given, attributes));

  auto def = std::make_shared<OperatorDef>();
  Wide wide[kMaxOperands];
  TensorSpec specs[kMaxOperands];
  const auto positions = schema::positions_of(given);
  std::size_t next = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    for (const schema::GivenTensor& tensor : given.arguments[i].tensors) {
      // The output comes after the inputs, whatever the order of the fields.
      const facts::Field& field = op.fields[i];
      const bool is_output = facts::is_output(field.kind);
      const std::size_t among = positions[next++];
      const std::size_t position = is_output ? row.inputs + among : among;
      if (is_output ? among != 0 : among >= row.inputs) {
        return Error{ErrorKind::unsupported,
                     format_text("{}: {} is given, and the operator is built here without it", row.name, field.name)};
      }
      specs[position] = widen(tensor, wide[position]);
      def->tensors[position] = {.name = field.name,
                                .bytes = tensor.total_bytes,
                                .alignment = std::max<std::uint64_t>(tensor.alignment, kBufferOffsetAlignment),
                                .owned = (tensor.flags & schema::kOwnedByDml) != 0};
    }
  }
  auto described = make_op_desc(
      {.row = &row, .inputs = std::span(specs, row.inputs), .output = &specs[row.inputs], .attributes = attributes});
  ANYDML_TRY(described);
  def->desc = described.value();
  return std::shared_ptr<const OperatorDef>(std::move(def));
}

}  // namespace anydml
