// SPDX-License-Identifier: MIT
#include "ops/sort/cuda/select.cuh"

namespace anydml::cuda {

const SortStarts kSortStarts2 = kStartsOf<u16>;

}  // namespace anydml::cuda
