// SPDX-License-Identifier: MIT
// What a figure was measured on and with.
#pragma once

#include <cstdint>
#include <string>

namespace anydml::bench {

struct Machine {
  std::string version;             // of the library
  std::string adapter;             // the device's name: "cpu", "cuda:0"
  std::string device;              // the library's description of it
  std::uint64_t memory_bytes = 0;  // the device's
  std::string target;              // whose kernels run: "neon"; empty where it could not be found out
  std::string cpu;
  std::string architecture;
  std::string system;    // kernel and its version
  std::string compiler;  // of the benchmark
  std::string c_library;
  std::string huge_pages;      // the system's setting
  unsigned cores = 0;          // that this process may use
  unsigned threads = 0;        // of the library and of the pass; 0: it is no CPU
  std::uint64_t l1_bytes = 0;  // 0: not known
  std::uint64_t l2_bytes = 0;
  std::uint64_t l3_bytes = 0;
};

// Asks a child process of the library's log, so it comes before the first use of the library in this one.
std::string find_target();

// Uses the library. False, with a message, where there is no device.
bool describe_machine(Machine& machine, std::string& error);

// Of the last level; 0: not known.
std::uint64_t last_cache_bytes();

// Processors this process may use.
unsigned usable_cores();

// How much of the machine other processes took since this was made: figures of a busy machine say little.
class OthersWatch {
 public:
  OthersWatch();
  // In cores, 1.5 for one and a half, on the mean. 0 where the system does not say.
  [[nodiscard]] double busy_cores() const;
  // Whether `threads` of this process had to share a core with them.
  [[nodiscard]] bool in_the_way_of(unsigned threads) const;

 private:
  struct Moment {
    double wall = 0;  // seconds
    double all = 0;   // that all processors worked
    double own = 0;   // of this process and its children
  };
  static Moment now();
  Moment begin_;
};

}  // namespace anydml::bench
