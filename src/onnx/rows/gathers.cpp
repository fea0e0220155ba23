// SPDX-License-Identifier: MIT
// Nodes whose indices come from data: gathers, scatters, OneHot, NonZero and Compress.
#include "onnx/rows/gathers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "onnx/rows/row.h"
#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

// ---- Checks ---------------------------------------------------------------------------------------------------------

// The smallest and the largest constant index for each indexed dimension. They are computed once, so that a run does
// not need to look at the indices. Empty if the indices are not constant.
struct IndexLimits {
  Sizes lowest, highest;

  void check(std::span<const std::int64_t> sizes) const {
    for (std::size_t i = 0; i < std::min(sizes.size(), lowest.size()); ++i) {
      if (highest[i] >= sizes[i] || lowest[i] < -sizes[i]) {
        std::string text;
        for (const std::int64_t size : sizes) {
          text += (text.empty() ? "" : " by ") + std::to_string(size);
        }
        fail("an index is out of range for {} elements", text);
      }
    }
  }
  void check(std::int64_t size) const { check(std::span(&size, 1)); }
};

// dimensions: how many dimensions are indexed; consecutive indices are those of one item.
IndexLimits limits_of(const Array& indices, std::size_t dimensions) {
  if (!indices || indices.count() == 0) {
    return {};
  }
  const std::vector<std::int64_t> all = indices.to_integers();
  const auto first_end = all.begin() + static_cast<std::ptrdiff_t>(dimensions);
  IndexLimits limits{Sizes(all.begin(), first_end), Sizes(all.begin(), first_end)};
  for (std::size_t begin = 0; begin < all.size(); begin += dimensions) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      limits.lowest[i] = std::min(limits.lowest[i], all[begin + i]);
      limits.highest[i] = std::max(limits.highest[i], all[begin + i]);
    }
  }
  return limits;
}

Array constant_indices(const Node& node) { return node.fixed.size() > 1 ? node.fixed[1] : Array(); }

// The limits of indices into one axis.
IndexLimits axis_limits(const Node& node) { return limits_of(constant_indices(node), 1); }

// The limits of coordinates.
IndexLimits coordinate_limits(const Node& node) {
  const Array indices = constant_indices(node);
  const bool has_coordinates = indices && indices.rank() > 0 && indices.count() > 0;
  return has_coordinates ? limits_of(indices, static_cast<std::size_t>(indices.shape().back())) : IndexLimits();
}

void check_gather_axes(const Array& x, const Array& indices, int axis) {
  bool fits = indices.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = i == axis || indices.size(i) <= x.size(i);
  }
  if (!fits) {
    fail("the indices have the shape {}, but the tensor has {}; expected no larger sizes except along the axis",
         listed(indices.shape()), listed(x.shape()));
  }
}

// Checks the shapes, and returns how many coordinates each item has.
std::int64_t gather_coordinates(const Array& x, const Array& indices, std::int64_t batch) {
  if (indices.rank() == 0 || batch >= std::min(x.rank(), indices.rank()) ||
      !std::equal(x.shape().begin(), x.shape().begin() + batch, indices.shape().begin())) {
    fail("the indices have the shape {}, but the tensor has {}; expected {} equal batch sizes, followed by coordinates",
         listed(indices.shape()), listed(x.shape()), batch);
  }
  const std::int64_t count = indices.shape().back();
  if (count < 1 || count > x.rank() - batch) {
    fail("the indices have the shape {}, but the tensor has {}; expected 1 to {} coordinates", listed(indices.shape()),
         listed(x.shape()), x.rank() - batch);
  }
  return count;
}

// The part of a tensor that indices of this shape can address.
Array beside(const Array& x, const Array& indices, int axis) {
  Array part = whole_view(x);
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) {
      part = part.slice(i, 0, indices.size(i));
    }
  }
  return part;
}

// A shape with leading sizes of 1, because DirectML requires all tensors of an operator to have the same rank.
Sizes led_by_ones(const Sizes& shape, int rank) {
  Sizes result(static_cast<std::size_t>(rank) - shape.size(), 1);
  result.insert(result.end(), shape.begin(), shape.end());
  return result;
}

void append_sizes(Sizes& shape, const Sizes& other, std::int64_t begin, std::int64_t end) {
  shape.insert(shape.end(), other.begin() + begin, other.begin() + end);
}

// ---- Gathers --------------------------------------------------------------------------------------------------------

}  // namespace

Array taken_slices(const Array& x, const Array& indices, int axis) {
  Sizes shape;
  append_sizes(shape, x.shape(), 0, axis);
  append_sizes(shape, indices.shape(), 0, indices.rank());
  append_sizes(shape, x.shape(), axis + 1, x.rank());
  if (has_no_elements(shape)) {
    return Array::empty(x.kind(), shape);
  }
  if (x.size(axis) == 0) {
    fail("axis {} has no elements, but the indices have the shape {}", axis, listed(indices.shape()));
  }
  const int rank = std::max(static_cast<int>(shape.size()), x.rank());
  return dispatch("GATHER", {x.with_rank(rank), indices.with_rank(rank)},
                  {{"Axis", axis + rank - x.rank()}, {"IndexDimensions", indices.rank()}},
                  {.shape = led_by_ones(shape, rank)})
      .reshape(shape);
}

namespace {

// Returns a view if there is a single index and its value is known.
Compute make_gather(const Node& node) {
  return [given = node.integer("axis"), limits = axis_limits(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const int axis = axis_of(given, x.rank());
    const std::int64_t size = x.size(axis);
    limits.check(size);
    if (indices.rank() == 0 && !indices.is_symbol() && size != 0) {
      const std::int64_t index = indices.integer();
      return one(x.at(axis, std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size - 1)));
    }
    return one(taken_slices(x, indices, axis));
  };
}

Compute make_gather_elements(const Node& node) {
  return [given = node.integer("axis"), limits = axis_limits(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const int axis = axis_of(given, x.rank());
    check_gather_axes(x, indices, axis);
    limits.check(x.size(axis));
    if (indices.count() == 0) {
      return one(Array::empty(x.kind(), indices.shape()));
    }
    return one(
        dispatch("GATHER_ELEMENTS", {beside(x, indices, axis), indices}, {{"Axis", axis}}, {.shape = indices.shape()}));
  };
}

Compute make_gather_nd(const Node& node) {
  check_minimum(node, "batch_dims", 0);
  return [batch = node.integer("batch_dims"), limits = coordinate_limits(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const std::int64_t count = gather_coordinates(x, indices, batch);
    limits.check(std::span(x.shape()).subspan(static_cast<std::size_t>(batch), static_cast<std::size_t>(count)));
    Sizes shape;
    append_sizes(shape, indices.shape(), 0, indices.rank() - 1);
    append_sizes(shape, x.shape(), batch + count, x.rank());
    if (has_no_elements(shape)) {
      return one(Array::empty(x.kind(), shape));
    }
    const int rank = std::max({x.rank(), indices.rank(), static_cast<int>(shape.size())});
    const Array result = dispatch(
        "GATHER_ND1", {x.with_rank(rank), indices.with_rank(rank)},
        {{"InputDimensionCount", x.rank()}, {"IndicesDimensionCount", indices.rank()}, {"BatchDimensionCount", batch}},
        {.shape = led_by_ones(shape, rank)});
    return one(result.reshape(shape));
  };
}

// ---- Scatters -------------------------------------------------------------------------------------------------------

void refuse_reduction(const Node& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction != "none") {
    refuse(node, "with reduction " + reduction, "DirectML's scatters replace elements");
  }
}

Array unchanged(const Array& x) { return x.count() != 0 ? identity(x) : x; }

Array scattered_elements(const Array& x, const Array& indices, const Array& updates, int axis) {
  const Options options{{"Axis", axis}};
  bool is_whole = true;
  for (int i = 0; i < x.rank(); ++i) {
    is_whole = is_whole && (i == axis || indices.size(i) == x.size(i));
  }
  if (is_whole) {
    return dispatch("SCATTER_ELEMENTS", {x, indices, updates}, options);
  }
  Array result = identity(x);
  dispatch_into("SCATTER_ELEMENTS", {beside(x, indices, axis), indices, updates}, options,
                beside(result, indices, axis));
  return result;
}

Compute make_scatter_elements(const Node& node) {
  refuse_reduction(node);
  return [given = node.integer("axis"), limits = axis_limits(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const Array& updates = inputs[2];
    const int axis = axis_of(given, x.rank());
    check_gather_axes(x, indices, axis);
    limits.check(x.size(axis));
    if (updates.shape() != indices.shape()) {
      fail("the updates have the shape {}, but the indices have {}", listed(updates.shape()), listed(indices.shape()));
    }
    return one(indices.count() == 0 ? unchanged(x) : scattered_elements(x, indices, updates, axis));
  };
}

Compute make_scatter_nd(const Node& node) {
  refuse_reduction(node);
  return [limits = coordinate_limits(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& indices = inputs[1];
    const Array& updates = inputs[2];
    const std::int64_t count = gather_coordinates(x, indices, 0);
    limits.check(std::span(x.shape()).first(static_cast<std::size_t>(count)));
    Sizes expected;
    append_sizes(expected, indices.shape(), 0, indices.rank() - 1);
    append_sizes(expected, x.shape(), count, x.rank());
    if (updates.shape() != expected) {
      fail("the updates have the shape {}; expected {}", listed(updates.shape()), listed(expected));
    }
    if (updates.count() == 0 || x.count() == 0) {
      return one(unchanged(x));
    }
    const int rank = std::max({x.rank(), indices.rank(), updates.rank()});
    const Array result = dispatch("SCATTER_ND", {x.with_rank(rank), indices.with_rank(rank), updates.with_rank(rank)},
                                  {{"InputDimensionCount", x.rank()}, {"IndicesDimensionCount", indices.rank()}});
    return one(result.reshape(x.shape()));
  };
}

// ---- TensorScatter --------------------------------------------------------------------------------------------------

// The position of each updated slice along the axis, with the shape of the updates. A batch has its own first position.
Array update_positions(const Array& first, const Sizes& shape, int axis, std::int64_t modulus) {
  Sizes ones(shape.size(), 1);
  Sizes along = ones;
  along[static_cast<std::size_t>(axis)] = shape[static_cast<std::size_t>(axis)];
  Array positions =
      sequence(std::int64_t{0}, std::int64_t{1}, shape[static_cast<std::size_t>(axis)], Kind::kInt64).reshape(along);
  if (first) {
    Sizes batches = ones;
    batches[0] = shape[0];
    positions = add(first.reshape(batches), positions);
  }
  if (modulus != 0) {
    positions = dispatch("ELEMENT_WISE_MODULUS_FLOOR", {positions, Array::scalar(Kind::kInt64, modulus)});
  }
  return positions.broadcast_to(shape);
}

// Writes slices into a tensor, from a position of each batch on.
Compute make_tensor_scatter(const Node& node) {
  check_choice(node, "mode", {"linear", "circular"});
  return [given = node.integer("axis", -2),
          is_circular = node.text("mode", "linear") == "circular"](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& updates = inputs[1];
    const Array first = input(inputs, 2);
    const int axis = axis_of(given, x.rank());
    bool fits = axis > 0 && updates.rank() == x.rank();
    for (int i = 0; fits && i < x.rank(); ++i) {
      fits = i == axis ? updates.size(i) <= x.size(i) : updates.size(i) == x.size(i);
    }
    if (!fits) {
      fail(
          "update has the shape {} and past_cache {}, and axis is {}; expected the same sizes except along the axis, "
          "which is not the first one",
          listed(updates.shape()), listed(x.shape()), given);
    }
    if (first && first.shape() != Sizes{x.size(0)}) {
      fail("write_indices has the shape {}; expected [{}]", listed(first.shape()), x.size(0));
    }
    if (updates.count() == 0) {
      return one(unchanged(x));
    }
    const Array positions = update_positions(first, updates.shape(), axis, is_circular ? x.size(axis) : 0);
    return one(dispatch("SCATTER_ELEMENTS", {x, positions, updates}, {{"Axis", axis}}));
  };
}

// ---- OneHot ---------------------------------------------------------------------------------------------------------

std::int64_t depth_of(const Array& depth) {
  std::string text;
  if (is_float(depth.kind())) {
    const double number = depth.number();
    if (number >= 1 && number < 0x1p63) {
      return static_cast<std::int64_t>(number);
    }
    text = number_text(number);
  } else {
    const std::int64_t number = depth.integer();
    if (number >= 1) {
      return number;
    }
    // A number of 2^63 or more was read as a negative one.
    text = depth.kind() == Kind::kUint64 ? std::to_string(static_cast<std::uint64_t>(number)) : std::to_string(number);
  }
  fail("depth is {}; expected a number of 1 or more", text);
}

bool is_index_kind(Kind kind) {
  constexpr KindSet kKinds{Kind::kInt32, Kind::kInt64, Kind::kUint32, Kind::kUint64};
  return kKinds.contains(kind);
}

// The result is the second value where the position along the new axis equals the index, and the first elsewhere. A
// negative index counts from the end. An index out of range matches no position.
Compute make_one_hot(const Node& node) {
  return [given = node.integer("axis", -1)](std::span<const Array> inputs) {
    const Array& indices = inputs[0];
    const Array& depth = inputs[1];
    const Array& values = inputs[2];
    if (depth.count() != 1 || values.shape() != Sizes{2}) {
      fail("depth must be one number, and values must be two");
    }
    const std::int64_t size = depth_of(depth);
    const int axis = axis_of(given, indices.rank() + 1);
    const Array whole = is_index_kind(indices.kind()) ? indices : cast(indices, Kind::kInt64);
    Sizes single = indices.shape();
    single.insert(single.begin() + axis, 1);
    Sizes shape = single;
    shape[static_cast<std::size_t>(axis)] = size;
    if (has_no_elements(shape)) {
      return one(Array::empty(values.kind(), shape));
    }
    return one(dispatch("ONE_HOT", {whole.reshape(single), values.with_rank(static_cast<int>(shape.size()))},
                        {{"Axis", axis}}, {.shape = shape}));
  };
}

// ---- NonZero, Compress ----------------------------------------------------------------------------------------------

// The coordinates of the nonzero elements, one row each. Their number is unknown until they are computed.
Array nonzero_rows(const Array& x) {
  if (x.count() == 0) {
    return Array::empty(Kind::kUint32, {0, x.rank()});
  }
  const Arrays found = dispatch_all("NONZERO_COORDINATES", {x}, {}, std::vector<Out>(2));
  const Array rows = found[1].reshape({x.count(), x.rank()});
  return rows.slice(0, 0, found[0].integer());
}

Compute make_nonzero(const Node&) {
  return [](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() == 0) {
      return one(Array::empty(Kind::kInt64, {0, nonzero_rows(x.reshape({1})).size(0)}));
    }
    return one(cast(nonzero_rows(x).transpose(), Kind::kInt64));
  };
}

Compute make_compress(const Node& node) {
  return [has_axis = node.has("axis"), given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& condition = inputs[1];
    if (condition.rank() != 1) {
      fail("the condition must be a list, but has the shape {}", listed(condition.shape()));
    }
    const Array x = has_axis ? inputs[0] : inputs[0].flatten();
    const int axis = has_axis ? axis_of(given, x.rank()) : 0;
    const Array used = condition.slice(0, 0, std::min(condition.size(0), x.size(axis)));
    return one(taken_slices(x, nonzero_rows(used).flatten(), axis));
  };
}

constexpr Row kGatherRows[] = {
    {.op = "Compress", .make = make_compress, .uses = "NONZERO_COORDINATES GATHER"},
    {.op = "Gather", .make = make_gather, .uses = "GATHER", .reads_constants = true, .is_view = true},
    {.op = "GatherElements", .make = make_gather_elements, .uses = "GATHER_ELEMENTS", .reads_constants = true},
    {.op = "GatherND", .make = make_gather_nd, .uses = "GATHER_ND1", .reads_constants = true},
    {.op = "NonZero", .make = make_nonzero, .uses = "NONZERO_COORDINATES CAST"},
    {.op = "OneHot", .make = make_one_hot, .uses = "ONE_HOT CAST"},
    {.op = "Scatter", .make = make_scatter_elements, .uses = "SCATTER_ELEMENTS IDENTITY", .reads_constants = true},
    {.op = "ScatterElements",
     .make = make_scatter_elements,
     .uses = "SCATTER_ELEMENTS IDENTITY",
     .reads_constants = true},
    {.op = "TensorScatter",
     .make = make_tensor_scatter,
     .uses = "SCATTER_ELEMENTS ADD FILL_VALUE_SEQUENCE IDENTITY MODULUS_FLOOR"},
    {.op = "ScatterND", .make = make_scatter_nd, .uses = "SCATTER_ND IDENTITY", .reads_constants = true},
};

}  // namespace

std::span<const Row> gather_rows() { return kGatherRows; }

}  // namespace anydml::onnx
