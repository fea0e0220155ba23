// SPDX-License-Identifier: MIT
// The library in a process of its own, by one thread and with its plain kernels (ANYDML_CPU_TARGET=generic): it reads
// these settings once, so the process that is measured cannot ask itself.
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
  // Forks, so it comes before the first use of the library.
  Reference();
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference();

  // Over packed inputs; the packed output goes to `out`. False where the process is gone or refuses.
  bool run(const Row& row, anydml_type type, const Placement& placement, std::span<const std::vector<std::byte>> inputs,
           std::vector<std::byte>& out);

 private:
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace anydml::bench
