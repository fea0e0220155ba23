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

// Of the last level there is; 0: not known.
std::uint64_t last_cache_bytes();

// Processors this process may use.
unsigned usable_cores();

}  // namespace anydml::bench
