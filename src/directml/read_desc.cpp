// SPDX-License-Identifier: MIT
#include "directml/read_desc.h"

#include <algorithm>
#include <cstring>

#include "plan/tensor.h"
#include "text/format.h"

namespace anydml {
namespace {

// Limits that no valid desc exceeds: an array of numbers has at most one number per dimension, and an array of
// operators has at most three operators for each of two directions.
constexpr UINT kMaxNumbers = kMaxRank;
constexpr UINT kMaxOperators = 8;
constexpr UINT kMaxTensors = 1 << 16;
constexpr int kDeepest = 2;

// Accesses a member of the desc struct. The caller guarantees that the struct has the operator's type.
template <class T>
T read_field(const void* desc, const facts::Field& field) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(desc) + field.offset, sizeof(value));
  return value;
}

schema::GivenTensor read_tensor(const DML_TENSOR_DESC& given) {
  schema::GivenTensor tensor{.tensor_type = static_cast<std::uint32_t>(given.Type), .has_desc = given.Desc != nullptr};
  if (given.Type != DML_TENSOR_TYPE_BUFFER || !tensor.has_desc) {
    return tensor;
  }
  const auto& desc = *static_cast<const DML_BUFFER_TENSOR_DESC*>(given.Desc);
  tensor.type = static_cast<std::uint32_t>(desc.DataType);
  tensor.flags = static_cast<std::uint32_t>(desc.Flags);
  tensor.rank = desc.DimensionCount;
  tensor.has_sizes = desc.Sizes != nullptr;
  tensor.has_strides = desc.Strides != nullptr;
  if (tensor.rank <= kMaxRank) {
    if (tensor.has_sizes) {
      std::copy_n(desc.Sizes, tensor.rank, tensor.sizes);
    }
    if (tensor.has_strides) {
      std::copy_n(desc.Strides, tensor.rank, tensor.strides);
    }
  }
  tensor.total_bytes = desc.TotalTensorSizeInBytes;
  tensor.alignment = desc.GuaranteedBaseOffsetAlignment;
  return tensor;
}

Scalar number_of(FLOAT value) { return Scalar(static_cast<f64>(value)); }
Scalar number_of(UINT value) { return Scalar(static_cast<u64>(value)); }
Scalar number_of(INT value) { return Scalar(static_cast<i64>(value)); }

class Reader {
 public:
  Reader(const facts::Operator& op, const void* desc, int depth) : op_(op), desc_(desc), depth_(depth) {}

  Result<schema::Described> read() {
    schema::Described described(op_);
    for (std::size_t i = 0; i < op_.fields.size(); ++i) {
      ANYDML_TRY(read_argument(op_.fields[i], described.arguments[i]));
    }
    return described;
  }

 private:
  Status read_argument(const facts::Field& field, schema::Argument& argument) {
    switch (field.type) {
      case facts::FieldType::tensors:
        return read_tensors(field, argument);
      case facts::FieldType::operators:
        return read_operators(field, argument);
      case facts::FieldType::real:
        return take(argument, {number_of(read_field<FLOAT>(desc_, field))});
      case facts::FieldType::integer:
        return take(argument, {number_of(read_field<INT>(desc_, field))});
      case facts::FieldType::natural:
      case facts::FieldType::boolean:
      case facts::FieldType::enumeration:
        return take(argument, {number_of(read_field<UINT>(desc_, field))});
      case facts::FieldType::reals:
        return read_numbers<FLOAT>(field, argument);
      case facts::FieldType::naturals:
        return read_numbers<UINT>(field, argument);
      case facts::FieldType::integers:
        return read_numbers<INT>(field, argument);
      case facts::FieldType::scale_bias:
        if (const auto* pair = read_field<const DML_SCALE_BIAS*>(desc_, field); pair != nullptr) {
          return take(argument, {number_of(pair->Scale), number_of(pair->Bias)});
        }
        return {};
      case facts::FieldType::size_2d: {
        const auto size = read_field<DML_SIZE_2D>(desc_, field);
        return take(argument, {number_of(size.Width), number_of(size.Height)});
      }
      case facts::FieldType::scalar_union:
        return read_union(field, argument);
    }
    return Error{ErrorKind::internal, format_text("{}: {} has an unknown type", op_.name, field.name)};
  }

  static Status take(schema::Argument& argument, std::vector<Scalar> numbers) {
    argument.present = true;
    argument.numbers = std::move(numbers);
    return {};
  }

  Status read_union(const facts::Field& field, schema::Argument& argument) {
    const std::size_t sibling = schema::union_type_field(op_);
    const auto type = sibling == schema::kNoField ? 0 : read_field<UINT>(desc_, op_.fields[sibling]);
    const auto number = schema::union_number(type, read_field<std::uint64_t>(desc_, field));
    return number ? take(argument, {*number}) : Status();
  }

  // The number of items in the field's array; 1 if the field is not an array.
  [[nodiscard]] Result<UINT> count_of(const facts::Field& field, UINT maximum) const {
    if (field.count_field < 0) {
      return UINT{1};
    }
    const facts::Field& counter = op_.fields[static_cast<std::size_t>(field.count_field)];
    const auto count = read_field<UINT>(desc_, counter);
    if (count > maximum) {
      return invalid({op_.name, {}}, format_text("{} is {}; expected {} at most", counter.name, count, maximum));
    }
    return count;
  }

  template <class T>
  Status read_numbers(const facts::Field& field, schema::Argument& argument) {
    const auto count = count_of(field, kMaxNumbers);
    ANYDML_TRY(count);
    if (const auto* items = read_field<const T*>(desc_, field); items != nullptr) {
      argument.present = true;
      for (UINT i = 0; i < count.value(); ++i) {
        argument.numbers.push_back(number_of(items[i]));
      }
    }
    return {};
  }

  Status read_tensors(const facts::Field& field, schema::Argument& argument) {
    const auto count = count_of(field, kMaxTensors);
    ANYDML_TRY(count);
    if (const auto* items = read_field<const DML_TENSOR_DESC*>(desc_, field); items != nullptr) {
      argument.present = true;
      argument.tensors.reserve(count.value());
      for (UINT i = 0; i < count.value(); ++i) {
        argument.tensors.push_back(read_tensor(items[i]));
      }
    }
    return {};
  }

  Status read_operators(const facts::Field& field, schema::Argument& argument) {
    const auto count = count_of(field, kMaxOperators);
    ANYDML_TRY(count);
    const auto* items = read_field<const DML_OPERATOR_DESC*>(desc_, field);
    if (items == nullptr) {
      return {};
    }
    argument.present = true;
    for (UINT i = 0; i < count.value(); ++i) {
      const std::string where = field.count_field < 0 ? std::string(field.name) : format_text("{}[{}]", field.name, i);
      const facts::Operator* inner = find_operator(items[i].Type);
      if (inner == nullptr) {
        return invalid({op_.name, where}, format_text("Type is {}; expected the number of an operator",
                                                      static_cast<std::uint32_t>(items[i].Type)));
      }
      if (depth_ == kDeepest) {
        return invalid({op_.name, where}, format_text("{} is nested too deeply; expected null", inner->name));
      }
      if (items[i].Desc == nullptr) {
        return invalid({op_.name, where}, format_text("Desc is null; expected a {}", inner->desc_struct));
      }
      auto described = Reader(*inner, items[i].Desc, depth_ + 1).read();
      ANYDML_TRY(described);
      argument.operators.push_back(std::move(described.value()));
    }
    return {};
  }

  const facts::Operator& op_;
  const void* desc_;
  int depth_;
};

}  // namespace

const facts::Operator* find_operator(DML_OPERATOR_TYPE type) {
  const auto all = facts::operators();
  const auto found = std::ranges::find(all, static_cast<std::uint32_t>(type), &facts::Operator::value);
  return found == all.end() ? nullptr : &*found;
}

Result<schema::Described> read_described(const DML_OPERATOR_DESC& desc, const facts::Operator& op) {
  if (desc.Desc == nullptr) {
    return invalid({op.name, {}}, format_text("Desc is null; expected a {}", op.desc_struct));
  }
  return Reader(op, desc.Desc, 1).read();
}

}  // namespace anydml
