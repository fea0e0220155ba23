// SPDX-License-Identifier: MIT
#include "directml/operator_desc.h"

#include <algorithm>

#include "directml/read_desc.h"
#include "schema/check.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::uint64_t kBufferOffsetAlignment = 16;  // DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT

Result<const facts::Operator*> choose_operator(const DML_OPERATOR_DESC* desc, facts::FeatureLevel level) {
  if (desc == nullptr) {
    return Error{ErrorKind::invalid_argument, "desc is null; expected a DML_OPERATOR_DESC"};
  }
  const auto number = static_cast<std::uint32_t>(desc->Type);
  const auto all = facts::operators();
  const auto op = std::ranges::find(all, number, &facts::Operator::value);
  if (op == all.end()) {
    return Error{ErrorKind::invalid_argument, format_text("Type is {}; expected the number of an operator, such as "
                                                          "DML_OPERATOR_ELEMENT_WISE_ADD",
                                                          number)};
  }
  if (const auto newer = schema::check_level(*op, level)) {
    return invalid(*op, *newer);
  }
  if (desc->Desc == nullptr) {
    return invalid({op->name, {}}, format_text("Desc is null; expected a {}", op->desc_struct));
  }
  return &*op;
}

// What each tensor asks of its binding, in the order of the operator's tensors: the inputs, then the outputs.
std::vector<TensorBinding> bindings_of(const schema::Described& described) {
  std::vector<TensorBinding> bindings;
  for (bool (*const wanted)(facts::FieldKind) : {&facts::is_input, &facts::is_output}) {
    for (std::size_t i = 0; i < described.op->fields.size(); ++i) {
      const facts::Field& field = described.op->fields[i];
      if (!wanted(field.kind)) {
        continue;
      }
      for (const schema::GivenTensor& tensor : described.arguments[i].tensors) {
        bindings.push_back({.name = field.name,
                            .present = true,
                            .bytes = tensor.total_bytes,
                            .alignment = std::max<std::uint64_t>(tensor.alignment, kBufferOffsetAlignment),
                            .owned = (tensor.flags & schema::kOwnedByDml) != 0});
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
  const auto op = choose_operator(desc, level);
  ANYDML_TRY(op);
  const auto described = read_described(*desc, *op.value());
  ANYDML_TRY(described);
  std::vector<schema::FlatTensor> flat;
  std::vector<std::vector<std::uint32_t>> kept;
  for (std::size_t i = 0; i < op.value()->fields.size(); ++i) {
    for (const auto& t : described.value().arguments[i].tensors) {
      const std::size_t n = t.rank <= kMaxRank ? t.rank : 0;
      kept.emplace_back(t.sizes, t.sizes + n);
      const auto* sizes = t.has_sizes ? kept.back().data() : nullptr;
      kept.emplace_back(t.strides, t.strides + n);
      flat.push_back({.field = i,
                      .tensor_type = t.tensor_type,
                      .has_desc = t.has_desc,
                      .type = t.type,
                      .flags = t.flags,
                      .rank = t.rank,
                      .sizes = sizes,
                      .strides = t.has_strides ? kept.back().data() : nullptr,
                      .total_bytes = t.total_bytes,
                      .alignment = t.alignment});
    }
  }
  if (find_family(*op.value()) == nullptr) {
    return not_built(*op.value());
  }
  if (const auto violations = schema::check_operator(*op.value(), level, flat); !violations.empty()) {
    return invalid(*op.value(), violations.front());
  }
  auto checked = make_op_desc(described.value());
  ANYDML_TRY(checked);
  auto def = std::make_shared<OperatorDef>();
  def->desc = std::move(checked.value());
  def->tensors = bindings_of(described.value());
  return std::shared_ptr<const OperatorDef>(std::move(def));
}

}  // namespace anydml
