// SPDX-License-Identifier: MIT
// The functions as library operators: for each function, the operator and the attributes that make it compute the
// function.
#pragma once

#include <anydml/anydml.h>

#include <cstdint>
#include <iterator>
#include <string_view>

namespace anydml::functions {

struct Row {
  std::string_view name;
  const char* op;
  anydml_attribute attributes[2];
};

constexpr anydml_attribute number(const char* name, double value) { return {name, ANYDML_FLOAT64, 0, {value}}; }

inline constexpr Row kRows[] = {
    {"exp", "ELEMENT_WISE_EXP", {}},
    {"log", "ELEMENT_WISE_LOG", {}},
    {"sin", "ELEMENT_WISE_SIN", {}},
    {"cos", "ELEMENT_WISE_COS", {}},
    {"tan", "ELEMENT_WISE_TAN", {}},
    {"asin", "ELEMENT_WISE_ASIN", {}},
    {"acos", "ELEMENT_WISE_ACOS", {}},
    {"atan", "ELEMENT_WISE_ATAN", {}},
    {"sinh", "ELEMENT_WISE_SINH", {}},
    {"cosh", "ELEMENT_WISE_COSH", {}},
    {"tanh", "ELEMENT_WISE_TANH", {}},
    {"tanh", "ACTIVATION_TANH", {}},
    {"asinh", "ELEMENT_WISE_ASINH", {}},
    {"acosh", "ELEMENT_WISE_ACOSH", {}},
    {"atanh", "ELEMENT_WISE_ATANH", {}},
    {"erf", "ELEMENT_WISE_ERF", {}},
    {"sigmoid", "ACTIVATION_SIGMOID", {}},
    {"gelu", "ACTIVATION_GELU", {}},
    {"softsign", "ACTIVATION_SOFTSIGN", {}},
    {"softplus", "ACTIVATION_SOFTPLUS", {number("Steepness", 1)}},
    {"swish", "ACTIVATION_SWISH", {number("SigmoidInputScale", 1)}},
    {"elu", "ACTIVATION_ELU", {number("Alpha", 1)}},
    {"celu", "ACTIVATION_CELU", {number("Alpha", 1)}},
    {"selu",
     "ACTIVATION_SCALED_ELU",
     {number("Alpha", 1.67326319217681884765625), number("Gamma", 1.05070102214813232421875)}},
    {"scaled_tanh", "ACTIVATION_SCALED_TANH", {number("Alpha", 1), number("Beta", 1)}},
};

inline bool is_built(const Row& row, uint32_t type) {
  for (size_t i = 0; i < anydml_operator_count(); ++i) {
    const anydml_operator_info* const info = anydml_operator_at(i);
    if (info->name == std::string_view(row.op)) {
      return info->is_built != 0 && (info->types & (1U << type)) != 0;
    }
  }
  return false;
}

// Functions of two arguments.
inline constexpr Row kPairRows[] = {
    {"atan_yx", "ELEMENT_WISE_ATAN_YX", {}},
    {"pow", "ELEMENT_WISE_POW", {}},
};

// Runs the operator over packed elements on the default device; the library's message is in anydml_last_error.
template <class... From>
bool run_row(const Row& row, uint32_t type, void* to, size_t count, const From*... from) {
  const auto size = static_cast<int64_t>(count);
  const anydml_tensor inputs[] = {{type, 1, &size, nullptr, const_cast<From*>(from)}...};
  const anydml_tensor output{type, 1, &size, nullptr, to};
  size_t attributes = 0;
  while (attributes < std::size(row.attributes) && row.attributes[attributes].name != nullptr) {
    ++attributes;
  }
  return anydml_run(nullptr, row.op, inputs, std::size(inputs), &output, 1, row.attributes, attributes) == ANYDML_OK;
}

}  // namespace anydml::functions
