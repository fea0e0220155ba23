// SPDX-License-Identifier: MIT
#include "base/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>

namespace anydml {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// A file that holds one number, or a word such as "max" for none.
std::uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : kNoLimit;
}

// The sum of some lines "name value" of memory.stat.
std::uint64_t read_reclaimable(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t sum = 0;
  std::uint64_t value = 0;
  for (std::string name; file >> name >> value;) {
    if (name == "inactive_file" || name == "active_file" || name == "slab_reclaimable") {
      sum += value;
    }
  }
  return sum;
}

struct GroupFiles {
  std::string_view mount;
  std::string_view limit;
  std::string_view usage;
};
constexpr GroupFiles kVersion2{"/sys/fs/cgroup", "/memory.max", "/memory.current"};
constexpr GroupFiles kVersion1{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes"};

// The group's own limit and those of the groups around it: the least counts.
void apply_group(MemoryState& state, const std::string& root, const GroupFiles& files, std::string group) {
  for (;;) {
    const std::string folder = root + std::string(files.mount) + (group == "/" ? "" : group);
    const std::uint64_t limit = read_number(folder + std::string(files.limit));
    const std::uint64_t usage = read_number(folder + std::string(files.usage));
    if (limit != kNoLimit) {
      state.limit = std::min(state.limit, limit);
      if (usage != kNoLimit) {
        // The page cache counts as used and goes when it must.
        const std::uint64_t held = usage - std::min(usage, read_reclaimable(folder + "/memory.stat"));
        state.available = std::min(state.available, limit - std::min(limit, held));
      }
    }
    if (group.empty() || group == "/") {
      return;
    }
    group.resize(group.rfind('/'));
  }
}

}  // namespace

MemoryState read_memory_state(const std::string& root) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGE_SIZE);
  const bool known = root.empty() && pages > 0 && page > 0;
  MemoryState state{.limit = known ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) : kNoLimit,
                    .available = kNoLimit};
  std::ifstream info(root + "/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    const auto kibibytes = [&line](std::string_view name) {
      return line.starts_with(name) ? std::strtoull(line.c_str() + name.size(), nullptr, 10) * 1024 : 0;
    };
    if (const auto bytes = kibibytes("MemTotal:"); bytes != 0) {
      state.limit = bytes;
    }
    if (const auto bytes = kibibytes("MemAvailable:"); bytes != 0) {
      state.available = bytes;
    }
  }
  // Lines "hierarchy:controllers:path"; version 2 has one, with an empty list.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      apply_group(state, root, kVersion2, path);
    } else if (controllers.find("memory") != std::string_view::npos) {
      apply_group(state, root, kVersion1, path);
    }
  }
  state.available = std::min(state.available, state.limit);
  return state;
}

}  // namespace anydml
