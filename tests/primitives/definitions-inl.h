// SPDX-License-Identifier: MIT
// The table of definitions for one set of primitives (see definitions.h). Include this header once per file.
#include "definitions.h"
#include "ops/scalar/scalars.h"
#include "ops/scalar/signature.h"
#include "ops/scalar/sum_of_products.h"

namespace anydml {
namespace {

using primitives_test::Definition;

template <class Scalar_>
struct Run {
  using Types = Signature<Scalar_>;
  template <std::size_t i>
  using Input = typename Types::template Input<i>;
  using Output = typename Types::Output;

  static void run(const u64* bits, const void* const* inputs, void* output, std::size_t count) {
    Attributes attributes;
    for (std::size_t i = 0; i < Attributes::kMax; ++i) {
      attributes.values[i] = Scalar(from_bits<f64>(bits[i]));
    }
    const auto scalar = make_scalar<Scalar_>(attributes);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      for (std::size_t at = 0; at < count; ++at) {
        static_cast<Output*>(output)[at] = scalar(static_cast<const Input<i>*>(inputs[i])[at]...);
      }
    }
    (std::make_index_sequence<Types::kInputs>());
  }

  static Definition of(std::string_view op) {
    Definition definition{op, kIsFunction<Scalar_>, Types::kInputs, {}, static_cast<u32>(kDataTypeOf<Output>), run};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((definition.input_types[i] = static_cast<u32>(kDataTypeOf<Input<i>>)), ...);
    }
    (std::make_index_sequence<Types::kInputs>());
    return definition;
  }
};

// A sum of products of a and b that is longer than a block.
template <class T>
struct SumOfProducts {
  T operator()(T a, T b) const requires(is_float<T> && sizeof(T) >= sizeof(f32)) {
    return sum_of_products<T>(
        kProductBlock + 3, [=](i64 k) { return k % 3 == 0 ? b : a; }, [=](i64 k) { return k % 2 == 0 ? a : b; });
  }
};

// The functions only, or all definitions.
template <bool functions>
std::vector<Definition> definitions() {
  std::vector<Definition> table;
#define ANYDML_ENTRY(op, Scalar_)                       \
  for_each_variant<Scalar_>([&]<class Variant>() {      \
    if constexpr (!functions || kIsFunction<Variant>) { \
      table.push_back(Run<Variant>::of(#op));           \
    }                                                   \
  });
  ANYDML_ENTRY(SUM_OF_PRODUCTS, SumOfProducts)
#include "ops/elementwise/elementwise.def"
  return table;
}

}  // namespace
}  // namespace anydml
