// SPDX-License-Identifier: MIT
#include "ops/sort/cuda/select.cuh"

namespace anydml::cuda {

const SortStarts kSortStarts8 = kStartsOf<u64>;

}  // namespace anydml::cuda
