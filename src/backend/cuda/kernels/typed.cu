// SPDX-License-Identifier: MIT
#include "backend/cuda/kernels/typed.cuh"

namespace anydml::cuda {
namespace {

// The kernels of a row in the order of its variants.
template <class ForEach>
[[nodiscard]] TypedLaunch find_in(const ForEach& for_each, std::uint32_t variant) {
  TypedLaunch found = nullptr;
  std::uint32_t next = 0;
  for_each([&]<class ScalarOp>() {
    if (next++ == variant) {
      found = launch_typed<ScalarOp>;
    }
  });
  return found;
}

}  // namespace

TypedLaunch find_typed(RowId row, std::uint32_t variant) noexcept {
  switch (row) {
#define ANYDML_INTERNAL_ROW(op, Definition, ulp)
#define ANYDML_ROW(op, Definition, ulp)
#define ANYDML_TYPED_ROW(op, Definition, ulp) \
  case RowId::op:                             \
    return find_in([](const auto& use) { for_each_variant<Definition>(use); }, variant);
#include "ops/elementwise/elementwise.def"
    default:
      return nullptr;
  }
}

}  // namespace anydml::cuda
