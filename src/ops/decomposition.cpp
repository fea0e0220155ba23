// SPDX-License-Identifier: MIT
#include "ops/decomposition.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "plan/reshape.h"
#include "text/format.h"

namespace anydml {
namespace {

schema::GivenTensor given(const TensorDesc& tensor) {
  schema::GivenTensor built;
  built.type = static_cast<std::uint32_t>(tensor.type);
  built.rank = tensor.rank;
  built.has_strides = true;
  std::copy_n(tensor.sizes, tensor.rank, built.sizes);
  std::copy_n(tensor.strides, tensor.rank, built.strides);
  return built;
}

}  // namespace

DecompositionBuilder::DecompositionBuilder(const OpDesc& whole) : whole_(whole) {
  for (const OpTensor& input : whole.inputs()) {
    values_.push_back(input.tensor);
  }
  result_.outputs.assign(whole.output_count, kNoValue);
}

DecompositionBuilder::DecompositionBuilder(const OpDesc& whole, std::uint32_t replaced, const OpDesc& maker)
    : DecompositionBuilder(whole) {
  for (const OpTensor& input : maker.inputs()) {
    values_.push_back(input.tensor);
  }
  result_.replaced = replaced;
}

std::uint32_t DecompositionBuilder::add_described(schema::Described described,
                                                  const std::vector<std::uint32_t>& sources, const TensorDesc& result) {
  const auto number = static_cast<std::uint32_t>(values_.size());
  values_.push_back(result);
  if (!status_.ok()) {
    return number;
  }
  std::size_t next = 0;
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    schema::Argument& argument = described.arguments[field];
    const facts::Field& of = described.op->fields[field];
    if (facts::is_input(of.kind)) {
      // An array receives all sources that were not used by the inputs before it.
      const std::size_t count = facts::is_array(of.kind) ? sources.size() - next : 1;
      for (std::size_t i = 0; i < count && next < sources.size(); ++i, ++next) {
        if (sources[next] != kNoValue) {
          argument.tensors.push_back(given(values_[sources[next]]));
        }
      }
      argument.present = !argument.tensors.empty();
    } else if (facts::is_output(of.kind)) {
      argument.tensors.push_back(given(result));
      argument.present = true;
    }
  }
  result_.ops.push_back({.described = std::move(described), .op = nullptr, .sources = sources});
  return number;
}

std::uint32_t DecompositionBuilder::add_part(std::string_view op, const std::vector<std::uint32_t>& sources,
                                             const TensorDesc& result, const std::vector<OpAttribute>& attributes) {
  schema::Described described(*facts::find_operator(op));
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    if (const auto set = std::ranges::find(attributes, described.op->fields[field].name, &OpAttribute::field);
        set != attributes.end()) {
      described.arguments[field].numbers = set->numbers;
      described.arguments[field].present = true;
    }
  }
  return add_described(std::move(described), sources, result);
}

std::uint32_t DecompositionBuilder::add(std::string_view op, const std::vector<std::uint32_t>& sources, DataType type,
                                        const TensorDesc& like, const std::vector<OpAttribute>& attributes) {
  TensorDesc result = like;
  result.type = type;
  if (status_.ok() && !set_packed_strides(result)) {
    status_ = Error{ErrorKind::out_of_memory, format_text("{}: an intermediate tensor is too large", whole_.op->name)};
  }
  return add_part(op, sources, result, attributes);
}

void DecompositionBuilder::add_output(std::string_view op, const std::vector<std::uint32_t>& sources,
                                      std::uint32_t output, const std::vector<OpAttribute>& attributes) {
  result_.outputs[output] = add_part(op, sources, whole_.outputs()[output].tensor, attributes);
}

void DecompositionBuilder::add_nested_output(const schema::Described& nested, const std::vector<std::uint32_t>& sources,
                                             std::uint32_t output) {
  schema::Described described(*nested.op);
  for (std::size_t field = 0; field < described.op->fields.size(); ++field) {
    if (facts::is_attribute(described.op->fields[field].kind)) {
      described.arguments[field] = nested.arguments[field];
    }
  }
  result_.outputs[output] = add_described(std::move(described), sources, whole_.outputs()[output].tensor);
}

std::uint32_t DecompositionBuilder::add_internal(const facts::Operator& op, const std::vector<std::uint32_t>& sources,
                                                 std::span<const TensorDesc> results,
                                                 std::span<const std::byte> parameters, bool prepares) {
  const auto first = static_cast<std::uint32_t>(values_.size());
  auto built = std::make_shared<OpDesc>();
  built->op = &op;
  built->family = whole_.family;
  built->input_count = static_cast<std::uint32_t>(sources.size());
  built->output_count = static_cast<std::uint32_t>(results.size());
  for (const std::uint32_t source : sources) {
    OpTensor& tensor = built->tensors.emplace_back();
    tensor.name = "input";
    tensor.present = source != kNoValue;
    if (tensor.present) {
      tensor.tensor = values_[source];
      for (std::uint32_t i = 0; built->family->by_element && i < tensor.tensor.rank; ++i) {
        if (tensor.tensor.sizes[i] != results[0].sizes[i]) {
          tensor.tensor.sizes[i] = results[0].sizes[i];
          tensor.tensor.strides[i] = 0;
        }
      }
      tensor.reach = reach_of(tensor.tensor);
    }
  }
  for (const TensorDesc& result : results) {
    built->tensors.push_back({.name = "output", .present = true, .tensor = result, .reach = reach_of(result)});
    values_.push_back(result);
  }
  built->internal.assign(parameters.begin(), parameters.end());
  built->prepares = prepares;
  result_.ops.push_back({.described = {}, .op = std::move(built), .sources = sources});
  return first;
}

void DecompositionBuilder::set_output(std::uint32_t output, std::uint32_t value) { result_.outputs[output] = value; }

Result<Decomposition> DecompositionBuilder::finish() {
  ANYDML_TRY(status_);
  return std::move(result_);
}

}  // namespace anydml
