// SPDX-License-Identifier: MIT
#include "capi/infer.h"

#include <utility>

#include "ops/family.h"

namespace anydml {
namespace {

// Stands for an unknown type in a tensor of the C API, where 0 says that the tensor is absent.
constexpr std::uint32_t kUnknownType = 0x7fff'ffff;

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
      argument.numbers.clear();  // it is the output's type, which was taken from there
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
  for (std::size_t i = 0, next = 0; i < call.op->fields.size(); ++i) {  // a tensor without dimensions may have no sizes
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

}  // namespace anydml
