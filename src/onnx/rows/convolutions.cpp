// SPDX-License-Identifier: MIT
// Convolutions, transposed convolutions, and integer convolutions.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/exact.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr int kMaxConvolutionAxes = 3;

// The numbers for each spatial axis.
struct Convolution {
  std::vector<std::int64_t> strides, dilations;
  std::vector<std::int64_t> extents;  // the number of elements that the dilated filter spans
  std::vector<std::int64_t> before, after;
  std::vector<std::int64_t> added;  // the output padding
  Sizes shape;                      // of the whole output

  [[nodiscard]] std::size_t axes() const { return strides.size(); }
  // The number of elements of an axis together with its pads.
  [[nodiscard]] std::int64_t padded(std::int64_t size, std::size_t axis) const {
    return (Exact(size) + before[axis] + after[axis]).value();
  }
};

// Checks the attributes before anything is allocated, because sizes are computed from them.
void check_convolution(const Node& node) {
  constexpr std::array<std::pair<const char*, std::int64_t>, 7> kLowest = {{{"kernel_shape", 1},
                                                                            {"strides", 1},
                                                                            {"dilations", 1},
                                                                            {"pads", 0},
                                                                            {"group", 1},
                                                                            {"output_padding", 0},
                                                                            {"output_shape", 1}}};
  for (const auto& [name, lowest] : kLowest) {
    check_minimum(node, name, lowest);
  }
  check_choice(node, "auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
}

// An attribute that has a number for each axis.
std::vector<std::int64_t> convolution_option(const Node& node, const char* name, std::size_t count,
                                             std::int64_t otherwise) {
  std::vector<std::int64_t> given = node.integers(name);
  if (given.empty()) {
    given.assign(count, otherwise);
  }
  if (given.size() != count) {
    const std::size_t axes = name == std::string_view("pads") ? count / 2 : count;
    wrong(node, name, format_text("{} numbers, since the tensor has {} spatial axes", count, axes));
  }
  return given;
}

// The strides, dilations and filter extents along the spatial axes.
Convolution convolution_axes(const Node& node, const Array& x, const Array& w) {
  const int rank = x.rank() - 2;
  if (rank < 1 || rank > kMaxConvolutionAxes || w.rank() != x.rank()) {
    fail("X has the sizes {} and W {}; expected the same number of dimensions, with 1 to {} spatial ones",
         listed(x.shape()), listed(w.shape()), kMaxConvolutionAxes);
  }
  const auto axes = static_cast<std::size_t>(rank);
  const Sizes filter(w.shape().begin() + 2, w.shape().end());
  const std::vector<std::int64_t> kernel = convolution_option(node, "kernel_shape", axes, 0);
  if (!node.integers("kernel_shape").empty() && kernel != filter) {
    wrong(node, "kernel_shape", "the sizes of W, " + listed(filter));
  }
  Convolution result;
  result.strides = convolution_option(node, "strides", axes, 1);
  result.dilations = convolution_option(node, "dilations", axes, 1);
  for (std::size_t i = 0; i < axes; ++i) {
    result.extents.push_back(((Exact(filter[i]) - 1) * result.dilations[i] + 1).value());
  }
  return result;
}

// Splits the total padding of an axis into the padding before and after.
void pad_by_halves(const Node& node, std::int64_t total, Convolution& convolution) {
  const std::int64_t less = total / 2;
  const std::int64_t more = total - less;
  const bool is_upper = node.text("auto_pad") == "SAME_UPPER";
  convolution.before.push_back(is_upper ? less : more);
  convolution.after.push_back(is_upper ? more : less);
}

Array convolve(const Node& node, const Array& x, const Array& w, const Array& bias, const char* direction,
               const Convolution& convolution) {
  Array aligned = bias;
  if (bias) {
    Sizes shape(static_cast<std::size_t>(x.rank()), 1);
    shape[1] = bias.count();
    aligned = bias.reshape(shape);
  }
  return dispatch("CONVOLUTION", {x, w, aligned},
                  {{"Mode", "CROSS_CORRELATION"},
                   {"Direction", direction},
                   {"Strides", convolution.strides},
                   {"Dilations", convolution.dilations},
                   {"StartPadding", convolution.before},
                   {"EndPadding", convolution.after},
                   {"OutputPadding", convolution.added},
                   {"GroupCount", node.integer("group")}},
                  {.shape = convolution.shape, .kind = x.kind()});
}

void pad_forward(const Node& node, const Array& x, Convolution& convolution) {
  const std::size_t axes = convolution.axes();
  const std::vector<std::int64_t> given = convolution_option(node, "pads", 2 * axes, 0);
  const std::string automatic = node.text("auto_pad");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t size = x.shape()[i + 2];
    const std::int64_t extent = convolution.extents[i];
    if (automatic == "NOTSET") {
      convolution.before.push_back(given[i]);
      convolution.after.push_back(given[i + axes]);
    } else if (automatic == "VALID") {
      convolution.before.push_back(0);
      convolution.after.push_back(0);
    } else {
      const std::int64_t stride = convolution.strides[i];
      const Exact needed = (Exact(divide_up(size, stride)) - 1) * stride + extent;
      pad_by_halves(node, std::max<std::int64_t>(0, (needed - size).value()), convolution);
    }
    const std::int64_t padded = convolution.padded(size, i);
    if (padded < extent) {
      fail("W spans {} elements of axis {}, which has {} including its pads", extent, i + 2, padded);
    }
  }
}

// Everything about a convolution that is not transposed.
Convolution forward_convolution(const Node& node, const Array& x, const Array& w) {
  const std::int64_t group = node.integer("group");
  Convolution result = convolution_axes(node, x, w);
  const std::int64_t channels = (Exact(w.size(1)) * group).value();
  if (x.size(1) != channels || w.size(0) % group != 0) {
    fail("X has the sizes {} and W {}; expected {} channels of X and a multiple of {} of W, since group is {}",
         listed(x.shape()), listed(w.shape()), channels, group, group);
  }
  pad_forward(node, x, result);
  result.shape = {x.size(0), w.size(0)};
  for (std::size_t i = 0; i < result.axes(); ++i) {
    const std::int64_t free = (Exact(result.padded(x.shape()[i + 2], i)) - result.extents[i]).value();
    result.shape.push_back((Exact(free / result.strides[i]) + 1).value());
  }
  result.added.assign(result.axes(), 0);
  return result;
}

Compute make_conv(const Node& node) {
  check_convolution(node);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& w = inputs[1];
    return one(convolve(node, x, w, input(inputs, 2), "FORWARD", forward_convolution(node, x, w)));
  };
}

// Reshapes a zero point, a scale or a bias, which has one number, or one for each of `count` channels.
Array convolution_channels(const Array& value, const Array& x, std::int64_t count, const char* what) {
  if (!value) {
    return value;
  }
  if (value.count() != 1 && value.shape() != Sizes{count}) {
    fail("{} has the shape {}; expected one number{}", what, listed(value.shape()),
         count != 1 ? format_text(", or [{}]", count) : std::string());
  }
  Sizes shape(static_cast<std::size_t>(std::max(2, x.rank())), 1);
  shape[1] = value.count();
  return value.reshape(shape);
}

// Dispatches an integer convolution. tensors: all tensors of the operator.
Arrays convolve_bytes(const Node& node, const char* op, const Array& x, const Array& w, const Arrays& tensors) {
  const Convolution convolution = forward_convolution(node, x, w);
  return one(dispatch(op, tensors,
                      {{"Strides", convolution.strides},
                       {"Dilations", convolution.dilations},
                       {"StartPadding", convolution.before},
                       {"EndPadding", convolution.after},
                       {"GroupCount", node.integer("group")}},
                      {.shape = convolution.shape}));
}

// Sums the products of the differences from the zero points. The sums wrap in int32.
Compute make_conv_integer(const Node& node) {
  check_convolution(node);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& w = inputs[1];
    check_min_rank(w, 1, "w");
    return convolve_bytes(node, "CONVOLUTION_INTEGER", x, w,
                          {x, convolution_channels(input(inputs, 2), x, 1, "x_zero_point"), w,
                           convolution_channels(input(inputs, 3), x, w.size(0), "w_zero_point")});
  };
}

Compute make_quantized_conv(const Node& node) {
  check_convolution(node);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& w = inputs[3];
    const Array bias = input(inputs, 8);
    check_min_rank(w, 1, "w");
    const std::int64_t outputs = w.size(0);
    if (bias && bias.shape() != Sizes{outputs}) {
      fail("B has the shape {}; expected [{}]", listed(bias.shape()), outputs);
    }
    return convolve_bytes(
        node, "QUANTIZED_LINEAR_CONVOLUTION", x, w,
        {x, convolution_channels(inputs[1], x, 1, "x_scale"), convolution_channels(inputs[2], x, 1, "x_zero_point"), w,
         convolution_channels(inputs[4], x, outputs, "w_scale"),
         convolution_channels(inputs[5], x, outputs, "w_zero_point"), convolution_channels(bias, x, outputs, "B"),
         convolution_channels(inputs[6], x, 1, "y_scale"), convolution_channels(inputs[7], x, 1, "y_zero_point")});
  };
}

// The pads and the spatial sizes of a transposed convolution's output. whole: its sizes without pads.
std::vector<std::int64_t> pad_backward(const Node& node, const Array& x, const std::vector<std::int64_t>& whole,
                                       Convolution& convolution) {
  const std::size_t axes = convolution.axes();
  const std::vector<std::int64_t> more = convolution_option(node, "output_padding", axes, 0);
  const std::vector<std::int64_t> given = convolution_option(node, "pads", 2 * axes, 0);
  const std::vector<std::int64_t> wanted = node.integers("output_shape");
  if (!wanted.empty() && wanted.size() != axes && wanted.size() != axes + 2) {
    wrong(node, "output_shape", format_text("{} numbers", axes));
  }
  const std::string automatic = node.text("auto_pad");
  const bool is_valid = automatic == "VALID";
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < axes; ++i) {
    if (!wanted.empty() || automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t count = !wanted.empty() ? wanted[wanted.size() - axes + i]
                                                 : (Exact(x.shape()[i + 2]) * convolution.strides[i]).value();
      // An output that is larger than the computed result is padded at its end.
      pad_by_halves(node, std::max<std::int64_t>(0, (Exact(whole[i]) + more[i] - count).value()), convolution);
      counts.push_back(count);
    } else {
      convolution.before.push_back(is_valid ? 0 : given[i]);
      convolution.after.push_back(is_valid ? 0 : given[i + axes]);
      counts.push_back((Exact(whole[i]) + more[i] - convolution.before[i] - convolution.after[i]).value());
    }
  }
  return counts;
}

// Everything about a transposed convolution.
Convolution backward_convolution(const Node& node, const Array& x, const Array& w) {
  const std::int64_t group = node.integer("group");
  Convolution result = convolution_axes(node, x, w);
  if (x.size(1) != w.size(0) || w.size(0) % group != 0) {
    fail(
        "X has the sizes {} and W {}; expected the channels of X to equal W's first size, a multiple of group, which "
        "is {}",
        listed(x.shape()), listed(w.shape()), group);
  }
  std::vector<std::int64_t> whole;
  for (std::size_t i = 0; i < result.axes(); ++i) {
    whole.push_back(((Exact(x.shape()[i + 2]) - 1) * result.strides[i] + result.extents[i]).value());
  }
  const std::vector<std::int64_t> counts = pad_backward(node, x, whole, result);
  if (*std::min_element(counts.begin(), counts.end()) < 0) {
    fail("the output would have the sizes {}; expected smaller pads", listed(counts));
  }
  result.shape = {x.size(0), (Exact(w.size(1)) * group).value()};
  for (std::size_t i = 0; i < result.axes(); ++i) {
    const Exact added = Exact(counts[i]) - whole[i] + (Exact(result.before[i]) + result.after[i]);
    result.added.push_back(std::max<std::int64_t>(0, added.value()));
    result.shape.push_back(counts[i]);
  }
  return result;
}

Compute make_conv_transpose(const Node& node) {
  check_convolution(node);
  return [node](std::span<const Array> inputs) {
    const Array& x = inputs[0];
    const Array& w = inputs[1];
    return one(convolve(node, x, w, input(inputs, 2), "BACKWARD", backward_convolution(node, x, w)));
  };
}

constexpr KindSet kConvolutionByteKinds{Kind::kInt8, Kind::kUint8};
constexpr std::array kConvolutionRows = {
    Row{.op = "Conv", .make = make_conv, .uses = "CONVOLUTION", .kinds = kRoundedKinds},
    Row{.op = "ConvInteger", .make = make_conv_integer, .uses = "CONVOLUTION_INTEGER", .kinds = kConvolutionByteKinds},
    Row{.op = "ConvTranspose", .make = make_conv_transpose, .uses = "CONVOLUTION", .kinds = kRoundedKinds},
    Row{.op = "QLinearConv",
        .make = make_quantized_conv,
        .uses = "QUANTIZED_LINEAR_CONVOLUTION",
        .kinds = kConvolutionByteKinds},
};

}  // namespace

std::span<const Row> convolution_rows() { return kConvolutionRows; }

}  // namespace anydml::onnx
