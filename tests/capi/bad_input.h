// SPDX-License-Identifier: MIT
// Misuse cases for bad_input_test.cpp.
#pragma once

#include <anydml/anydml.h>

#include <functional>
#include <span>
#include <vector>

namespace anydml::test {

// A call with two 2x3 inputs and an output, all FLOAT32. It is valid until a case changes something.
struct Call {
  std::vector<int64_t> a_sizes{2, 3}, b_sizes{2, 3}, out_sizes{2, 3};
  std::vector<int64_t> a_strides, b_strides, out_strides;  // empty if packed
  std::vector<float> a_data = std::vector<float>(64, 7.0F);
  std::vector<float> b_data = std::vector<float>(64, 3.0F);
  std::vector<float> out_data = std::vector<float>(64, -99.0F);
  anydml_tensor a{}, b{}, out{};
  const char* op = "ELEMENT_WISE_MODULUS_FLOOR";
  std::vector<anydml_attribute> attributes;

  void fill() {
    a = tensor(a_sizes, a_strides, a_data);
    b = tensor(b_sizes, b_strides, b_data);
    out = tensor(out_sizes, out_strides, out_data);
  }

 private:
  static anydml_tensor tensor(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                              std::vector<float>& data) {
    return {ANYDML_FLOAT32, static_cast<int32_t>(sizes.size()), sizes.data(),
            strides.empty() ? nullptr : strides.data(), data.data()};
  }
};

struct Case {
  const char* what;
  int code;
  const char* message;
  std::function<int(Call&)> run;
};

// Cases for graphs, views and compile options.
std::span<const Case> graph_cases();

}  // namespace anydml::test
