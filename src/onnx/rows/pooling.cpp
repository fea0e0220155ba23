// SPDX-License-Identifier: MIT
// Pooling.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/exact.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

enum class Pooling : std::uint8_t { kAverage, kLp, kMax };

// The windows along each spatial axis.
struct PoolingWindows {
  std::vector<std::int64_t> kernel, dilations, strides;
  std::vector<std::int64_t> before, after;  // the padding
  std::vector<std::int64_t> counts;         // the number of windows

  [[nodiscard]] std::size_t axes() const { return kernel.size(); }
  // The number of elements that a dilated window spans.
  [[nodiscard]] std::int64_t extent(std::size_t axis) const {
    return ((Exact(kernel[axis]) - 1) * dilations[axis] + 1).value();
  }
};

std::vector<std::int64_t> pooling_numbers(const Node& node, const char* name, std::size_t count,
                                          std::int64_t otherwise) {
  std::vector<std::int64_t> given = node.integers(name);
  if (given.empty()) {
    given.assign(count, otherwise);
  }
  return given;
}

// Checks the attributes before anything is allocated, because sizes are computed from them.
void check_pooling(const Node& node) {
  if (!node.has("kernel_shape")) {
    wrong(node, "kernel_shape", "the window's sizes");
  }
  constexpr std::array<std::pair<const char*, std::int64_t>, 4> kLowest = {
      {{"kernel_shape", 1}, {"strides", 1}, {"dilations", 1}, {"pads", 0}}};
  for (const auto& [name, lowest] : kLowest) {
    check_minimum(node, name, lowest);
  }
  check_choice(node, "auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  for (const char* name : {"ceil_mode", "count_include_pad", "storage_order"}) {
    check_choice(node, name, {std::int64_t{0}, std::int64_t{1}});
  }
  const std::size_t axes = node.integers("kernel_shape").size();
  const std::array<std::pair<const char*, std::size_t>, 3> counts = {
      {{"strides", axes}, {"dilations", axes}, {"pads", 2 * axes}}};
  for (const auto& [name, count] : counts) {
    if (pooling_numbers(node, name, count, 0).size() != count) {
      wrong(node, name, format_text("{} numbers, since kernel_shape has {}", count, axes));
    }
  }
}

// P of an Lp norm, which was a float in opset 1.
std::int64_t pooling_power(const Node& node) {
  const double p = node.since < 2 ? node.number("p") : static_cast<double>(node.integer("p"));
  if (p != std::trunc(p) || p < 1 || p >= 4294967296.0) {
    refuse(node, format_text("with p {:g}", p), "p must be a positive integer");
  }
  if (p > 2 && node.kinds[0] == Kind::kDouble) {
    refuse(node, format_text("of double with p {:g}", p), "p must be 1 or 2");
  }
  return static_cast<std::int64_t>(p);
}

// Sets the padding and the number of windows if auto_pad is SAME_UPPER or SAME_LOWER.
void pad_to_same(PoolingWindows& windows, std::size_t axis, std::int64_t size, bool is_upper) {
  const std::int64_t stride = windows.strides[axis];
  const std::int64_t count = divide_up(size, stride);
  const std::int64_t missing =
      std::max<std::int64_t>(0, ((Exact(count) - 1) * stride + windows.extent(axis) - size).value());
  windows.before[axis] = is_upper ? missing / 2 : missing - missing / 2;
  windows.after[axis] = missing - windows.before[axis];
  windows.counts[axis] = std::max<std::int64_t>(0, count);
}

// Sets the number of windows for the given padding.
void count_windows(PoolingWindows& windows, std::size_t axis, std::int64_t size, bool rounds_up) {
  const std::int64_t stride = windows.strides[axis];
  const std::int64_t extent = windows.extent(axis);
  const std::int64_t padded = (Exact(size) + windows.before[axis] + windows.after[axis]).value();
  const std::int64_t free = (Exact(padded) - extent).value();
  if (free < 0) {
    fail("kernel_shape is {}: a window spans {} elements of axis {}, which has {} including its pads",
         listed(windows.kernel), extent, axis + 2, padded);
  }
  std::int64_t count = (Exact(rounds_up ? divide_up(free, stride) : free / stride) + 1).value();
  if (rounds_up && ((Exact(count) - 1) * stride).value() >= (Exact(size) + windows.before[axis]).value()) {
    --count;  // drop a window that would begin after the tensor
  }
  windows.counts[axis] = std::max<std::int64_t>(0, count);
}

PoolingWindows pooling_windows(const Node& node, const Array& x) {
  PoolingWindows windows;
  windows.kernel = node.integers("kernel_shape");
  const std::size_t axes = windows.axes();
  if (axes == 0 || static_cast<std::size_t>(x.rank()) != axes + 2) {
    fail("kernel_shape is {}, but the tensor has {} dimensions", listed(windows.kernel), x.rank());
  }
  windows.strides = pooling_numbers(node, "strides", axes, 1);
  windows.dilations = pooling_numbers(node, "dilations", axes, 1);
  const std::vector<std::int64_t> pads = pooling_numbers(node, "pads", 2 * axes, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(axes);
  windows.before.assign(pads.begin(), middle);
  windows.after.assign(middle, pads.end());
  windows.counts.assign(axes, 0);
  const std::string automatic = node.text("auto_pad");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = x.shape()[i + 2];
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      pad_to_same(windows, i, size, automatic == "SAME_UPPER");
      continue;
    }
    if (automatic == "VALID") {
      windows.before[i] = windows.after[i] = 0;
    }
    count_windows(windows, i, size, node.integer("ceil_mode") != 0);
  }
  return windows;
}

// The padding that the windows reach after the last element, which is 0 if they end before it.
std::vector<std::int64_t> pooling_ends(const Array& x, const PoolingWindows& windows) {
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const Exact end = (Exact(windows.counts[i]) - 1) * windows.strides[i] + windows.extent(i);
    ends.push_back(std::max<std::int64_t>(0, (end - windows.before[i] - x.shape()[i + 2]).value()));
  }
  return ends;
}

// Prepares averages that include padding. If a window extends beyond the padding, as with ceil_mode, the positions
// there do not count; in that case the padding is turned into elements. Returns whether the operator counts the
// padding.
bool include_padding(Array& x, PoolingWindows& windows) {
  const std::vector<std::int64_t> ends = pooling_ends(x, windows);
  bool ends_in_padding = true;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends_in_padding = ends_in_padding && ends[i] <= windows.after[i];
  }
  if (ends_in_padding) {
    return true;
  }
  std::vector<std::int64_t> before = {0, 0};
  std::vector<std::int64_t> after = {0, 0};
  before.insert(before.end(), windows.before.begin(), windows.before.end());
  after.insert(after.end(), windows.after.begin(), windows.after.end());
  Sizes shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] = (Exact(shape[i]) + before[i] + after[i]).value();
  }
  x = dispatch("PADDING1", {x},
               {{"PaddingMode", "CONSTANT"}, {"PaddingValue", 0}, {"StartPadding", before}, {"EndPadding", after}},
               {.shape = shape});
  windows.before.assign(windows.axes(), 0);
  windows.after.assign(windows.axes(), 0);
  return false;
}

// The operator, which has a later version for dilations and for indices.
const char* pooling_operator(Pooling function, bool is_later) {
  switch (function) {
    case Pooling::kAverage:
      return is_later ? "AVERAGE_POOLING1" : "AVERAGE_POOLING";
    case Pooling::kLp:
      return is_later ? "LP_POOLING1" : "LP_POOLING";
    case Pooling::kMax:
      break;
  }
  return is_later ? "MAX_POOLING2" : "MAX_POOLING";
}

Arrays pool_windows(const Node& node, Pooling function, std::int64_t power, Array x) {
  const bool has_indices = node.results.size() > 1;
  PoolingWindows windows = pooling_windows(node, x);
  const bool counts_padding = node.integer("count_include_pad") != 0 && include_padding(x, windows);
  Sizes shape = {x.size(0), x.size(1)};
  shape.insert(shape.end(), windows.counts.begin(), windows.counts.end());
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    Arrays empty = one(Array::empty(x.kind(), shape));
    if (has_indices) {
      empty.push_back(Array::empty(Kind::kInt64, shape));
    }
    return empty;
  }
  const bool dilates = std::any_of(windows.dilations.begin(), windows.dilations.end(),
                                   [](std::int64_t dilation) { return dilation > 1; });
  const bool is_later = dilates || has_indices;
  Options options = {{"WindowSize", windows.kernel},
                     {"Strides", windows.strides},
                     {"StartPadding", windows.before},
                     {"EndPadding", pooling_ends(x, windows)}};
  if (is_later) {
    options.push_back({"Dilations", windows.dilations});
  }
  if (function == Pooling::kAverage) {
    options.push_back({"IncludePadding", counts_padding ? 1 : 0});
  } else if (function == Pooling::kLp) {
    options.push_back({"P", power});
  }
  const char* op = pooling_operator(function, is_later);
  if (function != Pooling::kMax || !is_later) {
    return one(dispatch(op, {x}, options));
  }
  Arrays results = dispatch_all(op, {x}, options, {Out{}, Out{.kind = Kind::kInt64, .is_wanted = has_indices}});
  results.resize(has_indices ? 2 : 1);
  return results;
}

template <Pooling function>
Compute make_pool(const Node& node) {
  if (node.results.size() > 1 && node.integer("storage_order") != 0) {
    refuse(node, "with Indices and storage_order 1", "its indices count rows");
  }
  const std::int64_t power = function == Pooling::kLp ? pooling_power(node) : 0;
  check_pooling(node);
  return [node, power](std::span<const Array> inputs) { return pool_windows(node, function, power, inputs[0]); };
}

// The size of each axis before the pooling, if the windows end at the last elements.
Sizes unpooled_shape(const Node& node, const Array& x, const Array& indices) {
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  const std::size_t axes = kernel.size();
  if (static_cast<std::size_t>(x.rank()) != axes + 2 || x.shape() != indices.shape()) {
    fail(
        "kernel_shape is {}, the tensor has the sizes {} and the indices {}; expected the same sizes, and a number for "
        "each spatial axis",
        listed(kernel), listed(x.shape()), listed(indices.shape()));
  }
  const std::vector<std::int64_t> strides = pooling_numbers(node, "strides", axes, 1);
  const std::vector<std::int64_t> pads = pooling_numbers(node, "pads", 2 * axes, 0);
  Sizes shape = {x.size(0), x.size(1)};
  for (std::size_t i = 0; i < axes; ++i) {
    const Exact whole = (Exact(x.shape()[i + 2]) - 1) * strides[i] + kernel[i];
    shape.push_back((whole - pads[i] - pads[i + axes]).value());
  }
  return shape;
}

Compute make_max_unpool(const Node& node) {
  check_pooling(node);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Sizes shape = unpooled_shape(node, x, inputs[1]);
    const Array output_shape = input(inputs, 2);
    const Sizes wanted = output_shape ? sizes_of(output_shape, "output_shape") : shape;
    bool is_valid = *std::min_element(shape.begin(), shape.end()) >= 0 && wanted.size() == shape.size();
    for (std::size_t i = 0; is_valid && i < shape.size(); ++i) {
      is_valid = wanted[i] >= shape[i];
    }
    if (!is_valid) {
      fail("output_shape is {}; expected {} sizes, at least {}", listed(wanted), shape.size(), listed(shape));
    }
    const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    Array result =
        is_empty ? Array::empty(x.kind(), shape) : dispatch("MAX_UNPOOLING", {x, inputs[1]}, {}, {.shape = shape});
    if (wanted == shape) {
      return one(result);
    }
    // Indices count the elements of the smaller tensor, which becomes the leading part of the larger tensor.
    std::vector<std::int64_t> more;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      more.push_back(wanted[i] - shape[i]);
    }
    return one(dispatch("PADDING1", {result},
                        {{"PaddingMode", "CONSTANT"},
                         {"PaddingValue", 0},
                         {"StartPadding", std::vector<std::int64_t>(shape.size(), 0)},
                         {"EndPadding", more}},
                        {.shape = wanted}));
  };
}

Compute make_global_lp_pool(const Node& node) {
  return [p = pooling_power(node)](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    if (x.rank() < 3 || x.count() == 0) {
      fail("the tensor has the shape {}, so there is nothing to pool", listed(x.shape()));
    }
    const std::vector<std::int64_t> window(x.shape().begin() + 2, x.shape().end());
    const std::vector<std::int64_t> ones(window.size(), 1);
    const std::vector<std::int64_t> zeros(window.size(), 0);
    return one(dispatch(
        "LP_POOLING", {x},
        {{"WindowSize", window}, {"Strides", ones}, {"StartPadding", zeros}, {"EndPadding", zeros}, {"P", p}}));
  };
}

constexpr std::array kPoolingRows = {
    Row{.op = "AveragePool",
        .make = make_pool<Pooling::kAverage>,
        .uses = "AVERAGE_POOLING AVERAGE_POOLING1 PADDING1",
        .kinds = {}},
    Row{.op = "GlobalLpPool", .make = make_global_lp_pool, .uses = "LP_POOLING", .kinds = {}},
    Row{.op = "LpPool", .make = make_pool<Pooling::kLp>, .uses = "LP_POOLING LP_POOLING1", .kinds = {}},
    Row{.op = "MaxPool", .make = make_pool<Pooling::kMax>, .uses = "MAX_POOLING MAX_POOLING2", .kinds = {}},
    Row{.op = "MaxUnpool", .make = make_max_unpool, .uses = "MAX_UNPOOLING PADDING1", .kinds = {}},
};

}  // namespace

Compute crop_checks(const Node& node) {
  return [node](std::span<const Array> inputs) {
    const int rank = inputs[0].rank();
    const std::vector<int> axes = node.has("axes") ? axes_of(node.integers("axes"), rank) : all_axes(rank);
    const Sizes sizes = sizes_of(inputs[1], "shape");
    if (sizes.size() != axes.size()) {
      fail("shape has {} numbers, but {} axes need one each", sizes.size(), axes.size());
    }
    return Arrays();
  };
}

std::span<const Row> pooling_rows() { return kPoolingRows; }

}  // namespace anydml::onnx
