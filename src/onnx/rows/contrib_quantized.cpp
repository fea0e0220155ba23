// SPDX-License-Identifier: MIT
// Expresses the quantized operators of com.microsoft as ONNX nodes of the newest opset. They follow their
// documentation: the integers are dequantized, the result is computed in floats and then quantized. ONNX Runtime itself
// may differ from such a result by one unit in the last place.
#include <algorithm>

#include "onnx/rows/contrib_codes.h"
#include "onnx/rows/expansion.h"
#include "onnx/rows/recurrent.h"

namespace anydml::onnx {
namespace {

using QuantizedList = std::vector<std::int64_t>;
constexpr std::string_view kQuantizedDomain = "com.microsoft";
constexpr std::int64_t kFloatNumber = static_cast<std::int64_t>(Kind::kFloat);

// Dequantizes three inputs: integers, scale and zero point.
std::string dequantized(Expansion& e, std::size_t first) {
  return e.add("DequantizeLinear", {e.input(first), e.input(first + 1), e.input(first + 2)});
}

// Quantizes the result with a scale and a zero point, which are inputs of the node.
void finish_quantized(Expansion& e, const std::string& value, std::size_t scale) {
  e.finish(e.add("QuantizeLinear", {value, e.input(scale), e.input(scale + 1)}));
}

void write_quantized_pair(Expansion& e, const char* op) {
  const std::string a = dequantized(e, 0);
  const std::string b = dequantized(e, 3);
  finish_quantized(e, e.add(op, {a, b}), 6);
}

void write_quantized_add(Expansion& e) { write_quantized_pair(e, "Add"); }
void write_quantized_mul(Expansion& e) { write_quantized_pair(e, "Mul"); }

void write_quantized_leaky_relu(Expansion& e) {
  const std::string x = dequantized(e, 0);
  finish_quantized(e, e.add("LeakyRelu", {x}, {{"alpha", e.number("alpha", 0.01)}}), 3);
}

void write_quantized_sigmoid(Expansion& e) { finish_quantized(e, e.add("Sigmoid", {dequantized(e, 0)}), 3); }

void write_quantized_softmax(Expansion& e) {
  const std::string x = dequantized(e, 0);
  finish_quantized(e, e.add("Softmax", {x}, {{"axis", e.integer("axis", -1)}}), 3);
}

void write_quantized_pool(Expansion& e, const char* op, const AttributeList& attributes) {
  const bool is_last = e.integer("channels_last") != 0;
  std::string x = dequantized(e, 0);
  x = is_last ? e.add("Transpose", {x}, {{"perm", QuantizedList{0, 3, 1, 2}}}) : x;
  std::string y = e.add(op, {x}, attributes);
  y = is_last ? e.add("Transpose", {y}, {{"perm", QuantizedList{0, 2, 3, 1}}}) : y;
  finish_quantized(e, y, 3);
}

void write_quantized_average_pool(Expansion& e) {
  write_quantized_pool(e, "AveragePool",
                       e.passed_on({"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
}

void write_quantized_global_pool(Expansion& e) { write_quantized_pool(e, "GlobalAveragePool", {}); }

// Quantizes the parts before they are joined, which moves fewer bytes than to join floats.
void write_quantized_concat(Expansion& e) {
  const std::vector<std::string>& inputs = e.node().inputs;
  std::vector<std::string> parts;
  for (std::size_t i = 2; i < inputs.size(); i += 3) {
    parts.push_back(e.add("QuantizeLinear", {dequantized(e, i), e.input(0), e.input(1)}));
  }
  e.finish(e.add("Concat", parts, e.passed_on({"axis"})));
}

void write_quantized_where(Expansion& e) {
  const std::string a = dequantized(e, 1);
  const std::string b = dequantized(e, 4);
  finish_quantized(e, e.add("Where", {e.input(0), a, b}), 7);
}

void write_quantized_mean(Expansion& e) {
  const std::string axes = e.has("axes") ? e.constant(e.integers("axes")) : std::string();
  const std::string x = dequantized(e, 0);
  finish_quantized(e, e.add("ReduceMean", {x, axes}, {{"keepdims", e.integer("keepdims", 1)}}), 3);
}

// ---- Matrix products ------------------------------------------------------------------------------------------------

std::string as_float(Expansion& e, const std::string& value) { return e.add("Cast", {value}, {{"to", kFloatNumber}}); }

void finish_scaled(Expansion& e, const std::string& product, const std::string& a_scale, const std::string& b_scale,
                   const std::string& bias) {
  const std::string wide = as_float(e, product);
  const std::string y = e.add("Mul", {wide, e.add("Mul", {a_scale, b_scale})});
  e.finish(bias.empty() ? y : e.add("Add", {y, bias}));
}

void write_dynamic_matmul(Expansion& e) {
  const std::string x = e.fresh_name();
  const std::string scale = e.fresh_name();
  const std::string zero = e.fresh_name();
  e.add_to("DynamicQuantizeLinear", {e.input(0)}, {x, scale, zero});
  const std::string product = e.add("MatMulInteger", {x, e.input(1), zero, e.input(3)});
  finish_scaled(e, product, scale, e.input(2), e.input(4));
}

void write_matmul_to_float(Expansion& e) {
  const std::string product = e.add("MatMulInteger", {e.input(0), e.input(1), e.input(4), e.input(5)});
  finish_scaled(e, product, e.input(2), e.input(3), e.input(6));
}

void write_quantized_gemm(Expansion& e) {
  const auto operand = [&](std::size_t position, const char* turns) {
    return e.integer(turns) != 0 ? e.add("Transpose", {e.input(position)}, {{"perm", QuantizedList{1, 0}}})
                                 : e.input(position);
  };
  const std::string a = operand(0, "transA");
  const std::string b = operand(3, "transB");
  std::string total = e.add("MatMulInteger", {a, b, e.input(2), e.input(5)});
  total = e.input(6).empty() ? total : e.add("Add", {total, e.input(6)});
  std::string scale = e.add("Mul", {e.input(1), e.input(4)});
  scale = e.has("alpha") ? e.add("Mul", {scale, e.constant_float(e.number("alpha", 1))}) : scale;
  if (e.input(7).empty()) {
    e.finish(e.add("Mul", {as_float(e, total), scale}));
    return;
  }
  // One factor contains all scales, as in QLinearMatMul, so the result is rounded once.
  const std::string y = e.add("Mul", {as_float(e, total), e.add("Div", {scale, e.input(7)})});
  e.finish(e.add("QuantizeLinear", {y, e.constant_float(1), e.input(8)}));
}

// ---- DynamicQuantizeLSTM --------------------------------------------------------------------------------------------

// Reshapes [directions] or [directions, columns] so that it broadcasts to [directions, rows, columns].
std::string by_direction(Expansion& e, const std::string& value) {
  const std::int64_t count = e.text("direction", "forward") == "bidirectional" ? 2 : 1;
  const std::string directions = e.constant(count);
  const std::string list = e.add("Unsqueeze", {directions, e.constant(QuantizedList{0})});
  const std::string shape = e.add("Concat", {list, e.constant(QuantizedList{1, -1})}, {{"axis", 0}});
  return e.add("Reshape", {value, shape});
}

// Dequantizes the weights of one or two directions, which have a scale for each direction or for each column, and
// transposes them.
std::string lstm_weights(Expansion& e, std::size_t position, std::size_t scale) {
  const std::string wide = as_float(e, e.input(position));
  const std::string zero = as_float(e, e.input(scale + 1));
  const std::string difference = e.add("Sub", {wide, by_direction(e, zero)});
  const std::string weights = e.add("Mul", {difference, by_direction(e, e.input(scale))});
  return e.add("Transpose", {weights}, {{"perm", QuantizedList{0, 2, 1}}});
}

// An LSTM with dequantized weights, for models that run literally. Otherwise the inputs of each step are rounded to 8
// bits, as in ONNX Runtime.
void write_dynamic_lstm(Expansion& e) {
  const std::string w = lstm_weights(e, 1, 8);
  const std::string r = lstm_weights(e, 2, 10);
  std::vector<std::string> inputs{e.input(0), w, r};
  for (std::size_t i = 3; i < 8; ++i) {
    inputs.push_back(e.input(i));
  }
  e.add_to("LSTM", inputs, e.node().outputs,
           e.passed_on({"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
                        "input_forget"}));
}

void write_dequantize(Expansion& e) {
  e.finish(e.add("DequantizeLinear", e.node().inputs, e.passed_on({"axis", "block_size"})));
}

void write_quantize(Expansion& e) {
  e.finish(e.add("QuantizeLinear", e.node().inputs, e.passed_on({"axis", "block_size"})));
}

const DomainRow kContribQuantizedRows[] = {
    {kQuantizedDomain, "DequantizeLinear", write_dequantize},
    {.domain = kQuantizedDomain,
     .op = "DynamicQuantizeLSTM",
     .expand = write_dynamic_lstm,
     .make = make_quantized_lstm,
     .uses = "DYNAMIC_QUANTIZE_LSTM CAST",
     .needs_cpu = true},
    {kQuantizedDomain, "DynamicQuantizeMatMul", write_dynamic_matmul},
    {kQuantizedDomain, "MatMulIntegerToFloat", write_matmul_to_float},
    {.domain = kQuantizedDomain,
     .op = "MatMulNBits",
     .make_product = make_coded_product,
     .uses = "DEQUANTIZE GEMM ADD"},
    {kQuantizedDomain, "QGemm", write_quantized_gemm},
    {kQuantizedDomain, "QLinearAdd", write_quantized_add},
    {kQuantizedDomain, "QLinearAveragePool", write_quantized_average_pool},
    {kQuantizedDomain, "QLinearConcat", write_quantized_concat},
    {kQuantizedDomain, "QLinearGlobalAveragePool", write_quantized_global_pool},
    {kQuantizedDomain, "QLinearLeakyRelu", write_quantized_leaky_relu},
    {kQuantizedDomain, "QLinearMul", write_quantized_mul},
    {kQuantizedDomain, "QLinearReduceMean", write_quantized_mean},
    {kQuantizedDomain, "QLinearSigmoid", write_quantized_sigmoid},
    {kQuantizedDomain, "QLinearSoftmax", write_quantized_softmax},
    {kQuantizedDomain, "QLinearWhere", write_quantized_where},
    {kQuantizedDomain, "QuantizeLinear", write_quantize},
};

}  // namespace

std::span<const DomainRow> contrib_quantized_rows() { return kContribQuantizedRows; }

}  // namespace anydml::onnx
