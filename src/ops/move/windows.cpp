// SPDX-License-Identifier: MIT
// Operators in which one tensor is a window of another: SPLIT, JOIN, slices, paddings, and the gradients of slices.
#include <algorithm>

#include "ops/arguments.h"
#include "ops/move/maps.h"

namespace anydml::moves {
namespace {

// The location of a smaller tensor's elements in a larger one: for each dimension, the first position and the distance
// between elements.
struct Window {
  std::int64_t first[kMaxRank] = {};
  std::int64_t step[kMaxRank] = {1, 1, 1, 1, 1, 1, 1, 1};
};
static_assert(kMaxRank == 8);

// Views `part` as a window of `whole`. The part is not empty, so all its offsets are inside the whole tensor and cannot
// overflow.
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
  const bool is_signed = desc.op->name != "SLICE";
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

// The location of the input's elements in the output.
Window padding_window(const OpDesc& desc) {
  if (desc.op->name == "SLICE_GRAD") {
    return slice_window(desc);
  }
  Window window;
  std::ranges::transform(numbers_of(desc, "StartPadding"), window.first,
                         [](const Scalar& number) { return number.as<i64>(); });
  return window;
}

// The parts of a SPLIT or a JOIN, which are consecutive along the axis, and the tensor that they form.
struct Parts {
  std::size_t first;  // index among all tensors
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

// Returns nothing if the part is absent or has no elements.
std::optional<TensorView> find_view(const OpTensor& part, const OpTensor& whole, const Window& window) {
  return !part.present || element_count(part.tensor) == 0 ? std::nullopt
                                                          : std::optional(view_of(part.tensor, whole.tensor, window));
}

TensorViews views_of_parts(const OpDesc& desc) {
  const Parts parts = parts_along_axis(desc);
  TensorViews views;
  views.reserve(parts.count);
  Window window;
  for (const OpTensor& part : std::span(desc.tensors).subspan(parts.first, parts.count)) {
    views.push_back(find_view(part, desc.tensors[parts.whole], window));
    window.first[parts.axis] += part.tensor.sizes[parts.axis];
  }
  return views;
}

// A movement between two tensors of the same type and sizes, which begin at these offsets from their operands'
// addresses.
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

// copy_out copies a part from its window in the whole tensor, and copy_in copies it into the window.
void copy_out(const PlacedTensor& whole, const Window& window, const PlacedTensor& part, CopyList& copies) {
  const TensorView view = view_of(part.tensor, whole.tensor, window);
  copies.copy(whole.operand(), part.operand(), movement_between(view.tensor, view.offset, part.tensor, 0));
}
void copy_in(const PlacedTensor& part, const PlacedTensor& whole, const Window& window, CopyList& copies) {
  const TensorView view = view_of(part.tensor, whole.tensor, window);
  copies.copy(part.operand(), whole.operand(), movement_between(part.tensor, 0, view.tensor, view.offset));
}

}  // namespace

std::span<const Scalar> numbers_of(const OpDesc& desc, std::string_view field) {
  const schema::Argument* argument = find_argument(desc, field);
  return argument != nullptr ? std::span<const Scalar>(argument->numbers) : std::span<const Scalar>();
}

void lower_parts(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  const Parts parts = parts_along_axis(desc);
  const bool is_split = parts.whole == 0;
  Window window;
  for (std::size_t i = parts.first; i < parts.first + parts.count; ++i) {
    if (has_address(tensors[i].slot) && element_count(desc.tensors[i].tensor) != 0) {
      if (is_split) {
        copy_out(tensors[parts.whole], window, tensors[i], copies);
      } else {
        copy_in(tensors[i], tensors[parts.whole], window, copies);
      }
    }
    window.first[parts.axis] += desc.tensors[i].tensor.sizes[parts.axis];
  }
}

void lower_slice(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  copy_out(tensors[0], slice_window(desc), tensors[1], copies);
}

void copy_padded(const OpDesc& desc, std::span<const PlacedTensor> tensors, CopyList& copies) {
  if (has_address(tensors[0].slot) && element_count(desc.tensors[0].tensor) != 0) {
    copy_in(tensors[0], tensors[1], padding_window(desc), copies);
  }
}

TensorViews views_of_inputs(const OpDesc& desc) {
  if (desc.op->name == "SPLIT") {
    return views_of_parts(desc);
  }
  return desc.op->name == "SLICE" || desc.op->name == "SLICE1"
             ? TensorViews{find_view(desc.output(), desc.tensors[0], slice_window(desc))}
             : TensorViews(desc.output_count);
}

bool is_dense_slice(const OpDesc& desc, const TensorDesc& slice) {
  const Window window = slice_window(desc);
  for (std::uint32_t i = 0; i < slice.rank; ++i) {
    if (slice.sizes[i] > 1 && window.step[i] != 1 && window.step[i] != -1) {
      return false;
    }
  }
  return true;
}

// The gradient of a slice with gaps clears its whole output first, so its input cannot be written there in advance. A
// reversed slice is copied too, because its producer would have to write backwards.
TensorViews views_in_outputs(const OpDesc& desc) {
  if (desc.op->name == "JOIN") {
    return views_of_parts(desc);
  }
  const bool is_gradient = desc.op->name == "SLICE_GRAD" && is_dense_slice(desc, desc.tensors[0].tensor) &&
                           std::ranges::all_of(slice_window(desc).step, [](std::int64_t step) { return step > 0; });
  TensorViews output_views(desc.input_count);
  if (is_gradient || desc.op->name.starts_with("PADDING")) {
    output_views[0] = find_view(desc.tensors[0], desc.output(), padding_window(desc));
  }
  return output_views;
}

}  // namespace anydml::moves
