// SPDX-License-Identifier: MIT
// Converts a described operator to a call to the C API, with its tensors (without data) and its attributes. It owns
// everything that the call points to.
#pragma once

#include <anydml/anydml.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "schema/described.h"

namespace anydml::test {

class DescribedCall {
 public:
  explicit DescribedCall(const schema::Described& described) : name_(described.op->name) {
    for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
      const facts::FieldKind kind = described.op->fields[field].kind;
      if (facts::is_attribute(kind)) {
        continue;
      }
      std::vector<anydml_tensor>& to = facts::is_output(kind) ? outputs : inputs;
      for (const schema::GivenTensor& tensor : described.arguments[field].tensors) {
        to.push_back(tensor_of(tensor));
      }
      if (!facts::is_array(kind) && described.arguments[field].tensors.empty()) {
        to.push_back({});  // absent, but keeps its position
      }
    }
    attributes = attributes_of(described);
  }
  DescribedCall(const DescribedCall&) = delete;
  DescribedCall& operator=(const DescribedCall&) = delete;

  [[nodiscard]] int run(const anydml_device* device) const {
    return anydml_run(device, name_.c_str(), inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                      attributes.data(), attributes.size());
  }
  // Whether the device accepts the call. Nothing is run.
  [[nodiscard]] bool is_taken(const anydml_device* device) const {
    anydml_compiled* compiled = nullptr;
    const int status = anydml_compile(device, name_.c_str(), inputs.data(), inputs.size(), outputs.data(),
                                      outputs.size(), attributes.data(), attributes.size(), &compiled);
    anydml_compiled_release(compiled);
    return status == ANYDML_OK;
  }

  std::vector<anydml_tensor> inputs;
  std::vector<anydml_tensor> outputs;
  std::vector<anydml_attribute> attributes;

 private:
  static constexpr std::uint32_t kArray = ANYDML_ARRAY;

  anydml_tensor tensor_of(const schema::GivenTensor& tensor) {
    const std::int64_t* const strides =
        tensor.has_strides ? arrays_.emplace_back(tensor.strides, tensor.strides + tensor.rank).data() : nullptr;
    return {static_cast<anydml_type>(tensor.type), static_cast<int32_t>(tensor.rank),
            arrays_.emplace_back(tensor.sizes, tensor.sizes + tensor.rank).data(), strides, nullptr};
  }

  std::vector<anydml_attribute> attributes_of(const schema::Described& described) {
    const facts::Operator& op = *described.op;
    std::vector<anydml_attribute> result;
    const auto add = [&](std::string_view name) -> anydml_attribute& {
      result.push_back({names_.emplace_back(name).c_str(), 0, 0, {}});
      return result.back();
    };
    for (std::size_t i = 0; i < op.fields.size(); ++i) {
      const facts::Field& field = op.fields[i];
      const schema::Argument& argument = described.arguments[i];
      if (!facts::is_attribute(field.kind) || facts::is_count(op, i) || !argument.present) {
        continue;
      }
      switch (field.type) {
        case facts::FieldType::operators:
          add_operators(add(field.name), field, argument);
          break;
        case facts::FieldType::scale_bias:
          set(add("Scale"), argument.numbers.front());
          set(add("Bias"), argument.numbers.back());
          break;
        case facts::FieldType::integers:
        case facts::FieldType::naturals:
        case facts::FieldType::size_2d: {
          std::vector<std::int64_t>& numbers = arrays_.emplace_back();
          std::ranges::transform(argument.numbers, std::back_inserter(numbers),
                                 [](const Scalar& number) { return number.as<i64>(); });
          anydml_attribute& one = add(field.name);
          one.type = kArray | ANYDML_INT64;
          one.count = static_cast<std::uint32_t>(numbers.size());
          one.value.i64s = numbers.data();
          break;
        }
        case facts::FieldType::reals: {
          std::vector<double>& numbers = reals_.emplace_back();
          std::ranges::transform(argument.numbers, std::back_inserter(numbers),
                                 [](const Scalar& number) { return number.as<f64>(); });
          anydml_attribute& one = add(field.name);
          one.type = kArray | ANYDML_FLOAT64;
          one.count = static_cast<std::uint32_t>(numbers.size());
          one.value.f64s = numbers.data();
          break;
        }
        default:
          if (!argument.numbers.empty()) {
            set(add(field.name), argument.numbers.front());
          }
      }
    }
    return result;
  }

  // Every number that the tests use is exact in FLOAT64.
  static void set(anydml_attribute& attribute, const Scalar& number) {
    attribute.type = ANYDML_FLOAT64;
    attribute.value.f64 = number.as<f64>();
  }

  void add_operators(anydml_attribute& attribute, const facts::Field& field, const schema::Argument& argument) {
    std::vector<anydml_operator> result;
    for (const schema::Described& inner : argument.operators) {
      const auto& own = nested_.emplace_back(attributes_of(inner));
      result.push_back({names_.emplace_back(inner.op->name).c_str(), own.data(), own.size()});
    }
    const bool is_array = field.count_field >= 0;
    attribute.type = is_array ? kArray | ANYDML_OPERATOR : std::uint32_t{ANYDML_OPERATOR};
    attribute.count = is_array ? static_cast<std::uint32_t>(result.size()) : 0;
    attribute.value.operators = operators_.emplace_back(std::move(result)).data();
  }

  // These are deques, so that elements keep their addresses while more elements are added.
  std::string name_;
  std::deque<std::string> names_;
  std::deque<std::vector<std::int64_t>> arrays_;
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<anydml_attribute>> nested_;
  std::deque<std::vector<anydml_operator>> operators_;
};

}  // namespace anydml::test
