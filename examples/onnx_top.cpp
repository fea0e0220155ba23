// SPDX-License-Identifier: MIT
// Runs an ONNX model from C++ and prints the five largest numbers of its first output: onnx_top MODEL.onnx [FLOATS.raw]
//
// The file has the elements of the first input; without it, and for all other inputs, the elements are zeros. The C
// interface needs no wrapper: std::unique_ptr releases its objects.
#include <anydml/onnx.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Release {
  void operator()(anydml_onnx_model* model) const { anydml_onnx_release(model); }
  void operator()(anydml_onnx_results* results) const { anydml_onnx_results_release(results); }
};
using Model = std::unique_ptr<anydml_onnx_model, Release>;
using Results = std::unique_ptr<anydml_onnx_results, Release>;

void check(int code) {
  if (code != ANYDML_OK) {
    throw std::runtime_error(anydml_last_error());
  }
}

Model load(const char* path) {
  anydml_onnx_model* model = nullptr;
  check(anydml_onnx_load(path, nullptr, &model));
  return Model(model);
}

Results run(const Model& model, std::span<const anydml_tensor> inputs) {
  anydml_onnx_results* results = nullptr;
  check(anydml_onnx_run_to_results(model.get(), inputs.data(), inputs.size(), &results));
  return Results(results);
}

// An input of zeros, whose symbolic dimensions have the size 1.
struct Input {
  explicit Input(const anydml_onnx_value_info& info) : type(anydml_onnx_tensor_type(info.type)) {
    for (std::int32_t i = 0; i < info.rank; ++i) {
      sizes.push_back(std::max<std::int64_t>(info.sizes[i], info.sizes[i] < 0 ? 1 : 0));
    }
    const auto count = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    bytes.resize(static_cast<std::size_t>(count) * anydml_type_size(type));
  }
  [[nodiscard]] anydml_tensor tensor() const {
    return anydml_const_tensor(type, static_cast<std::int32_t>(sizes.size()), sizes.data(), nullptr, bytes.data());
  }

  anydml_type type;
  std::vector<std::int64_t> sizes;
  std::vector<char> bytes;
};

void print_largest(const anydml_tensor& scores) {
  std::int64_t count = 1;
  for (std::int32_t i = 0; i < scores.rank; ++i) {
    count *= scores.sizes[i];
  }
  if (scores.type != ANYDML_FLOAT32) {
    throw std::runtime_error("the first output is not a tensor of floats");
  }
  const std::span values(static_cast<const float*>(scores.data), static_cast<std::size_t>(count));
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = std::min<std::ptrdiff_t>(5, static_cast<std::ptrdiff_t>(order.size()));
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  });
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    const std::size_t index = order[static_cast<std::size_t>(i)];
    std::printf("%zu: %g\n", index, static_cast<double>(values[index]));
  }
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2 && count != 3) {
    throw std::runtime_error("usage: onnx_top MODEL.onnx [FLOATS.raw]");
  }
  const Model model = load(arguments[1]);
  std::vector<Input> inputs;
  std::vector<anydml_tensor> tensors;
  for (std::size_t i = 0; i < anydml_onnx_input_count(model.get()); ++i) {
    const anydml_onnx_value_info* info = anydml_onnx_input_at(model.get(), i);
    inputs.emplace_back(*info);
    tensors.push_back(info->has_initializer != 0 ? anydml_tensor{} : inputs.back().tensor());  // {}: the model's values
  }
  if (count == 3 && !inputs.empty()) {
    std::ifstream file(arguments[2], std::ios::binary);
    std::vector<char>& bytes = inputs[0].bytes;
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.peek() != EOF) {
      throw std::runtime_error(std::string(arguments[2]) + " does not have the size of the first input");
    }
  }
  const Results results = run(model, tensors);
  print_largest(*anydml_onnx_result_at(results.get(), 0));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
