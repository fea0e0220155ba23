// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/control_group.h"

namespace anydml {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// Reads a file that contains one number, or a word such as "max" that means no limit.
std::uint64_t read_number(const std::string& path) {
  const std::string text = read_text_file(path);
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  return end != text.c_str() ? number : kNoLimit;
}

// The sum of the reclaimable entries in memory.stat, which has lines of the form "name value".
std::uint64_t read_reclaimable(const std::string& path) {
  std::uint64_t sum = 0;
  for_each_line(read_text_file(path), [&sum](const std::string& line) {
    for (const std::string_view name : {"inactive_file ", "active_file ", "slab_reclaimable "}) {
      sum += line.starts_with(name) ? std::strtoull(line.c_str() + name.size(), nullptr, 10) : 0;
    }
    return true;
  });
  return sum;
}

// Applies one group's limit.
void apply_group(MemoryState& state, const std::string& folder, GroupVersion version) {
  const bool is_second = version == GroupVersion::second;
  const std::uint64_t limit = read_number(folder + (is_second ? "/memory.max" : "/memory.limit_in_bytes"));
  const std::uint64_t usage = read_number(folder + (is_second ? "/memory.current" : "/memory.usage_in_bytes"));
  if (limit == kNoLimit) {
    return;
  }
  state.limit = std::min(state.limit, limit);
  if (usage != kNoLimit) {
    // The page cache counts as used, but the kernel reclaims it when necessary.
    const std::uint64_t held = usage - std::min(usage, read_reclaimable(folder + "/memory.stat"));
    state.available = std::min(state.available, limit - std::min(limit, held));
  }
}

}  // namespace

MemoryState read_memory_state(const std::string& root) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  const bool known = root.empty() && pages > 0 && page > 0;
  MemoryState state{.limit = known ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : kNoLimit,
                    .available = kNoLimit};
  for_each_line(read_text_file(root + "/proc/meminfo"), [&state](const std::string& line) {
    const auto kibibytes = [&line](std::string_view name) {
      return line.starts_with(name) ? std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024 : 0;
    };
    if (const auto bytes = kibibytes("MemTotal:"); bytes != 0) {
      state.limit = bytes;
    }
    if (const auto bytes = kibibytes("MemAvailable:"); bytes != 0) {
      state.available = bytes;
    }
    return true;
  });
  for_each_control_group(root, "memory", [&state](const std::string& folder, GroupVersion version) {
    apply_group(state, folder, version);
  });
  state.available = std::min(state.available, state.limit);
  return state;
}

}  // namespace anydml
