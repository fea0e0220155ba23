// SPDX-License-Identifier: MIT
#include "ops/elementwise/cuda/groups.cuh"

template const anydml::cuda::KernelSet* anydml::cuda::find_in_group<2>(RowId, bool, std::uint32_t) noexcept;
