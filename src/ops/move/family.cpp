// SPDX-License-Identifier: MIT
// The family of operators that move elements.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/arguments.h"
#include "ops/move/maps.h"
#include "ops/op_desc.h"
#include "ops/sliding_blocks.h"
#include "text/format.h"

namespace anydml {
namespace {

struct MoveEntry {
  std::string_view name;
  moves::LowerMove lower;
};

constexpr MoveEntry kEntries[] = {
#define ANYDML_MOVE_ENTRY(op, kind) {#op, moves::lower_##kind},
#define ANYDML_MOVE_COMPOSED_ENTRY(op) {#op, nullptr},
#include "ops/move/move.def"
};

const MoveEntry* find_entry(const facts::Operator& op) {
  const auto* const found = std::ranges::find(kEntries, op.name, &MoveEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

Status check_number(const OpDesc& desc, std::string_view field) {
  return moves::numbers_of(desc, field).empty() ? invalid({desc.op->name, field}, "a number is missing") : Status();
}

Status check_padding(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  const bool is_constant = moves::numbers_of(desc, "PaddingMode").front().as<u32>() == 0;
  if (!desc.empty && !is_constant && element_count(input.tensor) == 0) {
    return invalid(desc, input,
                   format_text("sizes are {}; expected at least one element, unless PaddingMode is CONSTANT",
                               shape_text(input.tensor.sizes, input.tensor.rank)));
  }
  return check_number(desc, "PaddingValue");
}

// The documentation divides the sizes by the block size but does not define what happens to a remainder. Here, a
// remainder is an error.
Status check_blocks(const OpDesc& desc) {
  const bool to_depth = desc.op->name.starts_with("SPACE");
  const auto block = moves::numbers_of(desc, "BlockSize").front().as<i64>();
  for (const OpTensor& tensor : desc.tensors) {
    if (tensor.tensor.rank != 4) {
      return invalid(desc, tensor, format_text("has {} dimensions; expected 4", tensor.tensor.rank));
    }
  }
  const OpTensor& space = desc.tensors[to_depth ? 0 : 1];
  const OpTensor& depth = desc.tensors[to_depth ? 1 : 0];
  const bool fits = depth.tensor.sizes[1] == space.tensor.sizes[1] * block * block &&
                    space.tensor.sizes[2] == depth.tensor.sizes[2] * block &&
                    space.tensor.sizes[3] == depth.tensor.sizes[3] * block;
  if (!fits) {
    return invalid(desc, desc.tensors[0],
                   format_text("sizes are {}; expected {} of {}",
                               shape_text(desc.tensors[0].tensor.sizes, desc.tensors[0].tensor.rank),
                               to_depth ? "a height and a width that are multiples" : "channels that are a multiple",
                               to_depth ? "BlockSize" : "the square of BlockSize"));
  }
  return {};
}

Status check_diagonal(const OpDesc& desc) {
  const OpTensor& output = desc.output();
  if (output.tensor.rank < 2) {
    return invalid(desc, output, format_text("has {} dimensions; expected 2 or more", output.tensor.rank));
  }
  for (const OpTensor& input : desc.inputs()) {
    if (input.present && !std::equal(output.tensor.sizes, output.tensor.sizes + output.tensor.rank, input.tensor.sizes,
                                     input.tensor.sizes + input.tensor.rank)) {
      return invalid(
          desc, input,
          format_text("sizes are {}; expected {}, those of {}", shape_text(input.tensor.sizes, input.tensor.rank),
                      shape_text(output.tensor.sizes, output.tensor.rank), output.name));
    }
  }
  return check_number(desc, "Value");
}

Status check_unfold(const OpDesc& desc) { return check_sliding_blocks(desc, desc.tensors[0]); }

// The documented rules cover everything else.
Status check(const OpDesc& desc) {
  const moves::LowerMove kind = find_entry(*desc.op)->lower;
  return kind == moves::lower_padding    ? check_padding(desc)
         : kind == moves::lower_blocks   ? check_blocks(desc)
         : kind == moves::lower_unfold   ? check_unfold(desc)
         : kind == moves::lower_diagonal ? check_diagonal(desc)
                                         : Status();
}

TypeSet types(const facts::Operator& op, std::size_t position) {
  constexpr std::size_t kLengths = 1;
  if (op.name == "VALUE_SCALE_2D") {
    return type_bit(DataType::FLOAT16) | type_bit(DataType::FLOAT32) | type_bit(DataType::FLOAT64);
  }
  return op.name == "REVERSE_SUBSEQUENCES" && position == kLengths
             ? type_bit(DataType::UINT32) | type_bit(DataType::UINT64)
             : all_types();
}

Result<Decomposition> decompose(const OpDesc& desc, const DeviceTraits&, const KnownInputs&) {
  return desc.op->name == "UNFOLD"           ? moves::decompose_unfold(desc)
         : desc.op->name == "VALUE_SCALE_2D" ? moves::decompose_value_scale(desc)
                                             : Decomposition();
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  CopyList copies(plan);
  find_entry(*desc.op)->lower(desc, tensors, copies);
  copies.finish();
}

}  // namespace

extern const Family move_family;
const Family move_family = {
    .id = FamilyId::move,
    .has = [](const facts::Operator& op) { return find_entry(op) != nullptr; },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = decompose,
    .views_of_inputs = moves::views_of_inputs,
    .views_in_outputs = moves::views_in_outputs,
};

}  // namespace anydml
