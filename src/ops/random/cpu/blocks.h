// SPDX-License-Identifier: MIT
// Computes the words of successive counters. Each target has its own function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/random/scalar/philox.h"

namespace anydml {

// Writes the words of `blocks` counters, starting with the state's own counter, to any address.
using PhiloxBlocks = void (*)(const PhiloxState& state, std::int64_t blocks, std::byte* to) noexcept;

[[nodiscard]] PhiloxBlocks find_philox_blocks(cpu::Target target);

}  // namespace anydml
