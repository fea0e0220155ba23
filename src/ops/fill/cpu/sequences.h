// SPDX-License-Identifier: MIT
// Computes contiguous elements of a sequence, with a kernel per target.
#pragma once

#include "backend/cpu/target.h"
#include "ops/fill/scalar/sequence.h"

namespace anydml {

// Computes elements [first, first + count) of the sequence.
template <class T>
using SequenceRow = void (*)(const Sequence<T>& sequence, u64 first, std::int64_t count, std::byte* to) noexcept;

// Returns null if this target was not compiled.
template <class T>
[[nodiscard]] SequenceRow<T> vector_sequence_row(cpu::Target target);

}  // namespace anydml
