// SPDX-License-Identifier: MIT
// The steps of the family, made ready.
#pragma once

#include <memory>

#include "backend/cpu/family.h"
#include "ops/normalise/cpu/kernels.h"

namespace anydml {

// How rows of such loops are cut for threads. least: elements of a piece, which take some ten microseconds.
[[nodiscard]] NormaliseCut cut_rows(const AxisLoops& loops, DataType type, std::int64_t threads, std::int64_t least);

[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_moments(const Step& flat, const cpu::Machine& machine);
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_gradients(const Step& flat, const cpu::Machine& machine);
[[nodiscard]] std::unique_ptr<cpu::Prepared> prepare_windows(const Step& flat, const cpu::Machine& machine);

}  // namespace anydml
