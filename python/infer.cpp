// SPDX-License-Identifier: MIT
#include "infer.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/boundary.h"
#include "capi/infer.h"
#include "errors.h"
#include "facts/facts.h"
#include "operand.h"

namespace anydml::python {

std::string inference_key(const std::string& op, std::span<const anydml_tensor> inputs, const Attributes& attributes,
                          const std::vector<OutputToMake>& outputs) {
  std::string key;
  key.reserve(256);
  const auto add_sizes = [&key](const std::int64_t* sizes, std::size_t count) {
    if (count > 0) {
      key.append(reinterpret_cast<const char*>(sizes), count * sizeof(*sizes));
    }
  };
  key.append(op).push_back('\0');
  for (const anydml_tensor& one : inputs) {
    key.push_back(static_cast<char>(one.type));
    key.push_back(static_cast<char>(one.rank));
    add_sizes(one.sizes, static_cast<std::size_t>(one.rank));
  }
  key.push_back('\xff');  // marks an absent type
  for (const OutputToMake& one : outputs) {
    const int given = (one.present ? 1 : 0) + (one.fresh ? 2 : 0) + (one.has_type ? 4 : 0) + (one.has_shape ? 8 : 0);
    key.push_back(static_cast<char>(given));
    key.push_back(static_cast<char>(one.type));
    key.append(std::to_string(one.shape.size())).push_back('\0');
    add_sizes(one.shape.data(), one.shape.size());
  }
  key.push_back('\xff');
  attributes.add_to(key);
  return key;
}

void infer(const std::string& op, std::span<const anydml_tensor> inputs, const Attributes& attributes,
           std::vector<OutputToMake>& outputs) {
  const facts::Operator* known = facts::find_operator(op);
  if (known == nullptr) {
    return;  // the call itself will report the error
  }
  std::vector<WantedOutput> wanted;
  for (const OutputToMake& one : outputs) {
    const bool has_sizes = one.has_shape && one.shape.size() <= kMaxDimensions;
    wanted.push_back({one.present, static_cast<std::uint32_t>(one.type), has_sizes,
                      has_sizes ? std::span(one.shape) : std::span<const std::int64_t>()});
  }
  InferredOutputs found;
  const int code = boundary([&]() -> Status {
    auto result = infer_outputs({known, inputs, {}, std::span(attributes.data(), attributes.size())}, wanted);
    ANYDML_TRY(result);
    found = std::move(result.value());
    return {};
  });
  if (code != ANYDML_OK) {
    raise_last(code);
  }
  for (const schema::Violation& fault : found.faults) {
    const bool about_input = facts::is_input(known->fields[fault.location.field].kind);
    if (about_input || !outputs[output_position(*known, fault.location)].has_shape) {
      raise(PyExc_ValueError, std::string(known->name) + ": " + schema::sentence(*known, fault));
    }
  }
  for (const schema::Violation& unknown : found.unknown) {
    const OutputToMake& one = outputs[output_position(*known, unknown.location)];
    const bool about_type = unknown.location.part == schema::Part::data_type;
    if (about_type ? !one.has_type : !one.has_shape) {
      raise(PyExc_TypeError, std::string(known->name) + ": " + (about_type ? "dtype" : "shape") +
                                 " is missing; expected one, or out: " + schema::sentence(*known, unknown));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    OutputToMake& one = outputs[i];
    const schema::GivenTensor& tensor = found.outputs[i];
    if (!one.has_type) {
      one.type = static_cast<DataType>(tensor.type);
    }
    if (!one.has_shape && one.present) {
      one.shape.assign(tensor.sizes, tensor.sizes + tensor.rank);
    }
  }
}

}  // namespace anydml::python
