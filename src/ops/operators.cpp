// SPDX-License-Identifier: MIT
#include "ops/operators.h"

#include <memory>
#include <utility>

#include "base/shape.h"
#include "ops/arguments.h"
#include "plan/overlap.h"
#include "schema/check.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

TensorSpec spec_of(const schema::GivenTensor& given) {
  return {.type = given.type,
          .rank = static_cast<std::int32_t>(given.rank),  // a negative rank is reported unchanged
          .sizes = given.has_sizes ? given.sizes : nullptr,
          .strides = given.has_strides ? given.strides : nullptr};
}

// Collects either the inputs or the outputs, in the order of their fields. An array occupies one position for each of
// its tensors.
Status take_tensors(const schema::Described& described, bool (*wanted)(facts::FieldKind), OpDesc& desc) {
  const facts::Operator& op = *described.op;
  for (std::size_t field = 0; field < op.fields.size(); ++field) {
    if (!wanted(op.fields[field].kind)) {
      continue;
    }
    const auto& given = described.arguments[field].tensors;
    for (const schema::GivenTensor& tensor : given) {
      const auto tensor_desc = make_tensor({op.name, op.fields[field].name}, spec_of(tensor));
      ANYDML_TRY(tensor_desc);
      desc.tensors.push_back({.name = op.fields[field].name,
                              .present = true,
                              .tensor = tensor_desc.value(),
                              .reach = reach_of(tensor_desc.value())});
    }
    if (given.empty() && !facts::is_array(op.fields[field].kind)) {
      desc.tensors.emplace_back().name = op.fields[field].name;
    }
  }
  return {};
}

// Checks each tensor separately: the operator must accept its type at this position.
Status check_types(const OpDesc& desc) {
  for (std::size_t i = 0; i < desc.tensors.size(); ++i) {
    const OpTensor& tensor = desc.tensors[i];
    const TypeSet types = desc.family->types(*desc.op, i);
    if (tensor.present && (types & type_bit(tensor.tensor.type)) == 0) {
      return invalid(desc, tensor,
                     format_text("type is {}; expected {}", type_name(tensor.tensor.type), type_names(types)));
    }
  }
  return {};
}

// Gives the input the output's sizes, with stride 0 along repeated dimensions. If the sizes must be equal, nothing
// repeats.
Status broadcast_input(const OpDesc& desc, OpTensor& named) {
  TensorDesc& input = named.tensor;
  const TensorDesc& output = desc.output().tensor;
  const auto mismatch = [&] {
    return invalid(
        desc, named,
        format_text("sizes are {}; expected sizes that broadcast to {}, the sizes of {}",
                    shape_text(input.sizes, input.rank), shape_text(output.sizes, output.rank), desc.output().name));
  };
  if (input.rank > output.rank) {
    return mismatch();
  }
  TensorDesc widened = output;
  widened.type = input.type;
  const std::uint32_t missing = output.rank - input.rank;
  for (std::uint32_t i = 0; i < output.rank; ++i) {
    const bool present = i >= missing;
    const std::int64_t size = present ? input.sizes[i - missing] : 1;
    if (size != output.sizes[i] && size != 1) {
      return mismatch();
    }
    widened.strides[i] = present && size == output.sizes[i] ? input.strides[i - missing] : 0;
  }
  input = widened;
  named.reach = reach_of(input);
  return {};
}

Status check_output(const OpDesc& desc, const OpTensor& named) {
  const TensorDesc& output = named.tensor;
  switch (find_self_overlap(output)) {
    case SelfOverlap::none:
      return {};
    case SelfOverlap::found:
      return invalid(desc, named,
                     format_text("strides {} with sizes {} put two elements at the same address; expected each "
                                 "element of an output to have its own address",
                                 shape_text(output.strides, output.rank), shape_text(output.sizes, output.rank)));
    case SelfOverlap::undecided:
      break;
  }
  return invalid(desc, named,
                 format_text("strides {} with sizes {} may put two elements at the same address; expected "
                             "simpler strides",
                             shape_text(output.strides, output.rank), shape_text(output.sizes, output.rank)));
}

// A fused activation may belong to a different family than its operator, so neither family can look it up.
Status check_fused_activation(const OpDesc& desc) {
  if (const schema::Described* fused = fused_activation(desc); fused != nullptr && !check_built(*fused->op).ok()) {
    return Error{ErrorKind::unsupported, format_text("{}: FusedActivation is {}, which is not implemented yet",
                                                     desc.op->name, fused->op->name)};
  }
  return {};
}

}  // namespace

Status check_built(const facts::Operator& op) {
  return find_family(op) != nullptr
             ? Status()
             : Error{ErrorKind::unsupported, format_text("{}: this DirectML operator is not implemented yet", op.name)};
}

Result<OpDesc> make_op_desc(const schema::Described& described, SchemaState schema_state) {
  ANYDML_TRY(check_built(*described.op));
  OpDesc desc;
  desc.op = described.op;
  desc.family = find_family(*described.op);
  desc.tensors.reserve(described.op->fields.size());
  ANYDML_TRY(take_tensors(described, facts::is_input, desc));
  desc.input_count = static_cast<std::uint32_t>(desc.tensors.size());
  ANYDML_TRY(take_tensors(described, facts::is_output, desc));
  desc.output_count = static_cast<std::uint32_t>(desc.tensors.size()) - desc.input_count;
  desc.arguments.resize(described.arguments.size());
  for (std::size_t field = 0; field < described.arguments.size(); ++field) {
    if (facts::is_attribute(desc.op->fields[field].kind)) {
      desc.arguments[field] = described.arguments[field];
    }
  }

  ANYDML_TRY(check_types(desc));
  if (schema_state == SchemaState::unchecked) {
    const auto violations = schema::check_relations(described, facts::kNewestLevel, desc.family->by_element);
    if (!violations.empty()) {
      return invalid(*desc.op, violations.front());
    }
  }
  for (std::size_t i = 0; desc.family->by_element && i < desc.input_count; ++i) {
    if (desc.tensors[i].present) {
      ANYDML_TRY(broadcast_input(desc, desc.tensors[i]));
    }
  }
  desc.empty = true;
  for (const OpTensor& output : desc.outputs()) {
    if (output.present) {
      ANYDML_TRY(check_output(desc, output));
      desc.empty = desc.empty && element_count(output.tensor) == 0;
    }
  }
  ANYDML_TRY(desc.family->check(desc));
  ANYDML_TRY(check_fused_activation(desc));
  return desc;
}

Status build_decomposition(Decomposition& whole) {
  for (DecomposedOp& part : whole.ops) {
    if (part.op != nullptr) {
      continue;
    }
    auto part_desc = make_op_desc(*part.described, SchemaState::unchecked);
    ANYDML_TRY(part_desc);
    part.op = std::make_shared<const OpDesc>(std::move(part_desc.value()));
    part.described.reset();
    part.sources.resize(part.op->input_count, kNoValue);
  }
  return {};
}

}  // namespace anydml
