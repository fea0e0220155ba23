// SPDX-License-Identifier: MIT
// The operators that this library adds to DirectML's. The C API finds them by name. They are not in the lists of
// DirectML's operators, and DirectML programs cannot create them. The members of an operator that only DirectML needs
// (the name and the size of its struct, offsets) are 0.
//
//   DYNAMIC_QUANTIZE_LSTM   LSTM whose weights are 8-bit integers and whose activations are rounded to 8 bits while it
//                           runs (docs/numerics.md). Its fields begin with those of LSTM, so that LSTM's rules apply.
#pragma once

#include <algorithm>
#include <array>

#include "facts/facts_tables.h"

namespace anydml::facts::own {

inline constexpr std::size_t kLstmFields = std::size(tables::kLSTM_fields);

constexpr auto dynamic_quantize_lstm_fields() {
  constexpr FieldKind kRequired = FieldKind::input;
  constexpr FieldKind kOptional = FieldKind::optional_input;
  constexpr auto tensor = [](std::string_view name, FieldKind kind) {
    return Field{name, "const DML_TENSOR_DESC*", FieldType::tensors, kind, 0, 0, FeatureLevel::v1_0, -1};
  };
  std::array<Field, kLstmFields + 4> fields{};
  std::copy(std::begin(tables::kLSTM_fields), std::end(tables::kLSTM_fields), fields.begin());
  fields[kLstmFields] = tensor("WeightScaleTensor", kRequired);
  fields[kLstmFields + 1] = tensor("WeightZeroPointTensor", kOptional);
  fields[kLstmFields + 2] = tensor("RecurrenceScaleTensor", kRequired);
  fields[kLstmFields + 3] = tensor("RecurrenceZeroPointTensor", kOptional);
  return fields;
}
inline constexpr auto kDynamicQuantizeLstmFields = dynamic_quantize_lstm_fields();

constexpr std::uint32_t bits_of(std::initializer_list<std::string_view> names) {
  std::uint32_t bits = 0;
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(kDynamicQuantizeLstmFields, name, &Field::name);
    bits |= 1U << (found - kDynamicQuantizeLstmFields.begin());
  }
  return bits;
}
inline constexpr SameGroup kDynamicQuantizeLstmSame[] = {
    {Same::datatype,
     bits_of({"WeightTensor", "RecurrenceTensor", "WeightZeroPointTensor", "RecurrenceZeroPointTensor"})},
};

inline constexpr Operator kOperators[] = {
    {.name = "DYNAMIC_QUANTIZE_LSTM",
     .value = 0x10000,  // DirectML's numbers are smaller
     .desc_struct = "",
     .desc_size = 0,
     .introduced = FeatureLevel::v1_0,
     .in_place = InPlace::none,
     .formula = "LSTM with 8-bit weights; the products of its activations are those of DYNAMIC_QUANTIZE_LINEAR and "
                "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
     .fields = kDynamicQuantizeLstmFields,
     .same = kDynamicQuantizeLstmSame,
     .support = {},
     .constraints = {}},
};
// The operators of DirectML whose rules apply to the operators above.
inline constexpr std::string_view kRulesOf[] = {"LSTM"};
static_assert(std::size(kRulesOf) == std::size(kOperators));

}  // namespace anydml::facts::own
