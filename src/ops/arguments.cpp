// SPDX-License-Identifier: MIT
#include "ops/arguments.h"

#include <algorithm>
#include <cstring>

#include "text/format.h"

namespace anydml {

const schema::Argument* find_argument(const OpDesc& desc, std::string_view field) {
  const auto found = std::ranges::find(desc.op->fields, field, &facts::Field::name);
  if (found == desc.op->fields.end()) {
    return nullptr;
  }
  const schema::Argument& argument = desc.arguments[static_cast<std::size_t>(found - desc.op->fields.begin())];
  return argument.present ? &argument : nullptr;
}

Scalar number_of(const OpDesc& desc, std::string_view field) {
  const schema::Argument* argument = find_argument(desc, field);
  return argument != nullptr && !argument->numbers.empty() ? argument->numbers.front() : Scalar();
}

std::uint64_t bits_of(const Scalar& value, DataType type) {
  return visit_type(type, [&]<class T>() {
    const T element = value.as<T>();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(element));
    return bits;
  });
}

const schema::Described* fused_activation(const OpDesc& desc) {
  const schema::Argument* argument = find_argument(desc, "FusedActivation");
  return argument != nullptr && !argument->operators.empty() ? &argument->operators.front() : nullptr;
}

std::uint32_t axes_of(const OpDesc& desc) {
  std::uint32_t axes = 0;
  if (const schema::Argument* argument = find_argument(desc, "Axes"); argument != nullptr) {
    for (const Scalar& axis : argument->numbers) {
      axes |= 1U << axis.as<u32>();
    }
  }
  return axes;
}

Status check_axes(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  std::uint32_t seen = 0;
  const schema::Argument* argument = find_argument(desc, "Axes");
  for (std::size_t i = 0; argument != nullptr && i < argument->numbers.size(); ++i) {
    const u64 axis = argument->numbers[i].as<u64>();
    if (axis >= input.tensor.rank) {
      return invalid({desc.op->name, "Axes"}, format_text("Axes[{}] is {}; expected less than {}, the rank of {}", i,
                                                          axis, input.tensor.rank, input.name));
    }
    if ((seen >> axis & 1) != 0) {
      return invalid({desc.op->name, "Axes"}, format_text("Axes[{}] is {} again; expected each axis once", i, axis));
    }
    seen |= 1U << axis;
  }
  return {};
}

}  // namespace anydml
