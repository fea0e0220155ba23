// SPDX-License-Identifier: MIT
// Random C API graphs of operators that move, gather, scatter and sort elements, multiply matrices, normalize, reduce,
// pool and resample, with element-wise operators between them. Each graph must produce the same bits as its operators
// run one by one. ANYDML_GRAPHS sets the number of graphs and ANYDML_GRAPH_SEED the first seed. A failure message
// contains the seed of its graph.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/graph_twin.h"
#include "support/layer.h"
#include "support/sanitizers.h"
#include "support/setting.h"

namespace anydml::test {
namespace {

class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {
    static constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17, 32, 64, 100};
    for (int64_t& size : sizes_) {
      size = kSizes[below(std::size(kSizes))];
    }
    static_cast<void>(add_input(random_sizes()));
    const std::size_t count = 2 + below(24);
    for (std::size_t i = 0; i < count; ++i) {
      add_node();
    }
    twin_.output(twin_.count() - 1);
    for (std::size_t value = 0; value + 1 < twin_.count(); ++value) {
      if (one_in(5)) {
        twin_.output(value);
      }
    }
    twin_.compile();
  }

  [[nodiscard]] std::string difference() const {
    const std::string difference = twin_.difference();
    return difference.empty() ? difference : difference + "\n" + text_;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t count) { return random_() % count; }
  [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }
  [[nodiscard]] int64_t some_size() { return sizes_[below(std::size(sizes_))]; }

  [[nodiscard]] Sizes random_sizes() {
    Sizes sizes(2 + below(2));
    for (int64_t& size : sizes) {
      size = some_size();
    }
    return sizes;
  }

  [[nodiscard]] std::size_t add_input(const Sizes& sizes, bool may_be_constant = true) {
    const Form form(ANYDML_FLOAT32, sizes);
    Bytes data(form.bytes());
    for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
      const float value = static_cast<float>(static_cast<int>(below(4001)) - 2000) / 1024;
      std::memcpy(&data[i], &value, sizeof(value));
    }
    return may_be_constant && one_in(3) ? twin_.constant(form, std::move(data)) : twin_.input(form, std::move(data));
  }

  // A FLOAT32 value, usually a recent one.
  [[nodiscard]] std::size_t any_value() {
    const std::size_t count = twin_.count();
    for (int attempt = 0; attempt < 8; ++attempt) {
      const std::size_t value = one_in(3) ? below(count) : count - 1 - below(std::min<std::size_t>(count, 3));
      if (twin_[value].form.type == ANYDML_FLOAT32) {
        return value;
      }
    }
    return 0;  // an input
  }

  // Indices into `size` elements, of which a few are out of range.
  [[nodiscard]] std::size_t add_indices(const Sizes& sizes, int64_t size) {
    const Form form(ANYDML_INT32, sizes);
    Bytes data(form.bytes());
    for (std::size_t i = 0; i < data.size(); i += sizeof(int32_t)) {
      const auto index = static_cast<int32_t>(one_in(50) ? random_() : below(static_cast<std::size_t>(size)));
      std::memcpy(&data[i], &index, sizeof(index));
    }
    return one_in(2) ? twin_.constant(form, std::move(data)) : twin_.input(form, std::move(data));
  }

  // Returns a value with these sizes, except that the free axis may have any size. Adds a new value if there is none.
  [[nodiscard]] std::size_t value_like(const Sizes& sizes, std::size_t free_axis) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const std::size_t value = any_value();
      Sizes other = twin_[value].form.sizes;
      if (other.size() == sizes.size()) {
        if (free_axis < sizes.size()) {
          other[free_axis] = sizes[free_axis];
        }
        if (other == sizes) {
          return value;
        }
      }
    }
    return add_input(sizes);
  }

  void note(const char* op, const std::vector<std::size_t>& inputs) {
    text_ += std::to_string(twin_.count()) + " = " + op + "(";
    for (const std::size_t input : inputs) {
      text_ += " " + std::to_string(input);
      for (const int64_t size : twin_[input].form.sizes) {
        text_ += "," + std::to_string(size);
      }
    }
    text_ += " )\n";
  }

  void add_node() {
    const std::size_t x = any_value();
    switch (below(19)) {
      case 0:
        return split(x);
      case 1:
        return join(x);
      case 2:
        return slice(x);
      case 3:
      case 4:
        return multiply(x);
      case 5:
        return softmax(x);
      case 6:
        return reduce(x);
      case 7:
        return resample(x);
      case 8:
        return pool(x);
      case 9:
        return gather(x);
      case 10:
        return scatter(x);
      case 11:
        return order(x);
      case 12:
        return scan(x);
      case 13:
        return normalize(x);
      case 14:
      case 15:
        return convolve(x);
      case 16:
        return multiply_bytes(x);
      default:
        return by_element(x);
    }
  }

  void by_element(std::size_t x) {
    static constexpr const char* kUnary[] = {"ACTIVATION_RELU", "ELEMENT_WISE_ABS", "ACTIVATION_TANH",
                                             "ACTIVATION_SOFTSIGN"};
    const Form form(ANYDML_FLOAT32, twin_[x].form.sizes);
    if (one_in(2)) {
      const char* op = kUnary[below(std::size(kUnary))];
      note(op, {x});
      static_cast<void>(twin_.run(op, {x}, form));
      return;
    }
    const std::size_t y = value_like(form.sizes, form.sizes.size());
    const char* op = one_in(3) ? "ELEMENT_WISE_MULTIPLY" : "ELEMENT_WISE_ADD";
    note(op, {x, y});
    static_cast<void>(twin_.run(op, {x, y}, form));
  }

  [[nodiscard]] static anydml_attribute integer(const char* name, int64_t value) {
    anydml_attribute attribute = {name, ANYDML_INT64, 0, {}};
    attribute.value.i64 = value;
    return attribute;
  }
  [[nodiscard]] static anydml_attribute integers(const char* name, const Sizes& values) {
    anydml_attribute attribute = {
        name, uint32_t{ANYDML_INT64} | ANYDML_ARRAY, static_cast<uint32_t>(values.size()), {}};
    attribute.value.i64s = values.data();
    return attribute;
  }

  void split(std::size_t x) {
    const Sizes sizes = twin_[x].form.sizes;
    const std::size_t axis = below(sizes.size());
    std::vector<Form> parts;
    int64_t left = sizes[axis];
    while (left > 0) {
      Sizes part = sizes;
      part[axis] = parts.size() == 7 ? left : 1 + static_cast<int64_t>(below(static_cast<std::size_t>(left)));
      left -= part[axis];
      parts.emplace_back(ANYDML_FLOAT32, part);
    }
    note("SPLIT", {x});
    static_cast<void>(twin_.run("SPLIT", {x}, parts, {integer("Axis", static_cast<int64_t>(axis))}));
  }

  void join(std::size_t x) {
    Sizes sizes = twin_[x].form.sizes;
    const std::size_t axis = below(sizes.size());
    std::vector<std::size_t> inputs = {x};
    int64_t total = sizes[axis];
    for (std::size_t more = below(4); more > 0; --more) {
      inputs.push_back(value_like(sizes, axis));
      total += twin_[inputs.back()].form.sizes[axis];
    }
    if (total > 400) {
      return;
    }
    sizes[axis] = total;
    note("JOIN", inputs);
    static_cast<void>(
        twin_.run("JOIN", inputs, Form(ANYDML_FLOAT32, sizes), {integer("Axis", static_cast<int64_t>(axis))}));
  }

  void resample(std::size_t x) {
    Sizes sizes = twin_[x].form.sizes;
    std::vector<double> scales(sizes.size(), 1.0);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (one_in(2)) {
        const int64_t size = some_size();
        scales[i] = static_cast<double>(size) / static_cast<double>(sizes[i]);
        sizes[i] = size;
      }
    }
    anydml_attribute mode = {"InterpolationMode", ANYDML_TEXT, 0, {}};
    mode.value.text = one_in(3) ? "NEAREST_NEIGHBOR" : "LINEAR";
    anydml_attribute given = {
        "Scales", uint32_t{ANYDML_FLOAT64} | ANYDML_ARRAY, static_cast<uint32_t>(scales.size()), {}};
    given.value.f64s = scales.data();
    note("RESAMPLE", {x});
    static_cast<void>(twin_.run("RESAMPLE", {x}, Form(ANYDML_FLOAT32, sizes), {mode, given}));
  }

  void slice(std::size_t x) {
    const Sizes sizes = twin_[x].form.sizes;
    Sizes offsets(sizes.size());
    Sizes windows(sizes.size());
    Sizes strides(sizes.size());
    Sizes result(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      windows[i] = 1 + static_cast<int64_t>(below(static_cast<std::size_t>(sizes[i])));
      offsets[i] = static_cast<int64_t>(below(static_cast<std::size_t>(sizes[i] - windows[i] + 1)));
      const int64_t step = one_in(3) ? 2 : 1;
      strides[i] = one_in(4) ? -step : step;
      result[i] = (windows[i] + step - 1) / step;
    }
    note("SLICE1", {x});
    static_cast<void>(twin_.run("SLICE1", {x}, Form(ANYDML_FLOAT32, result),
                                {integers("InputWindowOffsets", offsets), integers("InputWindowSizes", windows),
                                 integers("InputWindowStrides", strides)}));
  }

  void multiply(std::size_t x) {
    const Sizes a = twin_[x].form.sizes;
    const std::size_t rank = a.size();
    if (rank < 2) {
      return;
    }
    const bool transposed = one_in(2);
    const int64_t columns = some_size();
    Sizes b = a;
    b[rank - 2] = transposed ? columns : a[rank - 1];
    b[rank - 1] = transposed ? a[rank - 1] : columns;
    Sizes result = a;
    result[rank - 1] = columns;
    std::vector<std::size_t> inputs = {x, value_like(b, rank)};
    if (one_in(2)) {
      inputs.push_back(value_like(result, rank));
    }
    anydml_operator relu = {"ACTIVATION_RELU", nullptr, 0};
    std::vector<anydml_attribute> attributes = {integer("TransA", 0), integer("TransB", transposed ? 1 : 0),
                                                number("Alpha", one_in(2) ? 1 : 0.5),
                                                number("Beta", one_in(2) ? 1 : -0.5)};
    if (one_in(3)) {
      attributes.push_back({"FusedActivation", ANYDML_OPERATOR, 0, {}});
      attributes.back().value.operators = &relu;
    }
    note("GEMM", inputs);
    std::size_t product = twin_.run("GEMM", inputs, Form(ANYDML_FLOAT32, result), attributes);
    if (one_in(2)) {  // a bias, a residual and an activation follow
      note("bias, residual, TANH", {product});
      const Form form(ANYDML_FLOAT32, result);
      product = twin_.run("ELEMENT_WISE_ADD", {product, add_input({columns})}, form);
      product = twin_.run("ELEMENT_WISE_ADD", {product, value_like(result, rank)}, form);
      static_cast<void>(twin_.run("ACTIVATION_TANH", {product}, form));
    }
  }

  [[nodiscard]] Sizes random_axes(std::size_t rank) {
    Sizes axes;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (one_in(2)) {
        axes.push_back(static_cast<int64_t>(axis));
      }
    }
    if (axes.empty()) {
      axes.push_back(static_cast<int64_t>(rank) - 1);
    }
    return axes;
  }

  void softmax(std::size_t x) {
    const Form form(ANYDML_FLOAT32, twin_[x].form.sizes);
    const Sizes axes = random_axes(form.sizes.size());
    note("ACTIVATION_SOFTMAX1", {x});
    static_cast<void>(twin_.run("ACTIVATION_SOFTMAX1", {x}, form, {axes_of(axes)}));
  }

  void scan(std::size_t x) {
    const Form form(ANYDML_FLOAT32, twin_[x].form.sizes);
    if (form.sizes.empty()) {
      return;
    }
    note("CUMULATIVE_SUMMATION", {x});
    static_cast<void>(twin_.run("CUMULATIVE_SUMMATION", {x}, form,
                                {integer("Axis", static_cast<int64_t>(below(form.sizes.size()))),
                                 integer("AxisDirection", static_cast<int64_t>(below(2))),
                                 integer("HasExclusiveSum", static_cast<int64_t>(below(2)))}));
  }

  // Normalizes with the mean and variance of the rows, or with a given mean and variance, and sometimes with a fused
  // activation.
  void normalize(std::size_t x) {
    const Form form(ANYDML_FLOAT32, twin_[x].form.sizes);
    const std::size_t rank = form.sizes.size();
    Sizes channels(rank, 1);
    channels[rank / 2] = form.sizes[rank / 2];
    const bool is_batch = one_in(2);
    std::vector<std::size_t> inputs = {x};
    for (int i = 0; i < (is_batch ? 4 : 2); ++i) {
      inputs.push_back(value_like(channels, rank));
    }
    const Sizes axes = random_axes(rank);
    anydml_operator relu = {"ACTIVATION_RELU", nullptr, 0};
    std::vector<anydml_attribute> attributes = {number("Epsilon", 0.5)};
    if (is_batch) {
      attributes.push_back(integer("Spatial", 1));
    } else {
      attributes.push_back(axes_of(axes));
      attributes.push_back(integer("NormalizeVariance", 1));
    }
    if (one_in(3)) {
      attributes.push_back({"FusedActivation", ANYDML_OPERATOR, 0, {}});
      attributes.back().value.operators = &relu;
    }
    const char* const name = is_batch ? "BATCH_NORMALIZATION" : "MEAN_VARIANCE_NORMALIZATION1";
    note(name, inputs);
    static_cast<void>(twin_.run(name, inputs, form, attributes));
  }

  void reduce(std::size_t x) {
    Sizes sizes = twin_[x].form.sizes;
    const Sizes axes = random_axes(sizes.size());
    for (const int64_t axis : axes) {
      sizes[static_cast<std::size_t>(axis)] = 1;
    }
    note("REDUCE", {x});
    static_cast<void>(twin_.run("REDUCE", {x}, Form(ANYDML_FLOAT32, sizes),
                                {function(one_in(2)   ? "AVERAGE"
                                          : one_in(2) ? "MAX"
                                                      : "LOG_SUM_EXP"),
                                 axes_of(axes)}));
  }

  void gather(std::size_t x) {
    Sizes sizes = twin_[x].form.sizes;
    const std::size_t axis = below(sizes.size());
    const int64_t size = sizes[axis];
    sizes[axis] = some_size();
    const std::size_t indices = add_indices(sizes, size);
    note("GATHER_ELEMENTS", {x, indices});
    static_cast<void>(twin_.run("GATHER_ELEMENTS", {x, indices}, Form(ANYDML_FLOAT32, sizes),
                                {integer("Axis", static_cast<int64_t>(axis))}));
  }

  void scatter(std::size_t x) {
    const Sizes& sizes = twin_[x].form.sizes;
    const Form form(ANYDML_FLOAT32, sizes);
    const std::size_t axis = below(sizes.size());
    Sizes updated = form.sizes;
    updated[axis] = some_size();
    const std::size_t indices = add_indices(updated, form.sizes[axis]);
    const std::size_t updates = value_like(updated, updated.size());
    note("SCATTER_ELEMENTS", {x, indices, updates});
    static_cast<void>(
        twin_.run("SCATTER_ELEMENTS", {x, indices, updates}, form, {integer("Axis", static_cast<int64_t>(axis))}));
  }

  // Finds the largest or smallest elements of each row, and sometimes also gathers them by their indices.
  void order(std::size_t x) {
    Sizes sizes = twin_[x].form.sizes;
    const std::size_t axis = below(sizes.size());
    sizes[axis] = 1 + static_cast<int64_t>(below(static_cast<std::size_t>(sizes[axis])));
    const anydml_attribute along = integer("Axis", static_cast<int64_t>(axis));
    note("TOP_K1", {x});
    const std::vector<std::size_t> found =
        twin_.run("TOP_K1", {x}, std::vector<Form>{Form(ANYDML_FLOAT32, sizes), Form(ANYDML_UINT32, sizes)},
                  {along, integer("K", sizes[axis]), integer("AxisDirection", one_in(2) ? 1 : 0)});
    if (one_in(2)) {
      note("GATHER_ELEMENTS", {x, found[1]});
      static_cast<void>(twin_.run("GATHER_ELEMENTS", {x, found[1]}, Form(ANYDML_FLOAT32, sizes), {along}));
    }
  }

  void pool(std::size_t x) {
    static constexpr const char* kOps[] = {"AVERAGE_POOLING", "LP_POOLING", "MAX_POOLING"};
    Sizes sizes = twin_[x].form.sizes;
    if (sizes.size() < 3) {
      return;
    }
    const char* const op = kOps[below(std::size(kOps))];
    Sizes windows;
    Sizes strides;
    Sizes starts;
    const Sizes ends(sizes.size() - 2, 1);
    for (std::size_t i = 2; i < sizes.size(); ++i) {
      windows.push_back(one_in(8) ? sizes[i] : std::min<int64_t>(sizes[i], 1 + static_cast<int64_t>(below(3))));
      strides.push_back(1 + static_cast<int64_t>(below(2)));
      starts.push_back(static_cast<int64_t>(below(2)));
      sizes[i] = (sizes[i] + starts.back() + 1 - windows.back()) / strides.back() + 1;
    }
    std::vector<anydml_attribute> attributes = {integers("Strides", strides), integers("WindowSize", windows),
                                                integers("StartPadding", starts), integers("EndPadding", ends)};
    if (op == kOps[0]) {
      attributes.push_back(integer("IncludePadding", one_in(2) ? 1 : 0));
    } else if (op == kOps[1]) {
      attributes.push_back(integer("P", 1 + static_cast<int64_t>(below(3))));
    }
    note(op, {x});
    static_cast<void>(twin_.run(op, {x}, Form(ANYDML_FLOAT32, sizes), attributes));
  }

  // Adds a one-dimensional convolution (dense, grouped or depthwise), followed by steps that may be joined with it.
  void convolve(std::size_t x) {
    const Sizes sizes = twin_[x].form.sizes;
    if (sizes.size() != 3) {
      return;
    }
    Layer layer;
    layer.groups = one_in(3) ? sizes[1] : 1;
    layer.ins = sizes[1] / layer.groups;
    layer.outs = layer.groups == 1 ? some_size() : 1 + static_cast<int64_t>(below(2));
    layer.images = sizes[0];
    layer.spatial = {sizes[2]};
    layer.kernel = {std::min<int64_t>(sizes[2], 1 + static_cast<int64_t>(below(3)))};
    layer.strides = {1 + below(2)};
    layer.dilations = {1};
    layer.start = {below(2)};
    layer.end = {below(2)};
    layer.more = {0};
    layer.backward = one_in(4);
    layer.flipped = one_in(4);
    if (layer.output(0) < 1) {
      return;
    }
    std::vector<std::size_t> inputs = {x, add_input(layer.filter_sizes())};
    if (one_in(2)) {
      inputs.push_back(add_input(layer.bias_sizes()));
    }
    const Form form(ANYDML_FLOAT32, layer.output_sizes());
    note("CONVOLUTION", inputs);
    std::size_t built = twin_.run("CONVOLUTION", inputs, form, layer.attributes());
    if (one_in(2)) {
      note("residual, RELU", {built});
      built = twin_.run("ELEMENT_WISE_ADD", {built, value_like(form.sizes, form.sizes.size())}, form);
      static_cast<void>(twin_.run("ACTIVATION_RELU", {built}, form));
    }
  }

  [[nodiscard]] std::size_t add_bytes(const Sizes& sizes) {
    const Form form(ANYDML_INT8, sizes);
    Bytes data(form.bytes());
    for (auto& one : data) {
      one = static_cast<Bytes::value_type>(below(256));
    }
    return one_in(2) ? twin_.constant(form, std::move(data)) : twin_.input(form, std::move(data));
  }

  // Floats are quantized to bytes, and the product of bytes is converted back to floats.
  void multiply_bytes(std::size_t x) {
    const Sizes a = twin_[x].form.sizes;
    const std::size_t rank = a.size();
    if (rank < 2) {
      return;
    }
    Sizes b = a;
    b[rank - 2] = a[rank - 1];
    b[rank - 1] = some_size();
    Sizes result = a;
    result[rank - 1] = b[rank - 1];
    const Sizes one(rank, 1);
    const std::size_t scale = add_input(one);
    const std::size_t zero = add_bytes(one);
    note("ELEMENT_WISE_QUANTIZE_LINEAR", {x, scale, zero});
    const std::size_t bytes = twin_.run("ELEMENT_WISE_QUANTIZE_LINEAR", {x, scale, zero}, Form(ANYDML_INT8, a));
    const std::vector<std::size_t> inputs = {bytes, scale, zero, add_bytes(b), add_input(one), add_bytes(one)};
    note("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", inputs);
    static_cast<void>(twin_.run("MATRIX_MULTIPLY_INTEGER_TO_FLOAT", inputs, Form(ANYDML_FLOAT32, result)));
  }

  std::mt19937_64 random_;
  int64_t sizes_[3] = {};
  Twin twin_;
  std::string text_;
};

TEST(RandomNetworks, AreTheirOperatorsOneByOne) {
  const std::uint64_t first = setting("ANYDML_GRAPH_SEED", 1);
  const std::uint64_t count = setting("ANYDML_GRAPHS", kSanitized ? 60 : 300);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RandomNetwork network(seed);
    ASSERT_EQ(network.difference(), "") << "ANYDML_GRAPH_SEED=" << seed;
    if (::testing::Test::HasFailure()) {
      FAIL() << "ANYDML_GRAPH_SEED=" << seed;
    }
  }
}

}  // namespace
}  // namespace anydml::test
