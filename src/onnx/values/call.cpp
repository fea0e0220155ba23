// SPDX-License-Identifier: MIT
#include "onnx/values/call.h"

#include <algorithm>
#include <type_traits>

#include "onnx/values/recorder.h"

namespace anydml::onnx {
namespace {

anydml_attribute plain_attribute(const char* name, std::uint32_t type, std::size_t count = 0) {
  anydml_attribute attribute{};
  attribute.name = name;
  attribute.type = type;
  attribute.count = static_cast<std::uint32_t>(count);
  return attribute;
}

anydml_attribute attribute_of(const char* name, std::int64_t value) {
  anydml_attribute attribute = plain_attribute(name, ANYDML_INT64);
  attribute.value.i64 = value;
  return attribute;
}

anydml_attribute attribute_of(const char* name, std::uint64_t value) {
  anydml_attribute attribute = plain_attribute(name, ANYDML_UINT64);
  attribute.value.u64 = value;
  return attribute;
}

anydml_attribute attribute_of(const char* name, double value) {
  anydml_attribute attribute = plain_attribute(name, ANYDML_FLOAT64);
  attribute.value.f64 = value;
  return attribute;
}

anydml_attribute attribute_of(const char* name, const char* value) {
  anydml_attribute attribute = plain_attribute(name, ANYDML_TEXT);
  attribute.value.text = value;
  return attribute;
}

anydml_attribute attribute_of(const char* name, const std::vector<std::int64_t>& value) {
  anydml_attribute attribute = plain_attribute(name, std::uint32_t{ANYDML_INT64} | ANYDML_ARRAY, value.size());
  attribute.value.i64s = value.data();
  return attribute;
}

anydml_attribute attribute_of(const char* name, const std::vector<double>& value) {
  anydml_attribute attribute = plain_attribute(name, std::uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, value.size());
  attribute.value.f64s = value.data();
  return attribute;
}

}  // namespace

anydml_tensor tensor_of(const Array& array) {
  return {api_type(array.kind()), array.rank(), array.shape().data(), array.strides().data(),
          array.is_symbol() ? nullptr : const_cast<void*>(array.data())};
}

Call::Call(const char* op, const Arrays& inputs, const Options& options) : op_(op) {
  tensors_.reserve(inputs.size());
  for (const Array& one : inputs) {
    tensors_.push_back(one ? tensor_of(one) : anydml_tensor{ANYDML_NONE, 0, nullptr, nullptr, nullptr});
  }
  attributes_.reserve(options.size());
  for (const Option& option : options) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<Activation>>) {
            std::vector<anydml_operator>& operators = operators_.emplace_back();
            for (const Activation& one : value) {
              std::vector<anydml_attribute>& numbers = operator_attributes_.emplace_back();
              for (const auto& [field, number] : one.numbers) {
                numbers.push_back(attribute_of(field, number));
              }
              operators.push_back({one.name, numbers.data(), numbers.size()});
            }
            anydml_attribute attribute = plain_attribute(option.name, ANYDML_OPERATOR | ANYDML_ARRAY, operators.size());
            attribute.value.operators = operators.data();
            attributes_.push_back(attribute);
          } else {
            attributes_.push_back(attribute_of(option.name, value));
          }
        },
        option.value);
  }
}

std::vector<OutputForm> Call::infer(const std::vector<Out>& outs) const {
  std::vector<OutputForm> forms(outs.size());
  bool is_complete = true;
  for (std::size_t i = 0; i < outs.size(); ++i) {
    if (!outs[i].is_wanted) {
      continue;
    }
    if (outs[i].kind == Kind::kUndefined || !outs[i].shape.has_value()) {
      is_complete = false;
      break;
    }
    forms[i] = {outs[i].kind, *outs[i].shape};
    if (forms[i].shape.size() > kMaxRank) {
      fail("a tensor has {} dimensions; anydml supports up to {}", forms[i].shape.size(), kMaxRank);
    }
  }
  if (is_complete) {
    return forms;
  }
  const anydml_operator_info* const info = anydml_find_operator(op_);
  if (info == nullptr) {
    throw Invalid(anydml_last_error());
  }
  std::vector<anydml_shape> shapes(std::max<std::size_t>(outs.size(), info->output_count));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (i >= outs.size() || !outs[i].is_wanted) {
      shapes[i] = {ANYDML_NONE, 0, {}};
      continue;
    }
    shapes[i] = {outs[i].kind == Kind::kUndefined ? anydml_type{ANYDML_UNKNOWN_TYPE} : api_type(outs[i].kind),
                 ANYDML_UNKNOWN_RANK,
                 {}};
    if (outs[i].shape.has_value()) {
      const Sizes& shape = *outs[i].shape;
      if (shape.size() > kMaxRank) {
        fail("a tensor has {} dimensions; anydml supports up to {}", shape.size(), kMaxRank);
      }
      shapes[i].rank = static_cast<std::int32_t>(shape.size());
      std::copy(shape.begin(), shape.end(), shapes[i].sizes);
    }
  }
  check_status(anydml_infer_outputs(op_, tensors_.data(), tensors_.size(), shapes.data(), shapes.size(),
                                    attributes_.data(), attributes_.size()));
  for (std::size_t i = 0; i < outs.size(); ++i) {
    forms[i] = {};
    if (outs[i].is_wanted) {
      forms[i] = {kind_of_api(shapes[i].type), Sizes(shapes[i].sizes, shapes[i].sizes + shapes[i].rank)};
    }
  }
  return forms;
}

}  // namespace anydml::onnx
