// SPDX-License-Identifier: MIT
// Declares the functions that supply kernels. Each is defined in a separate file, and tables.cpp calls all of them.
#pragma once

#include "ops/elementwise/cuda/kernel_set.h"

namespace anydml::cuda {

// The number of files among which the kernels of the entries are divided (kernel_file.cuh).
inline constexpr std::uint32_t kKernelFiles = ANYDML_INSTANCE_FILES;

// Returns null if the variant's kernels are in a different file, are tuned, or do not exist.
template <std::uint32_t kFile>
[[nodiscard]] const KernelSet* find_in_file(EntryId entry, bool scaled, std::uint32_t variant) noexcept;

// The tuned kernels of the two modulus operators (modulus_kernels.cuh).
template <bool kFloor, class T>
[[nodiscard]] const KernelSet& modulus_kernels() noexcept;

}  // namespace anydml::cuda
