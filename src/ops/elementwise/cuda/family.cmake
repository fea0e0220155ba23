# SPDX-License-Identifier: MIT
set(runtime_headers cuda/launch_device.cuh cuda/entry_device.cuh variant_lists.h cuda/traits.h cuda/fused_device.cuh)
# Each file compiles in seconds. kernel_file.cuh distributes the variants of the entries among these files.
set(instance_files 12)
set(instance_text [=[
#include "ops/elementwise/cuda/kernel_file.cuh"

template const anydml::cuda::KernelSet* anydml::cuda::find_in_file<@instance@>(EntryId, bool, std::uint32_t) noexcept;
]=])
