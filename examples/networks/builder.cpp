// SPDX-License-Identifier: MIT
#include "builder.h"

#include <anydml/anydml.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace networks {
namespace {

constexpr float kEpsilon = 1e-5f;

void check(HRESULT result, const char* call) {
  if (FAILED(result)) {
    throw std::runtime_error(std::string(call) + ": " + anydml_last_error());
  }
}

std::uint64_t elements_of(const Sizes& sizes) {
  std::uint64_t count = 1;
  for (const UINT size : sizes) {
    count *= size;
  }
  return count;
}

Value value_of(Sizes sizes, DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32) {
  Value value;
  value.bytes = elements_of(sizes) * 4;  // every type here is four bytes wide
  value.sizes = std::move(sizes);
  value.type = type;
  return value;
}

UINT windows_along(UINT size, const Window& window) {
  return (size + 2 * window.padding - window.size) / window.stride + 1;
}

Sizes channel_sizes(UINT channels) { return {1, channels, 1, 1}; }

// A test card: a disc on stripes, with a little noise, in whole numbers from 0 to 255. Each channel has its own
// stripes, and the disc has a different position in each image of a batch.
int card(UINT image, UINT channel, UINT side, UINT row, UINT column, Numbers& noise) {
  const int x = static_cast<int>(column * 256 / side);
  const int y = static_cast<int>(row * 256 / side);
  const int dx = x - 104 - static_cast<int>(24 * image % 96);
  const int dy = y - 128;
  const int stripe = ((x + y * static_cast<int>(channel + 1)) / 32) % 2;
  const int level = dx * dx + dy * dy < 80 * 80 ? 224 - y / 2 : 48 + x / 4 + 32 * stripe;
  return level + static_cast<int>(noise.word() >> 60);
}

}  // namespace

std::uint64_t Numbers::word() {
  state_ += 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  return mixed ^ (mixed >> 31);
}

float Numbers::uniform() {
  constexpr float kUnit = 1.0f / (1 << 23);
  return static_cast<float>(static_cast<int>(word() >> 40) - (1 << 23)) * kUnit;
}

float range_of(float gain, UINT fan_in) { return std::sqrt(gain / static_cast<float>(fan_in)); }

Value Value::view(Sizes other_sizes, Sizes other_strides) const {
  Value other = *this;
  other.sizes = std::move(other_sizes);
  other.strides = std::move(other_strides);
  return other;
}

// ---- Inputs ---------------------------------------------------------------------------------------------------------

Value Builder::add_input(Sizes sizes, DML_TENSOR_DATA_TYPE type, bool is_owned) {
  Value value = value_of(std::move(sizes), type);
  value.source = -1 - static_cast<int>(inputs_.size());
  value.is_owned = is_owned;
  if (inputs_.empty()) {
    input_sizes_ = value.sizes;
  }
  inputs_.push_back({{}, is_owned});
  return value;
}

Numbers Builder::numbers_of(const Value& input) const {
  return {options_.seed, static_cast<std::uint64_t>(-1 - input.source)};
}

template <class T>
void Builder::fill(const Value& input, const std::vector<T>& elements) {
  static_assert(sizeof(T) == 4);
  std::vector<std::byte>& contents = inputs_[static_cast<std::size_t>(-1 - input.source)].contents;
  contents.resize(elements.size() * sizeof(T));
  std::memcpy(contents.data(), elements.data(), contents.size());
}

Value Builder::picture(UINT batch, UINT channels, UINT side, float scale) {
  const Value value = add_input({batch, channels, side, side}, DML_TENSOR_DATA_TYPE_FLOAT32, false);
  Numbers noise = numbers_of(value);
  std::vector<float> elements;
  elements.reserve(elements_of(value.sizes));
  for (UINT image = 0; image < batch; ++image) {
    for (UINT channel = 0; channel < channels; ++channel) {
      for (UINT row = 0; row < side; ++row) {
        for (UINT column = 0; column < side; ++column) {
          elements.push_back(static_cast<float>(card(image, channel, side, row, column, noise)) * scale);
        }
      }
    }
  }
  fill(value, elements);
  return value;
}

Value Builder::signals(Sizes sizes) {
  const Value value = add_input(std::move(sizes), DML_TENSOR_DATA_TYPE_FLOAT32, false);
  Numbers numbers = numbers_of(value);
  std::vector<float> elements(elements_of(value.sizes));
  std::ranges::generate(elements, [&] { return numbers.uniform(); });
  fill(value, elements);
  return value;
}

Value Builder::symbols(Sizes sizes, UINT limit) {
  const Value value = add_input(std::move(sizes), DML_TENSOR_DATA_TYPE_UINT32, false);
  Numbers numbers = numbers_of(value);
  std::vector<UINT> elements(elements_of(value.sizes));
  std::ranges::generate(elements, [&] { return static_cast<UINT>(numbers.word() % limit); });
  fill(value, elements);
  return value;
}

Value Builder::weights(Sizes sizes, float range, float center) {
  const Value value = add_input(std::move(sizes), DML_TENSOR_DATA_TYPE_FLOAT32, true);
  Numbers numbers = numbers_of(value);
  std::vector<float> elements(elements_of(value.sizes));
  std::ranges::generate(elements, [&] {
    const float offset = range * numbers.uniform();
    return center + offset;
  });
  fill(value, elements);
  weight_count_ += elements.size();
  return value;
}

Value Builder::parameters(Sizes sizes, float range, float center) {
  Value value = weights(std::move(sizes), range, center);
  value.is_owned = options_.owns_parameters;
  inputs_.back().is_owned = value.is_owned;
  return value;
}

// ---- Nodes ----------------------------------------------------------------------------------------------------------

const DML_TENSOR_DESC* Builder::tensor(const Value& value) {
  const Value& kept = described_.emplace_back(value);
  const auto rank = static_cast<UINT>(kept.sizes.size());
  const auto& buffer = buffers_.emplace_back(
      DML_BUFFER_TENSOR_DESC{kept.type, kept.is_owned ? DML_TENSOR_FLAG_OWNED_BY_DML : DML_TENSOR_FLAG_NONE, rank,
                             kept.sizes.data(), kept.strides.empty() ? nullptr : kept.strides.data(), kept.bytes, 0});
  return &tensors_.emplace_back(DML_TENSOR_DESC{DML_TENSOR_TYPE_BUFFER, &buffer});
}

const DML_OPERATOR_DESC* Builder::fused(Activation activation) {
  // A fused activation uses the operator's tensors, so its own tensors are null.
  static constexpr DML_ACTIVATION_RELU_OPERATOR_DESC kRelu{nullptr, nullptr};
  static constexpr DML_ACTIVATION_TANH_OPERATOR_DESC kTanh{nullptr, nullptr};
  static constexpr DML_OPERATOR_DESC kDescs[] = {{DML_OPERATOR_ACTIVATION_RELU, &kRelu},
                                                 {DML_OPERATOR_ACTIVATION_TANH, &kTanh}};
  return activation == Activation::none ? nullptr : &kDescs[activation == Activation::relu ? 0 : 1];
}

Value Builder::add_node(DML_OPERATOR_TYPE type, const void* desc, const std::vector<const Value*>& inputs,
                        Value result) {
  const DML_OPERATOR_DESC described{type, desc};
  ComPtr<IDMLOperator> built;
  check(device_->CreateOperator(&described, IID_PPV_ARGS(&built)), "CreateOperator");
  operators_.push_back(built);
  const auto node = static_cast<UINT>(nodes_.size());
  nodes_.push_back({built.Get(), nullptr});
  for (UINT i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) {
      continue;
    }
    if (inputs[i]->source < 0) {
      input_edges_.push_back({static_cast<UINT>(-1 - inputs[i]->source), node, i, nullptr});
    } else {
      inner_edges_.push_back({static_cast<UINT>(inputs[i]->source), inputs[i]->output, node, i, nullptr});
    }
  }
  described_.clear();
  buffers_.clear();
  tensors_.clear();
  result.source = static_cast<int>(node);
  return result;
}

template <class Desc>
Value Builder::unary(DML_OPERATOR_TYPE type, const Value& x) {
  const Value y = value_of(x.sizes);
  const Desc desc{tensor(x), tensor(y)};
  return add_node(type, &desc, {&x}, y);
}

Network Builder::compile(const Value& output) {
  std::vector<DML_GRAPH_NODE_DESC> nodes;
  std::vector<DML_GRAPH_EDGE_DESC> input_edges;
  std::vector<DML_GRAPH_EDGE_DESC> inner_edges;
  for (const auto& node : nodes_) {
    nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &node});
  }
  for (const auto& edge : input_edges_) {
    input_edges.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &edge});
  }
  for (const auto& edge : inner_edges_) {
    inner_edges.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &edge});
  }
  const DML_OUTPUT_GRAPH_EDGE_DESC last{static_cast<UINT>(output.source), output.output, 0, nullptr};
  const DML_GRAPH_EDGE_DESC output_edge{DML_GRAPH_EDGE_TYPE_OUTPUT, &last};
  const DML_GRAPH_DESC graph{static_cast<UINT>(inputs_.size()),
                             1,
                             static_cast<UINT>(nodes.size()),
                             nodes.data(),
                             static_cast<UINT>(input_edges.size()),
                             input_edges.data(),
                             1,
                             &output_edge,
                             static_cast<UINT>(inner_edges.size()),
                             inner_edges.data()};
  Network network;
  check(device_->CompileGraph(&graph, options_.flags, IID_PPV_ARGS(&network.compiled)), "CompileGraph");
  network.inputs = std::move(inputs_);
  network.input_sizes = input_sizes_;
  network.output_sizes = output.sizes;
  network.nodes = nodes.size();
  network.weights = weight_count_;
  return network;
}

// ---- Convolutions and images ----------------------------------------------------------------------------------------

Value Builder::convolve(const Value& x, const Value& filter, const Value* bias, Value result, const Window& window,
                        DML_CONVOLUTION_DIRECTION direction, Activation activation) {
  const UINT strides[] = {window.stride, window.stride};
  const UINT ones[] = {1, 1};
  const UINT paddings[] = {window.padding, window.padding};
  const UINT zeros[] = {0, 0};
  const DML_CONVOLUTION_OPERATOR_DESC desc{tensor(x),
                                           tensor(filter),
                                           bias == nullptr ? nullptr : tensor(*bias),
                                           tensor(result),
                                           DML_CONVOLUTION_MODE_CROSS_CORRELATION,
                                           direction,
                                           2,
                                           strides,
                                           ones,
                                           paddings,
                                           paddings,
                                           zeros,
                                           window.groups,
                                           fused(activation)};
  return add_node(DML_OPERATOR_CONVOLUTION, &desc, {&x, &filter, bias}, std::move(result));
}

Value Builder::convolution(const Value& x, UINT channels, const Window& window, Activation activation, bool has_bias) {
  const UINT of_group = x.sizes[1] / window.groups;
  const Value filter =
      weights({channels, of_group, window.size, window.size}, range_of(6, of_group * window.size * window.size));
  std::optional<Value> bias;
  if (has_bias) {
    bias = weights(channel_sizes(channels), 0.125f);
  }
  const Value y =
      value_of({x.sizes[0], channels, windows_along(x.sizes[2], window), windows_along(x.sizes[3], window)});
  return convolve(x, filter, bias ? &*bias : nullptr, y, window, DML_CONVOLUTION_DIRECTION_FORWARD, activation);
}

Value Builder::transposed_convolution(const Value& x, UINT channels, const Window& window) {
  // Each output depends on about 1/stride of the filter along each axis.
  const UINT taps = window.size * window.size / (window.stride * window.stride);
  const Value filter =
      weights({x.sizes[1], channels, window.size, window.size}, range_of(6, x.sizes[1] * std::max(1u, taps)));
  const Value y = value_of({x.sizes[0], channels, x.sizes[2] * window.stride, x.sizes[3] * window.stride});
  return convolve(x, filter, nullptr, y, window, DML_CONVOLUTION_DIRECTION_BACKWARD, Activation::none);
}

Value Builder::batch_normalization(const Value& x) {
  const Sizes sizes = channel_sizes(x.sizes[1]);
  const Value mean = parameters(sizes, 0.125f, 0);
  const Value variance = parameters(sizes, 0.5f, 1);
  const Value scale = parameters(sizes, 0.25f, 1);
  const Value bias = parameters(sizes, 0.125f, 0);
  const Value y = value_of(x.sizes);
  const DML_BATCH_NORMALIZATION_OPERATOR_DESC desc{
      tensor(x), tensor(mean), tensor(variance), tensor(scale), tensor(bias), tensor(y), TRUE, kEpsilon, nullptr};
  return add_node(DML_OPERATOR_BATCH_NORMALIZATION, &desc, {&x, &mean, &variance, &scale, &bias}, y);
}

Value Builder::normalize(const Value& x, const std::vector<UINT>& axes, const Sizes& parameter_sizes,
                         Activation activation) {
  const Value scale = parameters(parameter_sizes, 0.25f, 1);
  const Value bias = parameters(parameter_sizes, 0.125f, 0);
  const Value y = value_of(x.sizes);
  const DML_MEAN_VARIANCE_NORMALIZATION1_OPERATOR_DESC desc{
      tensor(x),   tensor(scale), tensor(bias), tensor(y),        static_cast<UINT>(axes.size()),
      axes.data(), TRUE,          kEpsilon,     fused(activation)};
  return add_node(DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION1, &desc, {&x, &scale, &bias}, y);
}

Value Builder::instance_normalization(const Value& x, Activation activation) {
  return normalize(x, {2, 3}, channel_sizes(x.sizes[1]), activation);
}

Value Builder::layer_normalization(const Value& x) {
  Sizes sizes(x.sizes.size(), 1);
  sizes.back() = x.sizes.back();
  return normalize(x, {static_cast<UINT>(x.sizes.size() - 1)}, sizes, Activation::none);
}

Value Builder::max_pooling(const Value& x, const Window& window) {
  const Value y =
      value_of({x.sizes[0], x.sizes[1], windows_along(x.sizes[2], window), windows_along(x.sizes[3], window)});
  const UINT strides[] = {window.stride, window.stride};
  const UINT windows[] = {window.size, window.size};
  const UINT paddings[] = {window.padding, window.padding};
  const UINT ones[] = {1, 1};
  const DML_MAX_POOLING2_OPERATOR_DESC desc{tensor(x), tensor(y), nullptr,  2,   strides,
                                            windows,   paddings,  paddings, ones};
  return add_node(DML_OPERATOR_MAX_POOLING2, &desc, {&x}, y);
}

Value Builder::average_pooling(const Value& x) {
  const Value y = value_of({x.sizes[0], x.sizes[1], 1, 1});
  const UINT ones[] = {1, 1};
  const UINT zeros[] = {0, 0};
  const UINT windows[] = {x.sizes[2], x.sizes[3]};
  const DML_AVERAGE_POOLING_OPERATOR_DESC desc{tensor(x), tensor(y), 2, ones, windows, zeros, zeros, FALSE};
  return add_node(DML_OPERATOR_AVERAGE_POOLING, &desc, {&x}, y);
}

Value Builder::join(const std::vector<Value>& values) {
  Value y = value_of(values.front().sizes);
  y.sizes[1] = 0;
  std::vector<DML_TENSOR_DESC> descs;
  std::vector<const Value*> inputs;
  for (const Value& value : values) {
    y.sizes[1] += value.sizes[1];
    descs.push_back(*tensor(value));
    inputs.push_back(&value);
  }
  y.bytes = elements_of(y.sizes) * sizeof(float);
  const DML_JOIN_OPERATOR_DESC desc{static_cast<UINT>(descs.size()), descs.data(), tensor(y), 1};
  return add_node(DML_OPERATOR_JOIN, &desc, inputs, y);
}

Value Builder::reflect(const Value& x, UINT border) {
  const Value y = value_of({x.sizes[0], x.sizes[1], x.sizes[2] + 2 * border, x.sizes[3] + 2 * border});
  const UINT borders[] = {0, 0, border, border};
  const DML_PADDING_OPERATOR_DESC desc{tensor(x), tensor(y), DML_PADDING_MODE_REFLECTION, 0, 4, borders, borders};
  return add_node(DML_OPERATOR_PADDING, &desc, {&x}, y);
}

Value Builder::crop(const Value& x, UINT border) {
  const Value y = value_of({x.sizes[0], x.sizes[1], x.sizes[2] - 2 * border, x.sizes[3] - 2 * border});
  const UINT offsets[] = {0, 0, border, border};
  const INT ones[] = {1, 1, 1, 1};
  const DML_SLICE1_OPERATOR_DESC desc{tensor(x), tensor(y), 4, offsets, y.sizes.data(), ones};
  return add_node(DML_OPERATOR_SLICE1, &desc, {&x}, y);
}

Value Builder::depth_to_space(const Value& x, UINT block) {
  const Value y = value_of({x.sizes[0], x.sizes[1] / (block * block), x.sizes[2] * block, x.sizes[3] * block});
  const DML_DEPTH_TO_SPACE1_OPERATOR_DESC desc{tensor(x), tensor(y), block, DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH};
  return add_node(DML_OPERATOR_DEPTH_TO_SPACE1, &desc, {&x}, y);
}

Value Builder::upsample(const Value& x, UINT scale) {
  const Value y = value_of({x.sizes[0], x.sizes[1], x.sizes[2] * scale, x.sizes[3] * scale});
  const DML_UPSAMPLE_2D_OPERATOR_DESC desc{tensor(x), tensor(y), {scale, scale}, DML_INTERPOLATION_MODE_LINEAR};
  return add_node(DML_OPERATOR_UPSAMPLE_2D, &desc, {&x}, y);
}

Value Builder::scale_image(const Value& x, float scale, float bias) {
  const Value y = value_of(x.sizes);
  const std::vector<FLOAT> biases(x.sizes[1], bias);
  const DML_VALUE_SCALE_2D_OPERATOR_DESC desc{tensor(x), tensor(y), scale, x.sizes[1], biases.data()};
  return add_node(DML_OPERATOR_VALUE_SCALE_2D, &desc, {&x}, y);
}

// ---- Element-wise operators and rows --------------------------------------------------------------------------------

Value Builder::scale_values(const Value& x, float scale, float bias) {
  const Value y = value_of(x.sizes);
  const DML_ACTIVATION_LINEAR_OPERATOR_DESC desc{tensor(x), tensor(y), scale, bias};
  return add_node(DML_OPERATOR_ACTIVATION_LINEAR, &desc, {&x}, y);
}

Value Builder::clip(const Value& x, float low, float high) {
  const Value y = value_of(x.sizes);
  const DML_ELEMENT_WISE_CLIP_OPERATOR_DESC desc{tensor(x), tensor(y), nullptr, low, high};
  return add_node(DML_OPERATOR_ELEMENT_WISE_CLIP, &desc, {&x}, y);
}

Value Builder::gelu(const Value& x) {
  return unary<DML_ACTIVATION_GELU_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_GELU, x);
}

Value Builder::tanh(const Value& x) {
  return unary<DML_ACTIVATION_TANH_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_TANH, x);
}

Value Builder::softmax(const Value& x) {
  return unary<DML_ACTIVATION_SOFTMAX_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_SOFTMAX, x);
}

Value Builder::packed(const Value& x) {
  return unary<DML_ACTIVATION_IDENTITY_OPERATOR_DESC>(DML_OPERATOR_ACTIVATION_IDENTITY, x);
}

Value Builder::add(const Value& a, const Value& b) {
  const Value y = value_of(a.sizes);
  const DML_ELEMENT_WISE_ADD1_OPERATOR_DESC desc{tensor(a), tensor(b), tensor(y), nullptr};
  return add_node(DML_OPERATOR_ELEMENT_WISE_ADD1, &desc, {&a, &b}, y);
}

Value Builder::mean_of_rows(const Value& x) {
  const UINT axis = 2;
  const Value y = value_of({x.sizes[0], x.sizes[1], 1, x.sizes[3]});
  const DML_REDUCE_OPERATOR_DESC desc{DML_REDUCE_FUNCTION_AVERAGE, tensor(x), tensor(y), 1, &axis};
  return add_node(DML_OPERATOR_REDUCE, &desc, {&x}, y);
}

Value Builder::product(const Value& x, UINT columns, float gain) {
  const UINT depth = x.sizes.back();
  const auto rows = static_cast<UINT>(elements_of(x.sizes) / depth);
  const Value matrix = weights({1, 1, depth, columns}, range_of(gain, depth));
  const Value bias = weights({1, 1, 1, columns}, 0.125f);
  const Value a = x.view({1, 1, rows, depth});
  const Value b = packed(matrix);  // DirectMLX's clients pass matrices like this
  const Value c = bias.view({1, 1, rows, columns}, {0, 0, 0, 1});
  const Value y = value_of({1, 1, rows, columns});
  const DML_GEMM_OPERATOR_DESC desc{
      tensor(a), tensor(b), tensor(c), tensor(y), DML_MATRIX_TRANSFORM_NONE, DML_MATRIX_TRANSFORM_NONE, 1, 1, nullptr};
  const Value built = add_node(DML_OPERATOR_GEMM, &desc, {&a, &b, &c}, y);
  Sizes sizes = x.sizes;
  sizes.back() = columns;
  return built.view(sizes);
}

// ---- Sequences ------------------------------------------------------------------------------------------------------

Value Builder::gather(const Value& table, const Value& symbols) {
  const Value y = value_of({1, symbols.sizes[2], symbols.sizes[3], table.sizes[3]});
  const DML_GATHER_OPERATOR_DESC desc{tensor(table), tensor(symbols), tensor(y), 2, 2};
  return add_node(DML_OPERATOR_GATHER, &desc, {&table, &symbols}, y);
}

Value Builder::attention(const Value& stacked, UINT heads) {
  const UINT batch = stacked.sizes[1];
  const UINT tokens = stacked.sizes[2];
  const UINT width = stacked.sizes[3] / 3;
  const UINT head = width / heads;
  const Value queries_keys_values = stacked.view({batch, tokens, heads, 3, head});
  const Value y = value_of({batch, tokens, width});
  DML_MULTIHEAD_ATTENTION_OPERATOR_DESC desc{};
  desc.StackedQueryKeyValueTensor = tensor(queries_keys_values);
  desc.OutputTensor = tensor(y);
  desc.Scale = 1 / std::sqrt(static_cast<float>(head));
  desc.HeadCount = heads;
  desc.MaskType = DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE;
  return add_node(DML_OPERATOR_MULTIHEAD_ATTENTION, &desc,
                  {nullptr, nullptr, nullptr, nullptr, nullptr, &queries_keys_values}, y);
}

Value Builder::lstm(const Value& x, UINT units, bool is_sequence) {
  const UINT directions = is_sequence ? 2 : 1;
  const UINT steps = x.sizes[1];
  const UINT batch = x.sizes[2];
  const UINT inputs = x.sizes[3];
  const Value given[] = {weights({1, directions, 4 * units, inputs}, range_of(3, inputs)),
                         weights({1, directions, 4 * units, units}, range_of(3, units)),
                         weights({1, 1, directions, 8 * units}, 0.125f)};
  // LSTM does not accept OWNED_BY_DML tensors; a node in between turns the weights into ordinary values.
  const Value matrix = packed(given[0]);
  const Value recurrence = packed(given[1]);
  const Value bias = packed(given[2]);
  Value y = value_of(is_sequence ? Sizes{steps, directions, batch, units} : Sizes{1, 1, batch, units});
  y.output = is_sequence ? 0 : 1;
  static constexpr DML_ACTIVATION_SIGMOID_OPERATOR_DESC kSigmoid{nullptr, nullptr};
  static constexpr DML_ACTIVATION_TANH_OPERATOR_DESC kTanh{nullptr, nullptr};
  static constexpr DML_OPERATOR_DESC kGates[] = {
      {DML_OPERATOR_ACTIVATION_SIGMOID, &kSigmoid}, {DML_OPERATOR_ACTIVATION_TANH, &kTanh},
      {DML_OPERATOR_ACTIVATION_TANH, &kTanh},       {DML_OPERATOR_ACTIVATION_SIGMOID, &kSigmoid},
      {DML_OPERATOR_ACTIVATION_TANH, &kTanh},       {DML_OPERATOR_ACTIVATION_TANH, &kTanh}};
  DML_LSTM_OPERATOR_DESC desc{};
  desc.InputTensor = tensor(x);
  desc.WeightTensor = tensor(matrix);
  desc.RecurrenceTensor = tensor(recurrence);
  desc.BiasTensor = tensor(bias);
  (is_sequence ? desc.OutputSequenceTensor : desc.OutputSingleTensor) = tensor(y);
  desc.ActivationDescCount = 3 * directions;
  desc.ActivationDescs = kGates;
  desc.Direction =
      is_sequence ? DML_RECURRENT_NETWORK_DIRECTION_BIDIRECTIONAL : DML_RECURRENT_NETWORK_DIRECTION_FORWARD;
  return add_node(DML_OPERATOR_LSTM, &desc, {&x, &matrix, &recurrence, &bias}, y);
}

Value Builder::lstm_sequence(const Value& x, UINT units) { return lstm(x, units, true); }

Value Builder::lstm_state(const Value& x, UINT units) { return lstm(x, units, false); }

}  // namespace networks
