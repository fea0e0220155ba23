// SPDX-License-Identifier: MIT
// The alignment and size of buffers in memory, which are the same on every device.
#pragma once

#include <cstdint>

namespace anydml {

// D3D12 aligns buffers to this many bytes.
inline constexpr std::uint64_t kBufferAlignment = 65536;

// The size that a buffer occupies on its device: a multiple of the alignment. bytes must be well below 2^64.
[[nodiscard]] constexpr std::uint64_t whole_units(std::uint64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

}  // namespace anydml
