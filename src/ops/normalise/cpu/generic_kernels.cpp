// SPDX-License-Identifier: MIT
// The kernels for a machine of which nothing is known.
#include <algorithm>
#include <cstring>

#include "backend/cpu/loops.h"
#include "ops/normalise/cpu/kernels.h"
#include "ops/normalise/cpu/walk.h"
#include "ops/normalise/scalar/softmax.h"

namespace anydml {
namespace {

void widen_halves(const std::byte* from, std::int64_t count, f32* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    f16 half;
    std::memcpy(&half, from + 2 * i, sizeof(half));
    to[i] = widen(half);
  }
}

void narrow_halves(const f32* from, std::int64_t count, std::byte* to) {
  for (std::int64_t i = 0; i < count; ++i) {
    const f16 half = narrow<f16>(from[i]);
    std::memcpy(to + 2 * i, &half, sizeof(half));
  }
}

#include "ops/normalise/cpu/kernels-inl.h"

}  // namespace

NormaliseRun generic_normalise_run(const NormaliseStep& step, bool across) { return find_run(step, across); }

}  // namespace anydml
