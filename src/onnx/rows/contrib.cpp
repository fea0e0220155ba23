// SPDX-License-Identifier: MIT
// Expresses operators of com.microsoft, ONNX Runtime's own domain, as ONNX nodes of the newest opset.
#include <numeric>

#include "onnx/rows/expansion.h"
#include "onnx/rows/row.h"

namespace anydml::onnx {
namespace {

using ContribList = std::vector<std::int64_t>;

// ---- Activations ----------------------------------------------------------------------------------------------------

// The activations that fused operators may have, and the names of their parameters.
struct FusedActivation {
  std::string_view name;
  std::array<const char*, 2> parameters = {};  // null: there is no parameter
};
constexpr FusedActivation kActivations[] = {
    {"Relu"},
    {"Sigmoid"},
    {"Tanh"},
    {"LeakyRelu", {"alpha"}},
    {"Clip", {"min", "max"}},
    {"HardSigmoid", {"alpha", "beta"}},
    {"Elu", {"alpha"}},
    {"Softplus"},
    {"Softsign"},
    {"HardSwish"},
};

const FusedActivation* find_activation(std::string_view name) {
  for (const FusedActivation& one : kActivations) {
    if (one.name == name) {
      return &one;
    }
  }
  return nullptr;
}

std::string activated(Expansion& e, const std::string& value, const std::vector<double>& parameters) {
  const std::string name = e.text("activation");
  if (name.empty()) {
    return value;
  }
  const FusedActivation* activation = find_activation(name);
  if (activation == nullptr) {
    e.refuse("with activation " + name);
  }
  if (name == "Clip") {
    std::vector<std::string> inputs{value};
    for (const double number : parameters) {
      inputs.push_back(e.constant_float(number));
    }
    return e.add("Clip", inputs);
  }
  AttributeList attributes;
  for (std::size_t i = 0; i < std::min(parameters.size(), activation->parameters.size()); ++i) {
    if (activation->parameters[i] == nullptr) {
      break;
    }
    attributes.emplace_back(activation->parameters[i], parameters[i]);
  }
  return e.add(name.c_str(), {value}, attributes);
}

// ---- Layers ---------------------------------------------------------------------------------------------------------

AttributeList conv_attributes(const Expansion& e) {
  return e.passed_on({"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
}

void write_fused_conv(Expansion& e) {
  std::string y = e.add("Conv", {e.input(0), e.input(1), e.input(2)}, conv_attributes(e));
  if (!e.input(3).empty()) {
    y = e.add("Add", {y, e.input(3)});
  }
  e.finish(activated(e, y, e.numbers("activation_params")));
}

void write_nhwc_conv(Expansion& e) {
  const std::int64_t rank =
      e.has("kernel_shape") ? static_cast<std::int64_t>(e.integers("kernel_shape").size()) + 2 : 4;
  ContribList channels_second{0, rank - 1};
  ContribList channels_last{0};
  for (std::int64_t axis = 1; axis < rank - 1; ++axis) {
    channels_second.push_back(axis);
    channels_last.push_back(axis + 1);
  }
  channels_last.push_back(1);
  const std::string x = e.add("Transpose", {e.input(0)}, {{"perm", channels_second}});
  const std::string w = e.add("Transpose", {e.input(1)}, {{"perm", channels_second}});
  const std::string y = e.add("Conv", {x, w, e.input(2)}, conv_attributes(e));
  e.finish(e.add("Transpose", {y}, {{"perm", channels_last}}));
}

void write_fused_gemm(Expansion& e) {
  const std::string y =
      e.add("Gemm", {e.input(0), e.input(1), e.input(2)}, e.passed_on({"alpha", "beta", "transA", "transB"}));
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (e.has(name)) {
      parameters.push_back(e.number(name));
    }
  }
  e.finish(activated(e, y, parameters));
}

// A float that is converted to the type of x.
std::string number_like(Expansion& e, double value, const std::string& x) {
  return e.add("CastLike", {e.constant_float(value), x});
}

// Exchanges the last two axes, for any rank: flattens the leading axes, transposes, and restores them. The rank is
// unknown here, and Transpose would need all axes.
std::string exchanged(Expansion& e, const std::string& x) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  const std::string shape = e.add("Shape", {x});
  const auto sizes = [&](std::int64_t begin, std::int64_t end) {
    return e.add("Slice", {shape, e.constant(ContribList{begin}), e.constant(ContribList{end})});
  };
  const std::string before = sizes(-kFar, -2);
  const std::string rows = sizes(-2, -1);
  const std::string columns = sizes(-1, kFar);
  const std::string flat_shape = e.add("Concat", {e.constant(ContribList{-1}), rows, columns}, {{"axis", 0}});
  const std::string flat = e.add("Reshape", {x, flat_shape});
  const std::string turned = e.add("Transpose", {flat}, {{"perm", ContribList{0, 2, 1}}});
  return e.add("Reshape", {turned, e.add("Concat", {before, columns, rows}, {{"axis", 0}})});
}

void write_fused_matmul(Expansion& e) {
  if (e.integer("transBatchA") != 0 || e.integer("transBatchB") != 0) {
    e.refuse("with transBatchA or transBatchB");
  }
  const std::string a = e.integer("transA") != 0 ? exchanged(e, e.input(0)) : e.input(0);
  const std::string b = e.integer("transB") != 0 ? exchanged(e, e.input(1)) : e.input(1);
  const std::string y = e.add("MatMul", {a, b});
  const double alpha = e.number("alpha", 1);
  e.finish(alpha == 1 ? y : e.add("Mul", {y, number_like(e, alpha, y)}));
}

void write_gelu(Expansion& e) { e.finish(e.add("Gelu", {e.input(0)})); }

void write_bias_gelu(Expansion& e) { e.finish(e.add("Gelu", {e.add("Add", {e.input(0), e.input(1)})})); }

void write_fast_gelu(Expansion& e) {
  const std::string x = e.input(1).empty() ? e.input(0) : e.add("Add", {e.input(0), e.input(1)});
  e.finish(e.add("Gelu", {x}, {{"approximate", std::string("tanh")}}));
}

void write_quick_gelu(Expansion& e) {
  const std::string alpha = number_like(e, e.number("alpha", 1.702), e.input(0));
  const std::string gate = e.add("Sigmoid", {e.add("Mul", {e.input(0), alpha})});
  e.finish(e.add("Mul", {e.input(0), gate}));
}

void write_bias_add(Expansion& e) { e.finish(e.add("Add", {e.add("Add", {e.input(0), e.input(1)}), e.input(2)})); }

// ---- Normalizations -------------------------------------------------------------------------------------------------

AttributeList norm_attributes(const Expansion& e, std::int64_t axis, double epsilon) {
  return {{"axis", axis}, {"epsilon", e.number("epsilon", epsilon)}};
}

// The sum of the first two inputs and, if it is present, a bias.
std::string skip_sum(Expansion& e, const std::string& bias) {
  if (!e.output(1).empty() || !e.output(2).empty()) {
    e.refuse("with its mean or deviation");
  }
  const std::string total = e.add("Add", {e.input(0), e.input(1)});
  return bias.empty() ? total : e.add("Add", {total, bias});
}

void write_skip_layer_norm(Expansion& e) {
  const std::string total = skip_sum(e, e.input(4));
  e.finish(e.add("LayerNormalization", {total, e.input(2), e.input(3)}, norm_attributes(e, -1, 1e-12)));
  if (!e.output(3).empty()) {
    e.finish(total, 3);
  }
}

void write_skip_rms_norm(Expansion& e) {
  const std::string total = skip_sum(e, e.input(3));
  e.finish(e.add("RMSNormalization", {total, e.input(2)}, norm_attributes(e, -1, 1e-12)));
  if (!e.output(3).empty()) {
    e.finish(total, 3);
  }
}

void write_rms_norm(Expansion& e) {
  if (!e.output(1).empty()) {
    e.refuse("with its deviation");
  }
  e.finish(e.add("RMSNormalization", {e.input(0), e.input(1)}, norm_attributes(e, e.integer("axis", -1), 1e-5)));
}

// Adds the embeddings of words, positions and segments, and normalizes the sum.
void write_embeddings(Expansion& e) {
  if (!e.output(1).empty() && !e.input(7).empty()) {
    e.refuse("with a mask");
  }
  const std::string ids = e.input(0);
  const std::string segments = e.input(1);
  std::string position = e.input(8);
  if (position.empty()) {
    const std::string zero = e.constant(std::int64_t{0});
    const std::string length = e.add("Shape", {ids}, {{"start", 1}, {"end", 2}});
    const std::string count = e.add("Squeeze", {length, e.constant(ContribList{0})});
    position = e.add("Range", {zero, count, e.constant(std::int64_t{1})});
  }
  const std::string words = e.add("Gather", {e.input(2), ids});
  std::string total = e.add("Add", {words, e.add("Gather", {e.input(3), position})});
  if (!segments.empty()) {
    total = e.add("Add", {total, e.add("Gather", {e.input(4), segments})});
  }
  e.finish(e.add("LayerNormalization", {total, e.input(5), e.input(6)}, norm_attributes(e, -1, 1e-12)));
  if (!e.output(1).empty()) {
    const std::string shape = e.add("Shape", {ids}, {{"start", 0}, {"end", 1}});
    e.finish(e.add("ConstantOfShape", {shape}, {{"value", Array::of<std::int32_t>(Kind::kInt32, {1}, {0})}}), 1);
  }
  if (!e.output(2).empty()) {
    e.finish(total, 2);
  }
}

void write_group_norm(Expansion& e) {
  const bool is_last = e.integer("channels_last", 1) != 0;
  const std::string x = is_last ? e.add("Transpose", {e.input(0)}, {{"perm", ContribList{0, 3, 1, 2}}}) : e.input(0);
  const std::string gamma = e.add("CastLike", {e.input(1), x});
  const std::string beta = e.add("CastLike", {e.input(2), x});
  AttributeList attributes{{"epsilon", e.number("epsilon", 1e-5)}};
  if (e.has("groups")) {
    attributes.emplace_back("num_groups", e.integer("groups"));
  }
  std::string y = e.add("GroupNormalization", {x, gamma, beta}, attributes);
  if (e.integer("activation") != 0) {
    y = e.add("Mul", {y, e.add("Sigmoid", {y})});
  }
  e.finish(is_last ? e.add("Transpose", {y}, {{"perm", ContribList{0, 2, 3, 1}}}) : y);
}

void write_trilu(Expansion& e) { e.finish(e.add("Trilu", e.node().inputs, e.passed_on({"upper"}))); }

constexpr std::string_view kContribDomain = "com.microsoft";

const DomainRow kContribRows[] = {
    {"", "SimplifiedLayerNormalization", write_rms_norm},
    {"", "SkipSimplifiedLayerNormalization", write_skip_rms_norm},
    {kContribDomain, "BiasAdd", write_bias_add},
    {kContribDomain, "BiasGelu", write_bias_gelu},
    {kContribDomain, "EmbedLayerNormalization", write_embeddings},
    {kContribDomain, "FastGelu", write_fast_gelu},
    {kContribDomain, "FusedConv", write_fused_conv},
    {kContribDomain, "FusedGemm", write_fused_gemm},
    {kContribDomain, "FusedMatMul", write_fused_matmul},
    {kContribDomain, "Gelu", write_gelu},
    {kContribDomain, "GroupNorm", write_group_norm},
    {kContribDomain, "NhwcConv", write_nhwc_conv},
    {kContribDomain, "QuickGelu", write_quick_gelu},
    {kContribDomain, "SimplifiedLayerNormalization", write_rms_norm},
    {kContribDomain, "SkipLayerNormalization", write_skip_layer_norm},
    {kContribDomain, "SkipSimplifiedLayerNormalization", write_skip_rms_norm},
    {kContribDomain, "TransposeMatMul", write_fused_matmul},
    {kContribDomain, "Trilu", write_trilu},
};

}  // namespace

std::span<const DomainRow> contrib_rows() { return kContribRows; }

}  // namespace anydml::onnx
