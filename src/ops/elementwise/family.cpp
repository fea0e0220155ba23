// SPDX-License-Identifier: MIT
// The element-wise family. Each operator has an entry, and its plan is a single step; a ScaleBias becomes the first
// instruction of that step.
#include "ops/family.h"

#include <algorithm>
#include <vector>

#include "base/inline_vector.h"
#include "ops/arguments.h"
#include "ops/elementwise/decomposition.h"
#include "ops/elementwise/entries.h"
#include "ops/elementwise/program.h"
#include "ops/elementwise/recipes.h"
#include "ops/op_desc.h"
#include "text/format.h"

namespace anydml {
namespace {

using Arguments = std::span<const schema::Argument>;

// The numeric attributes of an operator, in the order of its desc struct. Those of a ScaleBias and of a fused operator
// are stored separately.
struct Numbers {
  Attributes own;
  const std::vector<Scalar>* scale_bias = nullptr;
  const schema::Described* fused = nullptr;
};

Numbers numbers_of(const facts::Operator& op, Arguments arguments) {
  Numbers numbers;
  const std::size_t union_type = schema::union_type_field(op);  // the output's type, not an attribute
  std::size_t position = 0;
  for (std::size_t i = 0; i < op.fields.size(); ++i) {
    const facts::Field& field = op.fields[i];
    const schema::Argument& argument = arguments[i];
    if (!facts::is_attribute(field.kind) || i == union_type) {
      continue;
    }
    if (field.type == facts::FieldType::scale_bias) {
      numbers.scale_bias = argument.present ? &argument.numbers : nullptr;
    } else if (field.type == facts::FieldType::operators) {
      numbers.fused = argument.operators.empty() ? nullptr : &argument.operators.front();
    } else {
      numbers.own.values[position++] = argument.numbers.empty() ? Scalar() : argument.numbers.front();
    }
  }
  return numbers;
}

// The entry of an operator, which depends on whether its optional last input is present.
const Entry& entry_for(const OpDesc& desc) {
  const Entry* without = find_entry_without_last(*desc.op);
  return without != nullptr && !desc.tensors[desc.input_count - 1].present ? *without : *find_entry(*desc.op);
}

std::uint32_t variant_of(const OpDesc& desc) {
  Variant types{};
  std::size_t next = 0;
  for (const OpTensor& tensor : desc.tensors) {
    if (tensor.present) {
      types[next++] = tensor.tensor.type;
    }
  }
  return find_variant(entry_for(desc), types);
}

Status check(const OpDesc& desc) {
  if (find_recipe(*desc.op) != nullptr) {
    return {};
  }
  if (is_composed(*desc.op)) {
    return check_composed_entry(desc);
  }
  if (variant_of(desc) == kNoVariant) {
    return Error{ErrorKind::unsupported, format_text("{}: this combination of types is not supported", desc.op->name)};
  }
  const DataType type = desc.output().tensor.type;
  const Numbers numbers = numbers_of(*desc.op, desc.arguments);
  if (numbers.scale_bias != nullptr && !is_float_type(type)) {
    return invalid({desc.op->name, {}},
                   format_text("attributes Scale and Bias are given for {}; expected a float type", type_name(type)));
  }
  if (numbers.fused != nullptr) {
    const Entry* fused = find_entry(*numbers.fused->op);
    if (fused == nullptr || fused->inputs != 1 || find_variant(*fused, type) == kNoVariant) {
      return Error{ErrorKind::unsupported, format_text("{}: FusedActivation is {}, which is not implemented yet",
                                                       desc.op->name, numbers.fused->op->name)};
    }
  }
  return {};
}

// Adds the operator's own entry, after a ScaleBias and before a fused activation, if present.
std::uint16_t add_own(const OpDesc& desc, InputValues inputs, ElementwiseProgram& program) {
  const Numbers numbers = numbers_of(*desc.op, desc.arguments);
  const Entry& own = entry_for(desc);
  std::uint16_t sources[kMaxInputs];
  std::copy_n(inputs.begin(), own.inputs, sources);
  if (numbers.scale_bias != nullptr) {
    Attributes scale_bias;
    std::ranges::copy(*numbers.scale_bias, scale_bias.values);
    const std::uint32_t variant = find_variant(entry(EntryId::SCALE_BIAS), desc.tensors[0].tensor.type);
    sources[0] = program.add(EntryId::SCALE_BIAS, variant, std::span(sources, 1), scale_bias);
  }
  const std::uint16_t result[] = {program.add(own.id, variant_of(desc), std::span(sources, own.inputs), numbers.own)};
  if (numbers.fused == nullptr) {
    return result[0];
  }
  const Entry& fused = *find_entry(*numbers.fused->op);
  return program.add(fused.id, find_variant(fused, desc.output().tensor.type), result,
                     numbers_of(*numbers.fused->op, numbers.fused->arguments).own);
}

void lower_together(const OperatorGroup& group, Plan& plan) {
  std::vector<PlacedTensor> tensors;
  tensors.reserve(group.loads.size() + group.stores.size());
  InlineVector<std::uint16_t, 32> values(group.loads.size() +
                                         group.members.size());  // maps the group's values to the program's
  for (const GroupOperand& load : group.loads) {
    values[load.value] = static_cast<std::uint16_t>(tensors.size());
    tensors.push_back(load.placed);
  }
  ElementwiseProgram program(static_cast<std::uint32_t>(tensors.size()), 2 * group.members.size());
  InlineVector<std::uint16_t, 16> inputs;
  for (const GroupMember& member : group.members) {
    inputs.clear();
    for (const std::uint32_t input : member.inputs) {
      inputs.push_back(input == kAbsentFromGroup ? kAbsentValue : values[input]);
    }
    Recipe recipe = find_internal_recipe(*member.desc->op);
    recipe = recipe == nullptr ? find_recipe(*member.desc->op) : recipe;
    values[member.result] =
        (recipe != nullptr ? recipe : add_own)(*member.desc, std::span(inputs.data(), inputs.size()), program);
  }
  InlineVector<std::uint16_t, 16> stored;
  for (const GroupOperand& store : group.stores) {
    stored.push_back(values[store.value]);
    tensors.push_back(store.placed);
  }
  add_elementwise(plan, program, tensors, std::span(stored.data(), stored.size()));
}

// The types of DirectML's newest level, for operators whose entries do not specify them.
TypeSet admitted_types(const facts::Operator& op, std::size_t position) {
  std::size_t next = 0;
  for (bool (*const wanted)(facts::FieldKind) : {&facts::is_input, &facts::is_output}) {
    for (std::size_t field = 0; field < op.fields.size(); ++field) {
      if (wanted(op.fields[field].kind) && next++ == position) {
        const auto admitted = facts::admitted(op, field, facts::kNewestLevel);
        return admitted ? admitted->types : 0;
      }
    }
  }
  return 0;
}

}  // namespace

extern const Family elementwise_family;
const Family elementwise_family = {
    .id = FamilyId::elementwise,
    .has =
        [](const facts::Operator& op) {
          return find_entry(op) != nullptr || find_recipe(op) != nullptr || is_composed(op);
        },
    .types =
        [](const facts::Operator& op, std::size_t position) {
          const Entry* entry = find_entry(op);
          return entry != nullptr ? entry->types[position] : admitted_types(op, position);
        },
    .by_element = true,
    .check = check,
    .lower = nullptr,
    .lower_together = lower_together,
    .joins = nullptr,
    .decompose = decompose,
};

}  // namespace anydml
