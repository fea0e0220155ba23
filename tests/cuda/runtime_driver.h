// SPDX-License-Identifier: MIT
// The calls that the fake driver recorded.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace anydml::test {

struct RecordedDriver {
  struct Attribute {
    int attribute;
    int value;
    std::size_t kernel;
    int device;
    bool operator==(const Attribute&) const = default;
  };
  struct Launch {
    std::size_t kernel;
    std::array<unsigned, 3> blocks;
    std::array<unsigned, 3> threads;
    unsigned shared_bytes;
    void* parameter;
  };

  int loads = 0;
  bool refuses_code = false;
  int max_shared_bytes = 227 << 10;  // the maximum per block
  std::vector<std::string> kernels;  // in the order of their numbers, which begin at 1
  std::vector<Attribute> attributes;
  std::vector<Launch> launches;
};

[[gnu::visibility("default")]] RecordedDriver& recorded_driver();

}  // namespace anydml::test
