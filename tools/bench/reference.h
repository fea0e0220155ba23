// SPDX-License-Identifier: MIT
// Runs the library in a separate process, with one thread and plain kernels (ANYDML_CPU_TARGET=generic). The library
// reads these settings only once, so the measured process cannot serve as its own reference.
#pragma once

#include <anydml/anydml.h>
#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "cases.h"

namespace anydml::bench {

class Reference {
 public:
  // Forks, so it must be created before the first use of the library.
  Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference();

  // Runs the row over packed inputs and writes the packed output to `out`. Returns false if the process is gone or the
  // library rejects the row.
  bool run(const Row& row, anydml_type type, const Placement& placement, std::span<const std::vector<std::byte>> inputs,
           std::vector<std::byte>& out);

 private:
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace anydml::bench
