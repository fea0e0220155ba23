// SPDX-License-Identifier: MIT
#include "described.h"

#include <algorithm>
#include <bit>
#include <span>

namespace anydml::dmlrun {
namespace {

Scalar number_of(facts::FieldType type, std::uint32_t word) {
  switch (type) {
    case facts::FieldType::real:
    case facts::FieldType::reals:
    case facts::FieldType::scale_bias:
      return Scalar(static_cast<f64>(std::bit_cast<f32>(word)));
    case facts::FieldType::integer:
    case facts::FieldType::integers:
      return Scalar(static_cast<i64>(std::bit_cast<i32>(word)));
    default:
      return Scalar(static_cast<u64>(word));
  }
}

schema::GivenTensor given(const TensorValue& value) {
  schema::GivenTensor tensor{.tensor_type = value.tensor_type,
                             .type = value.type,
                             .flags = value.flags,
                             .rank = static_cast<std::uint32_t>(value.sizes.size()),
                             .has_strides = !value.strides.empty(),
                             .total_bytes = value.total_bytes,
                             .alignment = value.alignment};
  if (value.sizes.size() <= kMaxRank) {
    std::ranges::copy(value.sizes, tensor.sizes);
    std::ranges::copy(std::span(value.strides).first(std::min(value.strides.size(), value.sizes.size())),
                      tensor.strides);
  }
  return tensor;
}

// The data type of a scalar union; 0 if unknown.
std::uint32_t union_type(const OperatorModel& model) {
  const std::size_t field = schema::union_type_field(*model.facts);
  const auto* words = field == schema::kNoField ? nullptr : std::get_if<InlineWords>(&model.fields[field]);
  return words == nullptr ? 0 : words->words[0];
}

void take_inline(const OperatorModel& model, facts::FieldType type, const InlineWords& words,
                 schema::Argument& argument) {
  argument.present = true;
  if (type == facts::FieldType::scalar_union) {
    const auto number = schema::union_number(union_type(model), words.words[0] | std::uint64_t{words.words[1]} << 32);
    argument.present = number.has_value();
    argument.numbers.assign(number ? 1 : 0, number.value_or(Scalar()));
    return;
  }
  argument.numbers.push_back(number_of(type, words.words[0]));
  if (type == facts::FieldType::size_2d) {
    argument.numbers.push_back(number_of(type, words.words[1]));
  }
}

}  // namespace

schema::Described describe(const OperatorModel& model, const std::function<bool(const facts::Field&)>& is_unread) {
  schema::Described described(*model.facts);
  for (std::size_t i = 0; i < model.fields.size(); ++i) {
    const facts::Field& field = model.facts->fields[i];
    schema::Argument& argument = described.arguments[i];
    if (facts::is_attribute(field.kind) && is_unread(field)) {
      continue;
    }
    if (const auto* words = std::get_if<InlineWords>(&model.fields[i])) {
      take_inline(model, field.type, *words, argument);
    } else if (const auto* array = std::get_if<PointedWords>(&model.fields[i])) {
      argument.present = true;
      for (const std::uint32_t word : array->words) {
        argument.numbers.push_back(number_of(field.type, word));
      }
    } else if (const auto* tensors = tensors_of(model.fields[i])) {
      argument.present = true;
      for (const TensorValue& tensor : *tensors) {
        argument.tensors.push_back(given(tensor));
      }
    } else if (const auto* operators = std::get_if<std::vector<OperatorModel>>(&model.fields[i])) {
      argument.present = true;
      for (const OperatorModel& inner : *operators) {
        if (inner.facts != nullptr) {
          argument.operators.push_back(describe(inner, [](const facts::Field&) { return false; }));
        }
      }
    }
  }
  return described;
}

}  // namespace anydml::dmlrun
