// SPDX-License-Identifier: MIT
// Portable kernels for machines without a vector target.
#include <bit>
#include <cstring>

#include "backend/cpu/loops.h"
#include "base/element.h"
#include "ops/product/scalar/integer.h"
#include "ops/recurrent/cpu/kernels.h"
#include "ops/scalar/clip.h"
#include "ops/scalar/functions/hyperbolic.h"
#include "ops/scalar/ordered_bits.h"

#define ANYDML_RESTRICT __restrict__
#define ANYDML_FLATTENED [[gnu::flatten, gnu::noinline]]

namespace anydml {
namespace {

#include "backend/cpu/halves-inl.h"

namespace wide {
constexpr std::int64_t kColumns = kRecurrentColumns;
#include "ops/recurrent/cpu/kernels-inl.h"
}  // namespace wide

namespace plain {
constexpr std::int64_t kColumns = 1;
#include "ops/recurrent/cpu/kernels-inl.h"
}  // namespace plain

}  // namespace

const RecurrentKernels& generic_recurrent_kernels() { return wide::kLoops; }
const RecurrentKernels& plain_recurrent_kernels() { return plain::kLoops; }

}  // namespace anydml
