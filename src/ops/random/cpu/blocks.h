// SPDX-License-Identifier: MIT
// Words of successive counters, by target.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/target.h"
#include "ops/random/scalar/philox.h"

namespace anydml {

// The words of `blocks` counters from the state's own on, to any address.
using PhiloxBlocks = void (*)(const PhiloxState& state, std::int64_t blocks, std::byte* to) noexcept;

[[nodiscard]] PhiloxBlocks find_philox_blocks(cpu::Target target);

}  // namespace anydml
