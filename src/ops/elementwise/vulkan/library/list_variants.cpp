// SPDX-License-Identifier: MIT
// Prints the functions that the SPIR-V library has to contain, for data/vulkan/make_functions.py: for each variant of
// each entry a line with the entry, its definition, the variant's number, the number of words of attributes, and the
// size in bytes of each input's elements and of the result's.
#include <cstdio>

#include "ops/elementwise/vulkan/variants.h"
#include "ops/scalar/scalars.h"

namespace anydml::vulkan {
namespace {

template <class Scalar, std::size_t... inputs>
void print_sizes(std::index_sequence<inputs...>) {
  using Types = Signature<Scalar>;
  (std::printf(" %zu", sizeof(typename Types::template Input<inputs>)), ...);
  std::printf(" %zu\n", sizeof(typename Types::Output));
}

}  // namespace
}  // namespace anydml::vulkan

int main() {
  using namespace anydml;
  using namespace anydml::vulkan;
#define ANYDML_ENTRY(op, Definition)                                                \
  {                                                                                 \
    u32 number = 0;                                                                 \
    for_each_variant<Definition>([&number]<class Scalar>() {                        \
      std::printf("%s %s %u %u", #op, #Definition, number++, kScalarWords<Scalar>); \
      print_sizes<Scalar>(std::make_index_sequence<Signature<Scalar>::kInputs>{});  \
    });                                                                             \
  }
#include "ops/elementwise/elementwise.def"
  return 0;
}
