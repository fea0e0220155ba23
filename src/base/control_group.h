// SPDX-License-Identifier: MIT
// The control groups of a process. Containers use them to limit memory and processor time.
#pragma once

#include <string>
#include <string_view>

#include "base/text_file.h"

namespace anydml {

enum class GroupVersion { first, second };

// Calls visit(folder, version) for the process's group under a controller, such as "memory", and for every enclosing
// group, because the limits of all these groups apply. `root` is the folder that contains proc and sys; an empty string
// means the machine's root.
template <class Visit>
void for_each_control_group(const std::string& root, std::string_view controller, Visit visit) {
  // Each line is "hierarchy:controllers:path". Version 2 has a single line with an empty list of controllers.
  for_each_line(read_text_file(root + "/proc/self/cgroup"), [&](const std::string& line) {
    const auto first = line.find(':');
    const auto second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) {
      return true;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_second = controllers == ",,";
    if (!is_second && controllers.find("," + std::string(controller) + ",") == std::string::npos) {
      return true;
    }
    const std::string mount = root + "/sys/fs/cgroup" + (is_second ? "" : "/" + std::string(controller));
    for (std::string group = line.substr(second + 1);; group.resize(group.rfind('/'))) {
      visit(mount + (group == "/" ? "" : group), is_second ? GroupVersion::second : GroupVersion::first);
      if (group.find('/') == std::string::npos || group == "/") {
        return true;
      }
    }
  });
}

}  // namespace anydml
