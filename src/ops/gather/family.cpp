// SPDX-License-Identifier: MIT
// The family of operators whose element positions come from data: gathers, scatters, ONE_HOT and NONZERO_COORDINATES.
#include "ops/family.h"
#include "base/shape.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "ops/arguments.h"
#include "ops/gather/lower.h"
#include "ops/op_desc.h"
#include "text/format.h"

namespace anydml {
namespace {

struct GatherEntry {
  std::string_view name;
  gathers::LowerGather lower;
};

constexpr GatherEntry kEntries[] = {
#define ANYDML_GATHER_ENTRY(op, kind) {#op, gathers::lower_##kind},
#include "ops/gather/gather.def"
};

const GatherEntry* find_entry(const facts::Operator& op) {
  const auto* const found = std::ranges::find(kEntries, op.name, &GatherEntry::name);
  return found == std::end(kEntries) ? nullptr : found;
}

constexpr TypeSet kIndexTypes =
    type_bit(DataType::UINT32) | type_bit(DataType::INT32) | type_bit(DataType::UINT64) | type_bit(DataType::INT64);

TypeSet types(const facts::Operator& op, std::size_t position) {
  const gathers::LowerGather kind = find_entry(op)->lower;
  if (kind == gathers::lower_nonzero) {
    return position == 0 ? all_types() : type_bit(DataType::UINT32);
  }
  const std::size_t indices = kind == gathers::lower_one_hot ? 0 : 1;
  return position == indices ? kIndexTypes : all_types();
}

// The leading dimensions that `field` does not count must have size 1.
Status check_leading(const OpDesc& desc, const OpTensor& tensor, std::string_view field) {
  const std::uint32_t counted = gathers::integer_of(desc, field);
  const TensorDesc& of = tensor.tensor;
  if (std::any_of(of.sizes, of.sizes + of.rank - counted, [](std::int64_t size) { return size != 1; })) {
    return invalid(desc, tensor,
                   format_text("sizes are {}; expected 1 for all but the last {}, which {} counts",
                               shape_text(of.sizes, of.rank), counted, field));
  }
  return {};
}

Status check_nonzero(const OpDesc& desc) {
  const OpTensor& input = desc.tensors[0];
  const OpTensor& coordinates = desc.outputs()[1];
  if (coordinates.tensor.rank < 2) {
    return invalid(desc, coordinates, format_text("has {} dimensions; expected 2 or more", coordinates.tensor.rank));
  }
  if (element_count(input.tensor) > std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
    return invalid(desc, input,
                   format_text("has {} elements; expected a number that fits UINT32, the type of the count",
                               element_count(input.tensor)));
  }
  return {};
}

// GATHER_ND1: the input and the indices must have the same batch sizes.
Status check_batches(const OpDesc& desc) {
  const TensorDesc& input = desc.tensors[0].tensor;
  const TensorDesc& indices = desc.tensors[1].tensor;
  const std::uint32_t first_input = input.rank - gathers::integer_of(desc, "InputDimensionCount");
  const std::uint32_t first_index = indices.rank - gathers::integer_of(desc, "IndicesDimensionCount");
  for (std::uint32_t i = 0; i < gathers::integer_of(desc, "BatchDimensionCount"); ++i) {
    if (indices.sizes[first_index + i] != input.sizes[first_input + i]) {
      return invalid(desc, desc.tensors[1],
                     format_text("Sizes[{}] is {}; expected {}, the batch size of {}", first_index + i,
                                 indices.sizes[first_index + i], input.sizes[first_input + i], desc.tensors[0].name));
    }
  }
  return {};
}

// The documented rules cover everything else.
Status check(const OpDesc& desc) {
  const gathers::LowerGather kind = find_entry(*desc.op)->lower;
  if (kind == gathers::lower_nonzero) {
    return check_nonzero(desc);
  }
  if (kind == gathers::lower_one_hot) {
    return {};
  }
  if (kind == gathers::lower_gather) {
    ANYDML_TRY(check_leading(desc, desc.tensors[1], "IndexDimensions"));
  }
  if (kind == gathers::lower_tuples) {
    ANYDML_TRY(check_leading(desc, desc.tensors[0], "InputDimensionCount"));
    ANYDML_TRY(check_leading(desc, desc.tensors[1], "IndicesDimensionCount"));
    ANYDML_TRY(check_batches(desc));
  }
  const OpTensor& input = desc.tensors[0];
  if (!desc.empty && element_count(input.tensor) == 0) {
    return invalid(
        desc, input,
        format_text("sizes are {}; expected an element to gather", shape_text(input.tensor.sizes, input.tensor.rank)));
  }
  return {};
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  find_entry(*desc.op)->lower(desc, tensors, plan);
}

}  // namespace

extern const Family gather_family;
const Family gather_family = {
    .id = FamilyId::gather,
    .has = [](const facts::Operator& op) { return find_entry(op) != nullptr; },
    .types = types,
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
