// SPDX-License-Identifier: MIT
// What reductions there are, and the blocks and lanes of their order, for kernels too that are compiled while a program
// runs.
#pragma once

#include <cstdint>

namespace anydml {

inline constexpr std::int64_t kReduceBlock = 4096;  // elements, counted row-major within the reduced axes
inline constexpr std::int64_t kReduceLanes = 64;    // of a block, where the innermost axis is reduced

enum class ReduceFunction : std::uint32_t {
#define ANYDML_REDUCE_FUNCTION(name) name,
#include "ops/reduce/reduce.def"
};

[[nodiscard]] constexpr bool is_arg(ReduceFunction function) {
  return function == ReduceFunction::ARGMAX || function == ReduceFunction::ARGMIN;
}

}  // namespace anydml
