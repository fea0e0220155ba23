// SPDX-License-Identifier: MIT
// MoE and QMoE of com.microsoft: each token is computed by the experts that a router chooses for it.
//
// A graph cannot depend on the choice. With few tokens, the weights of the chosen experts are gathered; otherwise every
// expert computes every token, and the results of experts that were not chosen are dropped. Both have the same bits.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "onnx/rows/checks.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/functions.h"
#include "onnx/rows/gathers.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

constexpr std::string_view kExpertsDomain = "com.microsoft";

enum ExpertInput : std::size_t { kTokens, kRouter, kFirst, kFirstBias, kSecond, kSecondBias, kThird, kThirdBias };

enum class ExpertFunction { kRelu, kGelu, kSilu, kSwiglu, kIdentity };

// How the two factors of SwiGLU are stored.
enum class ExpertFusion : std::int64_t { kNone, kInterleaved, kHalves };

struct ExpertOptions {
  std::int64_t chosen = 1;  // experts for each token
  ExpertFunction function = ExpertFunction::kRelu;
  ExpertFusion fusion = ExpertFusion::kNone;
  double alpha = 1, beta = 0;
  double limit = std::numeric_limits<double>::infinity();
  bool is_normalized = false;
};

// The weights of all experts, or of those that were chosen.
struct ExpertWeights {
  Array first, first_bias, second, second_bias, third, third_bias;
};

Array expert_number(double value, const Array& like) { return Array::scalar(like.kind(), value); }

Array sigmoid_gated(const Array& x, double alpha) {
  const Array scaled = alpha == 1 ? x : multiply(x, expert_number(alpha, x));
  return multiply(x, dispatch("ACTIVATION_SIGMOID", {scaled}));
}

Array bounded(const char* op, const Array& x, double bound) { return dispatch(op, {x, expert_number(bound, x)}); }

Array swiglu(const ExpertOptions& options, Array gate, Array linear) {
  if (options.limit != std::numeric_limits<double>::infinity()) {
    gate = bounded("ELEMENT_WISE_MIN", gate, options.limit);
    linear = bounded("ELEMENT_WISE_MAX", bounded("ELEMENT_WISE_MIN", linear, options.limit), -options.limit);
  }
  const Array gated = sigmoid_gated(gate, options.alpha);
  return multiply(gated, options.beta == 0 ? linear : add(linear, expert_number(options.beta, linear)));
}

// x times the transposed matrices, {experts, rows, columns of the result}, plus a bias for each column.
Array expert_product(const Array& x, const Array& weights, const Array& bias, const char* what) {
  check_rank(weights, 3, what);
  if (weights.size(2) != x.size(2)) {
    fail("{} has the shape {}; expected rows of {} numbers", what, listed(weights.shape()), x.size(2));
  }
  Array result = dispatch("GEMM", {x, weights, Array()},
                          {{"TransA", "NONE"}, {"TransB", "TRANSPOSE"}, {"Alpha", 1.0}, {"Beta", 0.0}},
                          {.shape = Sizes{x.size(0), x.size(1), weights.size(1)}, .kind = x.kind()});
  if (!bias) {
    return result;
  }
  if (bias.shape() != Sizes{weights.size(0), weights.size(1)}) {
    fail("the bias of {} has the shape {}; expected [{}, {}]", what, listed(bias.shape()), weights.size(0),
         weights.size(1));
  }
  return add(result, bias.insert_axis(1));
}

Array activated_rows(const ExpertOptions& options, const Array& x, const ExpertWeights& weights) {
  const Array rows = expert_product(x, weights.first, weights.first_bias, "fc1_experts_weights");
  const Array other =
      weights.third ? expert_product(x, weights.third, weights.third_bias, "fc3_experts_weights") : Array();
  if (options.function == ExpertFunction::kSwiglu) {
    if (options.fusion == ExpertFusion::kNone) {
      if (!other) {
        fail("fc3_experts_weights is missing; expected it for swiglu with swiglu_fusion 0");
      }
      return swiglu(options, rows, other);
    }
    const std::int64_t half = rows.size(2) / 2;
    return options.fusion == ExpertFusion::kHalves
               ? swiglu(options, rows.slice(2, 0, half), rows.slice(2, half, half))
               : swiglu(options, rows.slice(2, 0, half, 2), rows.slice(2, 1, half, 2));
  }
  Array result = rows;
  if (options.function == ExpertFunction::kRelu) {
    result = dispatch("ACTIVATION_RELU", {rows});
  } else if (options.function == ExpertFunction::kGelu) {
    result = gelu_by_tanh(rows);
  } else if (options.function == ExpertFunction::kSilu) {
    result = sigmoid_gated(rows, 1);
  }
  return other ? multiply(result, other) : result;
}

// The results of experts for x, {experts, rows, elements}.
Array expert_results(const ExpertOptions& options, const Array& x, const ExpertWeights& weights) {
  return expert_product(activated_rows(options, x, weights), weights.second, weights.second_bias,
                        "fc2_experts_weights");
}

// The chosen experts of each token in the order of their numbers, and how much each counts: {tokens, chosen}.
struct ExpertChoice {
  Array experts, shares;
};

ExpertChoice chosen_experts(const ExpertOptions& options, const Array& router) {
  const std::int64_t count = options.chosen;
  const auto top = [count](const Array& x, const char* direction) {
    return dispatch_all("TOP_K1", {x}, {{"Axis", std::int64_t{1}}, {"K", count}, {"AxisDirection", direction}},
                        {{}, {std::nullopt, Kind::kInt64}});
  };
  const Arrays best = top(router, "DECREASING");
  const Arrays sorted = top(best[1], "INCREASING");
  const Options along{{"Axes", std::vector<std::int64_t>{1}}};
  Array shares;
  if (options.is_normalized) {
    shares = dispatch("ACTIVATION_SOFTMAX1", {best[0]}, along);
    shares = dispatch("GATHER_ELEMENTS", {shares, sorted[1]}, {{"Axis", std::int64_t{1}}}, {.shape = shares.shape()});
  } else {
    const Array all = dispatch("ACTIVATION_SOFTMAX1", {router}, along);
    shares = dispatch("GATHER_ELEMENTS", {all.slice(1, 0, all.size(1)), sorted[0]}, {{"Axis", std::int64_t{1}}},
                      {.shape = sorted[0].shape()});
  }
  return {sorted[0], shares};
}

// Few tokens: each token is a batch of one row for each of its experts.
Array by_chosen_experts(const ExpertOptions& options, const Array& x, const ExpertChoice& choice,
                        const ExpertWeights& weights) {
  const std::int64_t tokens = x.size(0);
  const std::int64_t pairs = tokens * options.chosen;
  const Array experts = choice.experts.reshape({pairs});
  const auto taken = [&experts](const Array& all) { return all ? taken_slices(all, experts, 0) : all; };
  const ExpertWeights own{taken(weights.first),       taken(weights.first_bias), taken(weights.second),
                          taken(weights.second_bias), taken(weights.third),      taken(weights.third_bias)};
  const Array repeated = x.insert_axis(1).broadcast_to({tokens, options.chosen, x.size(1)});
  const Array results = expert_results(options, repeated.reshape({pairs, 1, x.size(1)}), own);
  const Array scaled =
      multiply(results.reshape({tokens, options.chosen, results.size(2)}), choice.shares.insert_axis(2));
  return reduce("SUM", scaled, {1}).reshape({tokens, results.size(2)});
}

// Many tokens: every expert computes all of them. -0 changes no sum.
Array by_all_experts(const ExpertOptions& options, const Array& x, const ExpertChoice& choice,
                     const ExpertWeights& weights) {
  const std::int64_t tokens = x.size(0);
  const std::int64_t count = weights.first.size(0);
  const Array numbers = sequence(std::int64_t{0}, std::int64_t{1}, count, Kind::kInt64).reshape({1, 1, count});
  const Array is_chosen =
      dispatch("ELEMENT_WISE_LOGICAL_EQUALS", {choice.experts.insert_axis(2), numbers}, {}, {.kind = Kind::kUint8});
  const Array of_pairs =
      dispatch("ELEMENT_WISE_IF", {is_chosen, choice.shares.insert_axis(2), expert_number(0, choice.shares)});
  const auto by_expert = [&](const Array& pairs) {  // {tokens, 1, experts} to {experts, tokens, 1}
    return pairs.reshape({tokens, count, 1}).transpose({1, 0, 2});
  };
  const Array share = by_expert(reduce("MAX", of_pairs, {1}));
  const Array has_share = by_expert(reduce("MAX", is_chosen, {1}));
  const Array all = x.insert_axis(0).broadcast_to({count, tokens, x.size(1)});
  const Array results = expert_results(options, all, weights);
  const Array scaled = multiply(results, share);
  const Array kept = dispatch("ELEMENT_WISE_IF", {has_share, scaled, expert_number(-0.0, scaled)});
  return reduce("SUM", kept, {0}).reshape({tokens, results.size(2)});
}

Arrays run_experts(const ExpertOptions& options, std::span<const Array> inputs) {
  const Array& given = inputs[kTokens];
  const Array& router = inputs[kRouter];
  const ExpertWeights weights{inputs[kFirst],        input(inputs, kFirstBias),
                              inputs[kSecond],       input(inputs, kSecondBias),
                              input(inputs, kThird), input(inputs, kThirdBias)};
  check_min_rank(given, 2, "input");
  const std::int64_t elements = given.shape().back();
  const std::int64_t tokens = elements == 0 ? 0 : given.count() / elements;
  if (tokens == 0) {
    return one(given);
  }
  check_rank(weights.first, 3, "fc1_experts_weights");
  check_rank(weights.second, 3, "fc2_experts_weights");
  const std::int64_t count = weights.first.size(0);
  if (router.shape() != Sizes{tokens, count}) {
    fail("router_probs has the shape {}; expected [{}, {}]", listed(router.shape()), tokens, count);
  }
  if (options.chosen > count || weights.second.size(0) != count) {
    fail("k is {}, and there are {} and {} experts; expected equal numbers, at least k", options.chosen, count,
         weights.second.size(0));
  }
  const Array x = given.reshape({tokens, elements});
  const ExpertChoice choice = chosen_experts(options, router);
  const bool is_few = tokens * options.chosen < count;
  const Array y = is_few ? by_chosen_experts(options, x, choice, weights) : by_all_experts(options, x, choice, weights);
  Sizes shape = given.shape();
  shape.back() = y.size(1);
  return one(y.reshape(shape));
}

ExpertFunction expert_function(const Expansion& given) {
  const std::string name = given.text("activation_type", "relu");
  if (name == "relu") {
    return ExpertFunction::kRelu;
  }
  if (name == "gelu") {
    return ExpertFunction::kGelu;
  }
  if (name == "silu") {
    return ExpertFunction::kSilu;
  }
  if (name == "swiglu") {
    return ExpertFunction::kSwiglu;
  }
  if (name != "identity") {
    given.refuse("with activation_type " + name);
  }
  return ExpertFunction::kIdentity;
}

Compute make_experts(const NodeMessage& node, const std::vector<Kind>& kinds, std::vector<Kind>& results) {
  const Expansion given(node, kinds, 0);
  given.require({{kTokens, "input"},
                 {kRouter, "router_probs"},
                 {kFirst, "fc1_experts_weights"},
                 {kSecond, "fc2_experts_weights"}});
  ExpertOptions options;
  options.chosen = given.integer("k", 1);
  options.function = expert_function(given);
  const std::int64_t fusion = given.integer("swiglu_fusion");
  if (options.chosen < 1 || fusion < 0 || fusion > 2) {
    fail("{}: k is {} and swiglu_fusion is {}; expected 1 or more, and 0, 1 or 2", label_of(node), options.chosen,
         fusion);
  }
  options.fusion = static_cast<ExpertFusion>(fusion);
  options.alpha = given.number("activation_alpha", 1);
  options.beta = given.number("activation_beta", 0);
  options.limit = given.number("swiglu_limit", options.limit);
  options.is_normalized = given.integer("normalize_routing_weights") != 0;
  if (given.integer("use_sparse_mixer") != 0) {
    given.refuse("with use_sparse_mixer");
  }
  const Kind kind = given.kind(kTokens);
  if (!kRoundedKinds.contains(kind)) {
    given.refuse("of " + std::string(kind_name(kind)));
  }
  for (std::size_t i = kRouter; i <= kThirdBias; ++i) {
    if (!given.input(i).empty() && given.kind(i) != kind) {
      given.refuse(format_text("of {} with input {} of {}", kind_name(kind), i, kind_name(given.kind(i))));
    }
  }
  results.push_back(kind);
  return [options](std::span<const Array> inputs) { return run_experts(options, inputs); };
}

// ---- QMoE -----------------------------------------------------------------------------------------------------------

using ExpertSizes = std::vector<std::int64_t>;

// The numbers in bytes along the last axis.
std::string unpacked_expert_bytes(Expansion& e, const std::string& bytes, std::int64_t bits) {
  if (bits == 8) {
    return bytes;
  }
  const auto byte = [&e](std::int64_t number) { return e.constant(Array::scalar(Kind::kUint8, number)); };
  const std::string last = e.constant(ExpertSizes{-1});
  std::vector<std::string> parts;
  for (std::int64_t shift = 0; shift < 8; shift += bits) {
    const std::string moved =
        shift == 0 ? bytes : e.add("BitShift", {bytes, byte(shift)}, {{"direction", std::string("RIGHT")}});
    const std::string part = e.add("BitwiseAnd", {moved, byte((std::int64_t{1} << bits) - 1)});
    parts.push_back(e.add("Unsqueeze", {part, last}));
  }
  const std::string all = e.add("Concat", parts, {{"axis", -1}});
  return e.add("Reshape", {all, e.constant(ExpertSizes{0, 0, -1})});
}

// Where the weights of a product are among the inputs of QMoE.
struct QuantizedExpertInputs {
  std::size_t weights, scales, zeros;
  const char* bits;
};

// The weights as floats: (numbers - zeros) * scales. A scale counts for a row, or for a block of it.
std::string dequantized_experts(Expansion& e, const QuantizedExpertInputs& at) {
  const std::string packed = e.input(at.weights);
  if (packed.empty()) {
    return packed;
  }
  const std::int64_t bits = e.integer(at.bits, e.integer("expert_weight_bits", 4));
  if (bits != 2 && bits != 4 && bits != 8) {
    e.refuse(format_text("with {} bits", bits));
  }
  if (e.kind(at.weights) != Kind::kUint8 || !kRoundedKinds.contains(e.kind(at.scales))) {
    e.refuse(format_text("of {} with scales of {}", kind_name(e.kind(at.weights)), kind_name(e.kind(at.scales))));
  }
  const std::int64_t block = e.integer("block_size");
  std::string numbers = unpacked_expert_bytes(e, packed, bits);
  // {experts, rows, blocks, elements of a block}
  numbers =
      e.add("Reshape", {numbers, e.constant(block > 0 ? ExpertSizes{0, 0, -1, block} : ExpertSizes{0, 0, 1, -1})});
  const std::string by_block = e.constant(block > 0 ? ExpertSizes{-1} : ExpertSizes{2, 3});
  const std::string scales = e.add("Unsqueeze", {e.input(at.scales), by_block});
  std::string zeros = e.input(at.zeros);
  if (zeros.empty()) {
    zeros = e.constant_float(static_cast<double>(std::int64_t{1} << (bits - 1)));
  } else {
    if (block <= 0) {  // a list for each expert: unpack it as one row
      zeros = e.add("Unsqueeze", {zeros, e.constant(ExpertSizes{1})});
    }
    zeros = unpacked_expert_bytes(e, zeros, bits);
    if (block <= 0) {
      zeros = e.add("Transpose", {zeros}, {{"perm", ExpertSizes{0, 2, 1}}});
    }
    // The last byte of a row may have room for more numbers than there are scales.
    const int axis = block > 0 ? 2 : 1;
    const std::string count = e.add("Shape", {e.input(at.scales)}, {{"start", axis}, {"end", axis + 1}});
    zeros = e.add("Slice", {zeros, e.constant(ExpertSizes{0}), count, e.constant(ExpertSizes{axis})});
    zeros = e.add("Unsqueeze", {zeros, e.constant(ExpertSizes{-1})});
  }
  const std::string difference =
      e.add("Sub", {e.add("CastLike", {numbers, scales}), e.add("CastLike", {zeros, scales})});
  const std::string weights = e.add("Mul", {difference, scales});
  const std::string rows = e.add("Reshape", {weights, e.constant(ExpertSizes{0, 0, -1})});
  return e.add("CastLike", {rows, e.input(kTokens)});
}

// QMoE is MoE with weights that are dequantized, which happens once if they are constants.
void write_quantized_experts(Expansion& e) {
  e.require({{0, "input"},
             {1, "router_probs"},
             {2, "fc1_experts_weights"},
             {3, "fc1_scales"},
             {5, "fc2_experts_weights"},
             {6, "fc2_scales"}});
  if (e.text("quant_type", "int") != "int") {
    e.refuse("with quant_type " + e.text("quant_type"));
  }
  if (e.integer("weights_prepacked", 0) > 0) {
    e.refuse("with weights_prepacked");
  }
  for (std::size_t i = 14; i < e.node().inputs.size(); ++i) {
    if (!e.input(i).empty()) {
      e.refuse(format_text("with input {}", i));
    }
  }
  const std::string first = dequantized_experts(e, {2, 3, 11, "fc1_expert_weight_bits"});
  const std::string second = dequantized_experts(e, {5, 6, 12, "fc2_expert_weight_bits"});
  const std::string third = dequantized_experts(e, {8, 9, 13, "fc3_expert_weight_bits"});
  e.add_to("MoE", {e.input(0), e.input(1), first, e.input(4), second, e.input(7), third, e.input(10)}, {e.output(0)},
           e.passed_on({"activation_alpha", "activation_beta", "activation_type", "k", "normalize_routing_weights",
                        "swiglu_fusion", "swiglu_limit", "use_sparse_mixer"}));
  e.nodes.back().domain = kExpertsDomain;
}

constexpr DomainRow kExpertRows[] = {
    {.domain = kExpertsDomain, .op = "QMoE", .expand = write_quantized_experts},
    {.domain = kExpertsDomain,
     .op = "MoE",
     .make = make_experts,
     .uses = "GEMM ADD CAST FILL_VALUE_SEQUENCE GATHER GATHER_ELEMENTS IDENTITY IF LOGICAL_EQUALS MAX MIN MULTIPLY "
             "REDUCE RELU SIGMOID SOFTMAX1 TANH TOP_K1"},
};

}  // namespace

std::span<const DomainRow> expert_rows() { return kExpertRows; }

}  // namespace anydml::onnx
