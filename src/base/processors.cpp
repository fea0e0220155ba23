// SPDX-License-Identifier: MIT
#include "base/processors.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "base/control_group.h"

namespace anydml {

unsigned usable_processors(const std::string& root) {
  double processors = std::max(1U, std::thread::hardware_concurrency());
  for_each_control_group(root, "cpu", [&](const std::string& folder, GroupVersion version) {
    // Microseconds of processor time in every period. Without a limit the first number is a word, or negative.
    double quota = 0;
    double period = 0;
    if (version == GroupVersion::second) {
      std::ifstream(folder + "/cpu.max") >> quota >> period;
    } else {
      std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
      std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    if (quota > 0 && period > 0) {
      processors = std::min(processors, std::ceil(quota / period));
    }
  });
  return static_cast<unsigned>(processors);
}

}  // namespace anydml
