// SPDX-License-Identifier: MIT
#include "directml/operator_desc.h"

#include <algorithm>
#include <utility>

#include "directml/read_desc.h"
#include "ops/operators.h"
#include "schema/check.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kBufferOffsetAlignment = 16;  // DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT

// Reads the operator and checks it against every documented rule.
Result<schema::Described> read_right(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  if (desc == nullptr) {
    return Error{ErrorKind::invalid_argument, "desc is null; expected a DML_OPERATOR_DESC"};
  }
  const facts::Operator* op = find_operator(desc->Type);
  if (op == nullptr) {
    return Error{ErrorKind::invalid_argument, format_text("Type is {}; expected the number of an operator, such as "
                                                          "DML_OPERATOR_ELEMENT_WISE_ADD",
                                                          static_cast<std::uint32_t>(desc->Type))};
  }
  if (const auto newer = schema::check_level(*op, level)) {
    return invalid(*op, *newer);
  }
  ANYDML_TRY(check_built(*op));
  auto given = read_described(*desc, *op);
  ANYDML_TRY(given);
  if (const auto violations = schema::check_operator(given.value(), level); !violations.empty()) {
    return invalid(*op, violations.front());
  }
  return given;
}

// Whether the tensor's strides skip elements. The schema has checked that the products do not overflow.
bool has_gaps(const schema::GivenTensor& tensor) {
  std::int64_t elements = 1;
  std::int64_t last = 0;
  for (std::uint32_t i = 0; i < tensor.rank && tensor.has_strides; ++i) {
    elements *= tensor.strides[i] != 0 ? tensor.sizes[i] : 1;
    last += (tensor.sizes[i] - 1) * tensor.strides[i];
  }
  return last >= elements;
}

// Returns each tensor's binding requirements, in the order of the operator's tensors: the inputs, then the outputs.
std::vector<TensorBinding> bindings_of(const schema::Described& described) {
  std::vector<TensorBinding> bindings;
  for (bool (*const wanted)(facts::FieldKind) : {&facts::is_input, &facts::is_output}) {
    for (std::size_t i = 0; i < described.op->fields.size(); ++i) {
      const facts::Field& field = described.op->fields[i];
      if (!wanted(field.kind)) {
        continue;
      }
      for (const schema::GivenTensor& tensor : described.arguments[i].tensors) {
        bindings.push_back({.name = std::string(field.name),
                            .present = true,
                            .bytes = tensor.total_bytes,
                            .alignment = std::max<std::uint64_t>(tensor.alignment, kBufferOffsetAlignment),
                            .owned = (tensor.flags & schema::kOwnedByDml) != 0,
                            .has_gaps = has_gaps(tensor)});
      }
      if (described.arguments[i].tensors.empty() && !facts::is_array(field.kind)) {
        bindings.emplace_back().name = field.name;
      }
    }
  }
  return bindings;
}

}  // namespace

Result<std::shared_ptr<const OperatorDef>> make_operator(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  const auto described = read_right(desc, level);
  ANYDML_TRY(described);
  auto checked = make_op_desc(described.value(), SchemaState::checked);
  ANYDML_TRY(checked);
  auto def = std::make_shared<OperatorDef>();
  def->desc = std::move(checked.value());
  def->tensors = bindings_of(described.value());
  return std::shared_ptr<const OperatorDef>(std::move(def));
}

}  // namespace anydml
