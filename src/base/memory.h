// SPDX-License-Identifier: MIT
// The memory that the process may use: all of the machine's memory, unless a control group limits the process.
#pragma once

#include <cstdint>
#include <string>

namespace anydml {

struct MemoryState {
  std::uint64_t limit = 0;      // the total
  std::uint64_t available = 0;  // can be used now without taking memory from other processes
};

// `root` is the folder that contains proc and sys; an empty string means the machine's root. A file that cannot be read
// imposes no limit.
[[nodiscard]] MemoryState read_memory_state(const std::string& root = {});

}  // namespace anydml
