// SPDX-License-Identifier: MIT
// Numbers that a test reads from the environment, decimal or 0x...: seeds, counts, seconds.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace anydml::test {

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

}  // namespace anydml::test
