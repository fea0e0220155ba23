// SPDX-License-Identifier: MIT
// ONNX's definitions of normalizations and losses by other operators. The nodes and their order are ONNX's.
#include "onnx/rows/definitions.h"

namespace anydml::onnx {
namespace {

bool is_one_of(std::int64_t type, std::initializer_list<Kind> kinds) {
  for (const Kind kind : kinds) {
    if (type == static_cast<std::int64_t>(kind)) {
      return true;
    }
  }
  return false;
}

float own_epsilon(const Expansion& e) { return e.has("epsilon") ? static_cast<float>(e.number("epsilon")) : 1e-5F; }

// The mean of a value over some axes, and the root of its variance plus epsilon. `mean_of` adds a ReduceMean.
struct NormMoments {
  std::string mean, deviation;
};
template <class MeanOf>
NormMoments norm_moments(Expansion& e, const std::string& x, const std::string& epsilon, const MeanOf& mean_of) {
  const std::string mean = mean_of(x);
  const std::string square = e.add("Mul", {x, x});
  const std::string mean_of_square = mean_of(square);
  const std::string square_of_mean = e.add("Mul", {mean, mean});
  const std::string variance = e.add("Sub", {mean_of_square, square_of_mean});
  return {mean, e.add("Sqrt", {e.add("Add", {variance, epsilon})})};
}

// The shape of the mean and the deviation: the sizes before the axis, followed by ones.
std::string reduced_shape(Expansion& e, const std::string& shape, std::int64_t axis) {
  const std::string rank = e.add("Size", {shape});
  const std::string zero = e.constant(Integers{0});
  const std::string first = e.constant(Integers{axis});
  const std::string before = e.add("Slice", {shape, zero, first});
  const std::string count = axis < 0 ? e.add("Neg", {first}) : e.add("Sub", {rank, first});
  const std::string after = e.add("ConstantOfShape", {count}, {{"value", Array::integers({1})}});
  return joined_sizes(e, {before, after});
}

// A loss with `mean` divides by the sum of the weights, if there are weights.
void write_reduced_loss(Expansion& e, const std::string& losses, const std::string& weights) {
  const std::string reduction = e.text("reduction", "mean");
  if (reduction != "mean") {
    e.add_to("ReduceSum", {losses}, {result_name(e, 0)}, {{"keepdims", 0}});
  } else if (weights.empty()) {
    e.add_to("ReduceMean", {losses}, {result_name(e, 0)}, {{"keepdims", 0}});
  } else {
    const std::string sum = e.add("ReduceSum", {losses}, {{"keepdims", 0}});
    const std::string total = e.add("ReduceSum", {weights}, {{"keepdims", 0}});
    e.add_to("Div", {sum, total}, {result_name(e, 0)});
  }
}

// NegativeLogLikelihoodLoss. Before opset 13, Unsqueeze and Squeeze have their axes as attributes.
class LossDefinition {
 public:
  explicit LossDefinition(Expansion& expansion) : e_(expansion), has_axes_input_(expansion.opset() >= 13) {}

  void write() {
    e_.written_opset = !has_axes_input_ ? 12 : e_.opset() < 22 ? 13 : 22;
    const std::string zero = whole(0);
    const std::string one = whole(1);
    if (has_axes_input_) {
      axes_ = e_.constant(Integers{1});
    }
    targets_ = reshaped("Unsqueeze", e_.input(1));
    if (e_.has("ignore_index")) {
      write_ignored();
    }
    std::string chosen = e_.add("GatherElements", {e_.input(0), targets_}, {{"axis", 1}});
    if (!mask_.empty()) {
      zero_float_ = number(0);
      chosen = e_.add("Where", {mask_, zero_float_, chosen});
    }
    const std::string losses = e_.add("Slice", {e_.add("Neg", {chosen}), zero, one, one});
    write_losses(losses);
  }

 private:
  std::string whole(std::int32_t number) {
    return has_axes_input_ ? e_.constant(Integers{number})
                           : e_.constant(Array::of<std::int32_t>(Kind::kInt32, {1}, {number}));
  }

  // A number of the scores' type.
  std::string number(float value) {
    const std::string written = constant_list(e_, value);
    return e_.kind(0) == Kind::kFloat ? written : cast_to(e_, written, static_cast<std::int64_t>(e_.kind(0)));
  }

  AttributeList axes() const { return has_axes_input_ ? AttributeList{} : AttributeList{{"axes", Integers{1}}}; }

  std::string reshaped(const char* op, const std::string& value) { return e_.add(op, {value, axes_}, axes()); }

  // Replaces the targets that are ignored with 0.
  void write_ignored() {
    const std::string index = e_.constant(Integers{e_.integer("ignore_index")});
    const std::string zeros = e_.add("Sub", {targets_, targets_});
    const std::string targets = cast_to(e_, targets_, static_cast<std::int64_t>(Kind::kInt64));
    mask_ = e_.add("Equal", {targets, index});
    targets_ = e_.add("Where", {mask_, zeros, targets_});
  }

  void write_losses(const std::string& losses) {
    const bool is_whole = e_.text("reduction", "mean") == "none";
    const std::string weights = written_weights();
    if (weights.empty()) {
      if (is_whole) {
        e_.add_to("Squeeze", {losses, axes_}, {result_name(e_, 0)}, axes());
        return;
      }
      write_reduced_loss(e_, reshaped("Squeeze", losses), weights);
      return;
    }
    const std::string own = reshaped("Squeeze", losses);
    if (is_whole) {
      e_.add_to("Mul", {own, weights}, {result_name(e_, 0)});
      return;
    }
    write_reduced_loss(e_, e_.add("Mul", {own, weights}), weights);
  }

  // The weight of each target; empty if all count equally.
  std::string written_weights() {
    const std::string weight = e_.input(2);
    if (mask_.empty()) {
      return weight.empty() ? std::string() : e_.add("Gather", {weight, e_.input(1)});
    }
    if (!weight.empty()) {
      const std::string gathered = e_.add("Gather", {weight, targets_});
      return reshaped("Squeeze", e_.add("Where", {mask_, zero_float_, gathered}));
    }
    const std::string mask = reshaped("Squeeze", mask_);
    return e_.add("Where", {mask, zero_float_, number(1)});
  }

  Expansion& e_;
  bool has_axes_input_;
  std::string axes_;     // the input with the axes; empty before opset 13
  std::string targets_;  // with a second axis of size 1
  std::string mask_;     // the targets that are ignored; empty if there are none
  std::string zero_float_;
};

}  // namespace

void expand_layer_normalization(Expansion& e) {
  const bool has_axes_input = e.opset() >= 18;
  e.written_opset = has_axes_input ? 18 : 17;
  const std::int64_t stash = e.integer("stash_type", 1);
  if (!is_one_of(stash, {Kind::kFloat, Kind::kBfloat16})) {
    return;  // ONNX has no definition of this node either
  }
  const std::int64_t axis = e.integer("axis", -1);
  const std::string epsilon = cast_to(e, e.constant_float(own_epsilon(e)), stash);
  const std::string shape = e.add("Shape", {e.input(0)});
  const std::string reduced = reduced_shape(e, shape, axis);
  const std::string x = cast_to(e, e.add("Flatten", {e.input(0)}, {{"axis", axis}}), stash);
  const std::string axes = has_axes_input ? e.constant(Integers{1}) : std::string();
  const NormMoments moments = norm_moments(e, x, epsilon, [&](const std::string& value) {
    return has_axes_input ? e.add("ReduceMean", {value, axes}) : e.add("ReduceMean", {value}, {{"axes", Integers{1}}});
  });
  const std::string difference = e.add("Sub", {x, moments.mean});
  const std::string normalized = e.add("Div", {difference, moments.deviation});
  const std::string narrow = cast_to(e, normalized, static_cast<std::int64_t>(e.kind(0)));
  const std::string scale = e.add("Flatten", {e.input(1)}, {{"axis", 0}});
  const std::string scaled = e.add("Mul", {narrow, scale});
  std::string biased;
  if (e.input(2).empty()) {
    biased = e.add("Identity", {scaled});
  } else {
    const std::string bias = e.add("Flatten", {e.input(2)}, {{"axis", 0}});
    biased = e.add("Add", {scaled, bias});
  }
  e.add_to("Reshape", {biased, shape}, {result_name(e, 0)});
  const std::string inverse = e.add("Reciprocal", {moments.deviation});
  if (!e.output(1).empty()) {
    e.add_to("Reshape", {moments.mean, reduced}, {e.output(1)});
  }
  if (!e.output(2).empty()) {
    e.add_to("Reshape", {inverse, reduced}, {e.output(2)});
  }
}

void expand_rms_normalization(Expansion& e) {
  e.written_opset = 23;
  const std::int64_t stash = e.integer("stash_type", 1);
  if (!is_one_of(stash, {Kind::kFloat, Kind::kFloat16, Kind::kDouble, Kind::kBfloat16})) {
    return;  // ONNX has no definition of this node either
  }
  const std::int64_t axis = e.integer("axis", -1);
  const std::string epsilon = cast_to(e, e.constant_float(own_epsilon(e)), stash);
  const std::string rank = e.add("Size", {e.add("Shape", {e.input(0)})});
  const std::string given = e.constant(axis);
  const std::string first = axis < 0 ? e.add("Add", {rank, given}) : e.add("Identity", {given});
  const std::string one = e.constant(std::int64_t{1});
  const std::string axes = e.add("Range", {first, rank, one});
  const std::string x = cast_to(e, e.input(0), stash);
  const std::string mean = e.add("ReduceMean", {e.add("Mul", {x, x}), axes});
  const std::string root = e.add("Sqrt", {e.add("Add", {mean, epsilon})});
  const std::string narrow = cast_to(e, e.add("Div", {x, root}), static_cast<std::int64_t>(e.kind(0)));
  e.add_to("Mul", {narrow, e.input(1)}, {result_name(e, 0)});
}

// Before opset 21, there is a scale and a bias for each group, and no stash_type.
void expand_group_normalization(Expansion& e) {
  const bool is_by_channel = e.opset() >= 21;
  e.written_opset = is_by_channel ? 21 : 18;
  const auto type = static_cast<std::int64_t>(e.kind(0));
  const std::int64_t stash = is_by_channel ? e.integer("stash_type", 1) : type;
  if (!is_one_of(stash, {Kind::kFloat, Kind::kFloat16, Kind::kDouble, Kind::kBfloat16})) {
    return;  // ONNX has no definition of this node either
  }
  const std::string epsilon = cast_to(e, constant_list(e, own_epsilon(e)), stash);
  const std::string x = is_by_channel ? cast_to(e, e.input(0), stash) : e.input(0);
  const std::string shape = e.add("Shape", {x});
  const std::string channels = sizes_between(e, e.input(0), 1, 2);
  const std::string groups = e.constant(Integers{e.integer("num_groups")});
  const std::string group_size = e.add("Div", {channels, groups});
  const std::string batch = sizes_between(e, e.input(0), 0, 1);
  const std::string spatial = e.add("Shape", {e.input(0)}, {{"start", 2}});
  const std::string grouped = joined_sizes(e, {batch, groups, group_size, spatial});
  const std::string by_group = e.add("Reshape", {x, grouped});
  const std::string three = e.constant(Integers{0, 0, -1});
  const std::string rows = e.add("Reshape", {by_group, three});
  const std::string axes = e.constant(Integers{2});
  const NormMoments moments = norm_moments(e, rows, epsilon, [&](const std::string& value) {
    return e.add("ReduceMean", {value, axes});
  });
  const std::string difference = e.add("Sub", {rows, moments.mean});
  std::string normalized = e.add("Div", {difference, moments.deviation});
  if (is_by_channel) {
    const std::string whole = e.add("Reshape", {normalized, shape});
    normalized = cast_to(e, e.add("Reshape", {whole, three}), type);
  }
  const std::string coefficient_shape = e.constant(Integers{1, -1, 1});
  const std::string scale = cast_to(e, e.input(1), type);
  const std::string bias = cast_to(e, e.input(2), type);
  const std::string scales = e.add("Reshape", {scale, coefficient_shape});
  const std::string biases = e.add("Reshape", {bias, coefficient_shape});
  const std::string scaled = e.add("Mul", {scales, normalized});
  e.add_to("Reshape", {e.add("Add", {scaled, biases}), shape}, {result_name(e, 0)});
}

void expand_negative_log_likelihood_loss(Expansion& expansion) { LossDefinition(expansion).write(); }

void expand_softmax_cross_entropy_loss(Expansion& e) {
  e.written_opset = e.opset() < 13 ? 12 : 13;
  const std::string shape = e.constant(Integers{0, 0, -1});
  const std::string by_class = e.add("Reshape", {e.input(0), shape});
  const std::string turned = e.add("Transpose", {by_class}, {{"perm", Integers{0, 2, 1}}});
  const std::string logarithms = e.add("LogSoftmax", {turned}, {{"axis", 2}});
  const std::string back = e.add("Transpose", {logarithms}, {{"perm", Integers{0, 2, 1}}});
  const std::string scores_shape = e.add("Shape", {e.input(0)});
  const std::string probabilities = e.add("Reshape", {back, scores_shape});
  if (!e.output(1).empty()) {
    e.add_to("Identity", {probabilities}, {e.output(1)});
  }
  AttributeList attributes{{"reduction", e.text("reduction", "mean")}};
  if (e.has("ignore_index")) {
    attributes.emplace_back("ignore_index", e.integer("ignore_index"));
  }
  std::vector<std::string> inputs{probabilities, e.input(1)};
  if (!e.input(2).empty()) {
    inputs.push_back(e.input(2));
  }
  e.add_to("NegativeLogLikelihoodLoss", inputs, {result_name(e, 0)}, attributes);
}

}  // namespace anydml::onnx
