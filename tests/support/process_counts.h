// SPDX-License-Identifier: MIT
// The limited resources that a process uses: threads, descriptors, mappings, memory.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <thread>

namespace anydml::test {

struct ProcessCounts {
  std::int64_t threads = 0;
  std::int64_t descriptors = 0;
  std::int64_t mappings = 0;
  std::int64_t resident_bytes = 0;
};

inline ProcessCounts process_counts() {
  namespace fs = std::filesystem;
  ProcessCounts counts;
  counts.threads = std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator());
  counts.descriptors = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++counts.mappings;
  }
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  counts.resident_bytes = resident * sysconf(_SC_PAGESIZE);
  return counts;
}

inline std::ostream& operator<<(std::ostream& out, const ProcessCounts& counts) {
  return out << counts.threads << " threads, " << counts.descriptors << " descriptors, " << counts.mappings
             << " mappings, " << (counts.resident_bytes >> 20) << " MiB";
}

// Whether the condition becomes true within ten seconds: threads end a little after their work is done.
template <class Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

}  // namespace anydml::test
