// SPDX-License-Identifier: MIT
// The baseline: a pass over memory that moves the same bytes as an operator and computes almost nothing.
#pragma once

#include <cstddef>

namespace anydml::bench {

// out = a ^ b; out may be a. Any number of bytes.
void pass_two(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes);
// out = a ^ a constant
void pass_one(std::byte* out, const std::byte* a, std::size_t bytes);
// Only reads, for operators that write almost nothing.
void pass_read(const std::byte* a, std::size_t bytes);
// Only writes, for operators that read nothing.
void pass_write(std::byte* out, std::size_t bytes);

// Arrays with the same number of elements but different element sizes: 1, 2, 4 or 8 bytes.
struct MixedArrays {
  std::byte* out = nullptr;
  std::size_t out_size = 1;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;          // null if there is only one input
  std::size_t in_size = 1;               // of a and b
  const std::byte* condition = nullptr;  // one more input, with one byte per element; null if there is none
};
// Processes the elements from `begin` to `end`.
void pass_mixed(const MixedArrays& arrays, std::size_t begin, std::size_t end);

// pass_two and pass_one with stores that bypass the cache, so that lines are not read before they are written.
// has_streaming_pass: whether this machine has such stores. If not, the functions below are ordinary passes.
bool has_streaming_pass();
void pass_two_streaming(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes);
void pass_one_streaming(std::byte* out, const std::byte* a, std::size_t bytes);

}  // namespace anydml::bench
