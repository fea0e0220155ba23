// SPDX-License-Identifier: MIT
// The family of operators that move elements.
#include "ops/family.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "ops/move/copies.h"
#include "ops/op_desc.h"

namespace anydml {
namespace {

constexpr std::string_view kNames[] = {
#define ANYDML_MOVE_ENTRY(op) #op,
#include "ops/move/move.def"
};

// The numbers that were given for a field; the rules hold that they are there.
std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view name) {
  const auto field = std::ranges::find(desc.op->fields, name, &facts::Field::name);
  return desc.arguments[static_cast<std::size_t>(field - desc.op->fields.begin())].numbers;
}

// The elements of a tensor that are those of a smaller one: where they begin in each dimension, and their distance.
struct Window {
  std::int64_t first[kMaxRank] = {};
  std::int64_t step[kMaxRank] = {};
};

Window whole_window() {
  Window window;
  std::ranges::fill(window.step, 1);
  return window;
}

// `part` as a view of the tensor in which the window lies. The part has an element: all its places lie in that tensor,
// whose reach is known to fit.
TensorView view_of(const TensorDesc& part, const TensorDesc& whole, const Window& window) {
  TensorView view{.of = 0, .tensor = part, .offset = 0};
  for (std::uint32_t i = 0; i < part.rank; ++i) {
    view.tensor.strides[i] = whole.strides[i] * (part.sizes[i] > 1 ? window.step[i] : 1);
    view.offset += whole.sizes[i] > 1 ? window.first[i] * whole.strides[i] : 0;
  }
  view.offset *= static_cast<std::int64_t>(element_size(part.type));
  return view;
}

Window slice_window(const OpDesc& desc) {
  const bool is_signed = desc.op->name == "SLICE1";
  const auto offsets = numbers_of(desc, is_signed ? "InputWindowOffsets" : "Offsets");
  const auto sizes = numbers_of(desc, is_signed ? "InputWindowSizes" : "Sizes");
  const auto strides = numbers_of(desc, is_signed ? "InputWindowStrides" : "Strides");
  Window window;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    window.step[i] = strides[i].as<i64>();
    window.first[i] = offsets[i].as<i64>() + (window.step[i] < 0 ? sizes[i].as<i64>() - 1 : 0);
  }
  return window;
}

// Of a SPLIT or a JOIN, the parts that lie one after another along the axis, and the tensor that they make up.
struct Parts {
  std::size_t first;  // among all tensors
  std::size_t count;
  std::size_t whole;
  std::uint32_t axis;
};

Parts parts_along_axis(const OpDesc& desc) {
  const bool is_split = desc.op->name == "SPLIT";
  return {.first = is_split ? desc.input_count : 0,
          .count = is_split ? desc.output_count : desc.input_count,
          .whole = is_split ? 0 : desc.input_count,
          .axis = numbers_of(desc, "Axis").front().as<u32>()};
}

bool is_slice(const OpDesc& desc) { return desc.op->name.starts_with("SLICE"); }

// Nothing: it has no element.
std::optional<TensorView> view_of_part(const OpDesc& desc, std::size_t number) {
  const Parts parts = parts_along_axis(desc);
  const TensorDesc& part = desc.tensors[parts.first + number].tensor;
  if (element_count(part) == 0) {
    return std::nullopt;
  }
  Window window = whole_window();
  for (std::size_t i = 0; i < number; ++i) {
    window.first[parts.axis] += desc.tensors[parts.first + i].tensor.sizes[parts.axis];
  }
  return view_of(part, desc.tensors[parts.whole].tensor, window);
}

std::optional<TensorView> view_of_input(const OpDesc& desc, std::size_t output) {
  if (desc.op->name == "JOIN") {
    return std::nullopt;
  }
  if (!is_slice(desc)) {
    return view_of_part(desc, output);
  }
  const TensorDesc& slice = desc.output().tensor;
  return element_count(slice) == 0 ? std::nullopt
                                   : std::optional(view_of(slice, desc.tensors[0].tensor, slice_window(desc)));
}

std::optional<TensorView> place_in_output(const OpDesc& desc, std::size_t input) {
  return desc.op->name == "JOIN" ? view_of_part(desc, input) : std::nullopt;
}

// From one tensor to another of the same type and sizes.
Movement movement_between(const TensorDesc& from, std::int64_t from_offset, const TensorDesc& to,
                          std::int64_t to_offset) {
  const auto bytes = static_cast<std::int64_t>(element_size(to.type));
  Movement movement{.element = bytes, .from_offset = from_offset, .to_offset = to_offset};
  for (std::uint32_t i = 0; i < to.rank; ++i) {
    if (to.sizes[i] > 1) {
      movement.add(to.sizes[i], from.strides[i] * bytes, to.strides[i] * bytes);
    }
  }
  return movement;
}

void lower(const OpDesc& desc, const DeviceTraits&, std::span<const PlacedTensor> tensors, Plan& plan) {
  CopyList copies(plan);
  if (is_slice(desc)) {
    const PlacedTensor& output = tensors[1];
    const TensorView view = view_of(output.tensor, tensors[0].tensor, slice_window(desc));
    copies.copy(tensors[0].operand(), output.operand(), movement_between(view.tensor, view.offset, output.tensor, 0));
    copies.finish();
    return;
  }
  const Parts parts = parts_along_axis(desc);
  const PlacedTensor& whole = tensors[parts.whole];
  Window window = whole_window();
  for (std::size_t i = 0; i < parts.count; ++i) {
    const PlacedTensor& part = tensors[parts.first + i];
    const std::int64_t size = desc.tensors[parts.first + i].tensor.sizes[parts.axis];
    // A part at no address was written where it belongs already, or nobody reads it.
    if (has_address(part.slot) && element_count(part.tensor) != 0) {
      const TensorView view = view_of(part.tensor, whole.tensor, window);
      if (parts.whole == 0) {
        copies.copy(whole.operand(), part.operand(), movement_between(view.tensor, view.offset, part.tensor, 0));
      } else {
        copies.copy(part.operand(), whole.operand(), movement_between(part.tensor, 0, view.tensor, view.offset));
      }
    }
    window.first[parts.axis] += size;
  }
  copies.finish();
}

}  // namespace

extern const Family move_family;
const Family move_family = {
    .id = FamilyId::move,
    .has = [](const facts::Operator& op) { return std::ranges::find(kNames, op.name) != std::end(kNames); },
    .types =
        [](const facts::Operator&, std::size_t) {
          TypeSet all = 0;
#define ANYDML_ADD(T, name, value) all |= type_bit(DataType::name);
          ANYDML_FOR_EACH_TYPE(ANYDML_ADD)
#undef ANYDML_ADD
          return all;
        },
    .by_element = false,
    .check = [](const OpDesc&) -> Status { return {}; },
    .lower = lower,
    .lower_together = nullptr,
    .joins = nullptr,
    .parts = nullptr,
    .view_of_input = view_of_input,
    .place_in_output = place_in_output,
};

}  // namespace anydml
