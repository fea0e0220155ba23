// SPDX-License-Identifier: MIT
// Computes with the integers of a quantized model instead of dequantized floats.
//
// A model that was quantized with QuantizeLinear and DequantizeLinear describes each integer operator as an operator of
// floats between these two nodes. This class finds such patterns, and writes the nodes that replace them:
//   - Products of dequantized floats become products of integers. If the result is quantized, the sum is multiplied by
//     all scales at once, so a result may differ from the literal one by one unit.
//   - Nodes that only move, choose or compare elements get the integers. This does not change a bit of any result.
//   - A float that is quantized as it was before is the same integer.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/model/message.h"

namespace anydml::onnx {

class Builder;
class Expansion;
using Counts = std::unordered_map<std::string, std::int64_t>;

// A float that is (x - zero) * scale: the names of these values. scale and zero are constants; zero may be "".
struct QuantizedFloat {
  std::string x, scale, zero;
  Kind kind = Kind::kUndefined;      // of x
  std::optional<std::int64_t> axis;  // the axis of the scales, unless there is only one
};

// The nodes that replace one or more nodes.
struct Replacement {
  std::vector<NodeMessage> nodes;
  std::vector<std::string> outputs;  // of all replaced nodes
  std::string pattern;               // for reports: "Conv, Relu, QuantizeLinear by QLinearConv"
  int min_opset = 1;                 // the first version of the nodes that accepts the integers
};

class QuantizedFloats {
 public:
  explicit QuantizedFloats(const Builder& builder) : builder_(builder) {}

  // Notes which nodes are the only users of a value. uses: how often each value is used. The graph must live as long as
  // this object.
  void read(const GraphMessage& graph, const Counts& uses);
  // Notes a DequantizeLinear. Returns whether later nodes may use its inputs.
  [[nodiscard]] bool note(const NodeMessage& node);
  // The nodes that replace a node, and perhaps nodes after it; nothing if the node must stay unchanged.
  [[nodiscard]] std::optional<Replacement> replacement(const NodeMessage& node, int opset);
  // Whether an earlier replacement includes this node.
  [[nodiscard]] bool is_replaced(const NodeMessage& node) const { return replaced_.contains(&node); }

 private:
  // The nodes that quantize a result: perhaps an activation, and QuantizeLinear.
  struct Tail {
    const NodeMessage* activation = nullptr;
    const NodeMessage* quantize = nullptr;
    Kind kind = Kind::kUndefined;
    Array scale, zero;  // numbers
    std::string scale_name, zero_name;
    std::optional<Array> min, max;  // the bounds of the codes if the activation is a Clip
  };

  [[nodiscard]] const QuantizedFloat* find(const NodeMessage& node, std::size_t input) const;
  [[nodiscard]] const NodeMessage* only_user(const NodeMessage& node) const;
  [[nodiscard]] std::optional<Tail> tail_of(const NodeMessage& node, bool may_activate) const;
  [[nodiscard]] bool read_quantize(const NodeMessage& node, Tail& tail) const;
  [[nodiscard]] bool read_activation(Tail& tail) const;
  [[nodiscard]] bool have_same_codes(const QuantizedFloat& a, const QuantizedFloat& b) const;
  [[nodiscard]] bool is_increasing(const QuantizedFloat& value) const;
  [[nodiscard]] std::string zero_of(Expansion& e, const QuantizedFloat& value) const;
  [[nodiscard]] bool is_bias(const QuantizedFloat& bias, const Array& product_scale) const;
  void finish_codes(Expansion& e, const std::string& codes, const Tail& tail, Replacement& result);

  struct Product {
    bool is_conv = false;
    QuantizedFloat a, b;
    bool is_a_transposed = false, is_b_transposed = false;
    Array scale;               // the product of the scales of a, b and alpha: a number, or one for each channel
    std::string bias;          // a float; "" if there is none
    std::string integer_bias;  // the integers of the bias, if their scale is `scale`
    double alpha = 1;
    double beta = 1;
    int rank = 0;  // of b, if it is known
  };
  [[nodiscard]] std::optional<Product> product_of(const NodeMessage& node) const;
  [[nodiscard]] static std::int64_t count_terms(const Product& product, int kept, const Array& weights);
  [[nodiscard]] std::optional<Replacement> replaced_product(const NodeMessage& node);
  [[nodiscard]] std::optional<Replacement> replaced_move(const NodeMessage& node, int opset) const;
  [[nodiscard]] std::optional<Replacement> replaced_join(const NodeMessage& node);
  [[nodiscard]] std::optional<Replacement> replaced_choice(const NodeMessage& node) const;
  [[nodiscard]] std::optional<Replacement> replaced_quantize(const NodeMessage& node) const;
  void write_quantized_product(const NodeMessage& node, const Product& product, const Tail& tail, Replacement& result);
  static void write_float_product(const NodeMessage& node, const Product& product, Replacement& result);

  const Builder& builder_;
  std::unordered_map<std::string, QuantizedFloat> floats_;
  std::unordered_map<std::string, const NodeMessage*> users_;  // by a value with a single use
  std::unordered_set<const NodeMessage*> replaced_;
};

}  // namespace anydml::onnx
