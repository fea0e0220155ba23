// SPDX-License-Identifier: MIT
#include "ops/sort/cuda/select.cuh"

namespace anydml::cuda {

const SortStarts kSortStarts4 = kStartsOf<u32>;

}  // namespace anydml::cuda
