// SPDX-License-Identifier: MIT
// Builds networks as DirectML graphs: each function adds a layer with its weights and returns the value that it
// computes. Uses only the public headers, like any client.
//
// Weights are generated from a seed, so that every machine, and a program in another language (bench/networks.py), gets
// the same weights. Input k of a graph, counted from 0 in the order in which the network adds its inputs and weights,
// gets its numbers from splitmix64 with the initial state mix((seed << 32) + k); see Numbers.
#pragma once

// clang-format off
#include <wsl/winadapter.h>
#include <wsl/wrladapter.h>
#include <directx/d3d12.h>
#include <dxguids/dxguids.h>
#include <anydml/DirectML.h>
#include <anydml/directml_guids.h>
// clang-format on

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace networks {

using Microsoft::WRL::ComPtr;
using Sizes = std::vector<UINT>;

// splitmix64. word() adds 0x9e3779b97f4a7c15 to the state and mixes it; uniform() takes the upper 24 bits of a word,
// minus 2^23, as a multiple of 2^-23: it is exact and in [-1, 1).
class Numbers {
 public:
  Numbers(std::uint64_t seed, std::uint64_t stream) : state_((seed << 32) + stream) { state_ = word(); }
  [[nodiscard]] std::uint64_t word();
  [[nodiscard]] float uniform();

 private:
  std::uint64_t state_;
};

// The range of weights that gives a layer's outputs the same variance as its inputs: sqrt(gain / fan_in), where gain is
// 6 before a RELU and 3 otherwise.
[[nodiscard]] float range_of(float gain, UINT fan_in);

// A tensor in the graph: an input of the graph or an output of a node, and the sizes used to interpret its bytes.
struct Value {
  int source = 0;  // a node index, or -1 - index for an input of the graph
  UINT output = 0;
  Sizes sizes;
  Sizes strides;  // empty if packed
  std::uint64_t bytes = 0;
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32;
  bool is_owned = false;

  // The same bytes with different sizes and strides. A graph edge transfers only bytes, so a view needs no node.
  [[nodiscard]] Value view(Sizes other_sizes, Sizes other_strides = {}) const;
};

// An input of the graph with its contents: the network's input, or weights.
struct GraphInput {
  std::vector<std::byte> contents;
  bool is_owned = false;  // OWNED_BY_DML: bound when the graph is initialized, not when it runs
};

struct Network {
  ComPtr<IDMLCompiledOperator> compiled;
  std::vector<GraphInput> inputs;  // in the order of the bindings
  Sizes input_sizes;               // of the first input, which is the network's own
  Sizes output_sizes;              // FLOAT32, packed
  std::size_t nodes = 0;
  std::uint64_t weights = 0;
};

enum class Activation { none, relu, tanh };

// A window of a convolution or pooling, the same along both axes.
struct Window {
  UINT size = 1;
  UINT stride = 1;
  UINT padding = 0;
  UINT groups = 1;
};

class Builder {
 public:
  struct Options {
    std::uint64_t seed = 1;
    bool owns_parameters = true;  // whether normalization parameters are OWNED_BY_DML like other weights
    DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE;
  };
  Builder(IDMLDevice1* device, const Options& options) : device_(device), options_(options) {}

  // ---- Inputs
  // Images of the test card, {batch, channels, side, side}: elements from 0 to 255, times `scale`.
  [[nodiscard]] Value picture(UINT batch, UINT channels, UINT side, float scale);
  // Numbers in [-1, 1); or whole numbers below `limit`, as UINT32.
  [[nodiscard]] Value signals(Sizes sizes);
  [[nodiscard]] Value symbols(Sizes sizes, UINT limit);
  // center + range * uniform(), in FLOAT32, rounded after each operation.
  [[nodiscard]] Value weights(Sizes sizes, float range, float center = 0);

  // ---- Layers. Images are {N, C, H, W}.
  [[nodiscard]] Value convolution(const Value& x, UINT channels, const Window& window, Activation activation,
                                  bool has_bias);
  // The output is `stride` times as large as the input: one larger than the transposed convolution's natural size.
  [[nodiscard]] Value transposed_convolution(const Value& x, UINT channels, const Window& window);
  [[nodiscard]] Value batch_normalization(const Value& x);
  [[nodiscard]] Value instance_normalization(const Value& x, Activation activation);
  [[nodiscard]] Value layer_normalization(const Value& x);  // over the last dimension
  [[nodiscard]] Value max_pooling(const Value& x, const Window& window);
  [[nodiscard]] Value average_pooling(const Value& x);         // over the whole image
  [[nodiscard]] Value join(const std::vector<Value>& values);  // along the channels
  [[nodiscard]] Value reflect(const Value& x, UINT border);
  [[nodiscard]] Value crop(const Value& x, UINT border);
  [[nodiscard]] Value depth_to_space(const Value& x, UINT block);
  [[nodiscard]] Value upsample(const Value& x, UINT scale);                   // linear
  [[nodiscard]] Value scale_image(const Value& x, float scale, float bias);   // VALUE_SCALE_2D
  [[nodiscard]] Value scale_values(const Value& x, float scale, float bias);  // ACTIVATION_LINEAR
  [[nodiscard]] Value clip(const Value& x, float low, float high);
  [[nodiscard]] Value gelu(const Value& x);
  [[nodiscard]] Value tanh(const Value& x);
  [[nodiscard]] Value softmax(const Value& x);  // over the last dimension
  [[nodiscard]] Value add(const Value& a, const Value& b);
  [[nodiscard]] Value mean_of_rows(const Value& x);  // {1, N, S, E} to {1, N, 1, E}
  // The last dimension of x times a matrix of weights, plus a bias.
  [[nodiscard]] Value product(const Value& x, UINT columns, float gain);
  [[nodiscard]] Value gather(const Value& table, const Value& symbols);
  // Attention for queries, keys and values that are stored as {N, S, heads, 3, E / heads}; the result is {N, S, E}.
  [[nodiscard]] Value attention(const Value& stacked, UINT heads);
  // x is {1, S, N, I}. The result is the sequence {S, directions, N, units}, or the last state {1, 1, N, units}.
  [[nodiscard]] Value lstm_sequence(const Value& x, UINT units);  // in both directions
  [[nodiscard]] Value lstm_state(const Value& x, UINT units);
  [[nodiscard]] Value packed(const Value& x);  // a copy without the strides of a view

  [[nodiscard]] Network compile(const Value& output);

 private:
  [[nodiscard]] Value add_input(Sizes sizes, DML_TENSOR_DATA_TYPE type, bool is_owned);
  template <class T>
  void fill(const Value& input, const std::vector<T>& elements);
  [[nodiscard]] Numbers numbers_of(const Value& input) const;
  // The parameters of a normalization.
  [[nodiscard]] Value parameters(Sizes sizes, float range, float center);
  // The tensors and the activation that the next operator's description points to.
  [[nodiscard]] const DML_TENSOR_DESC* tensor(const Value& value);
  [[nodiscard]] const DML_OPERATOR_DESC* fused(Activation activation);
  // A node that computes `result` from `inputs`, with a null pointer for each tensor that is absent.
  [[nodiscard]] Value add_node(DML_OPERATOR_TYPE type, const void* desc, const std::vector<const Value*>& inputs,
                               Value result);
  template <class Desc>
  [[nodiscard]] Value unary(DML_OPERATOR_TYPE type, const Value& x);
  [[nodiscard]] Value convolve(const Value& x, const Value& filter, const Value* bias, Value result,
                               const Window& window, DML_CONVOLUTION_DIRECTION direction, Activation activation);
  [[nodiscard]] Value normalize(const Value& x, const std::vector<UINT>& axes, const Sizes& parameter_sizes,
                                Activation activation);
  [[nodiscard]] Value lstm(const Value& x, UINT units, bool is_sequence);

  IDMLDevice1* device_;
  Options options_;
  std::vector<GraphInput> inputs_;
  Sizes input_sizes_;
  std::uint64_t weight_count_ = 0;
  std::vector<ComPtr<IDMLOperator>> operators_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> nodes_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> input_edges_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> inner_edges_;
  // Needed only until the operator is created:
  std::deque<Value> described_;
  std::deque<DML_BUFFER_TENSOR_DESC> buffers_;
  std::deque<DML_TENSOR_DESC> tensors_;
};

}  // namespace networks
