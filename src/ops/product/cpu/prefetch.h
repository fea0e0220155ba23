// SPDX-License-Identifier: MIT
// Prefetching for kernels that multiply few rows, which read packed weights in order and wait for memory. The
// processor's own prefetching ends at each page, so it is never far enough ahead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anydml {

inline constexpr std::int64_t kRowsThatWait = 4;  // kernels for more rows compute longer than they read
inline constexpr std::size_t kPrefetchedBytes = 4096;

// Prefetches the line that follows some weights at this distance. `part`: the number of the vector in a row of
// weights. Only the first vector of a line prefetches.
template <std::size_t kVectorBytes, class T>
[[gnu::always_inline]] inline void prefetch_weights(const T* row, std::size_t part) {
  constexpr std::size_t kLine = 64;
  if (part * kVectorBytes % kLine == 0) {
    __builtin_prefetch(reinterpret_cast<const char*>(row) + part * kVectorBytes + kPrefetchedBytes);
  }
}

}  // namespace anydml
