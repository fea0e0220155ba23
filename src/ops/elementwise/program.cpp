// SPDX-License-Identifier: MIT
#include "ops/elementwise/program.h"

#include <algorithm>
#include <cstring>

#include "ops/elementwise/copy.h"
#include "ops/family.h"
#include "plan/loop_nest.h"

namespace anydml {

std::uint16_t ElementwiseProgram::add(EntryId entry, std::uint32_t variant, std::span<const std::uint16_t> sources,
                                      const Attributes& attributes) {
  Instruction& instruction = instructions_.emplace_back();
  instruction.entry = entry;
  instruction.variant = static_cast<std::uint16_t>(variant);
  std::ranges::copy(sources, instruction.sources);
  instruction.attributes = attributes;
  return static_cast<std::uint16_t>(loads_ + instructions_.size() - 1);
}

void add_elementwise(Plan& plan, const ElementwiseProgram& program, std::span<const PlacedTensor> tensors,
                     std::span<const std::uint16_t> stored) {
  TensorDesc descs[kMaxOperands];
  Operand operands[kMaxOperands];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    descs[i] = tensors[i].tensor;
    operands[i] = tensors[i].operand();
  }
  const ElementwiseHeader header{.nest = make_loop_nest(std::span(descs, tensors.size())),
                                 .loads = program.loads(),
                                 .stores = static_cast<std::uint32_t>(stored.size()),
                                 .instructions = static_cast<std::uint32_t>(program.instructions().size()),
                                 .reserved = 0};
  if (header.nest.count == 0) {
    return;
  }
  const std::size_t program_bytes = program.instructions().size_bytes();
  std::vector<std::byte> parameters(sizeof(header) + program_bytes + stored.size_bytes());
  std::memcpy(parameters.data(), &header, sizeof(header));
  std::memcpy(parameters.data() + sizeof(header), program.instructions().data(), program_bytes);
  std::memcpy(parameters.data() + sizeof(header) + program_bytes, stored.data(), stored.size_bytes());
  plan.add(static_cast<std::uint32_t>(FamilyId::elementwise), std::span(operands, tensors.size()), parameters);
}

DataType bits_type(DataType type) {
  switch (element_size(type)) {
    case 1:
      return DataType::UINT8;
    case 2:
      return DataType::UINT16;
    case 4:
      return DataType::UINT32;
    default:
      return DataType::UINT64;
  }
}

void add_copy(Plan& plan, const PlacedTensor& from, const PlacedTensor& to) {
  PlacedTensor tensors[] = {from, to};
  for (PlacedTensor& placed : tensors) {
    TensorDesc& tensor = placed.tensor;
    if (is_four_bits(tensor.type)) {  // each of its bytes contains two elements
      tensor = {.type = DataType::UINT8, .rank = 1, .sizes = {packed_bytes(tensor)}, .strides = {1}};
    }
    tensor.type = bits_type(tensor.type);
  }
  ElementwiseProgram program(1);
  const std::uint16_t source[] = {0};
  const Entry& identity = entry(EntryId::ELEMENT_WISE_IDENTITY);
  const std::uint16_t result[] = {program.add(identity.id, find_variant(identity, tensors[0].tensor.type), source)};
  add_elementwise(plan, program, tensors, result);
}

}  // namespace anydml
