// SPDX-License-Identifier: MIT
#include "base/processors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/control_group.h"

namespace anydml {

unsigned usable_processors(const std::string& root) {
  double processors = std::max(1U, std::thread::hardware_concurrency());
  for_each_control_group(root, "cpu", [&](const std::string& folder, GroupVersion version) {
    // The processor time per period, in microseconds. If there is no limit, the first number is a word or negative.
    const bool is_second = version == GroupVersion::second;
    std::string text = read_text_file(folder + (is_second ? "/cpu.max" : "/cpu.cfs_quota_us"));
    if (!is_second) {
      text += " " + read_text_file(folder + "/cpu.cfs_period_us");
    }
    char* rest = nullptr;
    const auto quota = static_cast<double>(std::strtoll(text.c_str(), &rest, 10));
    const auto period = static_cast<double>(std::strtoll(rest, nullptr, 10));
    if (quota > 0 && period > 0) {
      processors = std::min(processors, std::ceil(quota / period));
    }
  });
  return static_cast<unsigned>(processors);
}

}  // namespace anydml
