// SPDX-License-Identifier: MIT
// How much memory the process may use: the machine's, or less where a control group says so.
#pragma once

#include <cstdint>
#include <string>

namespace anydml {

struct MemoryState {
  std::uint64_t limit = 0;      // what there is in all
  std::uint64_t available = 0;  // what could be had now without taking it from others
};

// root: the folder that holds proc and sys; empty for the machine's own. Unreadable files count as no restriction.
[[nodiscard]] MemoryState read_memory_state(const std::string& root = {});

}  // namespace anydml
