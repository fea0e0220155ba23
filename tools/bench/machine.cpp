// SPDX-License-Identifier: MIT
#include "machine.h"

#include <anydml/anydml.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace anydml::bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Identifies Arm's own cores by part number.
std::string_view arm_core(std::string_view part) {
  struct Core {
    std::string_view part;
    std::string_view name;
  };
  constexpr Core kCores[] = {{"0xd08", "Cortex-A72"},  {"0xd0b", "Cortex-A76"},  {"0xd0c", "Neoverse-N1"},
                             {"0xd40", "Neoverse-V1"}, {"0xd49", "Neoverse-N2"}, {"0xd4f", "Neoverse-V2"},
                             {"0xd84", "Neoverse-V3"}, {"0xd8e", "Neoverse-N3"}};
  for (const Core& core : kCores) {
    if (core.part == part) {
      return core.name;
    }
  }
  return {};
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string implementer;
  std::string part;
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) {
      continue;
    }
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) {
      return value;
    }
    if (line.starts_with("CPU implementer")) {
      implementer = value;
    }
    if (line.starts_with("CPU part")) {
      part = value;
    }
  }
  if (implementer == "0x41" && !arm_core(part).empty()) {
    return std::string(arm_core(part));
  }
  return part.empty() ? "unknown" : "implementer " + implementer + ", part " + part;
}

std::uint64_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    if (first_line(folder + "level") == std::to_string(level) && first_line(folder + "type") != "Instruction") {
      const std::string size = first_line(folder + "size");
      char* unit = nullptr;
      const std::uint64_t number = std::strtoull(size.c_str(), &unit, 10);
      return number << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
    }
  }
  return 0;
}

std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto begin = line.find('[');
  const auto end = line.find(']');
  return begin == std::string::npos || end == std::string::npos ? "unknown" : line.substr(begin + 1, end - begin - 1);
}

void run_one_operator() {
  const std::int64_t sizes[] = {16};
  float values[16] = {};
  const anydml_tensor tensor{ANYDML_FLOAT32, 1, sizes, nullptr, values};
  (void)anydml_modulus_floor(&tensor, &tensor, &tensor);
}

}  // namespace

std::string find_target() {
  int ends[2];
  if (pipe(ends) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("ANYDML_LOG", "dispatch", 1);
    run_one_operator();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; child > 0 && (got = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (child > 0) {
    waitpid(child, nullptr, 0);
  }
  // The log line ends with text such as "... 1 loop, neon kernel".
  const auto end = text.rfind(" kernel");
  if (end == std::string::npos || end == 0) {
    return {};
  }
  const auto begin = text.find_last_of(" ,:", end - 1);
  return begin == std::string::npos ? std::string() : text.substr(begin + 1, end - begin - 1);
}

bool describe_machine(BenchEnvironment& machine, std::string& error) {
  const anydml_device_info* info = anydml_device_get_info(nullptr);
  if (info == nullptr) {
    error = anydml_last_error();
    return false;
  }
  machine.version = anydml_version();
  machine.adapter = info->name;
  machine.device = info->description;
  machine.memory_bytes = info->memory_bytes;
  machine.threads = info->threads;
  machine.cpu = cpu_name();
  utsname name{};
  if (uname(&name) == 0) {
    machine.architecture = name.machine;
    machine.system = fmt::format("{} {}", name.sysname, name.release);
  }
#if defined(__clang__)
  machine.compiler = "clang " __clang_version__;
#else
  machine.compiler = "g++ " __VERSION__;
#endif
  machine.c_library = fmt::format("glibc {}", gnu_get_libc_version());
  machine.huge_pages = huge_pages();
  machine.cores = usable_cores();
  machine.l1_bytes = cache_bytes(1);
  machine.l2_bytes = cache_bytes(2);
  machine.l3_bytes = cache_bytes(3);
  return true;
}

std::uint64_t last_cache_bytes() {
  for (int level = 4; level > 0; --level) {
    if (const std::uint64_t bytes = cache_bytes(level); bytes != 0) {
      return bytes;
    }
  }
  return 0;
}

OthersWatch::Moment OthersWatch::now() {
  Moment moment;
  moment.wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  // "cpu  user nice system idle iowait irq softirq steal ...": ticks of all processors together.
  std::istringstream line(first_line("/proc/stat"));
  std::string name;
  line >> name;
  double ticks = 0;
  for (int column = 0; column < 8 && line >> ticks; ++column) {
    const bool is_idle = column == 3 || column == 4;
    moment.all += is_idle ? 0 : ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) {
      moment.own += static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
  }
  return moment;
}

OthersWatch::OthersWatch() : begin_(now()) {}

double OthersWatch::busy_cores() const {
  const Moment end = now();
  const double wall = end.wall - begin_.wall;
  return wall > 0 ? std::max(0.0, (end.all - begin_.all - (end.own - begin_.own)) / wall) : 0;
}

bool OthersWatch::in_the_way_of(unsigned threads) const {
  constexpr double kTolerated = 0.15;  // a fraction of a core, to allow for daemons and clock granularity
  const double cores = std::max(1U, std::thread::hardware_concurrency());
  return busy_cores() > cores - std::min<double>(threads, cores) + kTolerated;
}

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

}  // namespace anydml::bench
