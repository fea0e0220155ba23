// SPDX-License-Identifier: MIT
// Where tables of kernels come from: each is made in a file of its own, and tables.cpp looks through them.
#pragma once

#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

// How many files the kernels of the entries are divided among (kernel_file.cuh).
inline constexpr std::uint32_t kKernelFiles = ANYDML_INSTANCE_FILES;

// Null: the variant's kernels are in another file, they are tuned, or there are none.
template <std::uint32_t kFile>
[[nodiscard]] const KernelSet* find_in_file(EntryId entry, bool scaled, std::uint32_t variant) noexcept;

// The two modulus operators, tuned (modulus_kernels.cuh).
template <bool kFloor, class T>
[[nodiscard]] const KernelSet& modulus_kernels() noexcept;

}  // namespace anydml::cuda
