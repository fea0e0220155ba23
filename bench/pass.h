// SPDX-License-Identifier: MIT
// The floor: a pass over memory that moves the bytes of an operator and computes next to nothing.
#pragma once

#include <cstddef>

namespace anydml::bench {

// out = a ^ b; out may be a. Any number of bytes.
void pass_two(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes);
// out = a ^ a constant
void pass_one(std::byte* out, const std::byte* a, std::size_t bytes);

// The same with stores that go past the cache, so that lines are not read before they are written. False: this machine
// has none that differ, and the two below do what the two above do.
bool has_streaming_pass();
void pass_two_streaming(std::byte* out, const std::byte* a, const std::byte* b, std::size_t bytes);
void pass_one_streaming(std::byte* out, const std::byte* a, std::size_t bytes);

}  // namespace anydml::bench
