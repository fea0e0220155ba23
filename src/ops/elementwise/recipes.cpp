// SPDX-License-Identifier: MIT
#include "ops/elementwise/recipes.h"

#include <string_view>

namespace anydml {
namespace {

// Applies an entry to values, in the variant for these types. If the last value is absent, the entry without it is
// used.
struct Typed {
  std::uint16_t value;
  DataType type;
};

std::uint16_t add_entry(ElementwiseProgram& program, EntryId full, EntryId without, Typed x, Typed scale,
                        Typed zero_point, DataType output) {
  const bool absent = zero_point.value == kAbsentValue;
  const Entry& of = entry(absent ? without : full);
  const Variant types =
      absent ? Variant{x.type, scale.type, output} : Variant{x.type, scale.type, zero_point.type, output};
  const std::uint16_t sources[] = {x.value, scale.value, zero_point.value};
  return program.add(of.id, find_variant(of, types), std::span(sources, of.inputs));
}

// (A - AZeroPoint) * AScale + (B - BZeroPoint) * BScale in FLOAT32, then quantized; each step computes the same result
// as the corresponding operator.
std::uint16_t quantized_linear_add(const OpDesc& desc, InputValues inputs, ElementwiseProgram& program) {
  const auto typed = [&](std::size_t input) { return Typed{inputs[input], desc.tensors[input].tensor.type}; };
  const auto dequantize = [&](std::size_t first) {
    return add_entry(program, EntryId::ELEMENT_WISE_DEQUANTIZE_LINEAR, EntryId::DEQUANTIZE_LINEAR_FROM_ZERO,
                     typed(first), typed(first + 1), typed(first + 2), DataType::FLOAT32);
  };
  const std::uint16_t terms[] = {dequantize(0), dequantize(3)};
  const Entry& add = entry(EntryId::ELEMENT_WISE_ADD);
  const std::uint16_t sum = program.add(add.id, find_variant(add, DataType::FLOAT32), terms);
  return add_entry(program, EntryId::ELEMENT_WISE_QUANTIZE_LINEAR, EntryId::QUANTIZE_LINEAR_FROM_ZERO,
                   {sum, DataType::FLOAT32}, typed(6), typed(7), desc.output().tensor.type);
}

}  // namespace

Recipe find_recipe(const facts::Operator& op) {
  const std::string_view name = op.name;
#define ANYDML_ENTRY(op, Definition)
#define ANYDML_RECIPE_ENTRY(op, function) \
  if (name == #op) {                      \
    return function;                      \
  }
#include "ops/elementwise/elementwise.def"
  return nullptr;
}

}  // namespace anydml
