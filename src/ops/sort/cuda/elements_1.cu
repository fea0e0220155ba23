// SPDX-License-Identifier: MIT
#include "ops/sort/cuda/select.cuh"

namespace anydml::cuda {

const SortStarts kSortStarts1 = kStartsOf<u8>;

}  // namespace anydml::cuda
