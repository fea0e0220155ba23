// SPDX-License-Identifier: MIT
// Nodes that rearrange elements without computing. They return views if strides can express the result; moves.cpp has
// the others.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "onnx/rows/row.h"
#include "onnx/rows/sizes.h"

namespace anydml::onnx {
namespace {

// ---- Reshape, Squeeze, Unsqueeze, Flatten, Transpose ----------------------------------------------------------------

// Replaces each 0 by the size that it refers to.
Sizes with_kept_sizes(const Array& x, const Sizes& shape) {
  Sizes result = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) {
      if (axis >= x.shape().size()) {
        fail("shape is {}, but a 0 in it refers to a size that {} does not have", listed(shape), listed(x.shape()));
      }
      result[axis] = x.shape()[axis];
    }
  }
  return result;
}

Array reshaped(const Array& x, Sizes shape, bool allows_zero) {
  check_rank(shape);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < -1; })) {
    fail("shape is {}; expected sizes of 0 or more, and at most one -1", listed(shape));
  }
  if (!allows_zero) {
    shape = with_kept_sizes(x, shape);
  }
  if (const auto inferred = std::find(shape.begin(), shape.end(), -1); inferred != shape.end()) {
    const std::int64_t known = elements_of_shape(shape);
    if (std::count(shape.begin(), shape.end(), -1) > 1 || known == 0 || known == kTooManyElements ||
        x.count() % known != 0) {
      fail("shape is {}, but its -1 cannot be inferred from {}", listed(shape), listed(x.shape()));
    }
    *inferred = x.count() / known;
  }
  if (elements_of_shape(shape) != x.count()) {
    fail("shape is {}, but the tensor has the shape {} and {} elements", listed(shape), listed(x.shape()), x.count());
  }
  return x.reshape(std::move(shape));
}

Compute make_reshape(const Node& node) {
  const bool allows_zero = node.integer("allowzero") != 0;
  return [attribute = attribute_sizes(node, "shape"), allows_zero](std::span<const Array> inputs) {
    std::optional<Sizes> shape = numbers_or(input(inputs, 1), attribute, "shape");
    if (!shape) {
      fail("shape is missing");
    }
    return one(reshaped(inputs[0], *std::move(shape), allows_zero));
  };
}

std::vector<int> axes_of_size_one(const Array& x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x.size(axis) == 1) {
      axes.push_back(axis);
    }
  }
  return axes;
}

Compute make_squeeze(const Node& node) {
  return [attribute = attribute_sizes(node, "axes")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::optional<Sizes> given = numbers_or(input(inputs, 1), attribute, "axes");
    std::vector<int> axes = given ? axes_of(*given, x.rank()) : axes_of_size_one(x);
    if (std::any_of(axes.begin(), axes.end(), [&](int axis) { return x.size(axis) != 1; })) {
      fail("axes is {}, but the tensor has the shape {}; expected axes of size 1", listed(as_int64(axes)),
           listed(x.shape()));
    }
    std::sort(axes.begin(), axes.end(), std::greater<>());
    Array result = axes.empty() ? whole_view(x) : x;
    for (const int axis : axes) {
      result = result.drop_axis(axis);
    }
    return one(std::move(result));
  };
}

Compute make_unsqueeze(const Node& node) {
  return [attribute = attribute_sizes(node, "axes")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const std::optional<Sizes> given = numbers_or(input(inputs, 1), attribute, "axes");
    if (!given) {
      fail("axes is missing");
    }
    Sizes shape(x.shape().size() + given->size(), 1);
    check_rank(shape);
    const std::vector<int> axes = axes_of(*given, static_cast<int>(shape.size()));
    auto next = x.shape().begin();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), static_cast<int>(axis)) == axes.end()) {
        shape[axis] = *next++;
      }
    }
    return one(x.reshape(std::move(shape)));
  };
}

Compute make_flatten(const Node& node) {
  return [given = node.integer("axis")](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given, given >= 0 ? x.rank() + 1 : x.rank());
    const std::span<const std::int64_t> sizes = x.shape();
    const auto middle = static_cast<std::size_t>(axis);
    return one(x.reshape({product(sizes.first(middle)), product(sizes.subspan(middle))}));
  };
}

Compute make_transpose(const Node& node) {
  const std::optional<Sizes> order = attribute_sizes(node, "perm");
  if (!order) {
    return [](std::span<const Array> inputs) { return one(inputs[0].transpose()); };
  }
  Sizes sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i)) {
      wrong(node, "perm", "each axis exactly once, counted from 0");
    }
  }
  return [order = std::vector<int>(order->begin(), order->end())](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (order.size() != x.shape().size()) {
      fail("perm is {}, but the tensor has {} dimensions", listed(as_int64(order)), x.rank());
    }
    return one(x.transpose(order));
  };
}

// ---- Shape, Size, Expand --------------------------------------------------------------------------------------------

Compute make_shape(const Node& node) {
  const std::int64_t start = node.integer("start");
  const std::int64_t end = node.integer("end", kMaxArrayRank);
  return [start, end](std::span<const Array> inputs) {
    const std::int64_t rank = inputs[0].rank();
    const auto bounded = [rank](std::int64_t position) {
      return std::clamp<std::int64_t>(position < 0 ? position + rank : position, 0, rank);
    };
    const Sizes& shape = inputs[0].shape();
    const std::int64_t first = bounded(start);
    const std::int64_t last = std::max(first, bounded(end));
    return one(Array::integers(Sizes(shape.begin() + first, shape.begin() + last)));
  };
}

Compute make_size(const Node&) {
  return [](std::span<const Array> inputs) { return one(Array::scalar(Kind::kInt64, inputs[0].count())); };
}

Compute make_expand(const Node&) {
  return [](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Sizes shape = sizes_of(inputs[1], "shape");
    check_rank(shape);
    return one(shape == x.shape() ? x : x.broadcast_to(broadcast_shapes(x.shape(), shape)));
  };
}

// ---- Slice, Split, Concat -------------------------------------------------------------------------------------------

// Elements of an axis, as ONNX's text defines them: a negative index counts from the end. Then the start is limited to
// [0, size] and the end to [0, size] if the step is positive; otherwise the start is limited to [0, size - 1] and the
// end to [-1, size - 1]. NumPy limits the start to [-1, size - 1] if the step is negative. With a start before the
// first element, such as [-9:-10:-1] of three elements, NumPy therefore returns nothing, but ONNX the first element.
Array sliced_axis(const Array& x, int axis, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t size = x.size(axis);
  if (size == 0) {
    return x.slice(axis, 0, 0);
  }
  const bool is_forward = step > 0;
  start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, is_forward ? size : size - 1);
  end = std::clamp<std::int64_t>(end < 0 ? end + size : end, is_forward ? 0 : -1, is_forward ? size : size - 1);
  const std::int64_t distance = is_forward ? end - start : start - end;
  if (distance <= 0) {
    return x.slice(axis, 0, 0);
  }
  const std::uint64_t pace = is_forward ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const auto count = static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / pace + 1);
  std::int64_t stride = 0;
  if (count == 1 && __builtin_mul_overflow(step, x.strides()[static_cast<std::size_t>(axis)], &stride)) {
    step = 1;  // The step is larger than the axis, so it does not matter.
  }
  return x.slice(axis, start, count, step);
}

Array sliced(const Array& x, const Sizes& starts, const Sizes& ends, const std::optional<Sizes>& given_axes,
             const std::optional<Sizes>& given_steps) {
  Sizes first(starts.size());
  std::iota(first.begin(), first.end(), 0);
  const std::vector<int> axes = axes_of(given_axes ? *given_axes : first, x.rank());
  const Sizes steps = given_steps ? *given_steps : Sizes(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size()) {
    fail("starts, ends, axes and steps must have the same length");
  }
  if (std::find(steps.begin(), steps.end(), 0) != steps.end()) {
    fail("steps is {}; expected no step of 0", listed(steps));
  }
  Array result = axes.empty() ? whole_view(x) : x;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result = sliced_axis(result, axes[i], starts[i], ends[i], steps[i]);
  }
  return result;
}

Compute make_slice(const Node& node) {
  return [starts = attribute_sizes(node, "starts"), ends = attribute_sizes(node, "ends"),
          axes = attribute_sizes(node, "axes")](std::span<const Array> inputs) {
    const std::optional<Sizes> first = numbers_or(input(inputs, 1), starts, "starts");
    const std::optional<Sizes> last = numbers_or(input(inputs, 2), ends, "ends");
    const std::optional<Sizes> along = numbers_or(input(inputs, 3), axes, "axes");
    const std::optional<Sizes> steps = numbers_or(input(inputs, 4), std::nullopt, "steps");
    if (!first || !last) {
      fail("starts or ends is missing; expected both");
    }
    return one(sliced(inputs[0], *first, *last, along, steps));
  };
}

bool adds_up_to(const Sizes& parts, std::int64_t size) {
  for (const std::int64_t part : parts) {
    if (part > size) {
      return false;
    }
    size -= part;
  }
  return size == 0;
}

// Parts of the same size, except that the last ones may be smaller.
Sizes equal_parts(std::int64_t size, std::int64_t count) {
  const std::int64_t part = size / count + (size % count != 0 ? 1 : 0);
  Sizes sizes;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t taken = std::min(part, size);
    sizes.push_back(taken);
    size -= taken;
  }
  return sizes;
}

Compute make_split(const Node& node) {
  const auto count = static_cast<std::int64_t>(node.results.size());
  if (node.has("num_outputs") && node.integer("num_outputs") != count) {
    wrong(node, "num_outputs", format_text("{}, the number of the node's outputs", count));
  }
  check_minimum(node, "split", 0);
  const bool may_be_unequal = node.declares("num_outputs");
  return [attribute = attribute_sizes(node, "split"), given_axis = node.integer("axis"), count,
          may_be_unequal](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const int axis = axis_of(given_axis, x.rank());
    const std::int64_t size = x.size(axis);
    const Array given = input(inputs, 1);
    std::optional<Sizes> sizes = given ? sizes_of(given, "split") : attribute;
    if (!sizes) {
      if (!may_be_unequal && size % count != 0) {
        fail("axis {} has {} elements; expected a multiple of {}", axis, size, count);
      }
      sizes = equal_parts(size, count);
    }
    if (static_cast<std::int64_t>(sizes->size()) != count || !adds_up_to(*sizes, size)) {
      fail("split is {}: axis {} has {} elements for {} outputs", listed(*sizes), axis, size, count);
    }
    Arrays results;
    std::int64_t start = 0;
    for (const std::int64_t part : *sizes) {
      results.push_back(x.slice(axis, start, part));
      start += part;
    }
    return results;
  };
}

bool may_be_joined(const Array& a, const Array& b, int axis) {
  if (a.rank() != b.rank()) {
    return false;
  }
  for (int i = 0; i < a.rank(); ++i) {
    if (i != axis && a.size(i) != b.size(i)) {
      return false;
    }
  }
  return true;
}

Compute make_concat(const Node& node) {
  return [given = node.integer("axis", 1)](std::span<const Array> parts) {
    const int axis = axis_of(given, parts[0].rank());
    if (!std::all_of(parts.begin(), parts.end(),
                     [&](const Array& part) { return may_be_joined(parts[0], part, axis); })) {
      std::vector<std::string> shapes;
      for (const Array& part : parts) {
        shapes.push_back(listed(part.shape()));
      }
      fail("the inputs must have the same shape except along the axis, but have {}", joined(shapes));
    }
    std::int64_t size = 0;
    for (const Array& part : parts) {
      size = added_sizes(size, part.size(axis));  // which empty tensors of any size could exceed
    }
    return one(join(Arrays(parts.begin(), parts.end()), axis));
  };
}

// ---- BitCast -------------------------------------------------------------------------------------------------------

Compute make_bit_cast(const Node& node) {
  const Kind kind = array_kind(node.results[0]);
  if (item_size(array_kind(node.kinds[0])) != item_size(kind)) {
    throw WrongType(format_text("{}: {} and {} have different sizes", node.label, kind_name(node.kinds[0]),
                                kind_name(node.results[0])));
  }
  // `packed` needs the elements, so this node is never part of a graph.
  return [kind](std::span<const Array> inputs) { return one(inputs[0].packed().view_as(kind)); };
}

std::vector<Kind> bit_cast_kinds(const Node& node) { return {node.has("to") ? node.named_kind("to") : Kind::kNothing}; }

constexpr Row view_row(std::string_view op, Make make) {
  return {.op = op, .make = make, .is_view = true, .takes_strings = true};
}

constexpr Row kShapeRows[] = {
    {.op = "BitCast", .make = make_bit_cast, .result = bit_cast_kinds, .is_view = true},
    {.op = "Concat", .make = make_concat, .uses = "JOIN", .takes_strings = true},
    view_row("Expand", make_expand),
    view_row("Flatten", make_flatten),
    view_row("Reshape", make_reshape),
    view_row("Shape", make_shape),
    view_row("Size", make_size),
    view_row("Slice", make_slice),
    view_row("Split", make_split),
    view_row("Squeeze", make_squeeze),
    view_row("Transpose", make_transpose),
    view_row("Unsqueeze", make_unsqueeze),
};

}  // namespace

std::span<const Row> shape_rows() { return kShapeRows; }

}  // namespace anydml::onnx
