// SPDX-License-Identifier: MIT
// Operators that ONNX defines in terms of other operators, and that no other row computes. The nodes and their order
// are ONNX's.
#include "onnx/rows/definitions.h"

#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

// ---- Windows --------------------------------------------------------------------------------------------------------

// a0 - a1 * cos(t) + a2 * cos(2 * t), where t goes from 0 to a full turn.
void write_cosine_window(Expansion& e, float a0, float a1, float a2) {
  e.written_opset = 17;
  constexpr auto kFloatType = static_cast<std::int64_t>(Kind::kFloat);
  const std::string first = e.constant_float(a0);
  const std::string second = e.constant_float(a1);
  const std::string third = e.constant_float(a2);
  const std::string zero = e.constant_float(0);
  const std::string one = e.constant_float(1);
  const std::string two = e.constant_float(2);
  const std::string turn = e.constant_float(6.2831853071795864769F);
  const std::string size = cast_to(e, e.input(0), kFloatType);
  const std::string symmetric_size = e.add("Sub", {size, one});
  const std::string periodic = cast_to(e, e.constant(e.integer("periodic", 1)), kFloatType);
  const std::string symmetric = e.add("Sub", {one, periodic});
  const std::string periodic_part = e.add("Mul", {size, periodic});
  const std::string symmetric_part = e.add("Mul", {symmetric_size, symmetric});
  const std::string period = e.add("Add", {periodic_part, symmetric_part});
  const std::string step = e.add("Div", {turn, period});
  const std::string positions = e.add("Range", {zero, size, one});
  const std::string angles = e.add("Mul", {positions, step});
  const std::string doubled = e.add("Mul", {angles, two});
  const std::string third_part = e.add("Mul", {third, e.add("Cos", {doubled})});
  const std::string second_part = e.add("Mul", {second, e.add("Cos", {angles})});
  const std::string difference = e.add("Sub", {first, second_part});
  const std::string total = e.add("Add", {difference, third_part});
  e.add_to("Cast", {total}, {result_name(e, 0)}, {{"to", e.integer("output_datatype", kFloatType)}});
}

void expand_blackman_window(Expansion& e) { write_cosine_window(e, 0.42F, 0.5F, 0.08F); }
void expand_hamming_window(Expansion& e) { write_cosine_window(e, 25.0F / 46.0F, 1.0F - 25.0F / 46.0F, 0); }
void expand_hann_window(Expansion& e) { write_cosine_window(e, 0.5F, 0.5F, 0); }

// ---- Functions of elements ------------------------------------------------------------------------------------------

void expand_mish(Expansion& e) {
  e.written_opset = e.opset() < 22 ? 18 : 22;
  const std::string gate = e.add("Tanh", {e.add("Softplus", {e.input(0)})});
  e.add_to("Mul", {e.input(0), gate}, {result_name(e, 0)});
}

void expand_swiglu(Expansion& e) {
  e.written_opset = 28;
  const std::string gate = e.add("Swish", {e.input(0)}, {{"alpha", e.number("alpha", 1)}});
  e.add_to("Mul", {gate, e.input(1)}, {result_name(e, 0)});
}

// ---- CenterCropPad --------------------------------------------------------------------------------------------------

void expand_center_crop_pad(Expansion& e) {
  e.written_opset = 18;
  const std::string x = e.input(0);
  const std::string shape = e.input(1);
  const std::string two = e.constant(Integers{2});
  const std::string axes = e.has("axes") ? e.constant(e.integers("axes")) : std::string();
  const auto sizes_of_axes = [&](const std::string& value) {
    const std::string all = e.add("Shape", {value});
    return axes.empty() ? all : e.add("Gather", {all, axes});
  };
  const std::string sizes = sizes_of_axes(x);
  const std::string padded_sizes = e.add("Max", {sizes, shape});
  const std::string missing = e.add("Sub", {padded_sizes, sizes});
  const std::string before = e.add("Div", {missing, two});
  const std::string after = e.add("Sub", {missing, before});
  const std::string pads = joined_sizes(e, {before, after});
  const std::string padded = e.add("Pad", {x, pads, "", axes});
  const std::string difference = e.add("Sub", {sizes_of_axes(padded), shape});
  const std::string start = e.add("Div", {difference, two});
  const std::string end = e.add("Add", {start, shape});
  e.add_to("Slice", {padded, start, end, axes}, {result_name(e, 0)});
}

Compute check_center_crop_pad(const Node& node) {
  const bool has_axes = node.has("axes");
  const std::vector<std::int64_t> given = node.integers("axes");
  return [has_axes, given](std::span<const Array> inputs) {
    const std::vector<int> axes = has_axes ? axes_of(given, inputs[0].rank()) : all_axes(inputs[0].rank());
    const Sizes sizes = sizes_of(inputs[1], "shape");
    if (sizes.size() != axes.size()) {
      fail("shape has {} numbers, but {} axes need one each", sizes.size(), axes.size());
    }
    return Arrays();
  };
}

// ---- AffineGrid -----------------------------------------------------------------------------------------------------

using Names = std::vector<std::string>;

// Adds an If. Each branch is a function that adds nodes and returns the names of its results.
Names add_choice(Expansion& e, const std::string& condition, std::size_t count,
                 const std::function<Names()>& write_then, const std::function<Names()>& write_else,
                 const Names& results = {}) {
  const auto branch = [&](const char* name, const std::function<Names()>& write) {
    std::vector<NodeMessage> outer = std::exchange(e.nodes, {});
    const Names names = write();
    auto graph = std::make_shared<GraphMessage>();
    graph->name = name;
    graph->nodes = std::exchange(e.nodes, std::move(outer));
    for (const std::string& one : names) {
      graph->outputs.emplace_back().name = one;
    }
    AttributeMessage attribute;
    attribute.name = name;
    attribute.type = AttributeType::kGraph;
    attribute.g = std::move(graph);
    return attribute;
  };
  AttributeMessage then_branch = branch("then_branch", write_then);
  AttributeMessage else_branch = branch("else_branch", write_else);
  Names outputs = results;
  while (outputs.size() < count) {
    outputs.push_back(e.fresh_name());
  }
  e.add_to("If", {condition}, outputs,
           {{"then_branch", std::move(then_branch)}, {"else_branch", std::move(else_branch)}});
  return outputs;
}

Names add_split(Expansion& e, const std::string& value, std::size_t count, AttributeList attributes = {}) {
  Names parts;
  while (parts.size() < count) {
    parts.push_back(e.fresh_name());
  }
  attributes.emplace_back("num_outputs", static_cast<std::int64_t>(count));
  e.add_to("Split", {value}, parts, std::move(attributes));
  return parts;
}

class GridDefinition {
 public:
  explicit GridDefinition(Expansion& expansion) : e_(expansion) {}

  void write();

 private:
  Names written_sizes();
  Names theta_of_plane();
  Names steps_between_edges();
  Names steps_between_centers();
  std::string positions(std::size_t axis);

  [[nodiscard]] std::string theta() const { return e_.input(0); }

  Expansion& e_;
  std::string one_, two_, zero_, minus_one_;                      // without dimensions
  std::string one_list_, zero_list_;                              // as lists
  std::string minus_one_like_, zero_like_, one_like_, two_like_;  // of the matrices' type
  std::string is_plane_;
  Names sizes_;    // N, C, D, H and W
  Names steps_;    // the start and the step along D, H and W
  Names lengths_;  // D, H and W, in the matrices' type
};

void GridDefinition::write() {
  e_.written_opset = 20;
  one_ = e_.constant(std::int64_t{1});
  two_ = e_.constant(std::int64_t{2});
  zero_ = e_.constant(std::int64_t{0});
  const std::string four = e_.constant(std::int64_t{4});
  one_list_ = e_.constant(Integers{1});
  zero_list_ = e_.constant(Integers{0});
  minus_one_ = e_.constant(std::int64_t{-1});
  minus_one_like_ = e_.add("CastLike", {minus_one_, theta()});
  zero_like_ = e_.add("CastLike", {zero_, theta()});
  one_like_ = e_.add("CastLike", {one_, theta()});
  two_like_ = e_.add("CastLike", {two_, theta()});
  const std::string aligned = e_.constant(e_.integer("align_corners"));
  const std::string is_not_aligned = e_.add("Equal", {aligned, zero_});
  const std::string count = e_.add("Size", {e_.input(1)});
  is_plane_ = e_.add("Equal", {count, four});
  sizes_ = written_sizes();
  const std::string all = joined_sizes(e_, sizes_);
  const std::string matrices = add_choice(
      e_, is_plane_, 1, [&] { return theta_of_plane(); }, [&] { return Names{e_.add("Identity", {theta()})}; })[0];
  const std::string two_list = e_.constant(Integers{2});
  const std::string three_list = e_.constant(Integers{3});
  const std::string five_list = e_.constant(Integers{5});
  const std::string shape = e_.add("Slice", {all, two_list, five_list});
  const std::string zeros = e_.add("CastLike", {e_.add("ConstantOfShape", {shape}), theta()});
  const std::string ones = e_.add("Add", {zeros, one_like_});
  for (std::size_t axis = 2; axis < 5; ++axis) {
    lengths_.push_back(e_.add("CastLike", {sizes_[axis], zero_like_}));
  }
  steps_ = add_choice(
      e_, is_not_aligned, 6, [&] { return steps_between_centers(); }, [&] { return steps_between_edges(); });
  const std::string w = positions(2);
  const std::string h = positions(1);
  const std::string d = positions(0);
  const auto turned = [&](const std::string& value, Integers order) {
    return e_.add("Transpose", {value}, {{"perm", std::move(order)}});
  };
  const std::string along_d = e_.add("Add", {turned(zeros, {1, 2, 0}), d});
  const std::string grid_d = turned(along_d, {2, 0, 1});
  const std::string along_h = e_.add("Add", {turned(zeros, {0, 2, 1}), h});
  const std::string grid_h = turned(along_h, {0, 2, 1});
  const std::string grid_w = e_.add("Add", {w, zeros});
  Names columns;
  for (const std::string& one : {grid_w, grid_h, grid_d, ones}) {
    columns.push_back(e_.add("Unsqueeze", {one, minus_one_}));
  }
  const std::string points = e_.add("Concat", columns, {{"axis", -1}});
  const std::string rows = e_.add("Reshape", {points, e_.constant(Integers{-1, 4})});
  const std::string wide = e_.add("CastLike", {e_.add("Transpose", {rows}), matrices});
  const std::string product = turned(e_.add("MatMul", {matrices, wide}), {0, 2, 1});
  const std::string result_shape =
      e_.add("Concat", {sizes_[0], sizes_[2], sizes_[3], sizes_[4], three_list}, {{"axis", -1}});
  const std::string result = e_.add("CastLike", {e_.add("Reshape", {product, result_shape}), matrices});
  add_choice(
      e_, is_plane_, 1,
      [&] {
        const std::string plane = e_.add("Squeeze", {result, one_list_});
        return Names{e_.add("Slice", {plane, zero_list_, two_list, three_list})};
      },
      [&] { return Names{e_.add("Identity", {result})}; }, {result_name(e_, 0)});
}

// N, C, D, H and W, where D is 1 for a plane.
Names GridDefinition::written_sizes() {
  return add_choice(
      e_, is_plane_, 5,
      [&] {
        const Names parts = add_split(e_, e_.input(1), 4);
        const std::string depth = e_.add("Identity", {one_list_});
        return Names{parts[0], parts[1], depth, parts[2], parts[3]};
      },
      [&] { return add_split(e_, e_.input(1), 5); });
}

// The matrices of a plane, with a third row and column.
Names GridDefinition::theta_of_plane() {
  const std::string list = e_.constant(Integers{0, 1, 2, 0, 1, 2});
  const std::string shape = e_.constant(Integers{2, 3});
  const std::string index = e_.add("Reshape", {list, shape});
  const std::string whole_shape = joined_sizes(e_, {sizes_[0], shape});
  const std::string indices = e_.add("Expand", {index, whole_shape});
  const std::string matrices = e_.add("GatherElements", {theta(), indices}, {{"axis", 2}});
  const Names rows = add_split(e_, matrices, 2, {{"axis", 1}});
  const std::string first = e_.add("Squeeze", {rows[0]});
  const std::string second = e_.add("Squeeze", {rows[1]});
  const Names a = add_split(e_, first, 3, {{"axis", 1}});
  const Names b = add_split(e_, second, 3, {{"axis", 1}});
  const std::string zeros = e_.add("ConstantOfShape", {e_.add("Shape", {b[0]})});
  const std::string zero = e_.add("CastLike", {zeros, theta()});
  const std::string one = e_.add("Add", {zero, one_like_});
  const std::string row1 = e_.add("Concat", {a[0], a[1], zero, a[2]}, {{"axis", 1}});
  const std::string row2 = e_.add("Concat", {b[0], b[1], zero, b[2]}, {{"axis", 1}});
  const std::string row3 = e_.add("Concat", {zero, zero, one, zero}, {{"axis", 1}});
  Names whole;
  for (const std::string& row : {row1, row2, row3}) {
    whole.push_back(e_.add("Unsqueeze", {row, one_list_}));
  }
  return {e_.add("Concat", whole, {{"axis", 1}})};
}

// The start and the step along each axis, if -1 and 1 are the edges of the first and the last element.
Names GridDefinition::steps_between_centers() {
  Names steps;
  for (const std::string& length : lengths_) {
    steps.push_back(e_.add("Div", {two_like_, length}));
  }
  Names found;
  for (const std::string& step : steps) {
    const std::string half = e_.add("Div", {step, two_like_});
    found.push_back(e_.add("Add", {minus_one_like_, half}));
    found.push_back(step);
  }
  return found;
}

// The same, if -1 and 1 are the centers of the first and the last element.
Names GridDefinition::steps_between_edges() {
  Names less;
  for (const std::string& length : lengths_) {
    less.push_back(e_.add("Sub", {length, one_like_}));
  }
  const std::string is_flat = e_.add("Equal", {sizes_[2], one_});
  Names steps = add_choice(
      e_, is_flat, 1, [&] { return Names{e_.add("Identity", {zero_like_})}; },
      [&] {
        return Names{e_.add("Div", {two_like_, less[0]})};
      });
  steps.push_back(e_.add("Div", {two_like_, less[1]}));
  steps.push_back(e_.add("Div", {two_like_, less[2]}));
  Names found;
  for (const std::string& step : steps) {
    found.push_back(e_.add("Identity", {minus_one_like_}));
    found.push_back(step);
  }
  return found;
}

// The coordinates of the elements along D, H or W.
std::string GridDefinition::positions(std::size_t axis) {
  const std::string& start = steps_[2 * axis];
  const std::string& step = steps_[2 * axis + 1];
  const std::string numbers = e_.add("Range", {zero_, sizes_[2 + axis], one_});
  const std::string wide = e_.add("CastLike", {numbers, step});
  const std::string moved = e_.add("Mul", {wide, step});
  return e_.add("Add", {start, moved});
}

void expand_affine_grid(Expansion& expansion) { GridDefinition(expansion).write(); }

const Row kDefinitionRows[] = {
    {.op = "AffineGrid", .kinds = kRoundedKinds, .expand = expand_affine_grid},
    {.op = "BlackmanWindow", .expand = expand_blackman_window},
    {.op = "CenterCropPad", .expand = expand_center_crop_pad, .check = check_center_crop_pad},
    {.op = "HammingWindow", .expand = expand_hamming_window},
    {.op = "HannWindow", .expand = expand_hann_window},
    {.op = "Mish", .uses = "SOFTPLUS TANH MULTIPLY", .kinds = kRoundedKinds, .expand = expand_mish},
    {.op = "NegativeLogLikelihoodLoss", .expand = expand_negative_log_likelihood_loss},
    {.op = "RotaryEmbedding",
     .kinds = kRoundedKinds,
     .expand = expand_rotary_embedding,
     .check = check_rotary_embedding},
    {.op = "SoftmaxCrossEntropyLoss", .expand = expand_softmax_cross_entropy_loss},
    {.op = "SwiGLU", .kinds = kRoundedKinds, .expand = expand_swiglu},
};

}  // namespace

std::span<const Row> definition_rows() { return kDefinitionRows; }

}  // namespace anydml::onnx
