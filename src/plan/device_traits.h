// SPDX-License-Identifier: MIT
// The facts about a device that lowering may use, so that plans fit the device that runs them. Plain data: a backend
// fills it in once.
#pragma once

#include <cstdint>

namespace anydml {

struct DeviceTraits {
  std::uint32_t threads = 1;       // pieces of work that run at once: CPU threads, or multiprocessors of a GPU
  std::uint32_t joins_from = 0;    // the fewest elements at which plans may have operands without a slot; 0: never
  std::uint64_t near_bytes = 0;    // memory close to one of the threads: second-level cache, or shared memory
  std::uint32_t vector_bytes = 0;  // of the vectors for which its kernels need packed weights; 0: they are not packed
  bool is_gpu = false;             // a family may lack some of its operators there (Family::has_on)
  bool half_products = false;      // plans may contain FLOAT16 products with other bits than the CPU's
  std::uint64_t families = ~0ULL;  // bit i: it has kernels for family i of ops/families.def

  [[nodiscard]] constexpr bool has_family(std::uint32_t number) const {
    return number < 64 && (families >> number & 1) != 0;
  }
};

}  // namespace anydml
