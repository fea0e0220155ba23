// SPDX-License-Identifier: MIT
#include "onnx/rows/row.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

// ---- Pad, Tile ------------------------------------------------------------------------------------------------------

const char* padding_mode(const std::string& mode) {
  return mode == "constant" ? "CONSTANT" : mode == "reflect" ? "REFLECTION" : mode == "edge" ? "EDGE" : "WRAP";
}

// The number to pad with, which has the tensor's type.
Option padding_value(const Array& value) {
  if (value.count() != 1) {
    fail("the value must be one number, but has the shape {}", listed(value.shape()));
  }
  switch (value.kind()) {
    case Kind::kFloat16:
    case Kind::kFloat:
    case Kind::kDouble:
      return {"PaddingValue", value.number()};
    case Kind::kUint64:
      return {"PaddingValue", static_cast<std::uint64_t>(value.integer())};
    default:
      return {"PaddingValue", value.integer()};
  }
}

// Negative paddings remove elements: `taken` is what they leave, and the others are added to it.
struct Paddings {
  Array taken;
  Sizes shape, before, after;
};

Paddings paddings_of(const Array& x, const Sizes& pads, const std::vector<int>& axes) {
  Paddings result{whole_view(x), x.shape(), Sizes(x.shape().size()), Sizes(x.shape().size())};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t size = x.shape()[axis];
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[axes.size() + i];
    // The lower limit prevents an overflow.
    const std::int64_t removed = std::clamp<std::int64_t>(before, -size - 1, 0);
    const std::int64_t kept = size + removed + std::clamp<std::int64_t>(after, -size - removed - 1, 0);
    if (kept < 0) {
      fail("pads is {}, which removes more than the tensor of shape {} has", listed(pads), listed(x.shape()));
    }
    result.before[axis] = std::max<std::int64_t>(before, 0);
    result.after[axis] = std::max<std::int64_t>(after, 0);
    result.shape[axis] = added_sizes(added_sizes(kept, result.before[axis]), result.after[axis]);
    result.taken = result.taken.slice(axes[i], -removed, kept);
  }
  return result;
}

Compute make_pad(const Node& node) {
  check_choice(node, "mode", {"constant", "reflect", "edge", "wrap"});
  const char* mode = padding_mode(node.text("mode", "constant"));
  const std::optional<Sizes> attribute = attribute_sizes(node, node.declares("pads") ? "pads" : "paddings");
  const Option otherwise = node.has("value") ? Option{"PaddingValue", node.number("value")} : Option{"PaddingValue", 0};
  return [attribute, mode, otherwise](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::optional<Sizes> pads = numbers_or(input(inputs, 1), attribute, "pads");
    if (!pads) {
      fail("pads is missing");
    }
    const Array given = input(inputs, 3);
    const std::vector<int> axes = given ? axes_of(list_of(given, "axes"), x.rank()) : all_axes(x.rank());
    if (pads->size() != 2 * axes.size()) {
      fail("pads has {} numbers, but {} axes need {}", pads->size(), axes.size(), 2 * axes.size());
    }
    const Array value = input(inputs, 2);
    const Option filler = value ? padding_value(value) : otherwise;
    const Paddings found = paddings_of(x, *pads, axes);
    if (has_no_elements(found.shape)) {
      return one(Array::empty(x.kind(), found.shape));
    }
    return one(dispatch("PADDING1", {found.taken},
                        {{"PaddingMode", mode}, filler, {"StartPadding", found.before}, {"EndPadding", found.after}},
                        {.shape = found.shape}));
  };
}

// Before opset 6, the inputs were the number of repeats and the axis.
Sizes old_repeats(const Array& x, const Array& repeats, const Array& axis) {
  Sizes counts(x.shape().size(), 1);
  counts[static_cast<std::size_t>(axis_of(axis.integer(), x.rank()))] = repeats.integer();
  return counts;
}

Compute make_tile(const Node& node) {
  return [is_old = node.since < 6](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Sizes counts = is_old ? old_repeats(x, inputs[1], inputs[2]) : list_of(inputs[1], "repeats");
    if (counts.size() != x.shape().size() ||
        std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; })) {
      fail("repeats is {}, but the tensor has {} dimensions", listed(counts), x.rank());
    }
    Sizes shape = x.shape();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      shape[axis] = multiplied_sizes(shape[axis], counts[axis]);
    }
    if (has_no_elements(shape)) {
      return one(Array::empty(x.kind(), shape));
    }
    return one(dispatch("TILE", {x}, {{"Repeats", counts}}, {.shape = shape}));
  };
}

// ---- DepthToSpace, SpaceToDepth, ReverseSequence, Col2Im ------------------------------------------------------------

constexpr std::int64_t kLargestBlock = std::int64_t{1} << 30;  // its square fits into 63 bits

struct Blocks {
  std::int64_t size;
  const char* order;
};

Blocks blocks_of(const Node& node) {
  check_minimum(node, "blocksize", 1);
  check_choice(node, "mode", {"DCR", "CRD"});
  return {node.integer("blocksize"), node.text("mode", "DCR") == "CRD" ? "COLUMN_ROW_DEPTH" : "DEPTH_COLUMN_ROW"};
}

void check_four_dimensions(const Array& x) {
  if (x.rank() != 4) {
    fail("the tensor has {} dimensions; expected 4", x.rank());
  }
}

Compute make_depth_to_space(const Node& node) {
  return [blocks = blocks_of(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    check_four_dimensions(x);
    const std::int64_t size = blocks.size;
    if (size > kLargestBlock || x.size(1) % (size * size) != 0) {
      fail("blocksize is {}, but {} channels are not a multiple of {}^2", size, x.size(1), size);
    }
    const Sizes shape{x.size(0), x.size(1) / (size * size), multiplied_sizes(x.size(2), size),
                      multiplied_sizes(x.size(3), size)};
    return one(dispatch("DEPTH_TO_SPACE1", {x}, {{"BlockSize", size}, {"Order", blocks.order}}, {.shape = shape}));
  };
}

Compute make_space_to_depth(const Node& node) {
  return [blocks = blocks_of(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    check_four_dimensions(x);
    const std::int64_t size = blocks.size;
    if (x.size(2) % size != 0 || x.size(3) % size != 0) {
      fail("blocksize is {}, but {} by {} is not a multiple of it", size, x.size(2), x.size(3));
    }
    const Sizes shape{x.size(0), multiplied_sizes(x.size(1), multiplied_sizes(size, size)), x.size(2) / size,
                      x.size(3) / size};
    return one(dispatch("SPACE_TO_DEPTH1", {x}, {{"BlockSize", size}, {"Order", blocks.order}}, {.shape = shape}));
  };
}

// Reverses the first elements of each sequence of the batch. A length that exceeds the time axis means the whole axis.
Compute make_reverse_sequence(const Node& node) {
  return [given_time = node.integer("time_axis"),
          given_batch = node.integer("batch_axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& lengths = inputs[1];
    const int time = axis_of(given_time, x.rank(), "time_axis");
    const int batch = axis_of(given_batch, x.rank(), "batch_axis");
    if (time == batch) {
      fail("time_axis and batch_axis are both {}; expected two axes", time);
    }
    if (lengths.shape() != Sizes{x.size(batch)}) {
      fail("sequence_lens has the shape {}; expected [{}], the batch", listed(lengths.shape()), x.size(batch));
    }
    Sizes along(x.shape().size(), 1);
    along[static_cast<std::size_t>(batch)] = x.size(batch);
    Sizes each = x.shape();
    each[static_cast<std::size_t>(time)] = 1;
    const Array ends = cast(lengths, Kind::kUint64).reshape(std::move(along)).broadcast_to(std::move(each));
    return one(dispatch("REVERSE_SUBSEQUENCES", {x, ends}, {{"Axis", time}}, {.shape = x.shape()}));
  };
}

Sizes col2im_list(const Sizes& given, std::int64_t otherwise, std::size_t count) {
  return given.empty() ? Sizes(count, otherwise) : given;
}

Compute make_col2im(const Node& node) {
  check_minimum(node, "dilations", 1);
  check_minimum(node, "strides", 1);
  check_minimum(node, "pads", 0);
  return [given_dilations = node.integers("dilations"), given_strides = node.integers("strides"),
          given_pads = node.integers("pads")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Sizes image = sizes_of(inputs[1], "image_shape");
    const Sizes block = sizes_of(inputs[2], "block_shape");
    const std::size_t count = image.size();
    const Sizes dilations = col2im_list(given_dilations, 1, count);
    const Sizes strides = col2im_list(given_strides, 1, count);
    const Sizes pads = col2im_list(given_pads, 0, 2 * count);
    if (block.size() != count || dilations.size() != count || strides.size() != count || pads.size() != 2 * count) {
      fail("block_shape, dilations and strides must have {} numbers, like image_shape, and pads must have {}", count,
           2 * count);
    }
    const std::int64_t taps = elements_of_shape(block);
    if (x.rank() != 3 || taps == 0 || x.size(1) % taps != 0) {
      fail(
          "the tensor has the shape {}; expected three dimensions, with the second a multiple of the block's {} "
          "elements",
          listed(x.shape()), taps);
    }
    Sizes shape{x.size(0), x.size(1) / taps};
    shape.insert(shape.end(), image.begin(), image.end());
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(count);
    return one(dispatch("FOLD", {x},
                        {{"WindowSizes", block},
                         {"Strides", strides},
                         {"Dilations", dilations},
                         {"StartPadding", Sizes(pads.begin(), middle)},
                         {"EndPadding", Sizes(middle, pads.end())}},
                        {.shape = shape}));
  };
}

// ---- Dropout --------------------------------------------------------------------------------------------------------

// Whether a Dropout drops elements: in the first opsets by an attribute, in newer ones by an input.
bool drops_elements(const Node& node) {
  if (!node.takes(2)) {
    return node.declares("is_test") && node.integer("is_test") == 0;
  }
  const Array mode = node.fixed.size() > 2 ? node.fixed[2] : Array();
  if (mode && mode.count() != 1) {
    fail("{}: training_mode must be one number, but has the shape {}", node.label, listed(mode.shape()));
  }
  return !mode || mode.integer() != 0;
}

// Dropout in inference: returns the input unchanged, and a mask that keeps everything.
Compute make_dropout(const Node& node) {
  if (drops_elements(node)) {
    refuse(node, "in training", "anydml has no random numbers");
  }
  const Kind mask = node.results.size() > 1 ? array_kind(node.results[1]) : Kind::kUndefined;
  return [mask](std::span<const Array> inputs) {
    Arrays results = one(identity(inputs[0]));
    if (mask != Kind::kUndefined) {
      results.push_back(fill(1, inputs[0].shape(), mask));
    }
    return results;
  };
}

constexpr Row kMovingRows[] = {
    {.op = "Col2Im", .make = make_col2im, .uses = "FOLD", .kinds = kNumberKinds},
    {.op = "DepthToSpace", .make = make_depth_to_space, .uses = "DEPTH_TO_SPACE1"},
    {.op = "Dropout", .make = make_dropout, .uses = "IDENTITY FILL_VALUE_CONSTANT", .reads_constants = true},
    {.op = "Pad", .make = make_pad, .uses = "PADDING1"},
    {.op = "ReverseSequence", .make = make_reverse_sequence, .uses = "REVERSE_SUBSEQUENCES CAST"},
    {.op = "SpaceToDepth", .make = make_space_to_depth, .uses = "SPACE_TO_DEPTH1"},
    {.op = "Tile", .make = make_tile, .uses = "TILE"},
};

}  // namespace

std::span<const Row> moving_rows() { return kMovingRows; }

}  // namespace anydml::onnx
