// SPDX-License-Identifier: MIT
// A monotonic clock, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace anydml {

inline constexpr std::uint64_t kClockFrequency = 1'000'000'000;

[[nodiscard]] inline std::uint64_t monotonic_nanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kClockFrequency + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace anydml
