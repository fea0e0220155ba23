// SPDX-License-Identifier: MIT
// Recurrent networks: RNN, LSTM, GRU, and the LSTM of com.microsoft whose weights are integers. ONNX's weights, biases
// and peepholes have the same order as DirectML's.
#include "onnx/rows/recurrent.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/expansion.h"

namespace anydml::onnx {
namespace {

constexpr std::string_view kMisspeltDirection = "foward";  // GRU's default in opset 1

// A number of an activation: the node's next alpha or beta, or the default; or a fixed number.
enum class NumberSource : std::uint8_t { kNone, kAlpha, kBeta, kFixed };
struct ActivationNumber {
  NumberSource source = NumberSource::kNone;
  const char* field = nullptr;
  double value = 0;
};
struct RecurrentActivation {
  std::string_view onnx_name;  // in lower case
  const char* op;
  std::array<ActivationNumber, 2> numbers = {};
};
constexpr std::array kRecurrentActivations = {
    RecurrentActivation{
        "affine", "ACTIVATION_LINEAR", {{{NumberSource::kAlpha, "Alpha", 1.0}, {NumberSource::kBeta, "Beta", 0.0}}}},
    RecurrentActivation{"elu", "ACTIVATION_ELU", {{{NumberSource::kAlpha, "Alpha", 1.0}}}},
    RecurrentActivation{"hardsigmoid",
                        "ACTIVATION_HARD_SIGMOID",
                        {{{NumberSource::kAlpha, "Alpha", 0.2}, {NumberSource::kBeta, "Beta", 0.5}}}},
    RecurrentActivation{"leakyrelu", "ACTIVATION_LEAKY_RELU", {{{NumberSource::kAlpha, "Alpha", 0.01}}}},
    RecurrentActivation{"relu", "ACTIVATION_RELU"},
    RecurrentActivation{"scaledtanh",
                        "ACTIVATION_SCALED_TANH",
                        {{{NumberSource::kAlpha, "Alpha", 1.0}, {NumberSource::kBeta, "Beta", 1.0}}}},
    RecurrentActivation{"sigmoid", "ACTIVATION_SIGMOID"},
    RecurrentActivation{"softplus", "ACTIVATION_SOFTPLUS", {{{NumberSource::kFixed, "Steepness", 1.0}}}},
    RecurrentActivation{"softsign", "ACTIVATION_SOFTSIGN"},
    RecurrentActivation{"tanh", "ACTIVATION_TANH"},
    RecurrentActivation{"thresholdedrelu", "ACTIVATION_THRESHOLDED_RELU", {{{NumberSource::kAlpha, "Alpha", 1.0}}}},
};

std::vector<std::string> default_activations(const Node& node) {
  if (node.op == "RNN") {
    return {"Tanh"};
  }
  return node.op == "LSTM" ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
                           : std::vector<std::string>{"Sigmoid", "Tanh"};
}

// The names of the activations for each direction.
std::vector<std::string> activation_names(const Node& node, std::size_t directions) {
  const std::vector<std::string> usual = default_activations(node);
  const std::size_t count = usual.size() * directions;
  std::vector<std::string> names = node.texts("activations");
  if (node.op == "RNN" && names.size() > count) {  // ONNX's default lists activations for two directions
    names.resize(count);
  }
  if (names.empty()) {
    for (std::size_t i = 0; i < directions; ++i) {
      names.insert(names.end(), usual.begin(), usual.end());
    }
  }
  if (names.size() != count) {
    wrong(node, "activations", format_text("{} names", count));
  }
  return names;
}

const RecurrentActivation& find_activation(const Node& node, const std::string& name) {
  std::string lower = name;
  for (char& letter : lower) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  const auto found = std::find_if(kRecurrentActivations.begin(), kRecurrentActivations.end(),
                                  [&](const RecurrentActivation& one) { return one.onnx_name == lower; });
  if (found == kRecurrentActivations.end()) {
    refuse(node, "with the activation " + printable(name), "ONNX has no such activation");
  }
  return *found;
}

// The numbers of activation_alpha or activation_beta that no activation has used yet.
struct NumbersLeft {
  std::vector<double> numbers;
  std::size_t used = 0;

  double next(double otherwise) { return used < numbers.size() ? numbers[used++] : otherwise; }
};

// The activations for each direction. An activation with an alpha or a beta uses the node's next value, or its default
// if no value is left.
std::vector<Activation> recurrent_activations(const Node& node, std::size_t directions) {
  NumbersLeft alphas{node.numbers("activation_alpha")};
  NumbersLeft betas{node.numbers("activation_beta")};
  std::vector<Activation> result;
  for (const std::string& name : activation_names(node, directions)) {
    const RecurrentActivation& known = find_activation(node, name);
    Activation activation{known.op, {}};
    for (const ActivationNumber& number : known.numbers) {
      if (number.source == NumberSource::kAlpha) {
        activation.numbers.emplace_back(number.field, alphas.next(number.value));
      } else if (number.source == NumberSource::kBeta) {
        activation.numbers.emplace_back(number.field, betas.next(number.value));
      } else if (number.source == NumberSource::kFixed) {
        activation.numbers.emplace_back(number.field, number.value);
      }
    }
    result.push_back(std::move(activation));
  }
  return result;
}

// Adds leading dimensions of size 1.
Array with_leading_ones(const Array& array, int count) { return array ? array.with_rank(array.rank() + count) : array; }

// Everything about a node that does not depend on its inputs.
struct Network {
  const char* op = nullptr;
  Options options;
  bool by_rows = false;       // whether the batch is the first axis
  std::size_t outputs = 0;    // of the node
  std::size_t available = 0;  // of the operator
  bool has_hidden_size = false;
  std::int64_t hidden_size = 0;

  // A sequence, or an initial state {directions, batch, units}, with a leading axis. With layout 1, the batch is the
  // first axis of the input.
  [[nodiscard]] Array arranged(const Array& array, const char* what) const {
    if (!array || !by_rows) {
      return with_leading_ones(array, 1);
    }
    check_rank(array, 3, what);
    return with_leading_ones(array, 1).transpose({0, 2, 1, 3});
  }
};

Options network_options(const Node& node, const char* direction, std::size_t directions) {
  Options options = {{"ActivationDescs", recurrent_activations(node, directions)}, {"Direction", direction}};
  const bool clips = node.has("clip");
  if (node.op == "LSTM") {
    options.push_back({"ClipThreshold", node.number("clip")});
    options.push_back({"UseClipThreshold", clips ? 1 : 0});
    options.push_back({"CoupleInputForget", node.integer("input_forget") != 0 ? 1 : 0});
  } else if (clips) {
    refuse(node, "with clip", format_text("DirectML's {} does not clip", node.op));
  }
  if (node.op == "GRU") {
    options.push_back({"LinearBeforeReset", node.integer("linear_before_reset") != 0 ? 1 : 0});
  }
  return options;
}

// inputs: x, W, R, B, sequence_lens, initial_h; and for LSTM, initial_c and P.
Arrays operator_inputs(const Network& network, std::span<const Array> inputs) {
  const Array given_lengths = input(inputs, 4);
  const Array lengths = given_lengths ? cast(with_leading_ones(given_lengths, 3), Kind::kUint32) : Array();
  Arrays given = {network.arranged(inputs[0], "X"), with_leading_ones(inputs[1], 1), with_leading_ones(inputs[2], 1),
                  with_leading_ones(input(inputs, 3), 2), network.arranged(input(inputs, 5), "initial_h")};
  if (network.available == 3) {
    given.push_back(network.arranged(input(inputs, 6), "initial_c"));
    given.push_back(lengths);
    given.push_back(with_leading_ones(input(inputs, 7), 2));
  } else {
    given.push_back(lengths);
  }
  return given;
}

// `more`: the inputs of the operator after those of LSTM.
Arrays run_network(const Network& network, std::span<const Array> inputs, const Arrays& more = {}) {
  const Array& r = inputs[2];
  check_min_rank(r, 1, "R");
  if (network.has_hidden_size && network.hidden_size != r.size(r.rank() - 1)) {
    fail("hidden_size is {}, but R has the sizes {}", network.hidden_size, listed(r.shape()));
  }
  Arrays given = operator_inputs(network, inputs);
  given.insert(given.end(), more.begin(), more.end());
  std::vector<Out> outs;
  for (std::size_t i = 0; i < network.available; ++i) {
    outs.push_back({.is_wanted = i < network.outputs});
    if (!more.empty()) {  // the sizes of DirectML's operators are inferred
      check_rank(inputs[0], 3, "X");
      outs.back().shape = Sizes{i == 0 ? inputs[0].size(0) : 1, r.size(0), inputs[0].size(1), r.size(2)};
      outs.back().kind = Kind::kFloat;
    }
  }
  Arrays results = dispatch_all(network.op, given, network.options, outs);
  results.resize(std::min(results.size(), network.outputs));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Array& result = results[i];
    if (i == 0) {  // {steps, directions, batch, units}; by rows, {batch, steps, directions, units}
      results[i] = network.by_rows ? result.transpose({2, 0, 1, 3}) : result;
    } else {  // {1, directions, batch, units}; by rows, {batch, directions, units}
      results[i] = network.by_rows ? result.transpose({2, 1, 0, 3}).at(2, 0) : result.drop_axis(0);
    }
  }
  return results;
}

Network network_of(const Node& node) {
  const std::string text = node.text("direction");
  if (text != kMisspeltDirection) {
    check_choice(node, "direction", {"forward", "reverse", "bidirectional"});
  }
  check_choice(node, "layout", {std::int64_t{0}, std::int64_t{1}});
  const bool is_bidirectional = text == "bidirectional";
  const char* direction = is_bidirectional ? "BIDIRECTIONAL" : text == "reverse" ? "BACKWARD" : "FORWARD";
  Network network;
  network.op = node.op == "RNN" ? "RNN" : node.op == "LSTM" ? "LSTM" : "GRU";
  network.options = network_options(node, direction, is_bidirectional ? 2 : 1);
  network.by_rows = node.integer("layout") == 1;
  network.outputs = node.results.size();
  network.available = node.op == "LSTM" ? 3 : 2;
  network.has_hidden_size = node.has("hidden_size");
  network.hidden_size = node.integer("hidden_size");
  return network;
}

Compute make_network(const Node& node) {
  return [network = network_of(node)](std::span<const Array> inputs) { return run_network(network, inputs); };
}

// ---- DynamicQuantizeLSTM --------------------------------------------------------------------------------------------

enum QuantizedInput : std::size_t { kQuantizedX, kQuantizedW, kQuantizedR, kFirstScale = 8, kQuantizedInputs = 12 };

// A node of com.microsoft with the attributes of LSTM.
Node lstm_node(const Expansion& given, const std::vector<Kind>& kinds) {
  Node node;
  node.op = "LSTM";
  node.label = label_of(given.node());
  node.formal = find_schema("LSTM", newest_opset())->attributes;
  node.kinds = kinds;
  node.results.assign(given.node().outputs.size(), Kind::kFloat);
  const auto set = [&](const char* name, AttributeData value) {
    if (given.has(name)) {
      node.set(*node.find_formal(name), std::move(value));
    }
  };
  for (const char* const name : {"activation_alpha", "activation_beta"}) {
    set(name, given.numbers(name));
  }
  set("activations", given.texts("activations"));
  set("clip", given.number("clip"));
  set("direction", given.text("direction"));
  set("hidden_size", given.integer("hidden_size"));
  set("input_forget", given.integer("input_forget"));
  return node;
}

// Scales or zero points: one for each direction, or one for each column of each direction.
Array for_each_column(const Array& array, std::int64_t directions, std::int64_t columns, const char* what) {
  if (!array) {
    return array;
  }
  if (array.count() != directions && array.count() != directions * columns) {
    fail("{} has the shape {}; expected a number for each of {} directions, or for each of {} columns of each", what,
         listed(array.shape()), directions, columns);
  }
  return array.reshape({1, 1, directions, array.count() / directions}).broadcast_to({1, 1, directions, columns});
}

Arrays run_quantized(const Network& network, std::span<const Array> inputs) {
  constexpr std::array kNames = {"W_scale", "W_zero_point", "R_scale", "R_zero_point"};
  check_rank(inputs[kQuantizedW], 3, "W");
  check_rank(inputs[kQuantizedR], 3, "R");
  Arrays given(inputs.begin(),
               inputs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(inputs.size(), kFirstScale)));
  given[kQuantizedW] = inputs[kQuantizedW].transpose({0, 2, 1});
  given[kQuantizedR] = inputs[kQuantizedR].transpose({0, 2, 1});
  Arrays more;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    more.push_back(for_each_column(input(inputs, kFirstScale + i), inputs[kQuantizedR].size(0),
                                   inputs[kQuantizedR].size(2), kNames[i]));
  }
  return run_network(network, given, more);
}

constexpr std::array kRecurrentRows = {
    Row{.op = "GRU", .make = make_network, .uses = "GRU CAST", .kinds = kRoundedKinds},
    Row{.op = "LSTM", .make = make_network, .uses = "LSTM CAST", .kinds = kRoundedKinds},
    Row{.op = "RNN", .make = make_network, .uses = "RNN CAST", .kinds = kRoundedKinds},
};

}  // namespace

Compute make_quantized_lstm(const NodeMessage& message, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const Expansion given(message, kinds, 0);
  given.require({{kQuantizedX, "X"},
                 {kQuantizedW, "W"},
                 {kQuantizedR, "R"},
                 {kFirstScale, "W_scale"},
                 {kFirstScale + 2, "R_scale"}});
  constexpr KindSet kBytes{Kind::kInt8, Kind::kUint8};
  for (const auto& [position, name] : {std::pair{kQuantizedW, "W"}, std::pair{kQuantizedR, "R"}}) {
    if (!kBytes.contains(given.kind(position))) {
      given.refuse(format_text("with {} of {}", name, kind_name(given.kind(position))));
    }
  }
  if (given.kind(kQuantizedX) != Kind::kFloat) {
    given.refuse(format_text("of {}", kind_name(given.kind(kQuantizedX))));
  }
  constexpr std::size_t kLengths = 4;
  if (const Kind kind = given.kind(kLengths); kind != Kind::kUndefined && kind != Kind::kInt32) {
    given.refuse(format_text("with sequence_lens of {}", kind_name(kind)));
  }
  const Node node = lstm_node(given, kinds);
  Network network = network_of(node);
  network.op = "DYNAMIC_QUANTIZE_LSTM";
  results = node.results;
  return [network](std::span<const Array> inputs) { return run_quantized(network, inputs); };
}

std::span<const Row> recurrent_rows() { return kRecurrentRows; }

}  // namespace anydml::onnx
