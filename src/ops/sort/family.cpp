// SPDX-License-Identifier: MIT
// The family of operators that order the elements of rows. TOP_K is TOP_K1 with the largest elements first.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/checked.h"
#include "ops/arguments.h"
#include "ops/sort/step.h"
#include "text/format.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_SORT_ENTRY(op) #op,
#include "ops/sort/sort.def"
};

constexpr TypeSet kIndexTypes =
    type_bit(DataType::UINT32) | type_bit(DataType::INT32) | type_bit(DataType::UINT64) | type_bit(DataType::INT64);

// The documented rules ensure that the field is present.
std::int64_t integer_of(const OpDesc& desc, std::string_view field) {
  return find_argument(desc, field)->numbers.front().as<i64>();
}

bool takes_largest(const OpDesc& desc) {
  constexpr std::int64_t kDecreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
  return desc.op->name == "TOP_K" || integer_of(desc, "AxisDirection") == kDecreasing;
}

// The documented rules do not check that the indices fit their type. Even a very large input need not occupy much
// memory, since a stride of 0 repeats an element.
Status check(const OpDesc& desc) {
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  const auto axis = integer_of(desc, "Axis");
  const std::int64_t size = desc.tensors[0].tensor.sizes[axis];
  if (desc.tensors[2].tensor.type == DataType::INT32 && size > kMax) {
    return invalid(
        desc, desc.tensors[0],
        format_text("size {} along axis {}; expected at most {}, since OutputIndexTensor is INT32", size, axis, kMax));
  }
  return {};
}

std::uint32_t add_rows(const TensorDesc& input, const TensorDesc& values, const TensorDesc& indices, std::uint32_t axis,
                       SortStep& step) {
  const auto bytes = static_cast<std::int64_t>(element_size(input.type));
  const auto index_bytes = static_cast<std::int64_t>(element_size(indices.type));
  SortLoop loops[kMaxRank];
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < input.rank; ++i) {
    if (i == axis || input.sizes[i] == 1) {
      continue;
    }
    SortLoop loop{.size = input.sizes[i],
                  .input = input.strides[i] * bytes,
                  .values = values.strides[i] * bytes,
                  .indices = indices.strides[i] * index_bytes};
    if (loop.input < 0) {  // rows may be visited in any order
      step.input_offset += (loop.size - 1) * loop.input;
      step.values_offset += (loop.size - 1) * loop.values;
      step.indices_offset += (loop.size - 1) * loop.indices;
      loop = {.size = loop.size, .input = -loop.input, .values = -loop.values, .indices = -loop.indices};
    }
    loops[count++] = loop;
  }
  const std::span<SortLoop> all(loops, count);
  std::ranges::stable_sort(
      all, [](const SortLoop& a, const SortLoop& b) { return b.input != 0 && (a.input == 0 || a.input > b.input); });
  std::uint32_t rank = 0;
  for (const SortLoop& loop : all) {
    if (rank != 0) {
      SortLoop& outer = step.rest[rank - 1];
      // The product may overflow: the offset of a loop's last iteration is known to fit, but not the offset after it.
      if (checked_multiply(loop.input, loop.size) == outer.input &&
          checked_multiply(loop.values, loop.size) == outer.values &&
          checked_multiply(loop.indices, loop.size) == outer.indices) {
        const std::int64_t size = outer.size * loop.size;
        outer = loop;
        outer.size = size;
        continue;
      }
    }
    step.rest[rank++] = loop;
  }
  if (rank == 0) {
    step.rest[rank++] = {.size = 1, .input = 0, .values = 0, .indices = 0};
  }
  return rank;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  const TensorDesc& input = tensors[0].tensor;
  const TensorDesc& values = tensors[1].tensor;
  const TensorDesc& indices = tensors[2].tensor;
  const auto axis = static_cast<std::uint32_t>(integer_of(desc, "Axis"));
  const auto bytes = static_cast<std::int64_t>(element_size(input.type));
  SortStep step{};
  step.type = input.type;
  step.index_size = static_cast<std::uint32_t>(element_size(indices.type));
  step.largest = takes_largest(desc) ? 1 : 0;
  step.k = values.sizes[axis];
  step.rows = element_count(values) / step.k;
  step.axis = {.size = input.sizes[axis],
               .input = input.strides[axis] * bytes,
               .values = values.strides[axis] * bytes,
               .indices = indices.strides[axis] * step.index_size};
  step.rank = add_rows(input, values, indices, axis, step);
  const Operand operands[] = {tensors[0].operand(), tensors[1].operand(), tensors[2].operand()};
  plan.add(static_cast<std::uint32_t>(FamilyId::sort), operands, std::as_bytes(std::span(&step, 1)));
}

}  // namespace

extern const Family sort_family;
const Family sort_family = {
    .id = FamilyId::sort,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types = [](const facts::Operator&, std::size_t position) { return position < 2 ? all_types() : kIndexTypes; },
    .by_element = false,
    .check = check,
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .decompose = nullptr,
};

}  // namespace anydml
