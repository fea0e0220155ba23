// SPDX-License-Identifier: MIT
// Where tables of kernels come from: each is made in a file of its own, and tables.cpp looks through them.
#pragma once

#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

// How many files the rows' kernels are divided among (groups.cuh). One more is one more file group_NN.cu.
inline constexpr std::uint32_t kGroups = 12;

// Null: the variant's kernels are of another group, tuned, or there are none.
template <std::uint32_t kGroup>
[[nodiscard]] const KernelSet* find_in_group(RowId row, bool scaled, std::uint32_t variant) noexcept;

// The two modulus operators, tuned (modulus_kernels.cuh).
template <bool kFloor, class T>
[[nodiscard]] const KernelSet& modulus_kernels() noexcept;

}  // namespace anydml::cuda
