// SPDX-License-Identifier: MIT
#include "ops/op_desc.h"

#include <algorithm>
#include <string>

#include "plan/overlap.h"
#include "schema/words.h"
#include "text/format.h"

namespace anydml {
namespace {

// Calls use(position among the row's tensors, field) for each tensor, inputs first, then the output.
template <class Use>
void for_each_tensor(const facts::Operator& op, Use use) {
  std::size_t position = 0;
  for (bool (*const wanted)(facts::FieldKind) : {&facts::is_input, &facts::is_output}) {
    for (std::size_t field = 0; field < op.fields.size(); ++field) {
      if (wanted(op.fields[field].kind)) {
        use(position++, field);
      }
    }
  }
}

// Each tensor's type, and that they go together: which variant of the row they are.
Result<std::uint32_t> choose_variant(const Row& row, std::span<const TensorDesc> tensors) {
  Variant types{};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if ((row.types[i] & type_bit(tensors[i].type)) == 0) {
      return invalid({row.name, row.tensors[i]},
                     format_text("type is {}; expected {}", type_name(tensors[i].type), type_names(row.types[i])));
    }
    types[i] = tensors[i].type;
  }
  if (const std::uint32_t variant = find_variant(row, types); variant != kNoVariant) {
    return variant;  // what must be the same is
  }
  schema::TensorType given[kMaxOperands];
  for_each_tensor(*row.facts, [&](std::size_t position, std::size_t field) {
    given[position] = {{.field = field}, static_cast<std::uint32_t>(tensors[position].type)};
  });
  const auto differing = schema::check_same_types(*row.facts, std::span(given, tensors.size()));
  if (differing.empty()) {
    return Error{ErrorKind::unsupported, format_text("{}: these types together are not built here", row.name)};
  }
  return invalid(*row.facts, differing.front());
}

// Gives the input the output's sizes, with stride 0 where it repeats. Where sizes must be the same, nothing does.
Status broadcast_input(Where where, TensorDesc& input, const TensorDesc& output, std::string_view output_name) {
  const auto mismatch = [&] {
    return invalid(
        where, format_text("sizes are {}; expected sizes that broadcast to {}, the sizes of {}",
                           shape_text(input.sizes, input.rank), shape_text(output.sizes, output.rank), output_name));
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
  return {};
}

Status check_output(Where where, const TensorDesc& output) {
  switch (find_self_overlap(output)) {
    case SelfOverlap::none:
      return {};
    case SelfOverlap::found:
      return invalid(where,
                     format_text("strides {} with sizes {} put two elements at one place; expected each element "
                                 "of an output at a place of its own",
                                 shape_text(output.strides, output.rank), shape_text(output.sizes, output.rank)));
    case SelfOverlap::undecided:
      break;
  }
  return invalid(where, format_text("strides {} with sizes {} could not be shown to put each element at a place of its "
                                    "own; expected simpler strides",
                                    shape_text(output.strides, output.rank), shape_text(output.sizes, output.rank)));
}

constexpr std::string_view kScaleBias = "ScaleBias";

// What the operator takes besides tensors, for messages.
std::string attribute_names(const facts::Operator& op) {
  std::string text;
  for (const facts::Field& field : op.fields) {
    if (facts::is_attribute(field.kind) && field.name != kScaleBias) {
      text.append(text.empty() ? "" : ", ").append(field.name);
    }
  }
  if (std::ranges::find(op.fields, kScaleBias, &facts::Field::name) != op.fields.end()) {
    text.append(text.empty() ? "" : ", and ").append("optionally Scale with Bias");
  }
  return text.empty() ? "no attributes" : text;
}

bool takes_attribute(const facts::Operator& op, std::string_view name) {
  return std::ranges::any_of(op.fields, [name](const facts::Field& field) {
    return facts::is_attribute(field.kind) &&
           (field.name == kScaleBias ? name == "Scale" || name == "Bias" : name == field.name);
  });
}

// Sorts the attributes into the order of the desc struct; each required one exactly once, none unknown.
Status take_attributes(const Row& row, std::span<const NamedScalar> given, OpDesc& desc) {
  const Where where{row.name, {}};
  // First the unknown: a misspelt one is better told so than called missing.
  for (const NamedScalar& attribute : given) {
    if (!takes_attribute(*row.facts, attribute.name)) {
      return invalid(where, format_text("attribute '{:.64}' is not one of this operator's; it takes {}", attribute.name,
                                        attribute_names(*row.facts)));
    }
  }
  const auto take = [&](std::string_view name, Scalar& value) -> Result<bool> {
    const auto count = std::ranges::count(given, name, &NamedScalar::name);
    if (count > 1) {
      return invalid(where, format_text("attribute {} is given {} times; expected once", name, count));
    }
    if (count == 1) {
      value = std::ranges::find(given, name, &NamedScalar::name)->value;
    }
    return count == 1;
  };
  std::size_t position = 0;
  for (const facts::Field& field : row.facts->fields) {
    if (!facts::is_attribute(field.kind)) {
      continue;
    }
    if (field.name == kScaleBias) {
      const auto scale = take("Scale", desc.scale_bias.values[0]);
      ANYDML_TRY(scale);
      const auto bias = take("Bias", desc.scale_bias.values[1]);
      ANYDML_TRY(bias);
      if (scale.value() != bias.value()) {
        return invalid(where, format_text("attribute {} is missing; expected Scale and Bias together",
                                          scale.value() ? "Bias" : "Scale"));
      }
      desc.has_scale_bias = scale.value();
      if (desc.has_scale_bias && !is_float_type(desc.output().type)) {
        return invalid(where, format_text("attributes Scale and Bias are given for {}; expected a float type with them",
                                          type_name(desc.output().type)));
      }
      continue;
    }
    const auto found = take(field.name, desc.attributes.values[position++]);
    ANYDML_TRY(found);
    if (!found.value() && field.kind == facts::FieldKind::attribute) {
      return invalid(where, format_text("attribute {} is missing; the operator takes {}", field.name,
                                        attribute_names(*row.facts)));
    }
  }
  return {};
}

}  // namespace

Error invalid(const facts::Operator& op, const schema::Violation& violation) {
  return invalid({op.name, {}}, schema::sentence(op, violation));
}

Result<OpDesc> make_op_desc(const OpRequest& request) {
  const Row& row = *request.row;
  if (request.inputs.size() != row.inputs) {
    return invalid({row.name, {}},
                   format_text("the number of input tensors is {}; expected {}", request.inputs.size(), row.inputs));
  }
  OpDesc desc;
  desc.row = &row;
  desc.input_count = row.inputs;
  for (std::size_t i = 0; i <= row.inputs; ++i) {
    auto tensor = make_tensor({row.name, row.tensors[i]}, i < row.inputs ? request.inputs[i] : *request.output);
    ANYDML_TRY(tensor);
    desc.tensors[i] = tensor.value();
  }
  const auto variant = choose_variant(row, std::span(desc.tensors, row.inputs + 1U));
  ANYDML_TRY(variant);
  desc.variant = variant.value();
  const std::string_view output_name = row.tensors[row.inputs];
  for (std::size_t i = 0; i < row.inputs; ++i) {
    ANYDML_TRY(broadcast_input({row.name, row.tensors[i]}, desc.tensors[i], desc.output(), output_name));
  }
  ANYDML_TRY(check_output({row.name, output_name}, desc.output()));
  ANYDML_TRY(take_attributes(row, request.attributes, desc));
  desc.element_count = element_count(desc.output());
  for (std::size_t i = 0; i <= row.inputs; ++i) {
    desc.reaches[i] = reach_of(desc.tensors[i]);
  }
  return desc;
}

std::string dispatch_text(const OpDesc& desc, std::string_view device, std::string_view kernels) {
  return format_text("dispatch {} {} {} on {}: {}", desc.row->name, type_name(desc.output().type),
                     shape_text(desc.output().sizes, desc.output().rank), device, kernels);
}

}  // namespace anydml
