// SPDX-License-Identifier: MIT
// A call of an operator with the memory of its tensors, for targets that compare devices and graphs.
#pragma once

#include <algorithm>
#include <optional>

#include "fuzz/input.h"
#include "support/described_call.h"

namespace anydml::fuzz {

using Memory = std::vector<std::uint8_t>;
inline constexpr std::uint64_t kMostElements = 20'000;

class Call {
 public:
  explicit Call(const schema::Described& described) : name(described.op->name), call(described) {}

  [[nodiscard]] bool is_small() const {
    const auto is_small_tensor = [](const anydml_tensor& tensor) {
      return tensor.rank >= 0 && tensor.rank <= 8 && elements_of(tensor, kMostElements) <= kMostElements;
    };
    return std::ranges::all_of(call.inputs, is_small_tensor) && std::ranges::all_of(call.outputs, is_small_tensor);
  }
  // Packed memory for every tensor; the inputs are filled.
  void allocate(Input& input) {
    for (anydml_tensor& tensor : call.inputs) {
      inputs.push_back(memory_of(tensor));
      if (tensor.type != ANYDML_NONE) {
        input.fill(inputs.back(), tensor.type);
        tensor.data = inputs.back().data();
      }
    }
    for (anydml_tensor& tensor : call.outputs) {
      outputs.push_back(memory_of(tensor));
    }
  }
  // Runs on a device and returns the outputs.
  [[nodiscard]] std::optional<std::vector<Memory>> run(const anydml_device* device) {
    std::vector<Memory> results = outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      call.outputs[i].data = call.outputs[i].type == ANYDML_NONE ? nullptr : results[i].data();
    }
    if (call.run(device) != ANYDML_OK) {
      return std::nullopt;
    }
    return results;
  }
  void require_same(const std::vector<Memory>& actual, const std::vector<Memory>& expected, const char* what) const {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      require(same_elements(call.outputs[i].type, actual[i], expected[i]),
              name + ", output " + std::to_string(i) + ": " + what);
    }
  }

  std::string name;
  test::DescribedCall call;
  std::vector<Memory> inputs;
  std::vector<Memory> outputs;

 private:
  // Exactly as large as the tensor, so that AddressSanitizer notices accesses after its end.
  static Memory memory_of(anydml_tensor& tensor) {
    if (tensor.type == ANYDML_NONE) {
      return {};
    }
    tensor.strides = nullptr;
    const auto count = elements_of(tensor, kMostElements);
    const bool is_packed = is_four_bits(static_cast<DataType>(tensor.type));
    return Memory(is_packed ? (count + 1) / 2 : count * Input::type_bytes(tensor.type));
  }
};

}  // namespace anydml::fuzz
