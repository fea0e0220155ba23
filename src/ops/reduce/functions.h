// SPDX-License-Identifier: MIT
// The functions that reductions compute. This header is also used by kernels that are compiled at run time.
#pragma once

#include <cstdint>

#include "ops/scalar/fold_order.h"

namespace anydml {

enum class ReduceFunction : std::uint32_t {
#define ANYDML_REDUCE_FUNCTION(name) name,
#include "ops/reduce/reduce.def"
};

[[nodiscard]] constexpr bool is_arg(ReduceFunction function) {
  return function == ReduceFunction::ARGMAX || function == ReduceFunction::ARGMIN;
}

}  // namespace anydml
