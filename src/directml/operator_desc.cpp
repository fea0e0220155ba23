// SPDX-License-Identifier: MIT
#include "directml/operator_desc.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kBufferOffsetAlignment = 16;  // DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT

// A tensor as it was given, in the core's terms.
struct GivenTensor {
  TensorSpec spec;
  std::int64_t sizes[kMaxRank];
  std::int64_t strides[kMaxRank];
  TensorBinding binding;
};

// A member of the desc struct, which the caller promises to be of the operator's type.
template <class T>
T read_field(const void* desc, const facts::Field& field) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(desc) + field.offset, sizeof(value));
  return value;
}

// The least number of bytes that holds the tensor; nothing when it does not fit 63 bits.
std::optional<std::uint64_t> implied_bytes(const GivenTensor& tensor, std::size_t element) {
  std::optional<std::int64_t> last = 0;  // the place of the last element
  if (tensor.spec.strides == nullptr) {
    last = 1;
    for (std::int64_t i = 0; last && i < tensor.spec.rank; ++i) {
      last = checked_multiply(*last, tensor.sizes[i]);
    }
    last = last ? checked_subtract(*last, 1) : last;
  } else {
    for (std::int64_t i = 0; last && i < tensor.spec.rank; ++i) {
      const auto reach = checked_multiply(tensor.sizes[i] - 1, tensor.strides[i]);
      last = reach ? checked_add(*last, *reach) : std::nullopt;
    }
  }
  const auto count = last ? checked_add(*last, std::int64_t{1}) : last;
  const auto bytes = count ? checked_multiply(*count, static_cast<std::int64_t>(element)) : count;
  const auto padded = bytes ? checked_add(*bytes, std::int64_t{3}) : bytes;
  return padded ? std::optional(static_cast<std::uint64_t>(*padded) & ~std::uint64_t{3}) : std::nullopt;
}

// The level from which the operator's field takes the type, for messages; empty when none does.
std::string taken_from(const facts::Operator& op, std::size_t field, std::uint32_t type) {
  const facts::Support* first = nullptr;
  for (const facts::Support& support : op.support) {
    if (support.field == field && type < 16 && (support.types >> type & 1) != 0 &&
        (first == nullptr || support.level < first->level)) {
      first = &support;
    }
  }
  return first == nullptr ? std::string()
                          : format_text(" (it takes this one from {})", facts::level_name(first->level));
}

Status read_tensor(Where where, const DML_TENSOR_DESC* given, bool is_output, const facts::Operator& op,
                   std::size_t field, const facts::Support& support, facts::FeatureLevel level, GivenTensor& tensor) {
  if (given == nullptr) {
    return invalid(where, "the tensor is null; expected a DML_TENSOR_DESC, since it is not optional");
  }
  if (given->Type != DML_TENSOR_TYPE_BUFFER) {
    return invalid(where,
                   format_text("Type is {}; expected DML_TENSOR_TYPE_BUFFER (1)", static_cast<unsigned>(given->Type)));
  }
  if (given->Desc == nullptr) {
    return invalid(where, "Desc is null; expected a DML_BUFFER_TENSOR_DESC");
  }
  const auto& desc = *static_cast<const DML_BUFFER_TENSOR_DESC*>(given->Desc);
  const std::string at_level = format_text(" at feature level {}", facts::level_name(level));
  const auto type = static_cast<DataType>(desc.DataType);
  const auto type_number = static_cast<std::uint32_t>(desc.DataType);
  if (type_number >= 16 || (support.types >> type_number & 1) == 0) {
    return invalid(where,
                   format_text("DataType is {}; expected {}{}{}",
                               is_element_type(type) ? std::string(type_name(type)) : format_text("{}", type_number),
                               type_names(support.types), at_level, taken_from(op, field, type_number)));
  }
  if ((desc.Flags & ~DML_TENSOR_FLAG_OWNED_BY_DML) != 0) {
    return invalid(
        where, format_text("Flags is {:#x}; expected NONE (0) or OWNED_BY_DML (1)", static_cast<unsigned>(desc.Flags)));
  }
  const bool owned = (desc.Flags & DML_TENSOR_FLAG_OWNED_BY_DML) != 0;
  if (owned && is_output) {
    return invalid(where, "Flags is OWNED_BY_DML; expected NONE, since only inputs can be owned");
  }
  if (desc.DimensionCount < support.min_rank || desc.DimensionCount > support.max_rank) {
    return invalid(
        where, support.min_rank == support.max_rank
                   ? format_text("DimensionCount is {}; expected {}{}", desc.DimensionCount, support.min_rank, at_level)
                   : format_text("DimensionCount is {}; expected {} to {}{}", desc.DimensionCount, support.min_rank,
                                 support.max_rank, at_level));
  }
  if (desc.Sizes == nullptr) {
    return invalid(where, format_text("Sizes is null; expected {} sizes", desc.DimensionCount));
  }
  tensor.spec = {.type = type_number, .rank = desc.DimensionCount, .sizes = tensor.sizes, .strides = nullptr};
  for (UINT i = 0; i < desc.DimensionCount; ++i) {
    if (desc.Sizes[i] == 0) {
      return invalid(where, format_text("Sizes[{}] is 0; expected 1 or more", i));
    }
    tensor.sizes[i] = desc.Sizes[i];
  }
  if (desc.Strides != nullptr) {
    std::copy_n(desc.Strides, desc.DimensionCount, tensor.strides);
    tensor.spec.strides = tensor.strides;
  }
  const std::size_t element = element_size(type);
  const auto least = implied_bytes(tensor, element);
  if (!least) {
    return invalid(
        where, format_text("Sizes {} {}reach further than 64 bits count", shape_text(tensor.sizes, desc.DimensionCount),
                           desc.Strides == nullptr
                               ? ""
                               : format_text("with Strides {} ", shape_text(tensor.strides, desc.DimensionCount))));
  }
  if (desc.TotalTensorSizeInBytes < *least || desc.TotalTensorSizeInBytes % 4 != 0) {
    return invalid(where,
                   format_text("TotalTensorSizeInBytes is {}; expected {} or more, which the elements reach, and a "
                               "multiple of 4",
                               desc.TotalTensorSizeInBytes, *least));
  }
  const UINT alignment = desc.GuaranteedBaseOffsetAlignment;
  if (alignment != 0 && (!std::has_single_bit(alignment) || alignment < element)) {
    return invalid(where, format_text("GuaranteedBaseOffsetAlignment is {}; expected 0 or a power of two from {}, the "
                                      "size of an element",
                                      alignment, element));
  }
  tensor.binding = {.name = where.tensor,
                    .bytes = desc.TotalTensorSizeInBytes,
                    .alignment = std::max<std::uint64_t>(alignment, kBufferOffsetAlignment),
                    .owned = owned};
  return {};
}

// The attributes as named numbers; a ScaleBias gives two.
Status read_attributes(const Row& row, const void* desc, std::vector<NamedScalar>& attributes) {
  for (const facts::Field& field : row.facts->fields) {
    if (!facts::is_attribute(field.kind)) {
      continue;
    }
    if (field.type == "FLOAT") {
      attributes.push_back({field.name, Scalar(static_cast<f64>(read_field<FLOAT>(desc, field)))});
    } else if (field.type == "INT") {
      attributes.push_back({field.name, Scalar(static_cast<i64>(read_field<INT>(desc, field)))});
    } else if (field.type == "UINT" || field.type == "BOOL") {
      attributes.push_back({field.name, Scalar(static_cast<u64>(read_field<UINT>(desc, field)))});
    } else if (field.type == "const DML_SCALE_BIAS*") {
      if (const auto* scale_bias = read_field<const DML_SCALE_BIAS*>(desc, field); scale_bias != nullptr) {
        attributes.push_back({"Scale", Scalar(static_cast<f64>(scale_bias->Scale))});
        attributes.push_back({"Bias", Scalar(static_cast<f64>(scale_bias->Bias))});
      }
    } else {
      return Error{ErrorKind::internal,
                   format_text("{}: {} is of type {}, which is not read yet", row.name, field.name, field.type)};
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
  if (op->introduced > level) {
    return invalid({op->name, {}}, format_text("is of feature level {}; this device offers {}",
                                               facts::level_name(op->introduced), facts::level_name(level)));
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

  GivenTensor tensors[kMaxOperands];
  std::size_t inputs = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    if (facts::is_attribute(field.kind)) {
      continue;
    }
    const facts::Support* support = facts::find_support(op, i, level);
    if (support == nullptr) {
      return invalid({op.name, field.name}, format_text("is not known at feature level {}", facts::level_name(level)));
    }
    const bool is_output = facts::is_output(field.kind);
    // The output comes after the inputs, whatever the order of the fields.
    GivenTensor& tensor = tensors[is_output ? row.inputs : inputs++];
    ANYDML_TRY(read_tensor({op.name, field.name}, read_field<const DML_TENSOR_DESC*>(desc->Desc, field), is_output, op,
                           i, *support, level, tensor));
  }
  std::vector<NamedScalar> attributes;
  ANYDML_TRY(read_attributes(row, desc->Desc, attributes));

  TensorSpec specs[kMaxOperands];
  for (std::size_t i = 0; i <= row.inputs; ++i) {
    specs[i] = tensors[i].spec;
  }
  auto described = make_op_desc({.row = &row,
                                 .inputs = std::span(specs, row.inputs),
                                 .output = &specs[row.inputs],
                                 .attributes = attributes,
                                 .broadcast = Broadcast::none});
  ANYDML_TRY(described);
  auto def = std::make_shared<OperatorDef>();
  def->desc = described.value();
  for (std::size_t i = 0; i <= row.inputs; ++i) {
    def->tensors[i] = tensors[i].binding;
  }
  return std::shared_ptr<const OperatorDef>(std::move(def));
}

}  // namespace anydml
