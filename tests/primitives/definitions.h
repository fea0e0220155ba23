// SPDX-License-Identifier: MIT
// The scalar definitions of elementwise.def as functions over bits, so that one program can compare the definitions
// compiled with different sets of primitives. definitions-inl.h defines the tables, each in its own namespace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace primitives_test {

// An operator's definition for specific types.
struct Definition {
  std::string_view op;
  bool is_function = false;
  std::size_t inputs = 0;
  std::uint32_t input_types[4] = {};  // values of DataType
  std::uint32_t output_type = 0;
  // Elements are contiguous, as in a tensor. The attributes are the bits of four FLOAT64 numbers.
  void (*run)(const std::uint64_t* attributes, const void* const* inputs, void* output, std::size_t count) = nullptr;
};

[[nodiscard]] std::vector<Definition> native_definitions();
[[nodiscard]] std::vector<Definition> supplied_definitions();
[[nodiscard]] std::vector<Definition> native_functions_like_a_gpu();
[[nodiscard]] std::vector<Definition> supplied_functions_like_a_gpu();

}  // namespace primitives_test
