// SPDX-License-Identifier: MIT
// Describes the machine and the software that a figure was measured on.
#pragma once

#include <cstdint>
#include <string>

namespace anydml::bench {

struct BenchEnvironment {
  std::string version;             // of the library
  std::string adapter;             // the device's name, such as "cpu" or "cuda:0"
  std::string device;              // the library's description of the device
  std::uint64_t memory_bytes = 0;  // the device's memory
  std::string target;              // the kernels' target, such as "neon"; empty if unknown
  std::string cpu;
  std::string architecture;
  std::string system;    // the kernel and its version
  std::string compiler;  // the compiler that built the benchmark
  std::string c_library;
  std::string huge_pages;      // the system's setting for huge pages
  unsigned cores = 0;          // available to this process
  unsigned threads = 0;        // for the library and the memory pass; 0 if the device is not a CPU
  std::uint64_t l1_bytes = 0;  // 0: unknown
  std::uint64_t l2_bytes = 0;
  std::uint64_t l3_bytes = 0;
};

// Starts a child process to read the library's log, so it must run before this process first uses the library.
std::string find_target();

// Uses the library. Returns false, with a message, if there is no device.
bool describe_machine(BenchEnvironment& machine, std::string& error);

// Returns the size of the last-level cache, or 0 if it is unknown.
std::uint64_t last_cache_bytes();

// The number of processors available to this process.
unsigned usable_cores();

// Measures how much CPU time other processes have used since construction, because figures from a busy machine are
// unreliable.
class OthersWatch {
 public:
  OthersWatch();
  // The average number of cores that other processes keep busy, such as 1.5; 0 if the system does not report it.
  [[nodiscard]] double busy_cores() const;
  // Whether `threads` threads of this process had to share a core with other processes.
  [[nodiscard]] bool in_the_way_of(unsigned threads) const;

 private:
  struct Moment {
    double wall = 0;  // in seconds
    double all = 0;   // busy time of all processors
    double own = 0;   // busy time of this process and its children
  };
  static Moment now();
  Moment begin_;
};

}  // namespace anydml::bench
