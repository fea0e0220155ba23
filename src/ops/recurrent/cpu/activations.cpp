// SPDX-License-Identifier: MIT
// Computes any activation directly from its definition. The two activations that nearly every network uses also have
// vector kernels.
#include "ops/recurrent/cpu/kernels.h"
#include "ops/scalar/scalars.h"

namespace anydml {
namespace {

template <class Definition>
void apply(const RecurrentActivation& activation, std::int64_t count, f32* values) noexcept {
  const Definition definition = [&] {
    if constexpr (std::is_constructible_v<Definition, const Attributes&>) {
      return Definition(activation.attributes());
    } else {
      return Definition();
    }
  }();
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = definition(values[i]);
  }
}

}  // namespace

void activate(const RecurrentActivation& activation, std::int64_t count, f32* values) noexcept {
  switch (activation.function) {
#define ANYDML_RECURRENT_ACTIVATION(op, definition) \
  case RecurrentFunction::definition:               \
    return apply<definition<f32>>(activation, count, values);
#include "ops/recurrent/recurrent.def"
  }
}

}  // namespace anydml
