// SPDX-License-Identifier: MIT
#include "capi/infer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "capi/arguments.h"
#include "ops/operators.h"
#include "text/format.h"

namespace anydml {
namespace {

// Represents an unknown type in a C API tensor, where 0 means that the tensor is absent.
constexpr std::uint32_t kUnknownType = ANYDML_UNKNOWN_TYPE;

void mark_unknown(schema::Described& described) {
  const std::size_t union_type = schema::union_type_field(*described.op);
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    schema::Argument& argument = described.arguments[field];
    for (schema::GivenTensor& tensor : argument.tensors) {
      if (facts::is_output(described.op->fields[field].kind) && tensor.type == kUnknownType) {
        tensor.type = 0;
      }
    }
    if (field == union_type && !argument.numbers.empty() && argument.numbers.front().as<u32>() == kUnknownType) {
      argument.numbers.clear();  // the number was copied from the output's type
    }
  }
}

}  // namespace

Result<InferredOutputs> infer_outputs(const Call& call, std::span<const WantedOutput> wanted) {
  std::vector<anydml_tensor> outputs;
  outputs.reserve(wanted.size());
  for (const WantedOutput& one : wanted) {
    anydml_tensor& tensor = outputs.emplace_back();
    tensor.type = !one.present ? std::uint32_t{ANYDML_NONE} : one.type == 0 ? kUnknownType : one.type;
    tensor.rank = static_cast<std::int32_t>(one.sizes.size());
    tensor.sizes = one.has_sizes ? one.sizes.data() : nullptr;
  }
  Call partial = call;
  partial.outputs = outputs;
  auto described = describe(partial);
  ANYDML_TRY(described);
  mark_unknown(described.value());
  for (std::size_t i = 0, next = 0; i < call.op->fields.size(); ++i) {  // a scalar may have null sizes
    if (facts::is_output(call.op->fields[i].kind)) {
      auto& tensors = described.value().arguments[i].tensors;
      for (schema::GivenTensor& tensor : tensors) {
        tensor.has_sizes = wanted[next++].has_sizes;
      }
      next += tensors.empty() && !facts::is_array(call.op->fields[i].kind) ? 1U : 0U;
    } else {
      for (schema::GivenTensor& tensor : described.value().arguments[i].tensors) {
        tensor.has_sizes = tensor.has_sizes || tensor.rank == 0;
      }
    }
  }
  const Family* family = find_family(*call.op);
  const auto rule = family != nullptr && family->by_element ? schema::SizeRule::broadcast : schema::SizeRule::same;
  schema::Inference found = schema::infer_outputs(std::move(described.value()), facts::kNewestLevel, rule);
  InferredOutputs result{{}, call.op, std::move(found.unknown), std::move(found.faults)};
  for (std::size_t i = 0; i < call.op->fields.size(); ++i) {
    if (facts::is_output(call.op->fields[i].kind)) {
      auto& tensors = found.described.arguments[i].tensors;
      result.outputs.insert(result.outputs.end(), tensors.begin(), tensors.end());
      if (tensors.empty() && !facts::is_array(call.op->fields[i].kind)) {
        result.outputs.push_back(schema::unknown_tensor());
      }
    }
  }
  return result;
}

namespace {

Status check_shape(std::string_view op, std::string_view name, std::size_t position, std::int32_t rank,
                   const std::int64_t* sizes, std::string_view or_unknown) {
  if (rank < 0 || rank > static_cast<std::int32_t>(kMaxRank)) {
    return bad_call(op,
                    format_text("{}[{}].rank is {}; expected 0 to {}{}", name, position, rank, kMaxRank, or_unknown));
  }
  if (rank != 0 && sizes == nullptr) {
    return bad_call(op, format_text("{}[{}].sizes is null; expected {} sizes", name, position, rank));
  }
  for (std::int32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) {
      return bad_call(op, format_text("{}[{}].sizes[{}] is {}; expected 0 or more", name, position, i, sizes[i]));
    }
  }
  return {};
}

bool has_sizes(const anydml_shape& shape) { return shape.rank != ANYDML_UNKNOWN_RANK; }

}  // namespace

std::size_t output_position(const facts::Operator& op, const schema::Location& location) {
  std::size_t position = location.index == schema::kNone ? 0 : location.index;
  for (std::size_t i = 0; i < location.field; ++i) {
    position += facts::is_output(op.fields[i].kind) ? 1U : 0U;
  }
  return position;
}

Status complete_outputs(const Call& call, std::span<anydml_shape> outputs) {
  const std::string_view name = call.op->name;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!is_absent(call.inputs[i])) {
      ANYDML_TRY(check_shape(name, "inputs", i, call.inputs[i].rank, call.inputs[i].sizes, ""));
    }
  }
  std::vector<WantedOutput> wanted;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const anydml_shape& shape = outputs[i];
    const bool present = shape.type != ANYDML_NONE;
    if (present && has_sizes(shape)) {
      ANYDML_TRY(check_shape(name, "outputs", i, shape.rank, shape.sizes, ", or ANYDML_UNKNOWN_RANK"));
    }
    const bool known = present && has_sizes(shape);
    wanted.push_back({.present = present,
                      .type = shape.type == ANYDML_UNKNOWN_TYPE ? 0 : shape.type,
                      .has_sizes = known,
                      .sizes = std::span(shape.sizes, known ? static_cast<std::size_t>(shape.rank) : 0)});
  }
  const auto found = infer_outputs(call, wanted);
  ANYDML_TRY(found);
  for (const schema::Violation& fault : found.value().faults) {
    const bool about_input = facts::is_input(call.op->fields[fault.location.field].kind);
    if (about_input || !has_sizes(outputs[output_position(*call.op, fault.location)])) {
      return bad_call(name, schema::sentence(*call.op, fault));
    }
  }
  std::string missing;
  for (const schema::Violation& unknown : found.value().unknown) {
    const anydml_shape& shape = outputs[output_position(*call.op, unknown.location)];
    const bool about_type = unknown.location.part == schema::Part::data_type;
    if (about_type ? shape.type == ANYDML_UNKNOWN_TYPE : !has_sizes(shape)) {
      missing += (missing.empty() ? "" : "; ") + schema::sentence(*call.op, unknown);
    }
  }
  if (!missing.empty()) {
    return bad_call(name, missing);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    anydml_shape& shape = outputs[i];
    const schema::GivenTensor& tensor = found.value().outputs[i];
    if (shape.type == ANYDML_NONE) {
      continue;
    }
    shape.type = shape.type == ANYDML_UNKNOWN_TYPE ? tensor.type : shape.type;
    if (!has_sizes(shape)) {
      shape.rank = static_cast<std::int32_t>(tensor.rank);
      std::copy_n(tensor.sizes, tensor.rank, shape.sizes);
    }
  }
  return {};
}

}  // namespace anydml
